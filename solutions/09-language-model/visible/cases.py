"""Helpers of the checks of 09-language-model: logits, random draws and layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from paying_attention.encoder_layer.visible.cases import layer_shapes

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.library import library


def scalar(value: Any) -> float:
    """The number in a tensor of shape (), which a loss has to be."""
    return float(expect.tensor(value, (), "the loss"))


def shares(*rows: list[float]) -> torch.Tensor:
    """Logits (1, n, vocabulary) that stand for these probabilities."""
    return torch.tensor([rows], dtype=torch.float64).log()


def ids(value: Any, batch: int) -> np.ndarray:
    """The token ids (batch,) that a draw has to be."""
    if not type(value).__module__.startswith("torch"):
        seen = f"the result is a {type(value).__name__}"
        raise CheckFailed(seen, "a torch tensor", kind="type")
    if tuple(value.shape) != (batch,):
        seen = f"the result has shape {tuple(value.shape)}"
        wanted = f"shape ({batch},): one token for each row"
        raise CheckFailed(seen, wanted, kind="shape")
    found = value.detach().numpy()
    if found.dtype.kind != "i":
        seen = f"the result has dtype {found.dtype}"
        raise CheckFailed(seen, "integers: token ids", kind="type")
    return found


def generator(answer: Any, seed: int = 0) -> Any:
    """A torch generator in the process that ``answer`` lives in."""
    made = library(answer, "torch", "Generator")()
    made.manual_seed(seed)
    return made


def draws(
    answer: Any,
    row: torch.Tensor,
    temperature: float,
    top_k: int | None,
    seed: int,
    times: int = 6000,
) -> np.ndarray:
    """How often each token came, drawing from the same logits many times."""
    many = row.repeat(times, 1)
    drawn = expect.call(answer, many, temperature, top_k, generator(answer, seed))
    drawn = ids(drawn, times)
    if drawn.min() < 0 or drawn.max() >= len(row):
        seen = "a token outside the vocabulary was drawn"
        raise CheckFailed(seen, "ids from the vocabulary")
    return np.bincount(drawn, minlength=len(row)) / times


def told(numbers: np.ndarray) -> str:
    return ", ".join(f"{number:.2f}" for number in numbers)


def expect_shares(seen: np.ndarray, wanted: list[float]) -> None:
    if np.abs(seen - np.array(wanted)).max() > 0.04:
        case = f"the tokens were drawn with the frequencies {told(seen)}"
        raise CheckFailed(case, f"about {told(np.array(wanted))}")


FOUR = torch.tensor([0.2, 0.5, 0.1, 0.2], dtype=torch.float64).log()


def output(layer: Any, x: torch.Tensor) -> np.ndarray:
    """What the layer makes of ``x``, of the same shape."""
    found = expect.call(layer, x)
    if isinstance(found, tuple | list):
        seen = f"your layer returned {len(found)} results"
        wanted = "the new tokens alone, without the weights"
        raise CheckFailed(seen, wanted, kind="type")
    return expect.tensor(found, tuple(x.shape), "the output")


def quiet_state(d_model: int, d_ff: int) -> dict[str, torch.Tensor]:
    """Parameters with which both branches give 0."""
    shapes = layer_shapes(d_model, d_ff)
    state = {name: torch.zeros(shape) for name, shape in shapes.items()}
    ones = {f"norm{i}.weight": torch.ones(d_model) for i in (1, 2)}
    return state | ones
