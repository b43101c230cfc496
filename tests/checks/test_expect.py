"""What counts as the right kind of number, here and behind the wall alike."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import seaborn as sns
import torch

from autograder.checks import encoder_layer, expect, multi_head, planted, real_model
from autograder.checks.failures import CheckFailed, kind_of
from autograder.checks.visible_hunt import nothing_caught
from autograder.tools.judging import catalog_of, judge


class Own(np.ndarray):
    """An array type of a student's own."""


class OwnTensor(torch.Tensor):
    """A tensor type of a student's own."""


def mapped(values, folder):
    array = np.memmap(folder / "numbers", dtype=float, mode="w+", shape=values.shape)
    array[:] = values
    return array


ARRAYS = {
    "half": lambda v, _: v.astype(np.float16),
    "single": lambda v, _: v.astype(np.float32),
    "long double": lambda v, _: v.astype(np.longdouble),
    "memory map": mapped,
    "own type": lambda v, _: v.view(Own),
    "matrix": lambda v, _: np.asmatrix(v),
    "reversed": lambda v, _: v[::-1].copy()[::-1],
    "read only": lambda v, _: np.broadcast_to(v, v.shape),
    "big endian": lambda v, _: v.astype(">f8"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_floating_point_arrays_of_every_kind_are_accepted(kind, tmp_path):
    values = np.array([[0.5, 0.25], [2.0, 4.0]])
    given = ARRAYS[kind](values, tmp_path)
    assert type(expect.array(given, (2, 2))) is np.ndarray
    expect.agree(given, values)
    with pytest.raises(CheckFailed, match="different numbers"):
        expect.agree(given, values + 0.1)


REFUSED = {
    "integers": np.array([1, 2]),
    "booleans": np.array([True, False]),
    "complex numbers": np.array([1j, 2]),
    "objects": np.array([0.5, 0.5], dtype=object),
    "a list": [0.5, 0.5],
    "a tensor": torch.ones(2),
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_what_is_no_array_of_floating_point_numbers_is_refused(value):
    with pytest.raises(CheckFailed) as refused:
        expect.array(value, (2,))
    assert refused.value.kind == "type"


TENSORS = {
    "half": lambda v: v.half(),
    "bfloat16": lambda v: v.bfloat16(),
    "double": lambda v: v.double(),
    "with a gradient": lambda v: v.clone().requires_grad_(),
    "parameter": torch.nn.Parameter,
    "own type": lambda v: v.as_subclass(OwnTensor),
    "negative view": lambda v: torch.imag(torch.complex(v, -v).conj()),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_floating_point_tensors_of_every_kind_are_accepted(kind):
    values = torch.tensor([[0.5, 0.25], [2.0, 4.0]], dtype=torch.float32)
    given = TENSORS[kind](values)
    expect.agree(given, values)
    with pytest.raises(CheckFailed, match="different numbers"):
        expect.agree(given, values + 0.1)


@pytest.mark.parametrize("value", [np.ones(2), torch.ones(2).long(), torch.Size([2])])
def test_what_is_no_tensor_of_floating_point_numbers_is_refused(value):
    with pytest.raises(CheckFailed) as refused:
        expect.tensor(value, (2,))
    assert refused.value.kind == "type"


@pytest.fixture
def _double_by_default():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("_double_by_default")
@pytest.mark.parametrize(
    ("package", "name"),
    [
        pytest.param(package, name, id=name)
        for package in (multi_head, encoder_layer, real_model)
        for name in package.assignment.questions
    ],
)
def test_another_default_dtype_costs_no_points_and_hides_no_mistake(package, name):
    """While a question is asked, torch has its own; afterwards the student's."""
    catalog = catalog_of(package)
    styles = [style for style in catalog.styles if style.question == name]
    for style in [catalog.references[name], *styles]:
        points, message, _ = judge(package, name, catalog.answer(style))
        assert (points, message) == (package.assignment.questions[name].points, None)
    entry, *_ = catalog.of(name)
    assert judge(package, name, catalog.answer(entry))[2] == entry.id
    assert torch.get_default_dtype() == torch.float64


PREPARED = """
import sys
from autograder.checks.encoder_layer import assignment
assignment.prepare()
catalog, before = assignment.catalog, set(sys.modules)
hidden = assignment.load("hidden")
for name, reference in catalog.references.items():
    assert not getattr(hidden, name)(catalog.answer(reference), 0).message
print(len(before), sorted(set(sys.modules) - before))
"""


def test_a_prepared_assignment_imports_nothing_when_it_judges():
    """Forks of the judge then share what the oracles need."""
    run = subprocess.run(
        [sys.executable, "-c", PREPARED], capture_output=True, text=True, check=True
    )
    assert run.stdout.endswith(" []\n"), run.stdout


class OddWidth(ValueError):
    """As a student may derive one."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OddWidth("7"), ("ValueError", "OddWidth: ")),
        (ValueError("7"), ("ValueError", "")),
        (np.exceptions.AxisError("7"), ("ValueError", "AxisError: ")),
        (type("Own", (Exception,), {})(), ("Exception", "Own: ")),
        (
            type("Odd", (UnicodeDecodeError,), {})("a", b"", 0, 1, "b"),
            ("UnicodeError", "Odd: "),
        ),
    ],
    ids=lambda value: getattr(type(value), "__name__", None),
)
def test_an_exception_of_one_s_own_is_of_the_kind_that_it_extends(error, kind):
    assert kind_of(error) == kind


class Renamed(torch.nn.Module):
    """A feed-forward network that keeps its layers under second names as well."""

    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        first, second = torch.nn.Linear(d_model, d_ff), torch.nn.Linear(d_ff, d_model)
        self.layers = torch.nn.ModuleList([first, second])
        self.linear1, self.linear2 = self.layers
        self.fc1 = first
        self.drop = torch.nn.Dropout(dropout)

    def forward(self, x):
        x = torch.nn.functional.gelu(self.fc1(x))
        return self.layers[1](self.drop(x))


def test_a_second_name_of_a_layer_is_no_layer():
    points, message, _ = judge(encoder_layer, "FeedForward", Renamed)
    assert (points, message) == (5, None)


def test_a_layer_that_nobody_asked_for_is_one():
    class Larger(Renamed):
        def __init__(self, *sizes, **more):
            super().__init__(*sizes, **more)
            self.fc3 = torch.nn.Linear(2, 2)

    points, message, _ = judge(encoder_layer, "FeedForward", Larger)
    assert points == 0
    assert "an extra fc3.weight" in message


@pytest.mark.parametrize(
    ("what", "seen"),
    [("the weights", "the weights have"), ("the loss", "the loss has")],
)
def test_many_have_a_shape_and_one_has_it(what, seen):
    with pytest.raises(CheckFailed, match=rf"seen:     {seen} shape \(3,\)"):
        expect.array(np.ones(3), (2,), what)
    with pytest.raises(CheckFailed, match=rf"seen:     {seen} shape \(3,\)"):
        expect.tensor(torch.ones(3), (2,), what)
    with pytest.raises(CheckFailed, match=rf"seen:     {seen} dtype int"):
        expect.array(np.arange(2), (2,), what)


def test_an_assertion_where_a_value_error_is_due_is_told_apart():
    def asserts(width):
        assert width % 2 == 0, "odd"

    def raises(width):
        raise ValueError("odd")

    expect.refused(raises, 5, what="d = 5")
    with pytest.raises(CheckFailed) as failed:
        expect.refused(asserts, 5, what="d = 5")
    assert failed.value.seen == "d = 5 raised an AssertionError"
    assert "`assert` raises an AssertionError" in failed.value.expected
    with pytest.raises(CheckFailed, match="d = 4 was accepted"):
        expect.refused(asserts, 4, what="d = 4")


def test_another_error_where_a_value_error_is_due_is_no_accident_of_the_line():
    def indexes(width):
        return [[0] * width][width]

    def undone(width):
        raise NotImplementedError

    with pytest.raises(CheckFailed) as failed:
        expect.refused(indexes, 5, what="d = 5")
    assert (failed.value.seen, failed.value.expected) == (
        "d = 5 raised IndexError",
        "a ValueError",
    )
    assert failed.value.kind == "error" and not failed.value.reason
    with pytest.raises(NotImplementedError):
        expect.refused(undone, 5, what="d = 5")


def test_a_check_that_raises_something_else_is_told_what_would_reject():
    def check(double):
        if double(2) != 4:
            raise ValueError("wrong")

    functions = [lambda x: 2 * x], [lambda x: x], "double"
    right, wrong = planted.verdicts(check, *functions)
    assert right.said == planted.ACCEPTS
    failure = nothing_caught([wrong], "double")
    assert failure.seen == "your code raised ValueError: wrong"
    assert failure.expected.startswith("an AssertionError: ")
    right, _ = planted.verdicts(lambda double: 1 / 0, *functions)
    assert right.why is not None and right.why.expected == "no exception"


def on_the_current_axes(weights, tokens):
    plt.imshow(weights)
    plt.xticks(range(len(tokens)), tokens)
    plt.yticks(range(len(tokens)), tokens)
    plt.xlabel("key")
    plt.ylabel("query")
    return plt.gca()


def of_seaborn(weights, tokens):
    sns.heatmap(weights, xticklabels=tokens, yticklabels=tokens)
    plt.gca().set(xlabel="key", ylabel="query")
    return plt.gca()


@pytest.mark.parametrize("answer", [on_the_current_axes, of_seaborn])
def test_a_heat_map_on_the_current_axes_counts(answer):
    points, message, _ = judge(multi_head, "plot_attention", answer)
    assert (points, message) == (4, None)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_seen_never_reads_like_expected(kind):
    rng = np.random.default_rng(3)
    for power in rng.uniform(-7, 1, size=300):
        due = rng.normal(size=4) * 10 ** rng.integers(0, 4)
        value = (due * (1 + 10**power)).astype(kind)
        forms = [lambda a: str(np.round(a, 3)), lambda a: f"{a[0]:.3g}"]
        for form in forms:
            try:
                expect.close(value, due, form(value), form(due))
            except CheckFailed as failure:
                assert failure.seen != failure.expected


def test_a_difference_from_a_hidden_value_is_not_told():
    with pytest.raises(CheckFailed) as failed:
        expect.close(np.ones(2), np.ones(2) * 1.001)
    assert failed.value.seen == "different numbers"


def test_a_number_may_be_pythons_or_numpys():
    """As SciPy's quad and brentq return floats."""
    for value in 2.0, 2, np.float64(2), np.array(2.0):
        expect.agree(value, 2.0)
        expect.close(value, 2.0)
    for value in True, "2", [2.0], np.ones(1), None:
        with pytest.raises(CheckFailed, match="expected: a number"):
            expect.agree(value, 2.0)
    with pytest.raises(CheckFailed, match="different numbers"):
        expect.close(2.1, 2.0)
