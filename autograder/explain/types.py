"""Rules that explain exceptions about types: lists, None, NumPy or torch, dtypes."""

from __future__ import annotations

import ast
import re

from autograder.explain.lines import Line, Rules, code, numbers, operand
from autograder.explain.values import names_in

OF_NUMPY = {"astype", "copy"}
OF_TORCH = {"unsqueeze", "masked_fill", "softmax", "log_softmax", "permute", "dim"}
OF_TORCH |= {"view_as", "float", "long", "double", "bool", "detach", "expand", "chunk"}
OF_TORCH |= {"exp", "log", "sqrt", "contiguous", "tril", "triu"}
FLOATS_NOT_SIZES = (
    r"^'(?:float|numpy\.float\d+)' object cannot be interpreted as an integer",
    r"tuple of ints, ?but got float",
    r"^slice indices must be integers",
    r"^only integers, slices ",
)

rules = Rules()

# ------------------------------------------------------------------ lists and tuples


rules.say(
    r"must be Tensor, not list",
    sentence="`{value.name}` is a list; make it a tensor first",
    about=operand("list"),
)
rules.say(
    r"^'list' object has no attribute",
    r"^can't multiply sequence by non-int",
    r"(?:operand|instances).*'list'",
    r"^list indices must be integers or slices, not tuple",
    sentence="`{value.name}` is a list; make it an array first",
    about=operand("list"),
)
rules.say(
    r"^'tuple' object has no attribute",
    r"(?:operand|instances).*'tuple'",
    sentence="`{value.name}` is a tuple of {value.shape[0]}; take out the part that "
    "you need",
    about=operand("tuple"),
)
rules.say(
    r"'torch\.return_types\.(max|min|median|sort)'",
    sentence="torch's `{match[1]}` along an axis gives two results, the values and "
    "their positions",
)


# ----------------------------------------------------------------------------- None


@rules.on(r"NoneType")
def is_none(line: Line, _: re.Match[str]) -> str:
    """None where something else is due: left out, or not returned."""
    if value := line.operand("None"):
        if value.name in line.optional:
            return (
                f"`{value.name}` is None when the call leaves it out; handle that "
                "case separately"
            )
        return (
            f"`{value.name}` is None; perhaps the function that made it has no `return`"
        )
    calls = [node for node in line.operands if isinstance(node, ast.Call)]
    if len(calls) == 1 and isinstance(line.part[0], ast.Attribute | ast.Subscript):
        return f"`{code(calls[0])}` gave None; perhaps it has no `return`"
    return ""


# ------------------------------------------------------------------- NumPy and torch


@rules.on(
    r"^unsupported operand type\(s\) for .*'numpy\.ndarray' and 'Tensor'",
    r"^unsupported operand type\(s\) for .*'Tensor' and 'numpy\.ndarray'",
    r"received an invalid combination of arguments .*numpy\.ndarray",
)
def two_libraries(line: Line, _: re.Match[str]) -> str:
    """An array and a tensor in one operation."""
    array, tensor = line.named("array"), line.named("tensor")
    if not (array and tensor):
        return ""
    return (
        f"`{array.name}` is a NumPy array and `{tensor.name}` a tensor; convert one "
        "of them"
    )


@rules.on(r"^'(numpy\.ndarray|Tensor)' object has no attribute '(\w{1,30})'")
def of_the_other_library(line: Line, match: re.Match[str]) -> str:
    """A method that only the other library's arrays have."""
    numpy = match[1] == "numpy.ndarray"
    value = line.operand("array" if numpy else "tensor")
    if not value or match[2] not in (OF_TORCH if numpy else OF_NUMPY):
        return ""
    own, there = ("a NumPy array", "torch") if numpy else ("a tensor", "NumPy")
    return f"`{match[2]}` is {there}'s, but `{value.name}` is {own}"


rules.say(
    r"must be Tensor, not numpy\.ndarray",
    sentence="`{value.name}` is a NumPy array; it should be a tensor",
    about=operand("array"),
)


@rules.on(
    r"^Can't call numpy\(\) on Tensor that requires grad",
    r"received an invalid combination of arguments - got \(.*\b(?:axis|out|keepdims)=",
)
def array_due(line: Line, _: re.Match[str]) -> str:
    """A tensor for a function of NumPy."""
    value = line.named("tensor")
    for _call, said, _last in line.calls():
        if value and said.startswith(("np.", "numpy.")):
            return f"`{said}` is NumPy's, but `{value.name}` is a tensor"
    return ""


rules.say(
    r"unexpected keyword argument '(?:dim|axis|keepdims?)'",
    sentence="NumPy says `axis` and `keepdims`; torch says `dim` and `keepdim`",
)

# --------------------------------------------------------------------------- dtypes


rules.say(
    r"not implemented for '(?:Long|Int|Short|Char|Byte)'",
    r"^mean\(\): could not infer output dtype",
    sentence="`{value.name}` holds integers; it should hold floating-point numbers",
    about=numbers("int", "uint"),
)


@rules.on(r"to have the same dtype|must have the same dtype|^expected scalar type")
def two_dtypes(line: Line, _: re.Match[str]) -> str:
    """Factors of two dtypes."""
    product = line.product()
    if not product:
        return ""
    left, right = line.array(product[1]), line.array(product[2])
    if not (left and right and left.dtype != right.dtype):
        return ""
    return (
        f"`{left.name}` is {left.dtype} and `{right.name}` {right.dtype}; a product "
        "needs one dtype for both"
    )


rules.say(
    r"^Cannot cast ufunc '\w+' output from dtype\('float",
    sentence="`{value.name}` holds integers, which have no fractions; make it "
    "floating-point first",
    about=numbers("int", "uint"),
)
rules.say(
    r"^cannot convert float (?:NaN|infinity) to integer",
    r"^value cannot be converted to type int\d+_t without overflow",
    sentence="`{value.name}` holds integers, which cannot be infinity or NaN",
    about=numbers("int", "uint"),
)


@rules.on(*FLOATS_NOT_SIZES)
def not_an_integer(line: Line, _: re.Match[str]) -> str:
    """A float where a size or a position is due, mostly from a division."""
    if any(isinstance(node, ast.Div) for node in line.nodes()):
        return (
            "`/` gives a float even without a remainder; use `//` for a size or a "
            "position"
        )
    floats = [v for name in names_in(line.part) if (v := line.values.get(name))]
    for value in (v for v in floats if v.kind == "float"):
        return (
            f"`{value.name}` is a float, perhaps from `/`; a size or a position has to "
            "be an integer"
        )
    return ""


rules.say(
    r"^Subtraction, the `-` operator, with .*bool tensor",
    r"^(?:The )?numpy boolean (?:subtract|negative)",
    sentence="`-` does not negate booleans; `~` does",
)


@rules.on(r"only supports boolean masks")
def no_booleans(line: Line, _: re.Match[str]) -> str:
    """A mask of numbers."""
    for call, _said, last in line.calls():
        value = line.array(call.args[0]) if call.args else None
        if last.startswith("masked_fill") and value:
            return f"`{value.name}` holds numbers; a mask should be boolean"
    return ""


rules.say(
    r"^Expected tensor for argument #1 'indices' to have",
    sentence="`{value.name}` is {value.dtype}; ids should be integers",
    about=numbers("float"),
)
