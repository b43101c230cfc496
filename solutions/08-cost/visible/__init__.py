"""Visible checks of 08-cost, for students at work and for grading."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed

from .cases import (
    Block,
    block,
    empty,
    keeps_no_table,
    merged,
    of_one,
    same_block,
    whole,
)

assignment = Assignment(__name__, page="08-cost")
__getattr__ = assignment.hidden_half

SECTION = "weights-that-are-never-stored"
attend_block = assignment.question("attend_block", 5, SECTION)
merge = assignment.question("merge", 6, SECTION)
tiled_attention = assignment.question("tiled_attention", 8, SECTION)
attention_bytes = assignment.question("attention_bytes", 4, "memory")
check_merge = assignment.hunt("check_merge", 4, SECTION, "merge")

# ------------------------------------------------------------- attend_block


@attend_block.visible
def a_block_has_three_arrays(answer: Any) -> None:
    """Queries (2, 3, 4), keys (2, 5, 4), values (2, 5, 6): o is (2, 3, 6)."""
    Q, K, V = np.ones((2, 3, 4)), np.ones((2, 5, 4)), np.ones((2, 5, 6))
    block(expect.call(answer, Q, K, V), (2, 3), 6)


@attend_block.visible
def m_is_the_largest_score(answer: Any) -> None:
    """With d_k = 4, dot products of 2 and 6 give the largest score, 3."""
    Q = np.array([[2.0, 0, 0, 0], [0, 2.0, 0, 0]])
    K = np.array([[1.0, 0, 0, 0], [3.0, 5, 0, 0]])
    m, _, _ = block(expect.call(answer, Q, K, np.ones((2, 1))), (2,), 1)
    seen = f"dot products of 2 and 6, and of 0 and 10, gave m = {m.round(3)}"
    expect.close(m, np.array([3.0, 5.0]), seen, "[3. 5.]: one for each query")


@attend_block.visible
def s_is_a_sum_of_exponentials(answer: Any) -> None:
    """Scores of 0 and log 4 have the total s = 1/4 + 1."""
    _, s, _ = two_keys(answer)
    seen = f"scores of 0 and log 4 gave s = {s.round(3)}"
    expect.close(s, 1.25, seen, "[1.25]: 1/4 + 1, relative to the largest score")


@attend_block.visible
def o_is_not_divided(answer: Any) -> None:
    """With the values 8 and 1, scores of 0 and log 4 give o = 8/4 + 1."""
    _, _, o = two_keys(answer)
    seen = f"values 8 and 1 with scores of 0 and log 4 gave o = {o.round(3).tolist()}"
    expect.close(o, 3.0, seen, "[[3.0]]: 8/4 + 1, not divided by anything")


def two_keys(answer: Any) -> Block:
    """The block of the card's example."""
    K = np.array([[0.0, 0, 0, 0], [np.log(4), 0, 0, 0]])
    value = expect.call(answer, np.array([[2.0, 0, 0, 0]]), K, np.array([[8.0], [1.0]]))
    return block(value, (1,), 1)


@attend_block.visible
def large_scores_overflow_nothing(answer: Any) -> None:
    """Scores of 100000 and -100000 give a finite block, without a warning."""
    K = np.array([[1e5], [-1e5]])
    value = expect.quiet_call(answer, np.ones((1, 1)), K, np.array([[7.0], [1.0]]))
    seen = block(value, (1,), 1)
    same_block(seen, of_one(1e5, 1, 7), "scores of ±100000 with the values 7 and 1")


@attend_block.visible
def integers_become_floats(answer: Any) -> None:
    """Integers give floating-point numbers."""
    value = expect.call(
        answer, np.array([[2]]), np.array([[0], [0]]), np.array([[3]] * 2)
    )
    same_block(block(value, (1,), 1), of_one(0, 2, 6), "two keys with equal scores")


# -------------------------------------------------------------------- merge


@merge.visible
def merging_keeps_the_shapes(answer: Any) -> None:
    """Blocks with m (2, 3) and o (2, 3, 4) give a block of the same shapes."""
    one = np.zeros((2, 3)), np.ones((2, 3)), np.ones((2, 3, 4))
    merged(answer, one, tuple(part.copy() for part in one))  # type: ignore[arg-type]


@merge.visible
def equal_scores_add(answer: Any) -> None:
    """Two blocks with the same largest score are added."""
    seen = merged(answer, of_one(2, 1, 10), of_one(2, 3, 20))
    wanted = "two blocks with m = 2, s = 1 and 3, o = 10 and 20"
    same_block(seen, of_one(2, 4, 30), wanted)


@merge.visible
def the_smaller_one_shrinks(answer: Any) -> None:
    """A block whose largest score is smaller by log 4 counts for a quarter."""
    low, high = of_one(0, 1, 8), of_one(np.log(4), 2, 3)
    wanted = of_one(np.log(4), 2.25, 5)
    for a, b, case in ((low, high, "second"), (high, low, "first")):
        copies = [tuple(part.copy() for part in one) for one in (a, b)]
        seen = merged(answer, *copies)  # type: ignore[arg-type]
        same_block(seen, wanted, f"the card's example, with the larger block {case},")


@merge.visible
def queries_are_merged_one_by_one(answer: Any) -> None:
    """Each of the two queries in a block has its own largest score."""
    two = np.log(2)
    a = np.array([0.0, 5 + two]), np.array([1.0, 1.0]), np.array([[4.0], [6.0]])
    b = np.array([two, 5.0]), np.array([1.0, 1.0]), np.array([[1.0], [2.0]])
    wanted = np.array([two, 5 + two]), np.full(2, 1.5), np.array([[3.0], [7.0]])
    same_block(merged(answer, a, b), wanted, "blocks with o = [4, 6] and [1, 2]")


@merge.visible
def far_scores_overflow_nothing(answer: Any) -> None:
    """Largest scores of 100000 and -100000 give the larger block, without a warning."""
    high, low = of_one(1e5, 2, 3), of_one(-1e5, 5, 7)
    for a, b in ((high, low), (low, high)):
        same_block(merged(answer, a, b), high, "m = 100000 and m = -100000")


@merge.visible
def an_empty_block_changes_nothing(answer: Any) -> None:
    """An empty block on either side or both changes nothing and gives no warning."""
    one = of_one(-3, 2, 5)
    wanted = "m = -3, s = 2, o = 5 and an empty block"
    same_block(merged(answer, one, empty(1)), one, wanted)
    wanted = "an empty block and m = -3, s = 2, o = 5"
    same_block(merged(answer, empty(1), one), one, wanted)
    same_block(merged(answer, empty(1), empty(1)), empty(1), "two empty blocks")


# ---------------------------------------------------------- tiled_attention


@tiled_attention.visible
def output_has_a_row_for_each_query(answer: Any) -> None:
    """Queries (2, 3, 4), keys (2, 5, 4), values (2, 5, 6) give (2, 3, 6)."""
    Q, K, V = np.ones((2, 3, 4)), np.ones((2, 5, 4)), np.ones((2, 5, 6))
    expect.array(expect.call(answer, Q, K, V, 2), (2, 3, 6), "the output")


@tiled_attention.visible
def equal_keys_give_the_mean(answer: Any) -> None:
    """Equal keys with the integers 0, 0 and 9 as values give 3.0, with any block."""
    Q, K, V = np.ones((1, 2), int), np.ones((3, 2), int), np.array([[0], [0], [9]])
    for size in (2, 1, 3, 50):
        seen = expect.call(answer, Q, K, V, size)
        seen = expect.array(seen, (1, 1), "the output")
        told = f"with block = {size}, the values 0, 0 and 9 gave {seen[0, 0]:.4g}"
        expect.close(seen, 3.0, told, "3, their mean")


@tiled_attention.visible
def larger_scores_weigh_more(answer: Any) -> None:
    """Scores of log 1, log 2, log 5 with the values 8, 4, 0 give the output 2."""
    K, V = np.log([[1.0], [2.0], [5.0]]), np.array([[8.0], [4.0], [0.0]])
    for size, order in ((2, 1), (2, -1), (1, 1)):
        inputs = K[::order].copy(), V[::order].copy()
        seen = expect.call(answer, np.ones((1, 1)), *inputs, size)
        seen = expect.array(seen, (1, 1), "the output")
        told = f"weights of 1/8, 2/8 and 5/8 on 8, 4 and 0 gave {seen[0, 0]:.4g}"
        expect.close(seen, 2.0, told, "2")


@tiled_attention.visible
def extreme_scores_are_fine(answer: Any) -> None:
    """Scores from -100000 to 100000 give the largest one's value, without a warning."""
    K, V = np.array([[-1e5], [0], [1e5], [-1e5]]), np.array([[1.0], [2], [3], [4]])
    for size in (1, 3):
        seen = expect.quiet_call(answer, np.ones((1, 1)), K, V, size)
        seen = expect.array(seen, (1, 1), "the output")
        expect.close(seen, 3.0, f"the output is {seen[0, 0]:.4g}", "3")


@tiled_attention.visible
def no_table_of_all_scores(answer: Any) -> None:
    """64 queries and 4096 keys in blocks of 16 need less than 0.4 of the table."""
    result, *_ = keeps_no_table(answer, np.random.default_rng(0), 64, 4096, 16)
    expect.array(result, (64, 1), "the output")


# ---------------------------------------------------------- attention_bytes


def compare_bytes(answer: Any, wanted: int, *inputs: Any) -> None:
    """A number of bytes, exactly."""
    seen = whole(expect.call(answer, *inputs))
    if seen != wanted:
        call = ", ".join(map(str, inputs))
        raise CheckFailed(f"attention_bytes({call}) is {seen}", f"{wanted}")


@attention_bytes.visible
def plain_attention_moves_two_tables(answer: Any) -> None:
    """1024 tokens of width 64 move 8912896 bytes."""
    compare_bytes(answer, 8_912_896, 1024, 64)


@attention_bytes.visible
def tiled_attention_moves_none(answer: Any) -> None:
    """1000 tokens of width 64 in 8 blocks of queries move 2304000 bytes."""
    compare_bytes(answer, 2_304_000, 1000, 64, 128)


@attention_bytes.visible
def one_block_reads_everything_once(answer: Any) -> None:
    """With one block of queries, four tables of n · d numbers are moved."""
    compare_bytes(answer, 4 * 10 * 3 * 2, 10, 3, 10)


@attention_bytes.visible
def bytes_grow_with_the_item(answer: Any) -> None:
    """Numbers of 4 bytes instead of 2 double the bytes that are moved."""
    compare_bytes(answer, 2 * 8_912_896, 1024, 64, None, 4)
