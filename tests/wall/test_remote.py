"""Remote objects behave as local ones: the same test cell, here and behind the wall."""

import re

import pytest
from corpus import text_of
from shared import drawn

from autograder.checks import multi_head
from autograder.checks.published import books_of, module_file
from autograder.tools.judging import catalog_of, packages
from autograder.wall import Cell, Grader, Limits

pytestmark = pytest.mark.best_wall
SHARES = 20  # into which the entries of a catalog are dealt

STUDENT = """
import numpy as np, torch, warnings
from torch import nn

values = {"a": [1, 2.5, None], "b": (True, "text")}
matrix = np.arange(6.0).reshape(2, 3)
double = lambda x: 2 * x
def zero(x):
    x[...] = 0
    return x
def push(items):
    items.append(len(items))
def draw(rng):
    return rng.normal(size=2)
def fail(kind):
    raise kind_of(kind)
def kind_of(kind):
    return {"v": ValueError("bad"), "n": NotImplementedError(), "k": KeyError("q"),
            "own": type("Own", (Exception,), {})("mine")}[kind]
def undefined():
    return never_defined
def warns(x):
    warnings.warn("old", DeprecationWarning)
    return x
def count(n):
    for i in range(n):
        yield i
class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.inner = nn.Linear(n, n, bias=False)
        self.drop = nn.Dropout(0.5)
    def forward(self, x):
        return self.drop(self.inner(x)), x
class Bag:
    size = 3
    def __len__(self): return self.size
    def __getitem__(self, i): return i * 10
    def __bool__(self): return False
"""

SAME = [
    "values",
    "matrix, matrix.dtype, matrix.flags.writeable",
    "double(3), double('ab'), double(x=1.5)",
    "double(np.ones(2, np.float32)).dtype",
    "[zero(x), x] if (x := np.ones(3)) is not None else 0",
    "[zero(x), x] if (x := torch.ones(3)) is not None else 0",
    "[push(y), push(y), y] if (y := [5]) else 0",
    "[draw(rng), rng.normal()] if (rng := np.random.default_rng(3)) else 0",
    "list(count(4)), sum(count(3))",
    "len(Bag()), bool(Bag()), Bag()[4], Bag.size",
    "type(matrix).__name__, type(Bag()).__name__",
    "hasattr(Bag(), 'size'), hasattr(Bag(), 'none'), getattr(Bag(), 'none', 7)",
    "(n := Net()).load_state_dict({'inner.weight': torch.eye(2)}) and 0, "
    "n.eval() and 0, n(torch.ones(1, 2))[0].detach(), "
    "n.inner.weight.detach(), n.training",
    "sorted(Net().state_dict()), sum(p.numel() for p in Net(3).parameters())",
    "type(Net().inner.weight).__name__, [k for k, _ in Net().named_parameters()]",
    "(n := Net()).train() and 0, n.drop.p, n.drop.training",
    "Net().inner.weight.requires_grad, Net()(torch.ones(1, 2))[0].requires_grad",
    "torch.equal((n := Net()).eval()(n.inner.weight)[1], n.inner.weight)",
    "gradients((n := Net().eval()), torch.ones(1, 2), weights=torch.ones(1, 2))"
    "['inputs'][0].shape",
    "(b := Bag()) == b, Bag() == Bag(), b in [b]",
    "warned(warns, 4)",
    "raised(fail, 'v'), raised(fail, 'n'), raised(fail, 'k'), raised(double)",
    "raised(undefined), raised(Bag().nothing) if hasattr(Bag(), 'nothing') else 0",
    "double(slice(1, 2)) if 0 else matrix[slice(0, 1)]",
]
HELPERS = """
import warnings, numpy as np, torch
from autograder.torch_support.gradients import gradients
def raised(f, *args):
    try:
        return f(*args)
    except Exception as error:
        return type(error).__name__, str(error), getattr(error, "name", None)
def warned(f, *args):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        value = f(*args)
    return value, [(w.category.__name__, str(w.message)) for w in seen]
"""


@pytest.fixture(scope="module")
def both(grader):
    """repr of each expression, evaluated here and behind the wall."""
    cells = [Cell("student", STUDENT)]
    for i, expression in enumerate(SAME):
        source = f"{HELPERS}\nraise AssertionError(repr(({expression})))"
        cells.append(Cell(f"t{i}", source, f"test_{i}", 1.0))
    there = grader.judge(cells, profile="torch")
    assert there.held is None
    here = {}
    exec(STUDENT, here)
    exec(HELPERS, here)
    return here, there


@pytest.mark.parametrize("i", range(len(SAME)), ids=lambda i: SAME[i][:40])
def test_an_expression_means_the_same_here_and_there(both, i):
    here, there = both
    said = there.results[f"test_{i}"].message.removeprefix("  seen:").strip()
    assert said == repr(eval(SAME[i], here))


@pytest.mark.parametrize("base", ["Exception", "ValueError"])
def test_an_exception_of_the_students_own_kind_is_of_the_kind_it_extends(run, base):
    test = f"try:\n    f()\nexcept {base} as error:\n    assert not str(error), error"
    result, _ = run(f"def f(): raise type('Own', ({base},), {{}})('mine')", test=test)
    assert "Own: mine" in result.message


@pytest.mark.parametrize("kind", ["AssertionError", "ValueError", "Own"])
def test_a_test_of_plain_asserts_does_not_tell_its_inputs_to_the_student(run, kind):
    student = f"class Own(Exception): pass\ndef f(x): raise {kind}(x)"
    result, seen = run(student, test="assert f('a secret') == 1, 'f(x) has to be 1'")
    assert result.score == 0 and "secret" not in result.message + text_of(seen)
    result, _ = run("def f(x): return x", test="assert f(2) == 1, 'f(x) has to be 1'")
    assert "f(x) has to be 1" in result.message


ARRAYS = """import numpy as np
class Arrays:
    def __iter__(self):
        while True: yield np.zeros(1_500_000)
    def __len__(self): return 10**9
    def __getitem__(self, i): return np.zeros(1_500_000)
def f(): return Arrays()"""


def test_arrays_without_end_are_cut_off_at_the_questions_budget(run):
    test = """try:
    for i, _ in enumerate(f()): pass
except BaseException as error:
    assert i < 0, f"{error}, {i + 1} of them"
"""
    result, _ = run(ARRAYS, test=test)
    said = re.search(r"gave more than 256 MB of results, (\d+) of them", result.message)
    assert said and 15 <= int(said[1]) <= 25


@pytest.mark.parametrize("make", ["np.asarray(f())", "np.allclose(f(), 0.0)"])
def test_an_object_of_the_student_is_never_made_an_array_here(run, make):
    result, _ = run(ARRAYS, test=f"import numpy as np\n{make}")
    assert "there is a `Arrays` where an array was expected" in result.message


def test_a_judge_has_a_memory_limit_of_its_own(run):
    result, _ = run("def f(): return 1", test="f(); bytearray(3 << 30)")
    assert result.score == 0 and "MemoryError" in result.message


def test_settings_of_the_students_process_do_not_reach_checks(run):
    """A warning that a check looks for comes, whatever the cells have switched off."""
    student = """import numpy as np, warnings
np.seterr(all='ignore'); warnings.simplefilter('ignore')
def f(): return np.log(np.zeros(1))"""
    result, _ = run(
        student, test="from autograder.checks import expect\nexpect.quiet_call(f)"
    )
    assert "gave a RuntimeWarning" in result.message


def test_the_judges_objects_do_not_cross(run):
    result, _ = run("def f(x): return x", test="f(lambda: 1)")
    assert result.score == 0


def test_a_module_of_the_student_is_never_used_for_a_verdict(run):
    _, seen = run("import statistics", "f = 1", test="statistics.mean([f])")
    assert seen.held == "the test uses the module `statistics` without importing it"


def test_objects_know_their_place_in_messages(run, wall, graders):
    student = "class A:\n    def f(self):\n        while True: pass\na = A()"
    limits = Limits(question_seconds=0.5, patience=60.0)
    result, _ = run(student, test="a.f()", by=graders(wall, limits))
    assert "`a.f` ran longer than 0.5 s" in result.message


# ---------------------------------------------------------------- the course


# what an object does to others that are its own crosses as copies, and an array of
# objects not at all: some ways to make these mistakes get no name then, rather than
# a guess
NAMED_HERE_AT_LEAST = {
    "causal_mask-objects",
    "KVCache-list",
    "KVCache-shifts-in-place",
    "EncoderLayer-in-place",
    "DecoderLayer-in-place",
    "load_decoder_layer-tensors-rewritten",
}


PACKAGES = {package.assignment.name: package for package in packages()}


@pytest.mark.parametrize(
    "part", drawn([f"{short} {n}" for short in PACKAGES for n in range(SHARES)], 3)
)
def test_every_entry_of_the_catalog_is_judged_behind_the_wall_as_here(
    best_grader, part, verdicts
):
    short, share = part.split()
    package = PACKAGES[short]
    catalog = catalog_of(package)
    cells, local = [Cell("prelude", catalog.prelude)], {}
    every = [*catalog.misconceptions, *catalog.variants, *catalog.styles]
    for number, entry in enumerate(every[int(share) :: SHARES]):
        if entry.question.startswith("check_"):  # see test_hunt.py
            continue
        key = f"{entry.id} {number}"
        points = getattr(package, entry.question).points
        test = f"""from autograder.checks import {short} as check
check.{entry.question}({entry.question})
check.hidden.{entry.question}({entry.question})"""
        cells.append(Cell(key, entry.code))
        cells.append(Cell(f"test {key}", test, key, points))
        cells.append(Cell(f"again {key}", catalog.prelude))
        local[key] = verdicts.of(package, entry)
    books = books_of([catalog.prelude])
    files = {f"{book}.py": module_file(book).read_bytes() for book in books}
    seen = best_grader.judge(cells, profile="torch", files=files)
    assert seen.held is None
    there = {
        id: (result.score, result.misconception) for id, result in seen.results.items()
    }
    here = {
        id: (points, there[id][1] and named if named in NAMED_HERE_AT_LEAST else named)
        for id, (points, _, named) in local.items()
    }
    assert there == here


def test_another_default_dtype_costs_no_points_behind_the_wall_either(run):
    catalog = catalog_of(multi_head)
    module = catalog.references["MultiHeadAttention"]
    result, _ = run(
        catalog.prelude + "torch.set_default_dtype(torch.float64)",
        module.code,
        test="""from autograder.checks import multi_head as check
check.MultiHeadAttention(MultiHeadAttention)
check.hidden.MultiHeadAttention(MultiHeadAttention)""",
        points=12.0,
        profile="torch",
    )
    assert (result.score, result.message) == (12, None)


def test_random_numbers_go_on_where_the_cells_left_them(run):
    result, _ = run(
        "import random\nrandom.seed(7)\nfirst, draw = random.random(), random.random",
        test="import random\nown = random.Random(7)\n"
        "assert (first, draw()) == (own.random(), own.random())",
    )
    assert result.score == 1, result.message


def test_random_numbers_without_a_seed_are_the_same_in_every_run(run):
    draw = "import random\ndef draw(): return random.random()"
    told = {run(draw, test="float(draw())")[0].score for _ in range(3)}
    assert len(told) == 1


def test_a_set_of_words_has_the_same_order_in_every_run(grader, wall):
    words = Cell("cell", "print(*set(__import__('keyword').kwlist))")
    with Grader(wall=wall) as other:  # another program
        one, two = (by.judge([words]).outputs["cell"][0] for by in (grader, other))
    assert one["text"] == two["text"]


@pytest.mark.parametrize(
    ("cells", "score"),
    [
        (["def f(x: Undefined): return 1"], 0),  # a NameError, as in a notebook
        (["from __future__ import annotations", "def f(x: Undefined): return 1"], 1),
        (["def f(x: int): return 1", "assert f.__annotations__ == {'x': int}"], 1),
    ],
)
def test_annotations_mean_what_they_mean_in_a_notebook(run, cells, score):
    result, transcript = run(*cells, test="assert f(3) == 1")
    assert result.score == score
    assert (transcript.outputs[f"cell-{len(cells)}"] == []) == bool(score)
