"""Test cells: where their names come from, and what a missing one means.

`autograder check` and the exercise page use it, where the answers are in the same
process, and grading, where they are in another one.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from autograder import libraries, registry
from autograder.checks.failures import CheckFailed
from autograder.explain.locations import CELL, Location
from autograder.notebook.text_diff import defined_names, is_empty
from autograder.text import letters, lines_of, nearest, printable

# the test cells of this course; those of others are known by their metadata
CHECKED = re.compile(r"^check\.(\w+)\(", re.MULTILINE)
CHECKS = re.compile(r"autograder\.checks(?:\.| import )(\w+)")  # of an assignment
IMPORTED = re.compile(
    r"^\s*(?:import[ \t]+([A-Za-z_]\w*)|from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b)",
    re.MULTILINE,
)
WRITTEN_FILE = re.compile(r"^%%writefile[ \t]+(?:-a[ \t]+)?(\S+\.py)", re.MULTILINE)
# no two parts of these can take the same text: long lines are read in one go
# exceptions of libraries that open addresses, and what systems say below them
OF_NETWORKS = re.compile(
    r"\b(URLError|gaierror|MaxRetryError|NewConnectionError|NameResolutionError"
    r"|Client(?:Connector|ConnectorDNS)Error|ConnectError|RemoteDisconnected"
    r"|Name or service not known|[Nn]ame resolution|Network is unreachable"
    r"|No address associated with hostname|nodename nor servname)"
)
OFFLINE = (
    " (there is no network while grading: put the data into a file beside the notebook)"
)
IMPORTING = re.compile(r"[ \t]*(?:from[ \t]+\S+[ \t]+)?import\b[^#]*")
TARGETS = re.compile(r"\(?[\w*., \t]*\)?")
OFFERED = {"autograder", "IPython", "matplotlib", "mpl_toolkits", "numpy", "pandas"}
OFFERED |= {"PIL", "seaborn", "google"}
WORD = re.compile(r"[^\W\d]\w*")
LIBRARY = re.compile(
    rf"^\s*(?:import|from) ({'|'.join(libraries.SUPPORT)})\b", re.MULTILINE
)


class Missing(RuntimeError):
    """A name that a test cell needs; ``sentence`` says why it is not there."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True)
class Failed:
    """A student's cell that did not run to its end."""

    number: int
    source: str
    reason: str
    place: Location | None = None
    text: str = ""  # all that the exception says

    @property
    def where(self) -> str:
        """The line that failed, and what is known of it; empty if there is none."""
        if self.place is None or self.place.cell != self.number:
            return ""
        arrays, why = self.place.reason(self.source, self.text)
        lines = [f"\n  at:       {printable(self.place.described(self.source), 400)}"]
        lines += [f"\n  in it:    {arrays}"] if arrays else []
        lines += [f"\n  likely:   {why}"] if why else []
        return "".join(lines)


def reason(kind: str, text: str) -> str:
    """What stopped a cell: the kind of the exception, and the last line of its text."""
    if more := offline(f"{kind} {text}"):
        return f"{kind}{more}"
    return ": ".join([kind, *lines_of(text.strip())[-1:]])[:300]


def offline(text: str) -> str:
    """What to add to the text of an exception that comes from a missing network."""
    return OFFLINE if OF_NETWORKS.search(text) else ""


class TestNames(dict):
    """The names of a test cell: its own first, then those that the student defined."""

    __test__ = False  # pytest takes it for one of its own

    def __init__(self, find: Callable[[str], Any]) -> None:
        modules = {"np": "numpy", "numpy": "numpy", "math": "math"}
        modules |= {name: name for name in libraries.SUPPORT}
        own = {n: sys.modules[m] for n, m in modules.items() if m in sys.modules}
        super().__init__(own, __name__="judge")
        self.find = find

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)  # Python looks there next
        return self.find(name)


def value_of(source: str, name: str, names: dict[str, Any]) -> Any:
    """Run a test cell; the value of its last line, if it has one."""
    body, last = compiled(source, f"<{name}>")
    exec(body, names, names)
    return eval(last, names, names)


@cache
def compiled(source: str, filename: str) -> tuple[CodeType, CodeType]:
    """A test cell in two parts: all but an expression at its end, and that or None.

    Whoever forks for each notebook compiles the cells before that.
    """
    tree = ast.parse(source, filename)
    last = ast.Expression(ast.Constant(None, lineno=1, col_offset=0))
    if tree.body and isinstance(end := tree.body[-1], ast.Expr):
        del tree.body[-1]
        last = ast.Expression(end.value)
    # without the __future__ of this file
    return (
        compile(tree, filename, "exec", dont_inherit=True),
        compile(last, filename, "eval", dont_inherit=True),
    )


def expect_answer(
    name: str, there: bool, failed: Sequence[Failed], above: str | None = None
) -> None:
    """Raises CheckFailed where the cell above the test has nothing in it."""
    if above is None or (there and name not in defined_names(above)):
        return
    if is_empty(above, name) and not any(is_defined(name, f.source) for f in failed):
        raise CheckFailed("no answer yet", kind="unanswered", title=name)


def why_missing(
    name: str, defined: Sequence[str], failed: Sequence[Failed], above: str = ""
) -> str:
    """Why there is no ``name``: its cell failed, or no cell defines it.

    Another name was meant only if the cell ``above`` the test defines that one.
    """
    if because := failure_behind(name, failed):
        return f"`{name}` is missing, {because}"
    sentence = f"no cell defines `{name}`"
    words = set(WORD.findall(above))
    close = nearest(name, [n for n in defined if n in words])
    if close and is_defined(close, above):
        sentence += f"; did you mean `{name}` where you wrote `{close}`"
        sentence += f"{letters(close, name)}?"
    return printable(sentence, 300)


def failure_behind(name: str, failed: Sequence[Failed], short: bool = False) -> str:
    """The failure of the cell that defines ``name``, in words; empty if not there."""
    for cell in failed:
        if is_defined(name, cell.source):
            why = cell.reason.partition(":")[0] if short else cell.reason + cell.where
            return f"because cell {cell.number} failed: {why}"
    return ""


def is_defined(name: str, source: str) -> bool:
    """Whether a cell defines a name, imports it, or assigns it, maybe beside others."""
    lines = lines_of(source)
    return name in defined_names(source) or any(binds(ln, name) for ln in lines)


def binds(line: str, name: str) -> bool:
    """Whether a line imports a name, or assigns it, maybe beside others."""
    targets, equals, value = line.partition("=")
    if found := IMPORTING.match(line):
        targets = found[0]
    elif not equals or value[:1] == "=" or not TARGETS.fullmatch(targets.strip()):
        return False
    return re.search(rf"\b{re.escape(name)}\b", targets) is not None


def explained(
    failure: CheckFailed, failed: Sequence[Failed], questions: Collection[str] = ()
) -> CheckFailed:
    """A failed check; where it misses a name whose cell failed, with the reason.

    Where an answer to one of the ``questions`` is missing, that question tells the
    whole reason. Its name is right; only the answer's can be misspelled.
    """
    name, asked = failure.missing, failure.missing in questions
    because = failure_behind(name, failed, asked) if name else ""
    if because and failure.kind == "error":
        uses = f"your code uses `{failure.missing}`, which is missing"
        failure.seen, failure.place = f"{uses} {because}", ""
    elif asked:
        failure.seen = failure.seen.partition("; did you mean")[0]
    return failure


def profile_of(sources: Sequence[str]) -> str:
    """The library that an assignment has beside NumPy, by its cells; or "numpy"."""
    return next((m[1] for m in map(LIBRARY.search, sources) if m), "numpy")


def imported(sources: Sequence[str]) -> set[str]:
    """The modules that these cells import."""
    found = IMPORTED.findall("\n".join(sources))
    return {first or second for first, second in found}


def not_there(
    sources: Sequence[str], folder: Path, profile: str, books: Sequence[str]
) -> list[str]:
    """Notes on what these cells import and grading does not have."""
    text = "\n".join(sources)
    written = {Path(name).stem for name in WRITTEN_FILE.findall(text)}
    offered = OFFERED | {*books, profile}
    notes = []
    for name in sorted(imported(sources) - offered - written - sys.stdlib_module_names):
        if (folder / f"{name}.py").exists() or (folder / name).is_dir():
            notes.append(
                f"`{name}` is next to the notebook: hand in both, since grading has "
                "only what is handed in."
            )
        elif name not in libraries.SUPPORT:  # that has a message of its own
            notes.append(
                f"`{name}` is imported here, but may be missing in grading, which has "
                "NumPy, Matplotlib, seaborn and pandas."
            )
    return notes


class NotOffered(importlib.abc.MetaPathFinder):
    """Says plainly why something cannot be imported in an assignment.

    That is a library that the assignment does without, and each library module of the
    course but the ``books`` that it comes with; a file of that name may be there.
    """

    def __init__(self, profile: str, books: Sequence[str] = ()) -> None:
        # read now: what reads it may import something, which would come back here
        self.profile, self.withheld = profile, registry.library().keys() - set(books)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        top = name.partition(".")[0]
        if top in libraries.SUPPORT and top != self.profile:
            says = f"{top} is not available in this assignment; NumPy is"
            raise ModuleNotFoundError(says, name=top)
        if name not in self.withheld:
            return
        if CELL.fullmatch(importing_file()) and not Path(f"{name}.py").exists():
            says = f"this assignment comes without the book's module `{name}`"
            raise ModuleNotFoundError(says, name=name)


def importing_file() -> str:
    """The file of the code that imports something now; Python's own is passed over."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame.f_code.co_filename
