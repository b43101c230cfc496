"""Helpers of the checks of 12-circuits: models whose weights are made by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from autograder.checks.accepted_results import a_kind
from autograder.checks.failures import CheckFailed
from autograder.checks.library import library
from autograder.checks.question import failure_of

State = dict[str, torch.Tensor]


class Sizes(NamedTuple):
    """Of a model."""

    vocabulary: int
    max_len: int
    d_model: int
    n_heads: int
    n_layers: int


def build(answer: Any, sizes: Sizes, state: State) -> Any:
    """The given model with this state, where the answer lives."""
    try:
        kind = library(answer, "", "AttentionOnly")
    except AttributeError:
        raise CheckFailed(
            "there is no AttentionOnly", "the given model, from the first cell"
        ) from None
    model = kind(*sizes)
    model.load_state_dict(state)
    return model


def drawn(rng: np.random.Generator, sizes: Sizes) -> State:
    """Random parameters."""
    d = sizes.d_model
    shapes = {
        "embedding.weight": (sizes.vocabulary, d),
        "position.weight": (sizes.max_len, d),
        "unembedding.weight": (sizes.vocabulary, d),
    }
    for layer in range(sizes.n_layers):
        shapes |= {f"layers.{layer}.W_{name}.weight": (d, d) for name in "qkvo"}
    scale = 1.5 / d**0.5
    return {
        name: torch.from_numpy((rng.standard_normal(s) * scale).astype(np.float32))
        for name, s in shapes.items()
    }


def logits_by_head(
    state: State, sizes: Sizes, tokens: torch.Tensor, cut: tuple[int, int] | None = None
) -> torch.Tensor:
    """What the model gives, head by head, each added to the stream by itself."""
    x = state["embedding.weight"][tokens] + state["position.weight"][: tokens.shape[1]]
    d_k = sizes.d_model // sizes.n_heads
    past = torch.ones(tokens.shape[1], tokens.shape[1]).tril() > 0
    for layer in range(sizes.n_layers):
        W = {name: state[f"layers.{layer}.W_{name}.weight"] for name in "qkvo"}
        change = torch.zeros_like(x)
        for head in range(sizes.n_heads):
            if cut == (layer, head):
                continue
            own = slice(head * d_k, (head + 1) * d_k)
            q, k, v = (x @ W[name][own].T for name in "qkv")
            scores = (q @ k.mT / d_k**0.5).where(past, torch.tensor(-torch.inf))
            change = change + scores.softmax(-1) @ v @ W["o"][:, own].T
        x = x + change
    return x @ state["unembedding.weight"].T


LONGEST, LETTERS = 24, 16
DESIGN = Sizes(LETTERS, LONGEST, 2 * LETTERS + LONGEST, 2, 2)


def designed(kinds: dict[tuple[int, int], str], n_layers: int = 2) -> State:
    """A model of two heads a layer that does what ``kinds`` says, head by head.

    The stream has a part for tokens, a part for notes, and a part for positions.
    "previous" notes the token before; "induction" looks for its own token in the notes;
    "same" looks for its own token; "self" at its own position; "rare" there too, but
    for token 0, for which it does what "induction" does, and "last" for the last token.
    Others look everywhere.
    """
    sizes = DESIGN._replace(n_layers=n_layers)
    d, d_k = sizes.d_model, sizes.d_model // 2
    eye = torch.eye(d)
    token, note, place = eye[:LETTERS], eye[LETTERS : 2 * LETTERS], eye[2 * LETTERS :]
    state = {
        name: torch.zeros_like(value)
        for name, value in drawn(np.random.default_rng(0), sizes).items()
    }
    state["embedding.weight"] = token.clone()
    state["position.weight"] = place.clone()
    state["unembedding.weight"] = token.clone()
    sharp = 30.0 * d_k**0.5
    for (layer, head), kind in kinds.items():
        W = {name: state[f"layers.{layer}.W_{name}.weight"] for name in "qkvo"}
        first = head * d_k
        read = {
            "previous": (place[1:], place[:-1]),
            "self": (place, place),
            "induction": (token, note),
            "same": (token, token),
            "rare": (torch.cat([place, 2 * token[:1]]), torch.cat([place, note[:1]])),
            "last": (torch.cat([place, 2 * token[-1:]]), torch.cat([place, note[-1:]])),
        }.get(kind)
        if read:
            queries, keys = read
            W["q"][first : first + len(queries)] = sharp * queries
            W["k"][first : first + len(keys)] = keys
        if kind in ("previous", "induction"):
            W["v"][first : first + LETTERS] = token
            target = note if kind == "previous" else token
            W["o"][:, first : first + LETTERS] = target.T
    return state


def keeps_hooks(answer: Any, model: Any, tokens: torch.Tensor) -> bool:
    """Whether a hook of somebody else is there still when `ablate` has failed.

    The hook raises; a text that is too long fails before it is reached.
    """
    own = library(answer, "math", "sqrt")
    handle = model.layers[1].W_o.register_forward_pre_hook(own)
    long = torch.zeros(1, model.max_len + 1, dtype=torch.int64)
    failure_of(lambda: answer(model, long, 1, 0))
    kept = failure_of(lambda: model(tokens)) is not None
    handle.remove()
    return kept


def generator(answer: Any, seed: int) -> Any:
    """A torch generator in the process that ``answer`` lives in."""
    made = library(answer, "torch", "Generator")()
    made.manual_seed(seed)
    return made


def number(value: Any) -> float:
    """``value`` as the Python float that it has to be."""
    if not isinstance(value, float) or isinstance(value, np.generic):
        seen = f"your function returned {a_kind(value)}"
        raise CheckFailed(seen, "a Python float, from .item()", kind="type")
    return value
