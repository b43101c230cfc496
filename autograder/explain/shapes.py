"""Rules that explain exceptions about shapes: products, broadcasting, reshaping."""

from __future__ import annotations

import ast
import math
import re

from autograder.explain.lines import Line, Rules, code
from autograder.explain.values import Value

REDUCTIONS = {"sum", "mean", "max", "min", "amax", "amin", "std", "var", "logsumexp"}

rules = Rules()

# ------------------------------------------------------------------ matrix products

MISMATCH = (
    r"mismatch in its core dimension 0.*\(size (?P<right>\d+) is different from "
    r"(?P<left>\d+)\)",
    r"not aligned: (?P<left>\d+) \(dim \d+\) != (?P<right>\d+) \(dim \d+\)",
    r"mat1 and mat2 shapes cannot be multiplied \(\d+x(?P<left>\d+) and "
    r"(?P<right>\d+)x\d+\)",
    r"of batch2 tensor to be: \[(?P<b>\d+), (?P<left>\d+)\] but got: "
    r"\[(?P=b), (?P<right>\d+)\]",
)
FRONT = (
    r"remapped shapes .*->\((?P<a>[\d,]+),newaxis,newaxis\).*"
    r"->\((?P<b>[\d,]+),newaxis,newaxis\)",
)
TORCH_SIZES = (
    r"size of tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\)"
)


@rules.on(*MISMATCH, *FRONT, r"not aligned", TORCH_SIZES, "broadcast together")
def all_axes_turned(line: Line, _: re.Match[str]) -> str:
    """`.T` and its like turn all axes, of a batch too."""
    for node in line.nodes():
        turned: ast.AST | None = None
        if isinstance(node, ast.Attribute) and node.attr == "T":
            turned = node.value
        elif isinstance(node, ast.Call) and code(node.func).endswith("transpose"):
            assert isinstance(node.func, ast.Attribute | ast.Name)
            method = isinstance(node.func, ast.Attribute) and not node.args
            turned = node.func.value if method else None  # type: ignore[union-attr]
            if code(node.func) == "np.transpose" and len(node.args) == 1:
                turned = None if node.keywords else node.args[0]
        value = line.array(turned)
        if value and value.axes > 2:
            return (
                f"`{code(node)}` reverses all axes, so {value.shape} becomes "
                f"{value.shape[::-1]}; swap only the last two"
            )
    return ""


rules.say(
    r"^t\(\) expects a tensor with <= 2 dimensions",
    sentence="`t()` is for matrices; with more axes, say which two to swap",
)


@rules.on(*MISMATCH)
def inner_sizes(line: Line, match: re.Match[str]) -> str:
    """The sizes that a matrix product pairs are different."""
    if product := line.product():
        said, left, right = product
        vector = (value := line.array(right)) and value.axes == 1
        last = "the last" if vector or "inner(" in said else "the last but one"
        return (
            f"`{said}` pairs the last axis of `{code(left)}` with {last} of "
            f"`{code(right)}`, but {match['left']} is not {match['right']}"
        )
    for _, called, _ in line.calls():
        layer = line.values.get(called)
        if layer and layer.kind == "Linear" and layer.shape[0] == int(match["right"]):
            return (
                f"`{called}` takes vectors of {match['right']} numbers, but here they "
                f"have {match['left']}"
            )
    return ""


@rules.on(*FRONT, TORCH_SIZES)
def front_axes(line: Line, match: re.Match[str]) -> str:
    """The batches of a matrix product do not fit each other."""
    product = line.product()
    sizes = last_mismatch(match["a"], match["b"])
    if not product or not sizes:
        return ""
    return (
        f"`{product[0]}` matches up the axes before the last two, but {sizes[0]} "
        f"does not fit {sizes[1]}"
    )


def last_mismatch(*shapes: str) -> tuple[int, int] | None:
    """The two sizes that meet, from the last axis on, and are neither equal nor 1."""
    lists = [[int(n) for n in re.findall(r"\d{1,12}", text)][::-1] for text in shapes]
    for i, one in enumerate(lists):
        for other in lists[i + 1 :]:
            for a, b in zip(one, other, strict=False):
                if a != b and 1 not in (a, b):
                    return a, b
    return None


# --------------------------------------------------------------------- broadcasting

NUMPY_SHAPES = r"broadcast together with shapes (?P<a>\([\d,]*\)) (?P<b>\([\d,]*\))"


@rules.on(NUMPY_SHAPES, TORCH_SIZES)
def lost_axis(line: Line, match: re.Match[str]) -> str:
    """An operand lacks an axis of the other; a sum, mean or maximum loses one."""
    if line.product():
        return ""
    for node in line.part:  # what lies deeper has gone well
        if not isinstance(node, ast.BinOp | ast.AugAssign | ast.Compare):
            continue
        sides = list(ast.iter_child_nodes(node))
        for side in sides:
            if (
                isinstance(side, ast.Call)
                and loses_an_axis(side)
                and would_fit(match, side is sides[0])
            ):
                return (
                    f"`{code(side)}` loses the axis that it works along; with that "
                    "axis kept at size 1, the shapes would line up"
                )
        arrays = [value for side in sides if (value := line.array(side))]
        for small in arrays:
            for large in arrays:
                if sentence := lacks(small, large, small.name in line.parameters):
                    return sentence
    return ""


def loses_an_axis(call: ast.Call) -> bool:
    """Whether this is a sum, mean or maximum along an axis that is not kept."""
    last = code(call.func).rpartition(".")[2]
    names = {word.arg for word in call.keywords}
    module = code(call.func).partition(".")[0] in ("np", "numpy", "torch")
    along = names & {"axis", "dim"} or len(call.args) == 1 + module
    return last in REDUCTIONS and bool(along) and not names & {"keepdims", "keepdim"}


def would_fit(match: re.Match[str], first: bool) -> bool:
    """Whether the first or the second shape of a text goes with the other, if it gets
    an axis of size 1; torch does not tell the shapes."""
    if "(" not in match["a"]:
        return True
    shapes = [re.findall(r"\d{1,12}", match[key])[:16] for key in "ab"]
    small, other = shapes if first else shapes[::-1]
    kept = ([*small[:i], "1", *small[i:]] for i in range(len(small) + 1))
    return any(last_mismatch(str(shape), str(other)) is None for shape in kept)


def lacks(small: Value, large: Value, given: bool) -> str:
    """That one array has the shape of another without one of its axes.

    What is ``given`` to a function has not lost its last axis in a sum.
    """
    shorter = [large.shape[:i] + large.shape[i + 1 :] for i in range(large.axes)]
    if small.shape not in shorter or not small.shape:
        return ""
    pair = f"`{small.name}` {small.shape}", f"`{large.name}` {large.shape}"
    last = small.shape == large.shape[:-1]
    if last and given and small.shape != large.shape[1:]:
        return (
            f"{pair[0]} lacks the last axis of {pair[1]}; it needs one of size 1 at "
            "its end"
        )
    if last and not given and small.dtype.startswith("float"):
        return (
            f"{pair[0]} is like {pair[1]} without its last axis; a sum, mean or "
            "maximum can keep that axis with size 1"
        )
    return f"{pair[0]} lacks an axis of {pair[1]}; it needs one of size 1 in that place"


@rules.on(NUMPY_SHAPES, TORCH_SIZES)
def sizes_meet(line: Line, match: re.Match[str]) -> str:
    """Two sizes meet that are neither equal nor 1."""
    sizes = last_mismatch(match["a"], match["b"])
    if not sizes or line.product():
        return ""
    return (
        "shapes line up from the last axis on; sizes that meet must be equal, or one "
        f"of them 1; here {sizes[0]} meets {sizes[1]}"
    )


rules.say(
    r"size of axis is (?P<axis>\d+) but size of corresponding boolean axis is "
    r"(?P<mask>\d+)",
    r"shape of the mask \[(?P<mask>\d+)[\d, ]*\] at index 0 does not match the shape "
    r"of the indexed tensor \[(?P<axis>\d+)",
    sentence="a boolean index needs an entry for each position on the axis; here it "
    "has {match[mask]} entries for {match[axis]} positions",
)


# ----------------------------------------------------------- shapes that do not fit

rules.say(
    r"^view size is not compatible with input tensor's size and stride",
    sentence="after transposing, the numbers are no longer in the order that `view` "
    "needs; `reshape` copies where it must",
)
rules.say(
    r"^Cannot interpret '\d+' as a data type$",
    sentence="pass a shape as one tuple, in its own parentheses",
)


@rules.on(
    r"cannot reshape array of size (?P<size>\d+) into shape \((?P<new>[\w,]+)\)",
    r"shape '\[(?P<new>[-\d, ]+)\]' is invalid for input of size (?P<size>\d+)",
)
def reshaped(_: Line, match: re.Match[str]) -> str:
    """A new shape with another number of places."""
    sizes = [int(n) for n in re.findall(r"(?<![-\d])\d{1,12}", match["new"])]
    places, size = math.prod(sizes), match["size"]
    if re.search(r"-1|newaxis", match["new"]):
        return f"{size} numbers are not divisible by {places}"
    return f"the new shape has {places} places for {size} numbers"


@rules.on(r"^only integer scalar arrays can be converted to a scalar index")
def not_in_a_list(line: Line, _: re.Match[str]) -> str:
    """Arrays to join that are arguments of their own."""
    for call, said, last in line.calls():
        if last in ("concatenate", "stack", "hstack", "vstack") and len(call.args) > 1:
            return f"`{said}` takes the arrays as one list or tuple"
    return ""


rules.say(
    r"except for the concatenation axis must match exactly.*has size (\d+) and .*"
    r"has size (\d+)",
    r"^Sizes of tensors must match except in dimension \d+\. Expected size (\d+) but "
    r"got size (\d+)",
    sentence="all sizes except that of the joined axis must be equal, but {match[1]} "
    "is not {match[2]}",
)


@rules.on(r"^(?:too many|not enough) values to unpack \(expected (\d+)")
def unpacked(line: Line, match: re.Match[str]) -> str:
    """A shape with more or fewer axes than there are names for."""
    for node in line.whole:
        if isinstance(node, ast.Assign) and code(node.value).endswith(".shape"):
            assert isinstance(node.value, ast.Attribute)
            if value := line.array(node.value.value):
                return (
                    f"`{value.name}` has {value.axes} axes here, but there are "
                    f"{match[1]} names for them"
                )
    return ""
