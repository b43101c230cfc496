"""Rules that explain exceptions about axes and positions: out of range, or swapped."""

from __future__ import annotations

import re

from autograder.explain.lines import Line, Rules

rules = Rules()


@rules.on(
    r"axis -?\d+ is out of bounds for array of dimension (?P<axes>\d+)",
    r"^Dimension out of range \(expected to be in range of \[-(?P<axes>\d+), \d+\]",
)
def axis_out_of_range(_: Line, match: re.Match[str]) -> str:
    """An axis that an array does not have."""
    axes = int(match["axes"])
    if axes < 2:
        return ""
    return f"axes count from 0: the last of {axes} is {axes - 1}, or -1"


@rules.on(r"^axes don't match array")
def transpose_of_some(line: Line, _: re.Match[str]) -> str:
    """NumPy's transpose with two axes, as torch has it."""
    for call, said, _last in line.calls():
        owner = line.array(getattr(call.func, "value", None))
        if said.endswith(".transpose") and owner and len(call.args) == 2 < owner.axes:
            return (
                f"NumPy's `transpose` takes all axes, and `{owner.name}` has "
                f"{owner.axes}; use `swapaxes` to swap two"
            )
    return ""


@rules.on(r"^transpose\(\) takes 2 positional arguments but (?:[3-9]) were given")
def transpose_of_all(line: Line, _: re.Match[str]) -> str:
    """Torch's transpose with all axes, as NumPy has it."""
    for call, said, last in line.calls():
        if last == "transpose" and not said.startswith("np.") and len(call.args) > 2:
            return "torch's `transpose` swaps two axes; `permute` takes all of them"
    return ""


@rules.on(r"^index (\d+) is out of bounds for (?:axis|dimension) \d+ with size (\d+)$")
def one_too_far(_: Line, match: re.Match[str]) -> str:
    """An index that is one beyond the last."""
    if match[1] != match[2] or match[2] == "0":
        return ""
    return f"positions count from 0: the last of {match[2]} is {int(match[2]) - 1}"


rules.say(
    r"^index out of range in self$",
    sentence="some id is not below the embedding's number of rows",
)
