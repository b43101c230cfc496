"""Visible checks of 10-generating: windows, the cache, and a step of decoding."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed

from . import cases
from .questions import KVCache, decode_step, window_mask

# ------------------------------------------------------------ window_mask


@window_mask.visible
def window_mask_is_a_boolean_square(answer: Any) -> None:
    """Five positions give a boolean array of shape (5, 5)."""
    expect.array(expect.call(answer, 5, 2), (5, 5), "the mask", kind="b")


@window_mask.visible
def window_counts_the_position_itself(answer: Any) -> None:
    """With a window of 2 each position sees itself and the one before."""
    mask = expect.array(expect.call(answer, 7, 2), (7, 7), "the mask", kind="b")
    wanted = np.eye(7, dtype=bool) | np.eye(7, k=-1, dtype=bool)
    cases.rows_agree(mask, wanted, "window 2")


@window_mask.visible
def sinks_stay_in_view(answer: Any) -> None:
    """With one sink every later position sees position 0 as well, and no future."""
    mask = expect.call(answer, 5, 2, 1)
    mask = expect.array(mask, (5, 5), "the mask", kind="b")
    wanted = np.eye(5, dtype=bool) | np.eye(5, k=-1, dtype=bool)
    wanted[:, 0] = True
    cases.rows_agree(mask, wanted, "window 2, one sink")


@window_mask.visible
def sinks_are_seen_from_behind_alone(answer: Any) -> None:
    """With three sinks and a window of 1, early positions see no sink ahead of them."""
    mask = expect.call(answer, 5, 1, 3)
    mask = expect.array(mask, (5, 5), "the mask", kind="b")
    wanted = np.eye(5, dtype=bool)
    wanted[:, :3] |= np.tri(5, 3, dtype=bool)
    cases.rows_agree(mask, wanted, "window 1, three sinks")


# ---------------------------------------------------------------- KVCache


@KVCache.visible
def cache_returns_all_keys_and_values(answer: Any) -> None:
    """After three tokens, keys have shape (1, 3, 2) and values (1, 3, 3)."""
    cache = expect.call(answer)
    for number in range(3):
        keys, values = cases.appended(cache, *cases.entry(number))
        expect.array(keys, (1, number + 1, 2), "the keys")
        expect.array(values, (1, number + 1, 3), "the values")


@KVCache.visible
def cache_keeps_the_order(answer: Any) -> None:
    """Keys and values come back in the order in which they were added."""
    cache = expect.call(answer)
    for number in (5.0, 6.0, 7.0):
        keys, values = cases.appended(cache, *cases.entry(number))
    numbers = expect.array(keys, (1, 3, 2))[0, :, 0]
    others = expect.array(values, (1, 3, 3))[0, :, 0]
    if not np.array_equal(numbers, [5, 6, 7]):
        seen = f"keys 5, 6, 7 came back as {numbers.round(3)}"
        raise CheckFailed(seen, "[5, 6, 7]")
    if not np.array_equal(others, [-5, -6, -7]):
        seen = f"values -5, -6, -7 came back as {others.round(3)}"
        raise CheckFailed(seen, "[-5, -6, -7]")


@KVCache.visible
def length_counts_the_tokens(answer: Any) -> None:
    """An empty cache has length 0, and each token adds 1."""
    cache = expect.call(answer)
    for number in range(4):
        cases.counts(cache, number)
        cases.appended(cache, *cases.entry(number, n_kv=3))


@KVCache.visible
def window_drops_the_oldest(answer: Any) -> None:
    """With a window of 2 the last two tokens are kept, and the length still grows."""
    cache = expect.call(answer, 2)
    for number in range(1, 5):
        keys, _ = cases.appended(cache, *cases.entry(number))
        numbers = expect.array(keys, (1, min(number, 2), 2), "the keys")[0, :, 0]
        wanted = np.arange(max(number - 1, 1), number + 1)
        if not np.array_equal(numbers, wanted):
            seen = f"after {number} tokens, {numbers.round(3)} are kept"
            raise CheckFailed(seen, f"{wanted}")
    cases.counts(cache, 4, ", the number of tokens seen")


@KVCache.visible
def window_drops_values_too(answer: Any) -> None:
    """With a window of 2, the values of the last two tokens are kept."""
    cache = expect.call(answer, 2)
    for number in range(1, 4):
        _, values = cases.appended(cache, *cases.entry(number))
    shape: tuple[int, ...] = getattr(values, "shape", ())
    if len(shape) == 3 and shape[1] != 2:
        seen = f"after 3 tokens, {shape[1]} values are kept"
        raise CheckFailed(seen, "2, as for keys")
    numbers = expect.array(values, (1, 2, 3), "the values")[0, :, 0]
    if not np.array_equal(numbers, [-2, -3]):
        seen = f"of the values -1, -2, -3, {numbers.round(3)} are kept"
        raise CheckFailed(seen, "[-2, -3]")


@KVCache.visible
def cache_keeps_float32(answer: Any) -> None:
    """float32 stays float32, with one token and with two."""
    cache = expect.call(answer)
    for count in (1, 2):
        k, v = (a.astype(np.float32) for a in cases.entry(count))
        keys, values = cases.appended(cache, k, v)
        expect.dtype(expect.array(keys, (1, count, 2), "keys"), "float32", "keys")
        expect.dtype(expect.array(values, (1, count, 3), "values"), "float32", "values")


@KVCache.visible
def returned_arrays_stay(answer: Any) -> None:
    """With a window of 2, later tokens change nothing that was returned before."""
    tokens = [cases.entry(number, n_kv=3) for number in range(1, 5)]
    for number, result in enumerate(cases.at_the_end(answer, tokens, 2), 1):
        keys, values = expect.pair(result, "keys, values")
        wanted = np.arange(max(number - 1, 1), number + 1)
        for part, width, sign in ((keys, 2, 1), (values, 3, -1)):
            part = expect.array(part, (3, len(wanted), width), "what was returned")
            if not np.array_equal(part[0, :, 0], sign * wanted):
                raise CheckFailed(
                    f"the array returned for token {number} was {sign * wanted}, but "
                    f"after token 4 it is {part[0, :, 0].round(3)}",
                    "arrays that were returned do not change",
                    kind="changed",
                )


# ------------------------------------------------------------ decode_step


@decode_step.visible
def first_token_attends_to_itself(answer: Any) -> None:
    """The first token attends only to itself: its weights are 1."""
    q, k, v = np.ones((4, 1, 4)), np.ones((2, 1, 4)), np.array([[[3.0, 5, 7]]] * 2)
    cache = cases.cache_for(answer, q, k, v)
    output, weights = cases.step(answer, cache, q, k, v)
    weights = expect.array(weights, (4, 1, 1), "the weights")
    output = expect.array(output, (4, 1, 3), "the output")
    expect.close(weights, 1.0, f"the weights are {weights.ravel()}", "1 for each head")
    seen = f"the value [3, 5, 7] became {np.round(output[0, 0], 3)}"
    wanted = "[3, 5, 7] for each of the four heads"
    expect.close(output, np.broadcast_to(v[:1], (4, 1, 3)), seen, wanted)


@decode_step.visible
def distance_decides_between_equal_tokens(answer: Any) -> None:
    """The last of three equal tokens gives them the weights 0.176, 0.346 and 0.478."""
    weights, wanted = cases.equal_tokens(answer, 3), cases.weights_of_distances(2, 1, 0)
    seen = f"the weights on three equal tokens are {np.round(weights, 3)}"
    expect.close(weights, wanted, seen, f"{np.round(wanted, 3)}")


@decode_step.visible
def positions_grow_behind_a_window(answer: Any) -> None:
    """With a window of 2, the fifth token is still one step from the fourth."""
    weights = cases.equal_tokens(answer, 5, window=2)
    wanted = cases.weights_of_distances(1, 0)
    seen = f"with a window of 2, the fifth token has the weights {np.round(weights, 3)}"
    expect.close(weights, wanted, seen, f"{np.round(wanted, 3)}")


@decode_step.visible
def values_are_mixed_unturned(answer: Any) -> None:
    """The output mixes the values of all kept tokens, and values are not rotated."""
    x, values = np.zeros((1, 1, 2)), [(4.0, 0.0), (0.0, 4.0), (4.0, 4.0)]
    cache = cases.cache_for(answer, x, x, x)
    for value in values:
        v = np.array([[value]])
        output, _ = cases.step(answer, cache, x.copy(), x.copy(), v)
    output = expect.array(output, (1, 1, 2), "the output")
    expect.close(
        output[0, 0],
        np.array([8.0, 8.0]) / 3,
        "equal weights on the values [4, 0], [0, 4] and [4, 4] gave "
        f"{np.round(output[0, 0], 3)}",
        "[2.667, 2.667]: their mean",
    )
