"""Hidden checks of 08-cost; only grading runs them, on newly drawn inputs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.hunt import Hunt
from autograder.checks.question import Hidden

from .. import visible
from ..visible.cases import (
    Block,
    block,
    empty,
    keeps_no_table,
    merged,
    same_block,
    whole,
)

attend_block = Hidden(visible.attend_block, core=0.5)
merge = Hidden(visible.merge, core=0.4)
tiled_attention = Hidden(visible.tiled_attention, core=0.4)
attention_bytes = Hidden(visible.attention_bytes, core=0.5)
check_merge = Hunt(visible.check_merge, visible.assignment)

BATCHES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 3))


def inputs(
    rng: np.random.Generator, n_q: int, n_k: int, batch: tuple[int, ...] = ()
) -> list[np.ndarray]:
    """Random Q, K and V, with keys of width 5 and values of width 4."""
    shapes = [(n_q, 5), (n_k, 5), (n_k, 4)]
    return [rng.standard_normal((*batch, *shape)) for shape in shapes]


def oracle_block(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Block:
    """Compute a block query by query, in extended precision where available."""
    wide = np.longdouble
    m, s = np.empty(Q.shape[:-1]), np.empty(Q.shape[:-1])
    o = np.empty((*Q.shape[:-1], V.shape[-1]))
    for index in np.ndindex(Q.shape[:-1]):
        keys, values = K[index[:-1]].astype(wide), V[index[:-1]].astype(wide)
        scores = (keys * Q[index].astype(wide)).sum(axis=-1) / wide(Q.shape[-1]) ** 0.5
        powers = np.exp(scores - scores.max())
        m[index], s[index] = scores.max(), powers.sum()
        o[index] = (powers[:, None] * values).sum(axis=0)
    return m, s, o


def oracle_output(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Attention in one piece."""
    _, s, o = oracle_block(Q, K, V)
    return o / s[..., None]


# ------------------------------------------------------------- attend_block


def compare_block(answer: Any, *arrays: np.ndarray, quiet: bool = False) -> None:
    """A block against the oracle's."""
    call = expect.quiet_call if quiet else expect.call
    wanted = oracle_block(*arrays)
    seen = block(call(answer, *arrays), wanted[0].shape, wanted[2].shape[-1])
    same_block(seen, wanted)
    as_precise(seen, arrays)


def as_precise(results: Any, inputs: Any) -> None:
    """Single precision is not enough for inputs in double precision."""
    if any(a.dtype.itemsize < inputs[0].dtype.itemsize for a in results):
        raise CheckFailed("a different dtype", kind="type")


def below_zero(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same arrays, where all scores of the first query are negative."""
    Q[..., 0, :], K[..., 0] = 0, np.abs(K[..., 0]) + 0.5
    Q[..., 0, 0] = -1
    return Q, K, V


@attend_block.check(0.25)
def blocks_of_random_arrays(answer: Any, rng: np.random.Generator) -> None:
    """Random arrays with any batch give the right block, as precise as they are."""
    for batch in BATCHES:
        compare_block(answer, *inputs(rng, 3, 6, batch))
    compare_block(answer, *below_zero(*inputs(rng, 4, 1)))


@attend_block.check(0.15)
def blocks_of_large_scores(answer: Any, rng: np.random.Generator) -> None:
    """Scores up to 100000, all negative for some queries, work without a warning."""
    Q, K, V = inputs(rng, 4, 5)
    K[:, 0] = np.abs(K[:, 0]) + 0.5
    Q[:2], Q[2:, 0] = 0, 1e5
    Q[0, 0], Q[1, 0] = -2e5, -1e5
    compare_block(answer, Q, K, V, quiet=True)


@attend_block.check(0.1)
def blocks_keep_their_precision(answer: Any, rng: np.random.Generator) -> None:
    """Float32 input is accepted without losing accuracy; integers give float64."""
    single = [a.astype(np.float32) for a in below_zero(*inputs(rng, 3, 4))]
    compare_block(answer, *single)
    whole_numbers = [rng.integers(-4, 5, a.shape) for a in single]
    value = expect.call(answer, *whole_numbers)
    if any(np.asarray(part).dtype != np.float64 for part in value):
        raise CheckFailed("integers give a different dtype", "float64", kind="type")
    same_block(block(value, (3,), 4), oracle_block(*whole_numbers))


# -------------------------------------------------------------------- merge


def split(
    rng: np.random.Generator, batch: tuple[int, ...] = (), n_k: int = 7
) -> tuple[list[Block], Block]:
    """Return the blocks of three parts of random keys, and the block of all keys."""
    Q, K, V = inputs(rng, 3, n_k, batch)
    Q *= 3
    cuts = [slice(0, 2), slice(2, 3), slice(3, None)]
    parts = [oracle_block(Q, K[..., c, :], V[..., c, :]) for c in cuts]
    return parts, oracle_block(Q, K, V)


@merge.check(0.25)
def merging_random_blocks(answer: Any, rng: np.random.Generator) -> None:
    """Three parts of random keys, merged in any nesting, give the block of all keys."""
    for batch in BATCHES:
        (a, b, c), wanted = split(rng, batch)
        same_block(merged(answer, merged(answer, a, b), c), wanted)
        same_block(merged(answer, a, merged(answer, b, c)), wanted)
        same_block(merged(answer, c, merged(answer, b, a)), wanted)  # other maxima
        last = merged(answer, merged(answer, c, a), b)
        same_block(last, wanted)
        as_precise(last, a)


@merge.check(0.2)
def emptiness_is_a_matter_of_queries(answer: Any, rng: np.random.Generator) -> None:
    """Blocks may be empty for only some queries, even with large scores: no warning."""
    (a, b, _), _ = split(rng, (2,))
    nothing = empty(2, 3, d_v=4)
    both = merged(answer, a, b)
    kinds = rng.integers(4, size=(2, 3))
    for scale, turn in product((0.0, 1e5, -1e5), range(4)):
        kind = (kinds + turn) % 4  # each query has both blocks, either, or none once
        here = np.array([kind % 2 == 0, kind < 2])
        one, two = (
            (
                np.where(kept, part[0] + scale, nothing[0]),
                np.where(kept, part[1], 0.0),
                np.where(kept[..., None], part[2], 0.0),
            )
            for kept, part in zip(here, (a, b), strict=True)
        )
        seen = merged(answer, one, two)
        only, other = here[0] & ~here[1], here[1] & ~here[0]
        full = [both[0] + scale, *both[1:]]
        wanted = []
        for x, y, z, hollow in zip(one, two, full, nothing, strict=True):
            wide = (lambda c: c[..., None]) if z.ndim == 3 else (lambda c: c)
            rest = np.where(wide(here.all(axis=0)), z, hollow)
            wanted.append(np.where(wide(only), x, np.where(wide(other), y, rest)))
        same_block(seen, tuple(wanted))  # type: ignore[arg-type]


@merge.check(0.15)
def distances_of_any_size(answer: Any, rng: np.random.Generator) -> None:
    """Merging works whether the largest scores are close, far or very far apart."""
    (a, b, _), _ = split(rng)
    for distance in (1e-3, 20.0, -300.0, 1e4, -1e5):
        shifted = b[0] + distance, b[1], b[2]
        top = np.maximum(a[0], shifted[0])
        left, right = np.exp(a[0] - top), np.exp(shifted[0] - top)
        s = left * a[1] + right * b[1]
        o = left[:, None] * a[2] + right[:, None] * b[2]
        same_block(merged(answer, a, shifted), (top, s, o))


# ---------------------------------------------------------- tiled_attention


@tiled_attention.check(0.25)
def tiles_of_any_size(answer: Any, rng: np.random.Generator) -> None:
    """Any batch and any block size work, even one that exceeds the number of keys."""
    for batch in BATCHES:
        arrays = inputs(rng, 3, 7, batch)
        wanted = oracle_output(*arrays)
        for size in (1, 2, 3, 7, 40):
            value = expect.call(answer, *arrays, size)
            expect.agree(value, wanted, "the output")
            as_precise([value], arrays)


@tiled_attention.check(0.15)
def tiles_of_large_scores(answer: Any, rng: np.random.Generator) -> None:
    """Scores up to 100000 that grow or fall between blocks work without a warning."""
    for order in (1, -1):
        Q, K, V = inputs(rng, 3, 9)
        Q[:, 0], K[:, 0] = 2.0, 1e5 * np.sort(rng.uniform(-1, 1, 9))[::order]
        wanted = oracle_output(Q, K, V)
        expect.agree(expect.quiet_call(answer, Q, K, V, 2), wanted, "the output")
    K[:, 0] -= 3e5  # all of them are far below 0
    wanted = oracle_output(Q, K, V)
    expect.agree(expect.quiet_call(answer, Q, K, V, 2), wanted, "the output")


@tiled_attention.check(0.1)
def tiles_of_other_numbers(answer: Any, rng: np.random.Generator) -> None:
    """Single precision and integers are accepted."""
    single = [a.astype(np.float32) for a in inputs(rng, 3, 5)]
    expect.agree(expect.call(answer, *single, 2), oracle_output(*single), "the output")
    whole_numbers = [rng.integers(-3, 4, a.shape) for a in single]
    wanted = oracle_output(*whole_numbers)
    expect.agree(expect.call(answer, *whole_numbers, 2), wanted, "the output")


@tiled_attention.check(0.1)
def tiles_without_a_table(answer: Any, rng: np.random.Generator) -> None:
    """Other sizes give the right output in less than 0.4 of the table's memory."""
    n_q, n_k = int(rng.integers(90, 110)), int(rng.integers(2000, 3000))
    value, Q, (K, V) = keeps_no_table(answer, rng, n_q, n_k, 24)
    expect.agree(value, oracle_output(Q, K, V), "the output")


# ---------------------------------------------------------- attention_bytes


def compare_bytes(answer: Any, n: int, d: int, size: int | None, itemsize: int) -> None:
    """Compare the answer with a table-by-table count of the numbers moved."""
    row, moved = d, 0
    if size is None:
        moved += 3 * n * row + n * row  # reads, and the output
        moved += 2 * (n * n) + 2 * (n * n)  # scores, and weights
    else:
        moved += n * row + n * row
        for _ in range(0, n, size):
            moved += n * row + n * row
    if whole(expect.call(answer, n, d, size, itemsize)) != moved * itemsize:
        raise CheckFailed("a different number of bytes", "")


@attention_bytes.check(0.2)
def bytes_of_plain_attention(answer: Any, rng: np.random.Generator) -> None:
    """The bytes of plain attention are right for any length, width and `itemsize`."""
    for itemsize in (1, 2, 4, 8):
        n, d = (int(number) for number in rng.integers(1, 3000, 2))
        compare_bytes(answer, n, d, None, itemsize)
    compare_bytes(answer, 1_000_000 + int(rng.integers(1, 999)), 128, None, 2)


@attention_bytes.check(0.3)
def bytes_of_tiled_attention(answer: Any, rng: np.random.Generator) -> None:
    """The bytes are right for any block size, even one that exceeds the length."""
    n, d = int(rng.integers(500, 3000)), int(rng.integers(1, 200))
    for size in (1, int(rng.integers(2, 100)), n - 1, n, n + 1, 5 * n):
        compare_bytes(answer, n, d, size, 2)
    compare_bytes(answer, 60 * d, d, 20, 4)
    compare_bytes(answer, 1_000_000 + int(rng.integers(1, 999)), 128, 64, 2)
