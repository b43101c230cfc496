"""Runs a cell of a chapter in the page, with what it needs from the cells above.

What a cell needs is a slice of the chapter: the statements above it that define or
change a name which it uses, and what these use. A statement that needs PyTorch or a
model file defines names that a page cannot have. The site's build asks which cells a
page can run; the page's worker loads this file into Pyodide and runs them.
"""

import ast
import base64
import builtins
import importlib.abc
import json
import random
import re
import sys
import types
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

TORCH, MODEL = "torch", "model"  # what a page has not
MODELS = {"minilm", "smollm2"}  # modules of the book that read a model file
OURS = ("alice", "attention", "plots")  # modules of the book whose text is looked into
DATA = re.compile(r"""["'](data/[\w.-]+)["']""")
DRAWS = re.compile(r"\b(attention|plots|matplotlib)\b")  # the page loads Matplotlib
# methods that change nothing, by the types that chapters use
PURE = {*dir(str), *dir(float), *dir(frozenset), "get", "items", "keys", "values"}
PURE |= {"all", "any", "argmax", "argmin", "argsort", "astype", "clip", "copy"}
PURE |= {"cumsum", "diagonal", "dot", "flatten", "item", "max", "mean", "min", "prod"}
PURE |= {"nonzero", "ravel", "repeat", "reshape", "round", "squeeze", "std", "sum"}
PURE |= {"swapaxes", "take", "tolist", "trace", "transpose", "var", "view"}
PURE |= {"most_common", "elements", "read_text", "exists"}
PYPLOT = "matplotlib.pyplot"  # figures end with their cell; only settings stay


class Facts(NamedTuple):
    """What a statement does with names."""

    reads: set  # at once
    late: set  # in the bodies of its functions, when these are called
    binds: set  # and what stood there before is gone
    changes: set  # names whose objects may be another after it


class Scope:
    """What is known of the names of a chapter, or a module, so far."""

    def __init__(self):
        self.modules = {}  # alias -> module
        self.effects = {}  # function -> parameters by place that it changes
        self.aliases = {}  # name -> names that may be parts of the same object

    def join(self, names):
        together = set(names).union(*(self.aliases.get(n, ()) for n in names))
        for name in together:
            self.aliases[name] = together

    def leave(self, names):
        """A name that is given to another object is no part of the old one."""
        for name in names:
            for other in (others := self.aliases.pop(name, set()) - {name}):
                self.aliases[other] = others

    def facts(self, node):
        """The facts of a top-level statement, which are remembered."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self.imported(node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            self.effects[node.name] = self.changed_by(node)
        inner = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef)]
        inside = {id(n) for f in inner for part in f.body for n in ast.walk(part)}
        late = set().union(*(free(f) for f in inner))
        own = [n for n in ast.walk(node) if id(n) not in inside]
        names = [n for n in own if isinstance(n, ast.Name)]
        hidden = {n.id for n in names if isinstance(n.ctx, ast.Store)} & bound_inside(
            node
        )
        reads = {n.id for n in names if isinstance(n.ctx, ast.Load)} - hidden
        stored = {n.id for n in names if isinstance(n.ctx, ast.Store)} - hidden
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            stored = {node.name}
        bare = node.value if isinstance(node, ast.Expr) else None
        changes = self.changes(own, bare) - hidden
        # a loop is taken to run at least once, and its body sees the loop's own names
        looped = set()
        if isinstance(node, ast.For):
            outside = {n.id for n in ast.walk(node.iter) if isinstance(n, ast.Name)}
            looped = stored_in([node.target]) - outside
            self.leave(looped)
        if isinstance(node, ast.Assign):
            self.leave(stored - roots(node.value))
        for targets, value in handed(own):
            if source := roots(value) - self.modules.keys():
                self.join(stored_in(targets) | source)
        for part in own:
            if isinstance(part, ast.AugAssign):
                reads |= roots(part.target)
        certain = isinstance(
            node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef | ast.With
        )
        if not certain:  # a branch or a loop may leave what was there
            changes |= stored
        binds, changes = stored if certain else looped, changes - looped
        changes = changes.union(*(self.aliases.get(name, ()) for name in changes))
        return Facts(reads - looped, late, binds, changes - binds)

    def imported(self, node):
        bound = set()
        for name in node.names:
            alias = name.asname or name.name.partition(".")[0]
            bound.add(alias)
            self.aliases.pop(alias, None)
            if isinstance(node, ast.Import):
                self.modules[alias] = name.name
            elif node.module in OURS:
                self.effects[alias] = module_scope(node.module).effects.get(name.name)
            else:
                self.modules[alias] = f"{node.module}.{name.name}"
        return Facts(set(), set(), bound, set())

    def changes(self, nodes, bare=None):
        """The names whose objects some code may change.

        A call whose result nobody takes, ``bare``, may change a module's settings.
        """
        found = set()
        for node in nodes:
            match node:
                case (
                    ast.Subscript(ctx=ast.Store() | ast.Del())
                    | ast.Attribute(ctx=ast.Store() | ast.Del())
                ):
                    found |= roots(node)
                case ast.AugAssign():
                    found |= roots(node.target)
                case ast.Call():
                    found |= self.changed_by_call(node, node is bare)
        return found

    def changed_by_call(self, call, bare):
        if isinstance(call.func, ast.Attribute):
            receiver = roots(call.func.value)
            kept = {name for name in receiver if name not in self.modules}
            if not bare:
                return set() if call.func.attr in PURE else kept
            settings = "rcParams" in ast.unparse(call.func)
            modules = {
                name
                for name in receiver - kept
                if self.modules[name] != PYPLOT or settings
            }
            return modules | (set() if call.func.attr in PURE else kept)
        if not isinstance(call.func, ast.Name):
            return set()
        name = call.func.id
        if name == "next":
            return set().union(*map(roots, call.args))
        if name in self.effects:
            return self.passed(call, self.effects[name] or {})
        if name in self.modules or hasattr(builtins, name) or name[0].isupper():
            return set()
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return {name}.union(*map(roots, given))  # nobody knows what is called

    def passed(self, call, changed):
        """The names in a call that stand where a function changes its parameter."""
        given, starred = set(), False
        for place, argument in enumerate(call.args):
            starred = starred or isinstance(argument, ast.Starred)
            if place in changed or (starred and len(changed) > 1):
                given |= roots(argument)
        for keyword in call.keywords:
            if keyword.arg in changed:
                given |= roots(keyword.value)
        return given | set(changed.get("", ()))

    def changed_by(self, node):
        """The parameters that a function changes, by place and by name; "": globals."""
        if isinstance(node, ast.ClassDef):
            return {}
        names = [a.arg for a in [*node.args.posonlyargs, *node.args.args]]
        names += [a.arg for a in node.args.kwonlyargs]
        body = [part for line in node.body for part in ast.walk(line)]
        changed = self.changes(body)
        stored = stored_in(body)
        for targets, value in handed(body):  # `ax = ax or …` hands a parameter on
            if any(roots(target) & changed for target in targets):
                changed = changed | roots(value) - self.modules.keys()
        found = {"": changed - set(names) - stored}
        for place, name in enumerate(names):
            if name in changed:
                found[place] = found[name] = True
        return found


def roots(node):
    """The names whose objects an expression is, or is a part of."""
    match node:
        case ast.Name():
            return {node.id}
        case ast.Attribute() | ast.Subscript() | ast.Starred():
            return roots(node.value)
        case ast.List() | ast.Tuple() | ast.Set():
            return set().union(*map(roots, node.elts))
        case ast.Dict():
            return set().union(*map(roots, node.values))
        case ast.IfExp():
            return roots(node.body) | roots(node.orelse)
        case ast.BoolOp():
            return set().union(*map(roots, node.values))
        case ast.Call(func=ast.Attribute()):
            return roots(node.func.value)
        case ast.Call(func=ast.Name(id="zip" | "enumerate" | "list" | "iter")):
            return set().union(*map(roots, node.args))
    return set()


def handed(nodes):
    """Where objects get another name: the targets, and what they are taken from."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield node.targets, node.value
        if isinstance(node, ast.For):
            yield [node.target], node.iter


def stored_in(nodes):
    """The names that are assigned to."""
    names = [n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)]
    return {n.id for n in names if not isinstance(n.ctx, ast.Load)}


def bound_inside(node):
    """Names that only comprehensions and lambdas of a statement know."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.comprehension):
            found |= {n.id for n in ast.walk(part.target) if isinstance(n, ast.Name)}
        if isinstance(part, ast.Lambda):
            found |= {a.arg for a in ast.walk(part.args) if isinstance(a, ast.arg)}
    return found


def free(function):
    """Names that a function takes from outside when it is called."""
    nodes = [n for part in function.body for n in ast.walk(part)]
    names = [n for n in nodes if isinstance(n, ast.Name)]
    own = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
    own |= {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    own |= {a.arg for n in nodes if isinstance(n, ast.Lambda) for a in n.args.args}
    return {n.id for n in names} - own


@cache
def module_scope(name):
    """A module of the book; `missing` has what of it needs PyTorch, and why."""
    text = Path(find_spec(name).origin).read_text(encoding="utf-8")
    chapter = Chapter([text])
    chapter.scope.missing = chapter.missing
    return chapter.scope


class Statement(NamedTuple):
    """A top-level statement of a cell; `lacks` is what a page has not, or None."""

    cell: int
    node: ast.stmt
    facts: Facts
    lacks: str | None


class Chapter:
    """The code cells of a chapter, and which statements each of them needs."""

    def __init__(self, sources):
        self.sources = list(sources)
        self.scope, self.missing = Scope(), {}  # name -> what it lacks
        self.statements = []
        self.broken = set()  # cells that are no Python
        for number, source in enumerate(self.sources):
            try:
                nodes = ast.parse(source).body
            except SyntaxError:
                self.broken.add(number)
                continue
            for node in nodes:
                facts = self.scope.facts(node)
                self.statements.append(
                    Statement(number, node, facts, self.lacks(node, facts))
                )

    def lacks(self, node, facts):
        """What a statement lacks; what it defines or changes lacks it, too."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in node.names:
                alias = name.asname or name.name.partition(".")[0]
                module = name.name if isinstance(node, ast.Import) else node.module
                home = module.partition(".")[0]
                lost = TORCH if home == TORCH else MODEL if home in MODELS else None
                if module in OURS and isinstance(node, ast.ImportFrom):
                    lost = module_scope(module).missing.get(name.name)
                self.note({alias}, lost)
            return None
        used = facts.reads | facts.late
        lost = {self.missing[name] for name in used if name in self.missing}
        reason = MODEL if MODEL in lost else TORCH if lost else None
        if reason:
            changed = facts.changes - self.scope.modules.keys()
            self.note(facts.binds | changed, reason)
        else:
            self.note(facts.binds, None)
        return reason

    def note(self, names, lost):
        for name in names:
            self.missing.pop(name, None)
            if lost:
                self.missing[name] = lost

    def needed(self, number):
        """The statements that a cell needs, its own included, in their order."""
        late, chosen = set(), []
        while True:
            need, chosen = set(late), []
            for one in reversed([s for s in self.statements if s.cell <= number]):
                reads, _, binds, changes = one.facts
                if one.cell < number and not (binds | changes) & need:
                    continue
                need = (need - binds) | reads | changes
                chosen.append(one)
            found = late.union(*(one.facts.late for one in chosen))
            if found == late:
                return chosen[::-1]
            late = found

    def why_not(self, number):
        """What a cell lacks in a page, or None."""
        if number in self.broken:
            return TORCH
        lost = {one.lacks for one in self.needed(number)} - {None}
        return MODEL if MODEL in lost else TORCH if lost else None

    def above(self, number):
        """The cells above that a cell needs."""
        return sorted({one.cell for one in self.needed(number)} - {number})

    def program(self, number):
        """What to run: pairs of cell and source; lines that are left out are empty."""
        parts = []
        for cell in self.above(number):
            lines = self.sources[cell].splitlines()
            kept = [""] * len(lines)
            for one in self.needed(number):
                if one.cell == cell:
                    decorators = getattr(one.node, "decorator_list", [])
                    first = min(n.lineno for n in [one.node, *decorators]) - 1
                    kept[first : one.node.end_lineno] = lines[
                        first : one.node.end_lineno
                    ]
            parts.append((cell, "\n".join(kept)))
        return [*parts, (number, self.sources[number])]


class Absent(types.ModuleType):
    """Something of PyTorch: it can be imported and named, and not used."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        whole = f"{self.__name__}.{name}"
        if name[0].isupper():
            return type(name, (), {"__init__": lambda *_, **__: absent(whole)})
        return Absent(whole)

    def __call__(self, *_, **__):
        absent(self.__name__)


def absent(name):
    raise ModuleNotFoundError(
        f"{name} needs PyTorch, which this page does not have; the notebook does"
    )


class WithoutTorch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a PyTorch of which nothing can be used."""

    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name.partition(".")[0] == TORCH else None

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module):
        pass


def run(job):
    """Run a cell of a chapter after what it needs.

    job: JSON with "sources", all code cells, "number", the cell, and "home", the
    address of the folder that the data of the chapters are in.
    Returns JSON: "outputs" of the cell, each with "text", "error" (a traceback) or
    "figure" (PNG in base64), and "at": the cell above that failed, or null.
    """
    from autograder.notebook.cells import Notebook

    job = json.loads(job)
    number = job["number"]
    if not any(isinstance(finder, WithoutTorch) for finder in sys.meta_path):
        sys.meta_path.insert(0, WithoutTorch())
    program = Chapter(job["sources"]).program(number)
    for name in DATA.findall("\n".join(source for _, source in program)):
        bring(name, job["home"])
    prepare(program, job["home"])

    class Drawing(Notebook):
        """Figures are drawn twice, as in Jupyter: the layout has settled then."""

        def _draw(self, figure):
            figure.canvas.draw()
            super()._draw(figure)

    notebook = Drawing()
    outputs, failed = [], None
    for cell, source in program:
        outputs, failed = notebook.run(cell + 1, source)
        if failed:
            break
    shown = [part for output in outputs for part in told(output)]
    at = cell if failed and cell != number else None
    return json.dumps({"outputs": shown, "at": at})


def prepare(program, home):
    """Settings and seeds as at a start, and figures with 200 dots an inch."""
    random.seed(0)
    if "numpy" in sys.modules:
        import numpy as np

        np.random.seed(0)
        np.set_printoptions(precision=8, suppress=False)
    if any(DRAWS.search(source) for _, source in program):
        import matplotlib

        matplotlib.use("agg")
        import matplotlib.pyplot as plt

        plt.close("all")
        bring("matplotlibrc", home)
        matplotlib.rc_file("matplotlibrc")  # how the book's figures look
        matplotlib.rcParams["savefig.dpi"] = 200


def bring(name, home):
    """Put a file of the chapters where their code reads it."""
    path = Path(name)
    if path.exists():
        return
    from pyodide.code import run_js

    request = run_js("new XMLHttpRequest()")
    request.open("GET", f"{home}{path.name}", False)
    request.overrideMimeType("text/plain; charset=x-user-defined")  # bytes, as they are
    request.send()
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(ord(sign) & 255 for sign in request.responseText))


def told(output):
    """An output for the page."""
    match output:
        case ("figure", _, content):
            yield {"figure": base64.b64encode(content).decode()}
        case ("error", _, _, lines):
            yield {"error": "\n".join(lines)}
        case _:  # printed, displayed, a result or a note
            yield {"text": output[-1]}
