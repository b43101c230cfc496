"""Rules that explain exceptions about code: torch modules, calls, names, conditions."""

from __future__ import annotations

import ast
import builtins
import re

from autograder.explain.lines import Line, Rules, code, operand
from autograder.explain.values import ARRAYS

CALLED = {
    "numpy.ndarray": "an array",
    "Tensor": "an array",
    "tuple": "a tuple",
    "torch.Size": "a tuple",
    "list": "a list",
}

COMPARING = {"max": "max", "min": "min", "sorted": "sort"}
METHODS = {"size", "dim", "numel"}

rules = Rules()

# -------------------------------------------------------------------- torch's modules

rules.say(
    r"leaf Variable that requires grad is being used in an in-place operation",
    sentence="a parameter may not change in place while torch records gradients; "
    "use `torch.no_grad()`",
)
rules.say(
    r"^cannot assign \w+ before Module\.__init__\(\) call",
    r"object has no attribute '_(?:modules|parameters|buffers|backward_hooks)'",
    sentence="a torch module's `__init__` begins with `super().__init__()`",
)


rules.say(
    r"^unsupported operand type\(s\) for .*'Linear'",
    r"must be Tensor, not Linear$",
    sentence="`{value.name}` is a layer; call it with its input",
    about=operand("Linear"),
)


# --------------------------------------------------------------------------- Python


@rules.on(r"^'([\w.]{1,30})' object is not callable$")
def not_a_function(line: Line, match: re.Match[str]) -> str:
    """Something is called that is no function."""
    for call, said, _ in line.calls():
        name = isinstance(call.func, ast.Name)
        if name and callable(vars(builtins).get(said)):
            return f"`{said}` is a name of your own here, which hides Python's function"
        if match[1] in CALLED and (name or isinstance(call.func, ast.Attribute)):
            return (
                f"`{said}` is {CALLED[match[1]]}, not a function; use square brackets "
                "to index it"
            )
        break
    return ""


@rules.on(
    r"^The truth value of an array with more than one element is ambiguous",
    r"^Boolean value of Tensor with more than one value is ambiguous",
)
def not_true_or_false(line: Line, _: re.Match[str]) -> str:
    """An array in a condition; Python's own functions ask conditions, too."""
    for call, said, _last in line.calls():
        first = call.args[0] if call.args else None
        value = line.array(first.value if isinstance(first, ast.Starred) else first)
        if said in COMPARING and value and value.axes > 1:
            return (
                f"Python's `{said}` compares whole rows of `{value.name}`, not "
                f"numbers; arrays have their own `{COMPARING[said]}`"
            )
    return (
        "an array is not True or False as a whole; choose entry by entry, or use "
        "`.all()` or `.any()`"
    )


rules.say(
    r"^Integers to negative integer powers are not allowed",
    sentence="NumPy's integers have no negative powers; make the base floating-point",
)
rules.say(
    r"^ufunc 'bitwise_xor' not supported",
    r"^unsupported operand type\(s\) for \^:",
    sentence="`^` is not a power in Python; use `**`",
)


@rules.on(r"'?builtin_function_or_method'?")
def not_called(line: Line, _: re.Match[str]) -> str:
    """A method without its parentheses."""
    nodes = [node for one in line.whole for node in ast.walk(one)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and id(node) not in called:
            value = line.array(node.value)
            if value and value.kind == "tensor" and node.attr in METHODS:
                return f"`{code(node)}` is a function; call it with parentheses"
    return ""


rules.say(
    r"^'Axes\w*' object has no attribute '([xy](?:label|lim|ticks)|title)'",
    sentence="`{match[1]}` is pyplot's; an Axes has `set_{match[1]}`",
)


@rules.on(
    r"^only (?:0-dimensional|length-1|size-1) arrays can be converted",
    r"^only one element tensors can be converted",
)
def one_number(line: Line, _: re.Match[str]) -> str:
    """An array for a function of one number."""
    value = line.named(*ARRAYS)
    for _call, said, _last in line.calls():
        if value and (said.startswith("math.") or said in ("float", "int")):
            return f"`{said}` takes one number, but `{value.name}` is an array"
    return ""


rules.say(
    r"^name '\w{1,60}' is not defined",  # only the object itself has it
    sentence="there is `{value.name}`; was `self.` left out?",
    about=lambda line: next(
        (value for value in line.values.values() if value.kind == "attribute"), None
    ),
)


@rules.on(r"^maximum recursion depth exceeded")
def calls_itself(line: Line, _: re.Match[str]) -> str:
    """A function that calls itself in the line that raised."""
    for _call, said, _last in line.calls():
        if said == line.function:
            return f"`{said}` calls itself without end"
    return ""


rules.say(
    r"^cannot access local variable '(\w{1,60})'",
    sentence="not every path through the function gives `{match[1]}` a value before "
    "this line",
)
