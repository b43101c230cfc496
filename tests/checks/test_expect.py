"""What counts as the right kind of number, here and behind the wall alike."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from autograder.checks import encoder_layer, expect, multi_head, real_model
from autograder.checks.failures import CheckFailed, kind_of
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
catalog, before = assignment.known, set(sys.modules)
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
