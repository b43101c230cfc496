"""The tests are tested: every misconception loses points and is named, every correct
style earns all points, and the reference and the stub get what they deserve."""

import contextlib
import copy
import importlib
import inspect
import pickle
import re
import warnings

import numpy as np
import pytest
import torch

from autograder import registry
from autograder.checks import attention, encoder_layer, masking
from autograder.checks.assignment import Assignment
from autograder.checks.entries import Style
from autograder.checks.failures import CheckFailed
from autograder.checks.hunt import Hunt
from autograder.checks.outcomes import outcome
from autograder.checks.question import Hidden
from autograder.tools.judging import catalog_of, judge, packages
from benchmarks.feedback import defined

PACKAGES = packages()
LONG = re.compile(r"\d\.\d{7}")
QUESTIONS = [
    pytest.param(package, name, id=name)
    for package in PACKAGES
    for name in package.assignment.questions
]
EACH = pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.assignment.name)


def answers_to(package, question):
    """All entries about a question: right ones, then mistakes in every way."""
    catalog = catalog_of(package)
    return [*catalog.right(question), *catalog.every(question)]


@pytest.mark.parametrize("share", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(("package", "question"), QUESTIONS)
def test_a_misconception_loses_points_and_is_named(
    package, question, share, verdicts, seed
):
    """And its message, which feedback shows, holds no code of the hidden checks.

    The seed draws every other entry; `autograder try` and the long run take all.
    """
    full, hidden = getattr(package, question).points, getattr(package.hidden, question)
    code = [line.strip() for line in inspect.getsource(package.hidden).splitlines()]
    code = [line for line in code if len(line) > 12]
    for entry in catalog_of(package).every(question)[seed % share :: share]:
        points, message, named = verdicts.of(package, entry)
        assert points < full and named == entry.id, (entry.id, message)
        assert entry.diagnosis in message
        assert not LONG.search(message)  # nobody reads 0.6850000023841858
        assert not [line for line in code if line in message], entry.id
        if not isinstance(hidden, Hunt):
            # what passes all visible checks has a reason, and nothing else has one
            passes = "the visible checks pass" in message
            assert passes == bool(entry.unseen), entry.id


@pytest.mark.parametrize(("package", "question"), QUESTIONS)
def test_a_correct_style_gets_all_points_and_is_never_misnamed(
    package, question, verdicts
):
    catalog, full = catalog_of(package), getattr(package, question).points
    for style in catalog.right(question):
        assert verdicts.of(package, style)[:2] == (full, None), style.id
        assert catalog.diagnose(question, catalog.answer(style)) is None, style.id


@EACH
def test_an_untouched_stub_gets_nothing_and_hears_no_answer_yet(package):
    code = "def stub(*args, **kwargs):\n    raise NotImplementedError"
    names = dict(catalog_of(package).prelude_names)  # what the notebook gives
    exec(code, names)
    for name in package.assignment.questions:
        due = (0.0, f"{name}: no answer yet", None)
        assert judge(package, name, names["stub"]) == due


@EACH
def test_the_shares_of_a_question_make_one(package):
    for name, question in package.assignment.questions.items():
        hidden = getattr(package.hidden, name)
        assert isinstance(hidden, Hidden) and hidden.question is question
        if not isinstance(hidden, Hunt):  # whose shares are the mistakes it catches
            shares = [hidden.core, *(share for share, _ in hidden.checks)]
            assert sum(shares) == pytest.approx(1), name


ALONE = ("-shape-only", "-lengths-only", "-sum-only", "-quotient-only", "-one-head")


@EACH
def test_a_test_of_one_property_alone_earns_a_third_at_most(package, verdicts):
    catalog = catalog_of(package)
    for entry in [*catalog.misconceptions, *catalog.variants]:
        if entry.id.endswith(ALONE):
            assert verdicts.of(package, entry)[0] <= 4 / 3


def same_points(package, entry, seeds=range(1, 6)):
    """Whether an answer gets the same points each time, all of them if it is right."""
    answer = catalog_of(package).answer
    points = {judge(package, entry.question, answer(entry), n)[0] for n in seeds}
    full = getattr(package, entry.question).points
    return len(points) == 1 and (points == {full}) == isinstance(entry, Style)


@EACH
def test_the_same_code_gets_the_same_points(package, seed):
    """One answer of each assignment, another one in each run."""
    names = package.assignment.questions
    entries = [entry for name in names for entry in answers_to(package, name)]
    assert same_points(package, entries[seed % len(entries)])


@pytest.mark.long
@pytest.mark.parametrize(("package", "question"), QUESTIONS)
def test_the_same_code_gets_the_same_points_whichever_it_is(package, question):
    """Five seeds here, another one in each run above; `autograder try` takes more."""
    entries = answers_to(package, question)
    assert not [one.id for one in entries if not same_points(package, one)]


FROM_FIRST = "def {0}(scores{1}):\n    e = np.exp((scores - scores[0]){2})\n"
FROM_FIRST += "    return e / e.sum()"
CUT = "def entropy(w):\n    w = np.where(w > {}, w, 1.0)\n"
CUT += "    return -(w * np.log(w)).sum(-1)"
ONE = "def merge(a, b):\n    m, s, o = right(a, b)\n    m[..., 1:2] = a[0][..., 1:2]\n"
ONE += "    return m, s, o"
HEADS = "def ablate(model, tokens, layer, head):\n"
HEADS += "    return right(model, tokens, layer, min(head, 2))"


@pytest.mark.parametrize(
    ("package", "question", "code", "points"),
    [
        ("puzzles", "softmax_row", FROM_FIRST.format("softmax_row", "", ""), 0),
        ("puzzles", "temperature", FROM_FIRST.format("temperature", ", t", "/t"), 0),
        *[("puzzles", "entropy", CUT.format(w), 0) for w in (1e-3, 1e-5)],
        *[("scaling", "entropy", CUT.format(w), 3.2) for w in (0.02, 2e-4, 2e-5)],
        ("cost", "merge", ONE, 2.4),
        ("circuits", "ablate", HEADS, 4.55),
    ],
)
def test_what_a_card_promises_is_in_every_draw(package, question, code, points):
    """Such as a largest score that is not the first one, and each head of a model."""
    checks = registry.checks_of(package)
    catalog = catalog_of(checks)
    right = catalog.answer(catalog.references[question])
    names = {"np": np, "right": right} | catalog.prelude_names
    exec(code, names)
    found = {judge(checks, question, names[question], n)[0] for n in range(8)}
    assert found == {points}


@pytest.mark.parametrize(
    ("package", "question", "dtype"),
    [("cost", "merge", "np.float32"), ("generating", "decode_step", "float")],
)
def test_right_numbers_in_another_precision_lose_points(package, question, dtype):
    checks = registry.checks_of(package)
    code = catalog_of(checks).references[question].code + f"\nright = {question}\n"
    code += f"def {question}(*given):\n"
    code += f"    return tuple(part.astype({dtype}) for part in right(*given))"
    assert judge(checks, question, defined(checks, question, code))[0] == 4.5


def test_no_check_prints_a_warning_which_would_cost_all_points_in_nbgrader():
    """Neither of the answer nor of a known mistake that is compared with it."""
    catalog = catalog_of(masking)
    with warnings.catch_warnings(record=True) as printed:
        warnings.simplefilter("always")
        for entry in catalog.every("masked_softmax"):
            answer = catalog.answer(entry)
            with contextlib.suppress(CheckFailed):
                masking.masked_softmax(answer)
                masking.hidden.masked_softmax(answer)
    assert printed == []


class Table:
    """Right for the inputs that it has seen in the visible checks, and for no other."""

    def __init__(self, answer):
        self.answer, self.known, self.open = answer, {}, True

    def __call__(self, *args, **kwargs):
        key = pickle.dumps((args, sorted(kwargs.items())))
        if self.open:
            try:
                self.known[key] = copy.deepcopy(self.answer(*args, **kwargs))
            except ValueError as error:
                self.known[key] = error
        found = copy.deepcopy(self.known.get(key, np.zeros(1)))
        if isinstance(found, ValueError):
            raise found
        return found


TABLES = ["attention", "masking", "positional_encoding", "scaling"]


@pytest.mark.parametrize(
    ("package", "question"),
    [
        param
        for param in QUESTIONS
        if param.values[0].assignment.name in TABLES
        and not param.id.startswith(("plot", "check_"))  # which get no numbers
    ],
)
def test_a_table_of_the_visible_inputs_earns_nothing(package, question):
    catalog = catalog_of(package)
    table = Table(catalog.answer(catalog.references[question]))
    getattr(package, question)(table)
    assert len(table.known) > 0
    table.open = False
    score, message, _ = judge(package, question, table, 1)
    assert (
        score == 0
        and "no points for an answer that is right for the visible inputs only"
        in message
    )


def test_the_two_numbers_of_a_card_earn_nothing():
    def count_parameters(d_model, d_ff):
        return 16 if d_model == 1 else 49_984

    score, message, named = judge(encoder_layer, "count_parameters", count_parameters)
    assert (score, named) == (0, None) and "visible inputs only" in message


def test_a_known_mistake_keeps_the_core_though_no_hidden_check_holds(monkeypatch):
    monkeypatch.setattr(masking.causal_attention, "checks", [])  # nobody sees it there
    catalog = catalog_of(masking)
    entry = next(e for e in catalog.misconceptions if e.id.endswith("on-unscaled"))
    score, message, named = judge(masking, "causal_attention", catalog.answer(entry), 1)
    assert (score, named) == (3.0, "causal_attention-unscaled")
    assert "0 of 3" in message


def right_where_seen(others):
    """A softmax for the visible checks; other inputs, and weights, go to ``others``."""

    def softmax(x, axis=-1):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        weights = e / e.sum(axis=axis, keepdims=True)
        return weights if x.shape in ((2, 3), (3,), (2, 2)) else others(x, weights)

    return softmax


def raises(x, weights):
    raise ValueError(f"47 {x}")


SPELLED = {
    "message": raises,
    "shape": lambda x, _: np.zeros((47, 110)),
    "length": lambda x, _: tuple(range(47110)),
    "dtype": lambda x, _: np.zeros(1, "U47110"),
    "fields": lambda x, _: np.zeros(1, [("H47", float)]),
}


@pytest.mark.parametrize("how", SPELLED)
def test_what_an_answer_makes_up_is_not_told_of_hidden_checks(how):
    """Feedback names a property: what the answer says could spell the input."""
    _, message, _ = judge(attention, "softmax", right_where_seen(SPELLED[how]))
    assert "Not yet:" in message and "47" not in message
    assert how != "message" or "ValueError" in message


def test_shapes_and_dtypes_of_hidden_checks_are_told_as_far_as_they_spell_nothing():
    answer = right_where_seen(lambda x, weights: weights.astype(complex))
    _, message, _ = judge(attention, "softmax", answer)
    assert "(seen: the result has dtype complex128)" in message


def test_a_prepared_catalog_names_answers_without_running_its_entries(monkeypatch):
    catalog = catalog_of(attention)
    entry, *_ = catalog.of("softmax")
    answer = catalog.answer(entry)
    catalog.prepare()
    monkeypatch.setattr(type(catalog), "answer", None)
    assert catalog.diagnose("softmax", answer) is entry


@pytest.mark.parametrize("kind", [np.array, torch.tensor])
def test_an_array_or_a_tensor_that_was_changed_is_an_outcome(kind):
    def doubled_in_place(x):
        x *= 2
        return x

    assert outcome(doubled_in_place, kind([1.0]))[2] is True
    assert outcome(lambda x: x * 2, kind([1.0, float("nan")]))[2] is False


PLAIN = "json"  # a package without hidden checks and catalog


def test_without_the_instructors_side_a_mistake_has_no_name_and_hidden_checks_wait():
    assignment = Assignment(PLAIN, "01-chapter")
    question = assignment.question("double", 2, "doubling")
    assert question.diagnose(3) is None
    with pytest.raises(AttributeError, match="they run when your work is graded"):
        assignment.hidden_half("hidden")
    assignment.prepare()


def test_a_library_that_the_instructors_side_lacks_is_told(tmp_path, monkeypatch):
    folder = tmp_path / "checks_of_mine"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "probes.py").write_text("import a_library_that_is_missing")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("checks_of_mine")
    with pytest.raises(ModuleNotFoundError, match="a_library_that_is_missing"):
        Assignment("checks_of_mine", "01-chapter").load("probes")
