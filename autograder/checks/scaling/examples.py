"""What varies on the cards of 02-scaling."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.scaling import assignment, number
from autograder.checks.variant import Draw, Example, row


@assignment.varies(
    "score_std", "with `d_k = 16` and many pairs the result is close to 4"
)
def width(draw: Draw) -> Example:
    """A width whose root is whole."""
    root = draw.number(2, 12)

    def check(answer: Any) -> None:
        rng = np.random.default_rng(1)
        seen = number(expect.call(answer, root**2, 4000, rng))
        if not abs(seen - root) < 0.1 * root:
            raise CheckFailed(
                f"for d_k = {root**2} and 4000 pairs the result is {seen:.3g}",
                f"about {root}: the root of d_k",
            )

    text = f"with `d_k = {root**2}` and many pairs the result is close to {root}"
    return Example(text, check)


@assignment.varies(
    "entropy", "the weights `[0.5, 0.5, 0]` have the entropy log 2, about 0.693"
)
def equal_weights(draw: Draw) -> Example:
    """Some equal weights, among zeros."""
    count, zeros = draw.one_of((2, 4, 5, 8)), draw.number(1, 3)
    weights = [1 / count] * count
    for _ in range(zeros):
        weights.insert(draw.number(0, len(weights)), 0.0)

    def check(answer: Any) -> None:
        result = expect.quiet_call(answer, np.array([weights]))
        seen = expect.array(result, (1,), "the entropy")
        expect.close(
            seen,
            np.log(count),
            f"the weights {row(weights)} have the entropy {seen[0]:.4g}",
            f"log {count} = {np.log(count):.4g}",
        )

    text = (
        f"the weights `{row(weights)}` have the entropy log {count}, about "
        f"{np.log(count):.3f}"
    )
    return Example(text, check)


@assignment.varies(
    "softmax_jacobian",
    "the weights `[0.5, 0.5]` have the Jacobian `[[0.25, -0.25], [-0.25, 0.25]]`",
)
def three_weights(draw: Draw) -> Example:
    """Three weights in tenths."""
    tenths = draw.parts(10, 3)
    products = [
        [a * (10 * (i == j) - b) / 100 for j, b in enumerate(tenths)]
        for i, a in enumerate(tenths)
    ]
    weights = row([tenth / 10 for tenth in tenths])

    def check(answer: Any) -> None:
        jacobian = expect.call(answer, np.array(tenths) / 10)
        jacobian = expect.array(jacobian, (3, 3), "the Jacobian")
        expect.close(
            jacobian,
            np.array(products),
            f"the weights {weights} have the Jacobian {np.round(jacobian, 3).tolist()}",
            row(products),
        )

    text = f"the weights `{weights}` have the Jacobian `{row(products)}`"
    return Example(text, check)
