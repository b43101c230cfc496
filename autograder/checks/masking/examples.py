"""What varies on the cards of 04-masking."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.drawing import beside
from autograder.checks.failures import CheckFailed
from autograder.checks.masking import assignment, shown
from autograder.checks.variant import Draw, Example, row


@assignment.varies("causal_mask", "for `n = 3` row 1 is `[True, True, False]`")
def one_row(draw: Draw) -> Example:
    """A row that is neither the first nor the last."""
    n = draw.number(4, 9)
    i = draw.number(1, n - 2)
    right = np.array([[j <= row for j in range(n)] for row in range(n)])

    def check(answer: Any) -> None:
        mask = expect.array(expect.call(answer, n), (n, n), "the mask", kind="b")
        if not np.array_equal(mask[i], right[i]):
            raise CheckFailed(
                f"row {i} of {n} is {shown(mask[i])} (x = True)",
                shown(right[i]),
                drawing=beside(mask, right),
            )

    return Example(f"for `n = {n}` row {i} is `{row(right[i])}`", check)


@assignment.varies(
    "padding_mask",
    "the lengths `[1, 3]` with `n = 3` give "
    "`[[[True, False, False]], [[True, True, True]]]`",
)
def two_lengths(draw: Draw) -> Example:
    """Two sentences that differ in length."""
    n = draw.number(3, 5)
    lengths = draw.some_of(range(1, n + 1), 2)
    right = np.array([[[j < length for j in range(n)]] for length in lengths])

    def check(answer: Any) -> None:
        mask = expect.call(answer, np.array(lengths), n)
        mask = expect.array(mask, (2, 1, n), "the mask", kind="b")
        if not np.array_equal(mask, right):
            rows = ", ".join(map(shown, mask[:, 0]))
            raise CheckFailed(
                f"the lengths {lengths} have the rows {rows} (x = True)",
                ", ".join(map(shown, right[:, 0])),
                drawing=beside(mask[:, 0], right[:, 0]),
            )

    text = f"the lengths `{lengths}` with `n = {n}` give `{row(right)}`"
    return Example(text, check)


@assignment.varies(
    "masked_softmax",
    "scores `[0, log 3, 9]` with the mask `[True, True, False]` give `[0.25, 0.75, 0]`",
)
def one_hidden(draw: Draw) -> Example:
    """Three logarithms of numbers that sum to 100, and a large score that is hidden."""
    parts = draw.parts(100, 3, least=2)
    place, high = draw.number(0, 3), draw.number(5, 12)
    names = [f"log {part}" for part in parts]
    scores, wanted = list(np.log(parts)), [part / 100 for part in parts]
    mask = [True] * 3
    names.insert(place, str(high))
    scores.insert(place, float(high))
    wanted.insert(place, 0.0)
    mask.insert(place, False)
    parts.insert(place, high)
    told = ", ".join(names)

    def check(answer: Any) -> None:
        result = expect.call(answer, np.array([scores]), np.array([mask]))
        weights = expect.array(result, (1, 4), "the weights")
        expect.close(
            weights,
            np.array([wanted]),
            f"scores [{told}] with the mask {mask} gave {np.round(weights[0], 3)}",
            row(wanted),
        )

    text = f"scores `[{told}]` with the mask `{row(mask)}` give `{row(wanted)}`"
    return Example(text, check, (tuple(parts),))


@assignment.varies(
    "causal_attention",
    "when all scores are equal and the values are 6, 0, 3 the outputs are 6, 3, 3",
)
def running_means(draw: Draw) -> Example:
    """Four values whose means so far are whole."""
    values: list[int] = []
    means: list[int] = []
    while len(values) < 4:
        value = draw.number(0, 60)
        mean, rest = divmod(sum(values) + value, len(values) + 1)
        if not rest:
            values.append(value)
            means.append(mean)
    inputs, outputs = (row(each)[1:-1] for each in (values, means))

    def check(answer: Any) -> None:
        V = np.array(values, dtype=float)[:, None]
        result = expect.call(answer, np.zeros((4, 2)), np.ones((4, 2)), V)
        output = expect.pair(result, "output, weights")[0]
        output = expect.array(output, (4, 1), "the output")
        expect.close(
            output[:, 0],
            np.array(means),
            f"values {inputs} gave the outputs {np.round(output[:, 0], 3)}",
            f"{outputs}: the means of the values so far",
        )

    text = (
        f"when all scores are equal and the values are {inputs} the outputs are "
        f"{outputs}"
    )
    return Example(text, check, (tuple(values),))
