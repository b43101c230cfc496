"""Whatever NumPy and torch make of the kinds that cross, crosses as it is."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from autograder.checks.accepted_results import (
    DTYPES,
    REASONS,
    TooLarge,
    expect_crossing,
    kind_name,
)
from autograder.errors import Violation
from autograder.torch_support import wire  # noqa: F401  # it registers its marks
from autograder.wall.wire import decode, encode, no_handles
from autograder.wall.wire.decoding import MARKS

HANDLE = object()
FEW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def refer(value):
    return (7, str(kind_name(value)))


def crossed(value):
    return decode(encode(value, refer), lambda _, name: name)


@st.composite
def arrays(draw):
    """An array of any kind of number, seen in any way that NumPy offers."""
    numbers = np.dtype(draw(st.sampled_from([*DTYPES, ">f8", ">i2", ">c8"])))
    whole = draw(nps.arrays(numbers, nps.array_shapes(min_dims=0, max_side=4)))
    steps = st.sampled_from([-3, -2, -1, 1, 2, 3])
    slices = st.builds(slice, st.none(), st.none(), steps)
    view = whole[(..., *(draw(slices) for _ in range(whole.ndim)))]
    view = view.transpose(draw(st.permutations(range(view.ndim))))
    if draw(st.booleans()):
        view = view[..., :0] if view.ndim else view[None]
    if draw(st.booleans()):
        view = view[np.newaxis]
    if draw(st.booleans()):
        view = np.broadcast_to(view, (draw(st.integers(0, 3)), *view.shape))
    elif draw(st.booleans()):
        view = view.view(Array)
    return view


class Array(np.ndarray):
    pass


class Tensor(torch.Tensor):
    pass


KINDS = [getattr(torch, name) for name in (*DTYPES, "bfloat16")]


@st.composite
def tensors(draw):
    """A tensor of any kind of number, seen in any way that torch offers."""
    kind = draw(st.sampled_from(KINDS))
    sides = draw(st.lists(st.integers(0, 4), max_size=4))
    whole = torch.arange(max(1, int(np.prod(sides)))) % 2
    whole = whole[: int(np.prod(sides))].reshape(sides).to(kind)
    view = whole[tuple(slice(None, None, draw(st.integers(1, 3))) for _ in sides)]
    view = view.permute(draw(st.permutations(range(view.ndim))))
    if draw(st.booleans()):
        view = view[None].expand(draw(st.integers(0, 3)), *view.shape)
    if view.numel() and draw(st.booleans()):
        view = view.as_strided(
            [1] * view.ndim, draw(st.permutations([5, 3, 2, 7, 1]))[: view.ndim]
        )
    if kind.is_complex and draw(st.booleans()):
        view = view.conj()
    if kind.is_floating_point and draw(st.booleans()):
        view = view.requires_grad_() if view.is_leaf else view
    return view.as_subclass(Tensor) if draw(st.booleans()) else view


@FEW
@given(arrays())
def test_every_array_crosses_as_the_numbers_that_it_holds(array):
    expect_crossing(array)
    back = crossed(array)
    assert type(back) is np.ndarray
    assert (back.shape, back.dtype) == (array.shape, array.dtype.newbyteorder("="))
    assert back.tobytes() == np.asarray(array).astype(back.dtype).tobytes()
    assert back.flags.writeable == array.flags.writeable


@FEW
@given(tensors())
def test_every_tensor_crosses_as_the_numbers_that_it_holds(tensor):
    expect_crossing(tensor)
    back = crossed(tensor)
    plain = tensor.as_subclass(torch.Tensor)
    assert type(back) is torch.Tensor
    assert (back.shape, back.dtype) == (plain.shape, plain.dtype)
    assert torch.equal(back, plain)
    assert back.requires_grad == plain.requires_grad


@FEW
@given(st.one_of(arrays(), tensors()))
def test_what_has_crossed_crosses_again_to_the_same_byte(value):
    """By this the sandbox tells whether a function has changed what it was given."""
    once = encode(crossed([value]), refer)
    assert encode(decode(once, no_handles), refer) == once


LEAVES = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.binary()),
    *(st.complex_numbers(), st.text(), st.builds(slice, st.none(), st.integers())),
    *(arrays(), st.sampled_from([np.dtype("f4"), torch.bfloat16, Ellipsis])),
    *(nps.from_dtype(np.dtype(name)) for name in DTYPES),
)
KEYS = st.one_of(st.text(), st.integers(), st.tuples(st.integers(), st.text()))
DATA = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(KEYS, inner)
    ),
    max_leaves=20,
)


@FEW
@given(DATA)
def test_plain_data_of_every_form_crosses(value):
    back = crossed(value)
    assert repr(back) == repr(crossed(back))
    if not isinstance(value, np.ndarray):
        assert type(back) is type(value)


@FEW
@given(DATA, st.data())
def test_damaged_bytes_are_a_violation_or_other_data(value, data):
    damaged = bytearray(encode(value, refer))
    for _ in range(data.draw(st.integers(1, 3))):
        where = data.draw(st.integers(0, len(damaged)))
        what = data.draw(st.binary(max_size=3))
        damaged[where : where + data.draw(st.integers(0, 3))] = what
    try:
        back = decode(damaged, lambda _, name: name)
    except Violation:
        return
    encode(back, refer)


@FEW
@given(st.binary())
def test_any_bytes_are_a_violation_or_data(content):
    try:
        back = decode(content, lambda _, name: name)
    except Violation:
        return
    encode(back, refer)


MARK = {number: b"\xc7\0" + bytes([number]) for number in MARKS}
HOSTILE = {
    "lists that are nested too deeply": b"\x91" * 30 + b"\xc0",
    "lists beyond the stack": b"\x91" * 5000 + b"\xc0",
    "a list that is longer than its bytes": b"\xdd\xff\xff\xff\xff",
    "lists in lists, each said to be long": b"\xdc\xff\xff" * 2000,
    "too many items": b"\xdd\0\x06\x1a\x81" + b"\xc0" * 400_001,
    "too many items in several lists": b"\x92"
    + 2 * (b"\xdd\0\x04\0\0" + b"\xc0" * (1 << 18)),
    "very many empty lists": b"\x99" + 9 * (b"\xdd\0\x06\0\0" + b"\x90" * 393_216),
    "too many keys": b"\xdf\0\0\x4e\x21"
    + b"".join(b"\xcd" + i.to_bytes(2, "big") + b"\xc0" for i in range(20_001)),
    "a key that cannot be one": b"\x81\x90\xc0",
    "a moment": b"\xd6\xff\0\0\0\0",
    "an extension that nobody knows": b"\xc7\0\x63",
    "a mark with content": b"\xc7\1\1a",
    "a mark alone": MARK[1],
    "a mark in a list": b"\x92\xc0" + MARK[1],
    "a mark as a key": b"\x81" + MARK[1] + b"\xc0",
    "a mark in a tuple": b"\x92" + MARK[1] + MARK[0],
    "text that is none": b"\xa1\xff",
    "too much text": b"\xdb\0\x48\0\0" + b"\xed\xa0\x80" * (3 << 19),
    **{
        f"a mark without its parts: {n}": b"\x91" + MARK[n]
        for n in sorted(MARKS.keys() - {1, 5})  # an empty tuple, an ellipsis
    },
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=list(HOSTILE))
def test_what_nobody_encodes_is_a_violation(content):
    with pytest.raises(Violation):
        decode(content, lambda _, name: name)


@pytest.mark.parametrize("kind", MARKS)
@pytest.mark.parametrize("part", [None, -1, 1 << 63, 1e9, "bool", b"\xff" * 8, [0], {}])
def test_parts_of_a_wrong_kind_are_a_violation_or_other_data(kind, part):
    for size in range(1, 7):
        parts = encode([part] * size, refer)[1:]
        content = bytes([0x90 | size + 1]) + MARK[kind] + parts
        try:
            decode(content, lambda _, name: name)
        except Violation:
            continue


nested = [None]
for _ in range(30):
    nested = [nested]
BEYOND = {
    "nested": nested,
    "items": [[0] * 1000] * 401,
    "keys": dict.fromkeys(range(20_001)),
    "digits": [10**1300],
    "characters": ["\ud800" * (1 << 20), "é"],
    "megabytes": [np.zeros(1 << 24)] * 2,
    "expanded": np.broadcast_to(0.0, (1 << 14, 1 << 14)),
    "expanded tensor": torch.zeros(1).expand(1 << 14, 1 << 14),
    "axes": np.zeros((1,) * 17),
    "an absurd axis beside an empty one": np.zeros((0, 1 << 40)),
}


@pytest.mark.parametrize("value", BEYOND.values(), ids=list(BEYOND))
def test_what_is_too_large_is_said_alike_on_both_sides(value):
    with pytest.raises(TooLarge) as here:
        expect_crossing(value)
    with pytest.raises(TooLarge) as there:
        encode(value, refer)
    assert str(here.value) == str(there.value)
    assert str(here.value) in REASONS


def test_a_list_in_itself_is_too_large():
    endless = []
    endless.append(endless)
    with pytest.raises(TooLarge):
        encode(endless, refer)


ODD = {
    "ndarray of dtype object": np.array([None]),
    "ndarray of dtype str": np.array(["a"]),
    "ndarray of dtype datetime64": np.array(["2026-01-01"], "M8[D]"),
    "ndarray of dtype void": np.zeros(1, "f4,f4"),
    "Tensor of layout sparse_coo": torch.ones(2, 2).to_sparse(),
    "Tensor of layout sparse_csr": torch.eye(2).to_sparse_csr(),
    "Tensor of dtype float8_e4m3fn": torch.ones(2).to(torch.float8_e4m3fn),
    "Tensor on the device meta": torch.empty(2, device="meta"),
}


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("name, value", ODD.items(), ids=list(ODD))
def test_an_array_that_cannot_cross_says_what_it_is(name, value):
    assert crossed([value]) == [name]
