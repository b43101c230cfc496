"""What varies on the cards of 10-generating."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.generating import cases
from autograder.checks.generating.questions import assignment
from autograder.checks.variant import Draw, Example, row

COUNTS = {4: "four", 6: "six", 8: "eight"}
NAMES = ("river", "lamp", "stone", "owl", "bread", "cloud", "key", "moss", "tide")


@assignment.varies(
    "rotate",
    "with `d = 4` the two angles at position 1 are 1 and 0.01; the row `[1, 0, 1, 0]` "
    "at position 1 becomes about `[0.540, 0.841, 1.000, 0.010]`, and at position 0 it "
    "stays as it is",
)
def one_position(draw: Draw) -> Example:
    """A position of its own."""
    p = draw.number(2, 30)
    fast, slow = p, p / 100
    wanted = [math.cos(fast), math.sin(fast), math.cos(slow), math.sin(slow)]

    def check(answer: Any) -> None:
        rows = cases.turned(answer, [[1, 0, 1, 0]], p)
        seen = f"[1, 0, 1, 0] at position {p} became {np.round(rows[0], 3)}"
        expect.close(rows[0], np.array(wanted), seen, row(wanted, 3))

    text = (
        f"with `d = 4` the two angles at position {p} are {fast} and {slow:g}; the row "
        f"`[1, 0, 1, 0]` at position {p} becomes about `{row(wanted, 3)}`, and at "
        "position 0 it stays as it is"
    )
    return Example(text, check)


@assignment.varies(
    "grouped_query_attention",
    "one query, one key per head, values 10 in head 0 and 20 in head 1; four query "
    "heads give the outputs 10, 10, 20, 20",
)
def heads_and_values(draw: Draw) -> Example:
    """The number of query heads, and two values."""
    n_heads = draw.one_of(tuple(COUNTS))
    values = draw.some_of(range(2, 100), 2)
    wanted = [value for value in values for _ in range(n_heads // 2)]
    outputs = row(wanted)[1:-1]

    def check(answer: Any) -> None:
        V = np.array(values, dtype=float).reshape(2, 1, 1)
        result = expect.call(answer, np.ones((n_heads, 1, 2)), np.ones((2, 1, 2)), V)
        output = expect.pair(result, "output, weights")[0]
        output = expect.array(output, (n_heads, 1, 1), "the output")[:, 0, 0]
        seen = f"values {values[0]} and {values[1]} gave {np.round(output, 3)}"
        expect.close(output, np.array(wanted), seen, outputs)

    text = (
        f"one query, one key per head, values {values[0]} in head 0 and {values[1]} in "
        f"head 1; {COUNTS[n_heads]} query heads give the outputs {outputs}"
    )
    return Example(text, check, (tuple(wanted),))


@assignment.varies(
    "window_mask",
    "for `n = 5`, `window = 2`, `sinks = 1` the last row is "
    "`[True, False, False, True, True]` and the first is "
    "`[True, False, False, False, False]`",
)
def one_window(draw: Draw) -> Example:
    """A window and sinks that leave a gap."""
    window, sinks = draw.number(1, 3), draw.number(1, 2)
    n = window + sinks + draw.number(1, 3)
    last = [j < sinks or j >= n - window for j in range(n)]
    first = [j == 0 for j in range(n)]

    def check(answer: Any) -> None:
        result = expect.call(answer, n, window, sinks)
        mask = expect.array(result, (n, n), "the mask", kind="b")
        case = f"n {n}, window {window}, sinks {sinks}"
        for place, wanted in ((0, first), (n - 1, last)):
            if not np.array_equal(mask[place], wanted):
                raise CheckFailed(
                    f"{case}: row {place} is {cases.shown(mask[place])} (x = True)",
                    cases.shown(np.array(wanted)),
                )

    text = (
        f"for `n = {n}`, `window = {window}`, `sinks = {sinks}` the last row is "
        f"`{row(last)}` and the first is `{row(first)}`"
    )
    return Example(text, check)


@assignment.varies(
    "KVCache",
    "after tokens A, B, C a cache with `window=2` returns the keys and values of B and "
    "C, and its length is 3",
)
def kept_tokens(draw: Draw) -> Example:
    """Names of tokens, and how many of them are kept."""
    tokens = draw.some_of(NAMES, draw.number(3, 5))
    window = draw.number(2, len(tokens) - 1)
    kept = tokens[-window:]

    def check(answer: Any) -> None:
        cache = expect.call(answer, window)
        for number in range(len(tokens)):
            keys, values = cases.appended(cache, *cases.entry(number))
        for part, sign, width in ((keys, 1, 2), (values, -1, 3)):
            numbers = expect.array(part, (1, window, width), "what is kept")[0, :, 0]
            found = [tokens[round(n)] for n in sign * numbers if 0 <= n < len(tokens)]
            if found != kept:
                raise CheckFailed(f"it keeps {', '.join(found)}", ", ".join(kept))
        cases.counts(cache, len(tokens))

    first, last = ", ".join(kept[:-1]), kept[-1]
    text = (
        f"after tokens {', '.join(tokens)} a cache with `window={window}` returns the "
        f"keys and values of {first} and {last}, and its length is {len(tokens)}"
    )
    return Example(text, check)
