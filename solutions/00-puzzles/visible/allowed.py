"""Validation of puzzle inputs that students make up; returns them as arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.failures import CheckFailed
from autograder.checks.puzzle import SIDE, Inputs, made_up


def whole(value: Any, what: str, least: int, most: int = SIDE) -> int:
    """A whole number between two others."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        seen = f"{what} is a {type(value).__name__}"
        raise CheckFailed(seen, "a whole number", kind="type")
    if not least <= value <= most:
        raise CheckFailed(f"{what} = {value}", f"{what} between {least} and {most}")
    return int(value)


def real(value: Any, what: str, low: float, high: float) -> float:
    """A number between two others."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        seen = f"{what} is a {type(value).__name__}"
        raise CheckFailed(seen, "a number", kind="type")
    if not low <= value <= high:
        raise CheckFailed(f"{what} = {value}", f"{what} between {low:g} and {high:g}")
    return float(value)


def small(array: np.ndarray, what: str, most: float) -> np.ndarray:
    """Numbers that are no larger than the card allows."""
    if np.abs(array).max() > most:
        raise CheckFailed(f"{what} has a number beyond {most:g}", f"at most {most:g}")
    return array


def alike_sizes(pairs: dict[str, tuple[int, int]]) -> None:
    """Sizes that the card calls by the same letter."""
    for what, (one, other) in pairs.items():
        if one != other:
            seen = f"{what} is {one} and {other}"
            raise CheckFailed(seen, "the same number for both")


def shares(value: Any, what: str) -> np.ndarray:
    """Numbers of at least 0 that sum to 1."""
    array = made_up(value, what, 1)
    if array.min() < 0 or abs(array.sum() - 1) > 1e-6:
        raise CheckFailed(
            f"the smallest number in {what} is {array.min():.3g}, and the sum is "
            f"{array.sum():.6g}",
            "numbers of at least 0 that sum to 1",
        )
    return array


def softmax(scores: Any) -> Inputs:
    return {"scores": small(made_up(scores, "`scores`", 1), "`scores`", 10_000)}


def scores(Q: Any, K: Any) -> Inputs:
    Q, K = made_up(Q, "`Q`", 2), made_up(K, "`K`", 2)
    alike_sizes({"the width d of `Q` and `K`": (Q.shape[1], K.shape[1])})
    return {"Q": small(Q, "`Q`", 10_000), "K": small(K, "`K`", 10_000)}


def masked_row(scores: Any, mask: Any) -> Inputs:
    scores, mask = made_up(scores, "`scores`", 1), made_up(mask, "`mask`", 1, "b")
    alike_sizes({"the length n of `scores` and `mask`": (len(scores), len(mask))})
    if not mask.any():
        raise CheckFailed("`mask` is False everywhere", "at least one True")
    return {"scores": small(scores, "`scores`", 10_000), "mask": mask}


def split_heads(X: Any, n_heads: Any) -> Inputs:
    X, n_heads = made_up(X, "`X`", 2), whole(n_heads, "`n_heads`", 1)
    if X.shape[1] % n_heads:
        raise CheckFailed(
            f"d_model = {X.shape[1]} and n_heads = {n_heads}",
            "a d_model that n_heads divides",
        )
    return {"X": small(X, "`X`", 10_000), "n_heads": n_heads}


def repeat_kv(K: Any, groups: Any) -> Inputs:
    K = small(made_up(K, "`K`", 3), "`K`", 10_000)
    return {"K": K, "groups": whole(groups, "`groups`", 1)}


def entropy(weights: Any) -> Inputs:
    return {"weights": shares(weights, "`weights`")}


def layer_norm(x: Any, gain: Any, shift: Any) -> Inputs:
    x, gain = made_up(x, "`x`", 2), made_up(gain, "`gain`", 1)
    shift = made_up(shift, "`shift`", 1)
    alike_sizes({"the width d of `x` and `gain`": (x.shape[1], len(gain))})
    alike_sizes({"the width d of `x` and `shift`": (x.shape[1], len(shift))})
    parts = {"x": x, "gain": gain, "shift": shift}
    return {what: small(part, f"`{what}`", 10_000) for what, part in parts.items()}


def top_p(probabilities: Any, p: Any) -> Inputs:
    probabilities = shares(probabilities, "`probabilities`")
    if len(np.unique(probabilities)) < len(probabilities):
        raise CheckFailed("two probabilities are equal", "no two that are equal")
    return {"probabilities": probabilities, "p": real(p, "`p`", 0.01, 0.99)}


def document_mask(documents: Any) -> Inputs:
    return {"documents": made_up(documents, "`documents`", 1, "i")}


def next_token_loss(logits: Any, tokens: Any) -> Inputs:
    logits = small(made_up(logits, "`logits`", 2), "`logits`", 100)
    tokens = made_up(tokens, "`tokens`", 1, "i")
    alike_sizes({"the length n of `logits` and `tokens`": (len(logits), len(tokens))})
    if len(tokens) < 2 or tokens.min() < 0 or tokens.max() >= logits.shape[1]:
        raise CheckFailed(
            f"`tokens` = {tokens.tolist()} with {logits.shape[1]} columns of logits",
            "at least two tokens, each the number of a column",
        )
    return {"logits": logits, "tokens": tokens}


def rotate_pair(pair: Any, position: Any, theta: Any) -> Inputs:
    pair = small(made_up(pair, "`pair`", 1), "`pair`", 100)
    alike_sizes({"the length of `pair`": (len(pair), 2)})
    theta = real(theta, "`theta`", 0.0, 3.0)
    return {"pair": pair, "position": whole(position, "`position`", 0), "theta": theta}
