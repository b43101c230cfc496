"""The functions of chapter 13 that ask a model less often."""

import math
import re

import jupytext
import pytest
import recording
import torch
from torch.nn import functional as F

WANTED = "speculate", "missing", "sure"


@pytest.fixture(scope="module")
def chapter():
    """Its functions, defined as it defines them, with nothing run."""
    cells = jupytext.read(recording.BOOK / "text/13-what-came-after.md").cells
    code = "\n\n\n".join(c.source for c in cells if c.cell_type == "code")
    names = {"torch": torch, "F": F}
    for name in WANTED:
        found = re.search(rf"^def {name}\(.*?\n(?=\S)", f"{code}\n#", re.M | re.S)
        exec(found[0], names)
    return names


@pytest.fixture
def generator(seed):
    return torch.Generator().manual_seed(seed)


def chances(generator, *shape):
    """Uneven ones, some of them nearly zero."""
    scores = 2 * torch.randn(*shape, dtype=torch.double, generator=generator)
    return scores.softmax(dim=-1)


def test_kept_guesses_and_what_is_missing_make_the_target(chapter, generator):
    """Without a draw: the chance of each token, summed over both ways to it."""
    p, q = chances(generator, 2, 30)
    kept = q * (p / q).clamp(max=1)
    lost = 1 - kept.sum()
    rest = chapter["missing"](p, q)
    torch.testing.assert_close(kept + lost * rest / rest.sum(), p)
    drawn_again = kept + lost * p
    assert (drawn_again - p).abs().max() > 1e-3


@pytest.mark.parametrize("most", [1, 3])
def test_a_text_with_guesses_has_the_chances_of_the_target(chapter, generator, most):
    """All pairs of the first two tokens, against the product of their chances."""
    size, n = 4, 4000
    first, second, rough = chances(generator, 3, size, size)

    def target(text, last=1):
        ends = torch.tensor(text[-last - 1 :])
        return (first[ends[1:]] + second[ends[:-1]]) / 2

    def draft(text, last=1):
        return rough[torch.tensor(text[-last:])]

    found = torch.zeros(size, size, dtype=torch.double)
    for _ in range(n):
        new = []
        while len(new) < 2:
            new += chapter["speculate"](
                target, draft, [1, 2, *new], most, generator, chapter["missing"]
            )
        assert len(new) <= 2 + most
        found[new[0], new[1]] += 1
    start = target([1, 2])[0]
    after = torch.stack([target([2, a])[0] for a in range(size)])
    due = n * start[:, None] * after
    often = due >= 5
    total = ((found - due)[often] ** 2 / due[often]).sum().item()
    mean = (1 - due / n)[often].sum().item()
    assert total - mean < 6 * math.sqrt(2 * mean) + 6


def test_a_draft_that_is_the_target_loses_no_guess(chapter, generator):
    table = chances(generator, 5, 5)

    def model(text, last=1):
        return table[torch.tensor(text[-last:])]

    for most in range(5):
        new = chapter["speculate"](
            model, model, [0], most, generator, chapter["missing"]
        )
        assert len(new) == most + 1
