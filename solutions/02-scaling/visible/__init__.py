"""Visible checks of 02-scaling, for students at work and for grading."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed
from autograder.checks.figures import describe_axes

assignment = Assignment(__name__, page="02-scaling")
__getattr__ = assignment.hidden_half

score_std = assignment.question("score_std", 3, "variance-of-a-dot-product")
entropy = assignment.question("entropy", 4, "entropy")
softmax_jacobian = assignment.question("softmax_jacobian", 4, "the-jacobian")
plot_saturation = assignment.question("plot_saturation", 5, "saturation")


# -------------------------------------------------------------- score_std


def number(value: Any) -> float:
    """``value`` as the single floating-point number that it has to be."""
    if isinstance(value, float | np.floating) or (
        isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind == "f"
    ):
        return float(value)
    seen = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else None
    seen = seen or f"a {type(value).__name__}"
    raise CheckFailed(f"your function returned {seen}", "one number", kind="type")


@score_std.visible
def score_std_is_one_number(answer: Any) -> None:
    """The result is one number."""
    number(expect.call(answer, 4, 50, np.random.default_rng(0)))


@score_std.visible
def score_std_grows_with_the_root(answer: Any) -> None:
    """For d_k = 1, 16 and 256 the spread is near 1, 4 and 16."""
    for d_k, wanted in [(1, 1.0), (16, 4.0), (256, 16.0)]:
        seen = number(expect.call(answer, d_k, 4000, np.random.default_rng(1)))
        if not abs(seen - wanted) < 0.1 * wanted:
            told = f"for d_k = {d_k} and 4000 pairs the result is {seen:.3g}"
            raise CheckFailed(told, f"about {wanted:.3g}: the root of d_k")


# by n pairs, by n - 1, or as the root of the mean square: each is a standard deviation
DRAWN = (2.0673184948, 2.3113323428, 2.0748358709)


@score_std.visible
def score_std_draws_as_told(answer: Any) -> None:
    """Queries are drawn first, then keys, from `rng`: a seed gives the same number."""
    seen = number(expect.call(answer, 3, 5, np.random.default_rng(7)))
    if not np.isclose(seen, DRAWN, rtol=1e-6).any():
        raise CheckFailed(
            f"with np.random.default_rng(7), d_k = 3 and 5 pairs give {seen:.4f}"
            + expect.apart(seen, DRAWN[0]),
            f"{DRAWN[0]:.4f}: all queries (n_pairs, d_k), then all keys, pair by pair",
        )


# ---------------------------------------------------------------- entropy


@entropy.visible
def entropy_has_one_number_per_row(answer: Any) -> None:
    """Weights of shape (2, 3, 4) give entropies of shape (2, 3)."""
    expect.array(expect.call(answer, np.full((2, 3, 4), 0.25)), (2, 3), "the entropy")


@entropy.visible
def uniform_weights_have_the_largest_entropy(answer: Any) -> None:
    """Eight equal weights have the entropy log 8, in nats."""
    seen = expect.array(expect.call(answer, np.full((1, 8), 0.125)), (1,))
    told = f"eight equal weights have the entropy {float(seen[0]):.4g}"
    expect.close(seen, np.log(8.0), told, f"log 8 = {np.log(8):.4g}")


@entropy.visible
def one_hot_weights_have_no_entropy(answer: Any) -> None:
    """All weight on one key gives entropy 0, without NaN or a warning."""
    seen = expect.quiet_call(answer, np.array([[0.0, 1.0, 0.0]]))
    seen = expect.array(seen, (1,), "the entropy")
    expect.close(seen, 0.0, f"weights [0, 1, 0] have the entropy {seen[0]:.4g}", "0")


# ------------------------------------------------------- softmax_jacobian


@softmax_jacobian.visible
def jacobian_is_square(answer: Any) -> None:
    """Three weights give a matrix of shape (3, 3)."""
    weights = np.array([0.2, 0.3, 0.5])
    expect.array(expect.call(answer, weights), (3, 3), "the Jacobian")


@softmax_jacobian.visible
def jacobian_rows_sum_to_zero(answer: Any) -> None:
    """Every row sums to 0: what one weight gains, the others lose."""
    weights = np.array([0.1, 0.6, 0.3])
    jacobian = expect.array(expect.call(answer, weights), (3, 3), "the Jacobian")
    right = np.array([[0.09, -0.06, -0.03], [-0.06, 0.24, -0.18], [-0.03, -0.18, 0.21]])
    seen = f"the rows sum to {np.round(jacobian.sum(-1), 3)}"
    wanted = "0: a constant added to all scores changes no weight"
    expect.close(jacobian.sum(-1), np.zeros(3), seen, wanted, whole=(jacobian, right))


@softmax_jacobian.visible
def jacobian_of_two_weights(answer: Any) -> None:
    """The weights [0.8, 0.2] have the Jacobian [[0.16, -0.16], [-0.16, 0.16]]."""
    jacobian = expect.call(answer, np.array([0.8, 0.2]))
    jacobian = expect.array(jacobian, (2, 2), "the Jacobian")
    seen = f"the weights [0.8, 0.2] have the Jacobian {np.round(jacobian, 3).tolist()}"
    wanted = "[[0.16, -0.16], [-0.16, 0.16]]"
    expect.close(jacobian, 0.16 * np.array([[1.0, -1.0], [-1.0, 1.0]]), seen, wanted)


# -------------------------------------------------------- plot_saturation


def curves_by_name(answer: Any, d_ks: Any, rng: np.random.Generator) -> dict:
    """The curves "unscaled" and "scaled" of the student's Axes, checked for labels."""
    description = describe_axes(expect.call(answer, d_ks, rng))
    found = {}
    for curve in description["curves"]:
        label = curve["label"].casefold()
        name = next((n for n in ("unscaled", "scaled") if n in label), None)
        if name and name not in found:
            found[name] = curve
    if missing := {"unscaled", "scaled"} - found.keys():
        labels = [curve["label"] for curve in description["curves"]]
        raise CheckFailed(
            f"no line is labeled {' or '.join(map(repr, sorted(missing)))}; "
            f"the labels are {labels[:5]}",
            'one line labeled "unscaled" and one labeled "scaled"',
        )
    if bare := [a for a in ("xlabel", "ylabel") if not description[a].strip()]:
        raise CheckFailed(f"the plot has no {bare[0]}", "a label on both axes")
    legend = " ".join(description["legend"]).casefold()
    if "unscaled" not in legend or "scaled" not in legend.replace("unscaled", ""):
        seen = "the legend does not name both lines" if legend else "there is no legend"
        raise CheckFailed(seen, 'a legend that names "unscaled" and "scaled"')
    return found


@plot_saturation.visible
def plot_has_two_named_lines(answer: Any) -> None:
    """The Axes has the lines "unscaled" and "scaled", two axis labels, a legend."""
    curves_by_name(answer, [2, 8, 32], np.random.default_rng(2))


@plot_saturation.visible
def lines_run_over_d_k(answer: Any) -> None:
    """Both lines have a point for every d_k, at x = d_k."""
    d_ks = [2, 8, 32, 128]
    for name, curve in curves_by_name(answer, d_ks, np.random.default_rng(3)).items():
        if len(curve["x"]) != len(d_ks) or not np.allclose(np.sort(curve["x"]), d_ks):
            seen = f'the line "{name}" has x = {np.round(curve["x"], 2)[:8].tolist()}'
            raise CheckFailed(seen, f"x = {d_ks}")


@plot_saturation.visible
def unscaled_weights_saturate(answer: Any) -> None:
    """As d_k grows, the largest weight nears 1 without scaling, not with scaling."""
    curves = curves_by_name(answer, [2, 512], np.random.default_rng(4))
    ends = {name: curve["y"][-1] for name, curve in curves.items()}
    if not (ends["unscaled"] > 0.85 and ends["unscaled"] <= 1 + 1e-9):
        seen = f'at d_k = 512 the line "unscaled" is at {ends["unscaled"]:.3g}'
        raise CheckFailed(seen, "above 0.85: nearly all weight on one key")
    if not 0.2 < ends["scaled"] < 0.5:
        seen = f'at d_k = 512 the line "scaled" is at {ends["scaled"]:.3g}'
        wanted = "between 0.2 and 0.5: with ten keys the largest weight stays moderate"
        raise CheckFailed(seen, wanted)
