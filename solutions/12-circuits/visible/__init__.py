"""Visible checks of 12-circuits, for students at work and for grading."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import expect
from autograder.checks.accepted_results import a_kind
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed
from autograder.checks.library import library
from autograder.checks.question import failure_of

from .cases import (
    DESIGN,
    Sizes,
    State,
    build,
    designed,
    drawn,
    generator,
    logits_by_head,
    number,
)

assignment = Assignment(__name__, page="12-a-head-is-born")
__getattr__ = assignment.hidden_half

SCORES, CUT = "two-numbers-for-two-heads", "cut-one-head"
previous_token_score = assignment.question("previous_token_score", 4, SCORES)
induction_score = assignment.question("induction_score", 5, SCORES)
ablate = assignment.question("ablate", 7, CUT)
find_induction_head = assignment.question("find_induction_head", 4, SCORES)
key_composition = assignment.question("key_composition", 4, "path-by-path")


def table(*rows: list[float]) -> torch.Tensor:
    """A small map of weights, in double precision."""
    return torch.tensor(rows, dtype=torch.float64)


def one_score(answer: Any, weights: torch.Tensor, *more: Any) -> float:
    """The score of one map."""
    return float(expect.tensor(expect.call(answer, weights, *more), (), "the score"))


# ----------------------------------------------------- previous_token_score


@previous_token_score.visible
def scores_lose_two_axes(answer: Any) -> None:
    """Weights (2, 3, 4, 4) give scores (2, 3), in their dtype."""
    weights = torch.full((2, 3, 4, 4), 0.25, dtype=torch.float64)
    result = expect.call(answer, weights)
    expect.tensor(result, (2, 3), "the score")
    expect.dtype(result, "float64", "the score")


@previous_token_score.visible
def score_of_the_example(answer: Any) -> None:
    """The card's example has the score 0.3."""
    weights = table([1, 0, 0], [0.4, 0.6, 0], [0.5, 0.2, 0.3])
    seen = one_score(answer, weights)
    expect.close(np.array(seen), 0.3, f"the example has the score {seen:.4g}", "0.3")


# ---------------------------------------------------------- induction_score


@induction_score.visible
def induction_scores_lose_two_axes(answer: Any) -> None:
    """Weights (2, 3, 4, 4) with period 2 give scores (2, 3), in their dtype."""
    weights = torch.full((2, 3, 4, 4), 0.25, dtype=torch.float64)
    result = expect.call(answer, weights, 2)
    expect.tensor(result, (2, 3), "the score")
    expect.dtype(result, "float64", "the score")


@induction_score.visible
def two_entries_count(answer: Any) -> None:
    """With n = 5 and period 3 the weights from 3 to 1 and from 4 to 2 count."""
    weights = torch.zeros(5, 5, dtype=torch.float64)
    for i in range(5):
        for j in range(i + 1):
            weights[i, j] = (i + 1) ** 2 / 100 + j / 10
    seen, wanted = one_score(answer, weights, 3), float(weights[3, 1] + weights[4, 2])
    told = f"the weights are 0.26 and 0.45; your score is {seen:.4g}"
    expect.close(np.array(seen), wanted / 2, told, "0.355, their mean")


@induction_score.visible
def the_same_token_does_not_count(answer: Any) -> None:
    """A head that looks at the last occurrence itself, i − period, has the score 0."""
    weights = torch.zeros(6, 6, dtype=torch.float64)
    for i in range(6):
        weights[i, max(i - 3, 0)] = 1
    seen = one_score(answer, weights, 3)
    expect.close(np.array(seen), 0.0, f"this head has the score {seen:.4g}", "0")


# ------------------------------------------------------------------- ablate

SMALL = Sizes(vocabulary=5, max_len=7, d_model=6, n_heads=3, n_layers=2)
TOKENS = torch.tensor([[0, 3, 1, 4], [2, 2, 0, 1]])


def compare_cut(
    answer: Any, model: Any, state: State, sizes: Sizes, tokens: Any, at: tuple
) -> None:
    """Check the logits without one head, and that the model is as before afterwards."""
    wanted = logits_by_head(state, sizes, tokens, at)
    result = expect.call(answer, model, tokens, *at)
    seen = expect.tensor(result, tuple(wanted.shape), "the logits")
    told = f"with head {at[1]} of layer {at[0]} cut, the logits are wrong"
    due = "the logits of a model in which the head adds nothing"
    expect.close(seen, wanted.numpy(), told, due, tolerance=1e-5)
    unchanged(model, state, sizes, tokens)


def unchanged(model: Any, state: State, sizes: Sizes, tokens: Any) -> None:
    """The model keeps its parameters and mode, has no hooks and answers as before."""
    now = model.state_dict()
    if any(not torch.equal(now[name].detach(), state[name]) for name in state):
        told = "afterwards the model has different parameters"
        raise CheckFailed(told, "the model as before")
    seen = expect.tensor(model(tokens), (*tokens.shape, sizes.vocabulary))
    whole = logits_by_head(state, sizes, tokens).numpy()
    if np.abs(seen - whole).max() > 1e-4 * max(1, np.abs(whole).max()):
        told = "afterwards the model gives different logits: a hook is left"
        raise CheckFailed(told, "the model as before")


@ablate.visible
def a_head_is_cut(answer: Any) -> None:
    """Each head of a model with two layers of three heads is cut alone."""
    state = drawn(np.random.default_rng(3), SMALL)
    model = build(answer, SMALL, state)
    for at in ((1, 0), (1, 2), (0, 1)):
        compare_cut(answer, model, state, SMALL, TOKENS, at)


@ablate.visible
def a_failed_call_leaves_no_trace(answer: Any) -> None:
    """A text that is too long raises an exception and leaves the model as before."""
    state = drawn(np.random.default_rng(4), SMALL)
    model = build(answer, SMALL, state)
    long = torch.zeros(1, 9, dtype=torch.int64)
    if failure_of(lambda: answer(model, long, 0, 1)) is None:
        raise CheckFailed("9 tokens were accepted, but only 7 fit", "an exception")
    unchanged(model, state, SMALL, TOKENS)


@ablate.visible
def the_mode_stays(answer: Any) -> None:
    """The model stays in the mode it was in, train or eval."""
    state = drawn(np.random.default_rng(5), SMALL)
    model = build(answer, SMALL, state)
    for training in (True, False):
        model.train(training)
        answer(model, TOKENS, 0, 0)
        if model.training is not training:
            raise CheckFailed("the mode has changed", "train or eval, as before")


# ------------------------------------------------------ find_induction_head

CIRCUIT = {(0, 0): "same", (0, 1): "previous", (1, 0): "self", (1, 1): "induction"}


def compare_head(
    answer: Any,
    kinds: dict,
    period: int,
    n_layers: int = 2,
    seed: int = 1,
    sought: str = "induction",
) -> None:
    """Check the head that is found and the state of the generators."""
    sizes = DESIGN._replace(n_layers=n_layers)
    model = build(answer, sizes, designed(kinds, n_layers))
    source, state_of = (
        generator(answer, seed),
        library(answer, "torch", "get_rng_state"),
    )
    before, common = source.get_state(), state_of()
    value = expect.call(answer, model, period, source)
    if not model.training:
        raise CheckFailed("the model is in eval mode now", "train mode, as before")
    if not isinstance(value, tuple | list) or len(value) != 2:
        seen = f"your function returned {a_kind(value)}"
        raise CheckFailed(seen, "the tuple (layer, head)", kind="type")
    for part in value:
        if not isinstance(part, int) or isinstance(part, bool):
            seen = f"there is a {type(part).__name__} in the tuple"
            raise CheckFailed(seen, "two ints", kind="type")
    wanted = next(at for at, kind in kinds.items() if kind == sought)
    if tuple(value) != wanted:
        raise CheckFailed(f"you found {tuple(value)}", f"{wanted}")
    if torch.equal(source.get_state(), before) or source.initial_seed() != seed:
        seen = "the generator was not used, or was seeded again"
        raise CheckFailed(seen, "draws from the generator as it is")
    if not torch.equal(state_of(), common):
        raise CheckFailed("torch's global generator was used", "only `generator`")
    if fewer_drawn(source.get_state(), seed, 32 * period):
        due = "at least 32 sequences, each with its own half of `period` tokens"
        raise CheckFailed(f"fewer than 32 × {period} tokens were drawn", due)


def fewer_drawn(state: torch.Tensor, seed: int, n: int) -> bool:
    """Whether a generator is where fewer than ``n`` draws lead from its seed."""
    counted = torch.Generator().manual_seed(seed)
    for _ in range(n):
        if torch.equal(counted.get_state(), state):
            return True
        torch.randint(2, (1,), generator=counted)
    return False


@find_induction_head.visible
def the_head_is_found(answer: Any) -> None:
    """Of a previous-token head and an induction head, the induction head is found."""
    compare_head(answer, CIRCUIT, 8)


@find_induction_head.visible
def the_head_is_found_elsewhere(answer: Any) -> None:
    """In another model, the induction head is head 0 of layer 1."""
    kinds = {(0, 0): "previous", (0, 1): "blur", (1, 0): "induction", (1, 1): "same"}
    compare_head(answer, kinds, 6)


# ---------------------------------------------------------- key_composition


def compare_composition(
    answer: Any, wanted: float, *matrices: torch.Tensor, told: str = ""
) -> None:
    """A composition, to four digits."""
    seen = number(expect.call(answer, *matrices))
    if not abs(seen - wanted) <= 1e-4 * max(wanted, 1e-3):
        if not told:
            raise CheckFailed("a different number")
        gives = f"{told} gives {seen:.4g}{expect.apart(seen, wanted)}"
        raise CheckFailed(gives, f"{wanted:.4g}")


@key_composition.visible
def keys_read_what_was_written(answer: Any) -> None:
    """The card's example gives 1 if a head writes what the key reads, otherwise 0."""
    reads, writes = table([0, 1], [0, 0]), table([1, 0], [0, 0])
    compare_composition(
        answer, 1.0, reads, reads.clone(), told="W_OV = [[0, 1], [0, 0]]"
    )
    compare_composition(answer, 0.0, reads, writes, told="W_OV = [[1, 0], [0, 0]]")


@key_composition.visible
def sizes_are_divided_out(answer: Any) -> None:
    """Two identity matrices of size 4, one of them times 3, give 1/2."""
    eye = torch.eye(4, dtype=torch.float64)
    compare_composition(answer, 0.5, eye, 3 * eye, told="the pair I, 3 I of size 4")
