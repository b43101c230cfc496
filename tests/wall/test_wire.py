"""The wire: what crosses in a way of its own, and frames and channels under attack.

``test_accepted_results`` has what holds for all plain data, arrays and tensors.
"""

import itertools
import socket
import struct
import time

import msgpack
import numpy as np
import pytest
import torch

from autograder.errors import Closed, Violation
from autograder.wall.channel import Channel, no_handles
from autograder.wall.wire import MAX_DEPTH, decode, decoding, encode
from autograder.wall.wire.encoding import MARKS

HANDLE = object()
PLAIN = [
    *(None, True, False, 0, -1, 127, 128, -128, 2**200, -(2**200), 1.5, -0.0),
    *(float("inf"), 1 - 2j, "", "größe \ud800", b"", b"\0\xff", [], (), {}),
    *([1, [2, (3, None)]], {"a": [1], 2: (3,), (1, "x"): None}, slice(1, None, 2)),
    *(Ellipsis, np.float32(1.5), np.int64(-3), np.bool_(True), np.dtype("float32")),
]


def crossed(value):
    return decode(encode(value, lambda _: (7, "thing")), lambda n, name: (n, name))


def test_the_order_of_axes_in_memory_crosses():
    array = np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)
    tensor = torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    assert crossed(array).strides == array.strides
    assert crossed(tensor).stride() == tensor.stride()
    assert np.array_equal(crossed(array), array)
    assert torch.equal(crossed(tensor), tensor)


def test_parameters_cross():
    parameter = torch.nn.Parameter(torch.ones(2))
    assert type(crossed(parameter)) is torch.nn.Parameter


def test_a_random_generator_goes_on_where_it_was():
    rng = np.random.default_rng(5)
    rng.integers(9, dtype=np.int32)  # leaves half a draw behind
    back = crossed(rng)
    assert back.integers(9, dtype=np.int32) == rng.integers(9, dtype=np.int32)
    assert np.array_equal(back.normal(size=9), rng.normal(size=9))


@pytest.mark.parametrize("bits", ["MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_other_generators_stay_a_handle(bits):
    value = np.random.Generator(getattr(np.random, bits)(5))
    assert crossed(value) == (7, "thing")


@pytest.mark.parametrize("state", [(1 << 128, 0, 0, 0), (0, -1, 0, 0), (0, 0, 2, 0)])
def test_an_impossible_random_state_is_refused(state):
    data = encode([MARKS["generator"], *state], no_handles)
    with pytest.raises(Violation, match="random state"):
        decode(data, no_handles)


@pytest.mark.parametrize("value", [np.ones(4, bool), torch.ones(4) > 0], ids=["a", "t"])
def test_a_boolean_is_true_or_false_whatever_its_byte(value):
    data = bytearray(encode(value, no_handles))
    data[-4:] = bytes([0, 1, 2, 255])
    back = np.asarray(decode(data, no_handles)).view(np.uint8)
    assert back.tolist() == [0, 1, 1, 1]


class Float(float):
    pass


@pytest.mark.parametrize(
    "value",
    [
        *(HANDLE, len, Float(1), {1, 2}, range(3)),
        *(np.array([None]), np.array(["a"]), torch.nn.Linear(1, 1)),
        *(torch.ones(2).to_sparse(), (1).__add__),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_not_plain_data_stays_a_handle(value):
    assert crossed(value) == (7, "thing")
    assert crossed([value]) == [(7, "thing")]


@pytest.mark.parametrize(
    "value",
    [
        np.matrix([[1.0, 2.0]]),
        np.array([1, 2], np.longdouble),
        np.longdouble(1),
    ],
    ids=["matrix", "longdouble", "scalar"],
)
def test_numbers_of_every_kind_cross_as_plain_ones(value):
    back = crossed(value)
    assert type(back) is (np.float64 if np.ndim(value) == 0 else np.ndarray)
    assert back.dtype == np.float64 and np.array_equal(back, value)


def test_named_tuples_cross_as_the_tuples_that_they_are():
    assert crossed(time.gmtime(0)) == tuple(time.gmtime(0))
    assert type(crossed(torch.Size([2, 3]))) is tuple


SAMPLE = encode(
    [
        *([value for value in PLAIN if value is not Ellipsis]),
        *(np.arange(6.0).reshape(2, 3), torch.ones(2, 2), HANDLE),
        np.random.default_rng(1),
    ],
    lambda _: (7, "thing"),
)


def test_every_prefix_is_a_violation():
    for end in range(0, len(SAMPLE), 7):
        with pytest.raises(Violation):
            decode(SAMPLE[:end], lambda n, name: (n, name))


LIST, MAP = b"\xdd" + struct.pack(">I", 400_000), b"\xdf" + struct.pack(">I", 20_000)
FULL = LIST + bytes(399_999)  # and one more item, which is to be a list again
BOMBS = {
    "lists that promise much": LIST * 1000 + bytes(400_000),
    "maps that promise much": (MAP + b"\0") * 1000 + bytes(20_000),
    "lists in lists, each nearly full": FULL * 100 + b"\0",
    "lists by the million": LIST + (b"\x9f" + b"\x90" * 15) * 400_000,
    "pairs by the million": (LIST + b"\x8f" * 400_000) + bytes(12_000_000),
    "deeper than values are": b"\x91" * 200 + b"\xc5\xff\xff" + bytes(65_535),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_of_a_frame_that_promises_too_much_nothing_is_made(monkeypatch, bomb):
    def unpackb(*_, **__):
        pytest.fail("msgpack makes room for what the lists say")

    monkeypatch.setattr(decoding, "unpackb", unpackb)
    with pytest.raises(Violation, match=r"too long|too deep"):
        decode(BOMBS[bomb], no_handles)


def test_what_a_frame_has_is_counted_as_msgpack_reads_it():
    """A long frame is looked through by a table of our own: of every format."""
    sizes = [*(0, 1, 5, 15, 16, 31, 32, 255, 256, 65_535, 65_536)]
    values = [n + d for n in [2**k for k in range(64)] for d in (-1, 0)]
    values += [-n for n in values] + [0.5, None, True, False]
    values += [kind(n) for n in sizes for kind in (bytes, "x".__mul__, [7].__mul__)]
    values += [dict.fromkeys(range(n)) for n in sizes[:-2]]
    values += [float(n) for n in range(100)]
    data = msgpack.packb([*values, [values, {"in": values}]])
    assert len(data) > 1 << 14
    assert decode(data, no_handles) == [*values, [values, {"in": values}]]
    for number, size in itertools.product(range(12), (1, 2, 3, 4, 8, 16, 300, 70_000)):
        ext = msgpack.packb([bytes(20_000), msgpack.ExtType(number, bytes(size)), 7])
        with pytest.raises(Violation, match="a mark that has content"):
            decode(ext, no_handles)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH - 1])
def test_a_long_frame_may_be_as_deep_as_a_short_one(depth):
    """A table, at the depth of the last value, is a list of its parts."""
    value = np.ones(4000)
    for _ in range(depth):
        value = (value,)
    back = crossed(value)
    for _ in range(depth):
        (back,) = back
    assert np.array_equal(back, np.ones(4000))


@pytest.fixture
def ends():
    here, there = socket.socketpair()
    yield Channel(here), Channel(there), there
    here.close()
    there.close()


def test_a_silent_peer_costs_the_deadline_only(ends):
    with pytest.raises(TimeoutError):
        ends[0].receive(deadline=time.monotonic() + 0.1)


def test_a_trickling_peer_does_not_move_the_deadline(ends):
    here, _, raw = ends
    raw.send(b"\x09\0\0\0abc")
    with pytest.raises(TimeoutError):
        here.receive(deadline=time.monotonic() + 0.1)


def test_a_peer_that_does_not_read_costs_the_deadline_only(ends):
    with pytest.raises(TimeoutError):
        ends[0].send(b"x" * 50_000_000, deadline=time.monotonic() + 0.1)


def test_a_claim_of_a_huge_frame_is_refused_before_memory_is_taken(ends):
    here, _, raw = ends
    raw.send(b"\xff\xff\xff\xff")
    with pytest.raises(Violation):
        here.receive()


def test_a_peer_that_is_gone_is_noticed(ends):
    here, _, raw = ends
    raw.close()
    with pytest.raises(Closed):
        here.receive()
