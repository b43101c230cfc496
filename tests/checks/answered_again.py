"""The keys of questions about one's own code, found by another program.

It reads a question as a student does: its words and the code, and nothing else. The
code's text is changed, so that it says what it sees; each answer runs in a process of
its own. Nothing of ``autograder.code_questions`` is used or loaded.

A call is known by its description alone. Where several calls fit it, all have to give
the same choice.
"""

import ast
import contextlib
import copy
import functools
import importlib
import inspect
import io
import json
import os
import random
import re
import signal
import sys
import warnings

import numpy as np

from autograder.checks.question import failure_of, first_line

SECONDS = 60  # for an answer
CALL = re.compile(r"`(\w+)\((.*?)\)`(?: of `(\w+)\((.*?)\)`)?(?:, with (.*))?", re.S)
PLACE = re.compile(
    r"In the call (.*): what is (.*?) of `(.*)` (after|in) this line", re.S
)

CHANGE = re.compile(
    r"Line (\d+) of your code is\n\n    (.*?)\n\nSuppose that (.*)", re.S
)
RESULT = re.compile(r"What would change in the result of (.*)\?", re.S)
SHAPE = re.compile(r"`(\w+)` (?:of shape )?(\([\d, ]*\))")
TYPE = re.compile(r"`(\w+)` of type (\w+)")
VALUE = re.compile(r"`(\w+) = (.*?)`")

AROUND = """def around_(called):
    def noted(*args, **named):
        return called(args, named)
    return noted
"""


# ---- programs


def notebook(catalog, question):
    """The names of a notebook whose other answers are right."""
    names = dict(catalog.prelude_names)
    for other, reference in catalog.references.items():
        if other != question and other not in names and not other.startswith("check_"):
            exec(compile(reference.code, other, "exec", dont_inherit=True), names)
    return names


class Program:
    """A source that has been run; it notes its calls, and what it is asked to see."""

    def __init__(self, source, name, names):
        self.name, self.calls, self.depth, self.made = name, [], 0, {}
        space = dict(names) | {"see_": self.see, "look_": self.look}
        exec(AROUND, space)  # checks look at what a function sees
        self.around = space["around_"]
        exec(compile(source, "<text>", "exec", dont_inherit=True), space)
        self.answer = space[name]
        if isinstance(self.answer, type):
            for method, function in list(vars(self.answer).items()):
                if inspect.isfunction(function):
                    setattr(self.answer, method, self.noted(function))
        else:
            self.answer = self.noted(self.answer)

    def see(self, value):
        """Keep what passes here."""
        if self.calls and self.depth:
            self.calls[-1]["seen"].append(kept(value))
        return value

    def look(self, text, names, globals_):
        """Keep the value of an expression."""
        if self.depth and not self.calls[-1]["seen"]:
            with contextlib.suppress(Exception):
                self.see(eval(text, globals_ | names))

    def noted(self, function):
        """A function whose calls from outside are kept: arguments, sights, result."""
        signature = inspect.signature(function)
        name = getattr(function, "__name__", self.name)

        def called(args, named):
            if self.depth:
                return function(*args, **named)
            with contextlib.suppress(TypeError):
                bound = signature.bind(*args, **named)
                bound.apply_defaults()
                given = dict(bound.arguments)
                own = given.pop("self", None)
                if name == "__init__":
                    self.made[id(own)] = kept(given)
                    return function(*args, **named)
                call = {
                    "name": name,
                    "owner": type(own).__name__ if own is not None else "",
                }
                call |= {"given": kept(given), "own": kept(own), "seen": []}
                call |= {"made": self.made.get(id(own), {}), "raised": True}
                self.calls.append(call)
            self.depth += 1
            try:
                result = function(*args, **named)
                self.calls[-1] |= {"result": kept(result), "raised": False}
                return result
            finally:
                self.depth -= 1

        return functools.update_wrapper(self.around(called), function)

    def tried(self, check):
        """Whether a check fails, and the calls that it made."""
        self.calls, self.depth = [], 0
        settle()
        with contextlib.redirect_stdout(io.StringIO()):
            failed = failure_of(check, self.answer) is not None
        return failed, self.calls

    def again(self, call, **changed):
        """A call once more, with other arguments; None where it raises."""
        function, own = self.answer, copy.deepcopy(call["own"])
        if own is not None:
            function = functools.partial(getattr(self.answer, call["name"]), own)
        settle()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                return [function(**copy.deepcopy(call["given"]) | changed)]
        except (Exception, SystemExit):
            return None


def settle():
    random.seed(1)
    np.random.seed(1)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(1)


def kept(value):
    """A copy, which does not change with what comes after."""
    if hasattr(value, "detach"):
        return value.detach().clone()
    if isinstance(value, tuple | list):
        return type(value)(map(kept, value)) if type(value) in (tuple, list) else value
    if isinstance(value, dict):
        return {name: kept(one) for name, one in value.items()}
    with contextlib.suppress(Exception):
        return copy.deepcopy(value)
    return value


# ---- the text of a program, changed


def statements(source, numbers):
    """The innermost statements that stand in these lines; lambdas that have a name."""
    for number in numbers:
        inside = [
            node
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.stmt) and node.lineno <= number <= node.end_lineno
        ]
        yield number, max(inside, key=lambda node: node.lineno)


def inserted(source, places):
    """A source with texts at (line, byte) places."""
    lines = [line.encode() for line in source.split("\n")]
    for line, column, text in sorted(places, reverse=True):
        old = lines[line - 1]
        lines[line - 1] = old[:column] + text.encode() + old[column:]
    return b"\n".join(lines).decode()


def seeing(source, numbers, name, after):
    """The source with a note of a name after these lines, or of an expression there."""
    places = []
    for number, node in statements(source, numbers):
        if after:
            places.append((node.end_lineno, node.end_col_offset, f"; see_({name})"))
            continue
        line = source.split("\n")[number - 1]
        wrapped = line.replace(name, f"see_({name})")
        if line.count(name) == 1 and means(source, number, wrapped, name):
            at = len(line.partition(name)[0].encode())
            places += [(number, at + len(name.encode()), ")"), (number, at, "see_(")]
            continue
        look = f"look_({name!r}, locals(), globals())"
        body = getattr(getattr(node, "value", None), "body", None)
        if isinstance(body, ast.expr):  # of a lambda
            places.append((body.end_lineno, body.end_col_offset, ")][1]"))
            places.append((body.lineno, body.col_offset, f"[{look}, ("))
        else:
            indent = " " * node.col_offset
            simple = not hasattr(node, "body")
            text = f"{look}; " if simple else f"{look}\n{indent}"
            places.append((node.lineno, node.col_offset, text))
    return inserted(source, places)


def means(source, number, line, name):
    """Whether a note around the text of an expression changes nothing else."""
    lines = source.split("\n")
    lines[number - 1] = line
    with contextlib.suppress(SyntaxError):
        tree = ast.parse("\n".join(lines))
        return ast.dump(Unwrapped().visit(tree)) == ast.dump(ast.parse(source))
    return False


class Unwrapped(ast.NodeTransformer):
    def visit_Call(self, node):
        self.generic_visit(node)
        noted = isinstance(node.func, ast.Name) and node.func.id == "see_"
        return node.args[0] if noted else node


def changed(source, text):
    """The source with the change that a question supposes."""
    number, old, supposed = CHANGE.match(text).groups()
    left_out = supposed.startswith("it were left out")
    line = source.split("\n")[int(number) - 1]
    assert line.strip() == old.strip(), (line, old)
    return with_line(source, number, None if left_out else supposed.split("\n\n")[1])


def with_line(source, number, new):
    """The source with another line; None: with one less."""
    lines = source.split("\n")
    line = lines[int(number) - 1]
    indent = line[: len(line) - len(line.lstrip())]
    lines[int(number) - 1] = indent + (new or "pass").strip()
    return "\n".join(lines)


# ---- the words of a call


def fits(words, call, shapes=True):
    """Whether a call can be meant by these words; ``shapes``: as they are there."""
    name, inside, owner, made, beside = CALL.fullmatch(words).groups()
    if (name, owner or "") != (call["name"], call["owner"]):
        return False
    if owner and not all_near(made, call["made"].values()):
        return False
    beside, given = beside or "", call["given"]
    told = {n: ("shape", ast.literal_eval(s)) for n, s in SHAPE.findall(beside)}
    told |= {n: ("type", s) for n, s in TYPE.findall(beside)}
    told |= {n: ("value", s) for n, s in VALUE.findall(beside)}
    tree = ast.parse(f"f({inside})", mode="eval").body
    named = dict(zip(given, tree.args, strict=False))
    named |= {keyword.arg: keyword.value for keyword in tree.keywords}
    if any(given[name] is not None for name in given.keys() - named.keys()):
        return False
    for name, node in named.items():
        value = given.get(name)
        if not isinstance(node, ast.Name):
            if not near(ast.unparse(node), value):
                return False
        elif shapes:
            kind, what = told[name]
            fit = {
                "shape": lambda v, s: tuple(getattr(v, "shape", ("none",))) == s,
                "type": lambda v, s: type(v).__name__ == s,
                "value": lambda v, s: near(s, v),
            }[kind]
            if not fit(value, what):
                return False
    return True


def all_near(text, values):
    """Whether the numbers in a text are among these values, in this order."""
    values = [v for v in values if v is None or isinstance(v, int | float | list)]
    told = ast.literal_eval(f"[{text}]")
    return len(told) == len(values) and all(
        near(repr(t), v) for t, v in zip(told, values, strict=True)
    )


def near(text, value):
    """Whether a value reads so, to three decimals."""
    told = eval(text, {"inf": np.inf, "nan": np.nan})
    if told is None or value is None:
        return told is value
    try:
        told, value = np.asarray(told), numbers(value)
        room = (1e-3, 6e-4) if value.dtype.kind == "f" else (0, 0)
        return told.shape == value.shape and bool(
            np.allclose(told, value, *room, equal_nan=True)
        )
    except (TypeError, ValueError):
        return False


def numbers(value):
    """An array or a number as NumPy has it."""
    if hasattr(value, "detach"):
        value = value.detach()
        value = value if value.dtype.is_floating_point is False else value.double()
    return np.asarray(value)


def flat(result):
    return [
        part
        for one in result
        for part in (flat(one) if isinstance(one, tuple | list) else [one])
    ]


# ---- the kinds of questions


class Reader:
    """Somebody who has a question, the code, and a machine to run it on."""

    def __init__(self, question, source, names):
        self.question, self.source, self.names = question, source, names

    def program(self, source):
        return Program(source, self.question.name, self.names)

    def calls(self, program, words, **more):
        """The calls of all visible checks that these words can mean."""
        for check in self.question.checks:
            _, calls = program.tried(check)
            for index, call in enumerate(calls):
                if fits(words, call, **more):
                    yield check, index, call

    def right(self, asked):
        """The choices that are right; None where they cannot be found this way."""
        every = getattr(self, f"of_{asked['kind']}")(asked)
        found = [one for one in every if one is not None]
        return sorted(set().union(*found)) if found else None

    def lines(self, text):
        """The numbers of the lines that read like the last one of the question."""
        line = text.split("\n\n    ")[-1].strip()
        every = enumerate(self.source.split("\n"), 1)
        return [number for number, one in every if one.strip() == line]

    def seen(self, asked):
        words, what, name, place = PLACE.match(asked["text"]).groups()
        source = seeing(self.source, self.lines(asked["text"]), name, place == "after")
        for _, _, call in self.calls(self.program(source), words):
            yield what, (call["seen"] or [None])[0]

    def of_shape(self, asked):
        for _, value in self.seen(asked):
            shape = getattr(value, "shape", None)
            yield None if shape is None else {str(tuple(shape))}

    def of_value(self, asked):
        for what, value in self.seen(asked):
            if value is not None:
                value = numbers(value)
                row = re.match(r"row (\d+)", what)
                value = value[int(row[1])] if row else value
                yield {one for one in asked["choices"] if near(one, value)}

    def of_change(self, asked):
        words = RESULT.search(asked["text"])[1]
        before = self.program(self.source)
        other = self.program(changed(self.source, asked["text"]))
        for check, index, call in list(self.calls(before, words)):
            if call["raised"]:
                continue
            _, calls = other.tried(check)
            if index < len(calls) and fits(words, calls[index]):
                after = calls[index]
                result = None if after["raised"] else [after["result"]]
            elif call["own"] is None:
                result = other.again(call)
            else:
                continue
            yield {ending([call["result"]], result)}

    def of_fails(self, asked):
        program = self.program(changed(self.source, asked["text"]))
        checks = self.question.checks
        fails = "the only one that fails?" in asked["text"]
        yield {first_line(c) for c in checks if program.tried(c)[0] == fails}


def ending(before, after):
    """What a change does to a result, in the words of the choices."""
    if after is None:
        return "An error is raised."
    pairs = list(zip(flat(before), flat(after), strict=True))
    if any(np.shape(a) != np.shape(b) for a, b in pairs):
        return "The result has a different shape."
    close = all(
        np.allclose(numbers(a), numbers(b), 1e-5, 1e-6, equal_nan=True)
        for a, b in pairs
    )
    kinds = [tuple(str(getattr(x, "dtype", type(x))) for x in pair) for pair in pairs]
    if close and all(a == b for a, b in kinds):
        return "The result is the same."
    if close:
        return "The result has the same values but a different dtype."
    return "The result has the same shape but different values."


# ---- a process for each answer


def main():
    """Answer the questions on standard input, one list for each answer."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    drawn = np.random.default_rng  # what checks draw, they draw again
    np.random.default_rng = lambda seed=None: drawn(0 if seed is None else seed)
    rows, names, found = json.load(sys.stdin), {}, []
    for row in rows:
        package = importlib.import_module(f"autograder.checks.{row['package']}")
        where = row["package"], row["name"]
        if where not in names:
            names[where] = notebook(package.assignment.catalog, row["name"])
        question = package.assignment.questions[row["name"]]
        found.append(apart(lambda: read(row, question, names[where])))  # noqa: B023
    taken = "autograder.code_questions"
    assert not [name for name in sys.modules if name.startswith(taken)]
    print(json.dumps(found))


def read(row, question, names):
    reader = Reader(question, row["code"], names)
    passing = reader.program(row["code"])
    assert not any(passing.tried(check)[0] for check in question.checks)
    return [reader.right(asked) for asked in row["asked"]]


def apart(work):
    """What comes of some work in a process of its own; a text where it fails."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        try:
            said = json.dumps(work())
        except BaseException as error:
            said = json.dumps(f"{type(error).__name__}: {error}")
        with open(into, "w") as file:
            file.write(said)
        os._exit(0)
    os.close(into)
    with open(out) as file:
        said = file.read()
    os.waitpid(child, 0)
    return json.loads(said or '"it did not come to an end"')


if __name__ == "__main__":
    main()
