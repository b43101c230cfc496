"""Print what tests that students may write earn, when they are graded in the sandbox.

    python -m autograder.tools.hunts

Some questions ask for a test of a function. Each is answered with a test of the shape
alone, one of half of what the question promises, the careful one of the catalog, and
one with a single flaw. What students see of each while they work is printed too.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
from types import ModuleType

from autograder.checks.failures import CheckFailed
from autograder.checks.hunt import Hunt
from autograder.explain.locations import cell_name
from autograder.tools.judging import catalog_of, packages
from autograder.wall import Cell, Grader

KINDS = ("careless", "half", "careful", "flawed")
CHECKS: dict[str, dict[str, str]] = {
    "check_softmax": {
        "careless": """
    assert softmax(np.ones((2, 3))).shape == (2, 3)
""",
        "half": """
    x = np.array([[1.0, 2.0, 4.0], [900.0, 0.0, 1.0], [0.0, 0.5, 1.0]])
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    assert np.allclose(softmax(x), powers / powers.sum(axis=-1, keepdims=True))
""",
        "flawed": """
    x = np.array([[1.0, 2.0, 4.0], [900.0, 0.0, 1.0], [0.0, 0.5, 1.0]])
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    assert (softmax(x) == powers / powers.sum(axis=-1, keepdims=True)).all()
""",
    },
    "check_split_heads": {
        "careless": """
    assert split_heads(torch.zeros(2, 3, 8), 2).shape == (2, 2, 3, 4)
""",
        "half": """
    x = torch.arange(24.0).reshape(1, 3, 8)
    heads = split_heads(x, 2)
    assert heads.shape == (1, 2, 3, 4)
    assert torch.equal(heads[0, 0], x[0, :, :4])
""",
        "flawed": """
    x = torch.arange(24.0).reshape(1, 3, 8)
    heads = split_heads(x, 2)
    assert torch.equal(heads[0, 0], x[0, :, :4])
    assert heads.is_contiguous()
""",
    },
    "check_causal_mask": {
        "careless": """
    assert causal_mask(4).shape == (4, 4)
""",
        "half": """
    assert (causal_mask(3) == np.tril(np.ones((3, 3)))).all()
""",
        "flawed": """
    mask = causal_mask(3)
    assert (mask == np.tril(np.ones((3, 3)))).all()
    assert mask[0, 0] is True
""",
    },
    "check_positional_encoding": {
        "careless": """
    assert positional_encoding(10, 8).shape == (10, 8)
""",
        "half": """
    pe = positional_encoding(10, 8)
    assert pe.shape == (10, 8)
    assert np.allclose(pe[:, 0], np.sin(np.arange(10)))
    assert np.allclose(pe[:, 1], np.cos(np.arange(10)))
    assert np.allclose(pe[:, 2], np.sin(np.arange(10) / 10))
""",
        "flawed": """
    pe = positional_encoding(10, 8)
    turns = np.arange(10)[:, None] * 10000.0 ** (-np.arange(0, 8, 2) / 8)
    assert (pe[:, 0::2] == np.sin(turns)).all()
    assert (pe[:, 1::2] == np.cos(turns)).all()
""",
    },
    "check_feed_forward": {
        "careless": """
    assert FeedForward(4, 12)(torch.zeros(2, 3, 4)).shape == (2, 3, 4)
""",
        "half": """
    network = FeedForward(4, 12)
    network.eval()
    x = torch.linspace(-3, 3, 24).reshape(2, 3, 4)
    wanted = network.linear2(F.gelu(network.linear1(x)))
    assert torch.allclose(network(x), wanted, atol=1e-6)
""",
        "flawed": """
    network = FeedForward(4, 12)
    x = torch.linspace(-3, 3, 24).reshape(2, 3, 4)
    wanted = network.linear2(F.gelu(network.linear1(x)))
    assert torch.allclose(network(x), wanted, atol=1e-6)
""",
    },
    "check_rotate": {
        "careless": """
    assert rotate(np.ones((3, 4)), np.arange(3)).shape == (3, 4)
""",
        "half": """
    x = np.arange(12.0).reshape(3, 4)
    turned = rotate(x, np.arange(3))
    for p in range(3):
        for i in range(2):
            angle = p * 10000 ** (-i / 2)
            a, b = x[p, 2 * i], x[p, 2 * i + 1]
            assert abs(turned[p, 2 * i] - a * np.cos(angle) + b * np.sin(angle)) < 1e-9
""",
        "flawed": """
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    turned = rotate(x, np.arange(3))
    for p in range(3):
        for i in range(2):
            angle = p * 10000 ** (-i / 2)
            a, b = x[p, 2 * i], x[p, 2 * i + 1]
            assert abs(turned[p, 2 * i] - a * np.cos(angle) + b * np.sin(angle)) < 1e-9
""",
    },
    "check_merge": {
        "careless": """
    one = np.zeros(2), np.ones(2), np.ones((2, 3))
    assert merge(one, one)[2].shape == (2, 3)
""",
        "half": """
    low = np.zeros(1), np.ones(1), np.full((1, 1), 8.0)
    high = np.log([4.0]), np.full(1, 2.0), np.full((1, 1), 3.0)
    for pair in ((low, high), (high, low)):
        m, s, o = merge(*pair)
        assert np.isclose(m, np.log(4)) and np.isclose(s, 2.25) and np.isclose(o, 5)
""",
        "flawed": """
    low = np.zeros(1), np.ones(1), np.full((1, 1), 8.0)
    high = np.log([4.0]), np.full(1, 2.0), np.full((1, 1), 3.0)
    for pair in ((low, high), (high, low)):
        m, s, o = merge(*pair)
        assert np.isclose(m, np.log(4)) and np.isclose(s, 2.25) and np.isclose(o, 5)
    none = np.full(1, -np.inf), np.zeros(1), np.zeros((1, 1))
    assert merge(none, none)[0] == 0
""",
    },
}


def hunts() -> dict[str, ModuleType]:
    """The questions in which students write the check, with their packages."""
    return {
        name: package
        for package in packages()
        for name in package.assignment.questions
        if isinstance(getattr(package.hidden, name), Hunt)
    }


def code_of(package: ModuleType, name: str, kind: str) -> str:
    """A check of one kind; the careful one is the catalog's."""
    reference = catalog_of(package).references[name].code
    if kind == "careful":
        return reference
    head = next(line for line in reference.splitlines() if line.startswith("def "))
    return f"{head}{CHECKS[name][kind]}"


def points(
    grader: Grader, package: ModuleType, name: str, kind: str
) -> tuple[float, str]:
    """What a check earns behind the wall, and what is said of it."""
    prelude, short = catalog_of(package).prelude, package.assignment.name
    test = (
        f"from autograder.checks import {short} as check\n"
        f"check.{name}({name})\ncheck.hidden.{name}({name})"
    )
    most = package.assignment.questions[name].points
    cells = [Cell("first", prelude), Cell("check", code_of(package, name, kind))]
    cells.append(Cell("test", test, name, most))
    profile = "torch" if "import torch" in prelude else "numpy"
    result = grader.judge(cells, profile=profile).results[name]
    return result.score or 0.0, result.message or ""


def seen(package: ModuleType, name: str, kind: str) -> str:
    """What a student sees of a check of one kind while working on it."""
    names = dict(catalog_of(package).prelude_names)
    code, cell = code_of(package, name, kind), cell_name(1)
    # where the line of an `assert` is looked up
    linecache.cache[cell] = (len(code), None, code.splitlines(keepends=True), cell)
    exec(compile(code, cell, "exec", dont_inherit=True), names)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            package.assignment.questions[name].checks[0](names[name])
        except CheckFailed as failure:
            return str(failure)
    return said.getvalue().rstrip()


def summary(said: str) -> str:
    """What a student sees, in one line: counts, the first miss, the likely cause."""
    lines = [line.strip().partition(": ") for line in said.splitlines()]
    found = {"": lines[0][2]} if "caught" in lines[0][2] else {}
    for word, _, rest in lines:
        if word in ("missed", "refused", "seen", "likely"):
            label = f"{word}: " if word in ("missed", "refused") else ""
            found.setdefault(word, f"{label}{rest.strip()}".rstrip("."))
    return "; ".join(found.values()).replace("|", "\\|")


def main() -> int:
    print("| question | check | seen while working | points |\n|---|---|---|---|")
    with Grader() as grader:
        for name, package in hunts().items():
            for kind in KINDS:
                said = summary(seen(package, name, kind))
                earned, _ = points(grader, package, name, kind)
                print(f"| `{name}` | {kind} | {said} | {earned:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
