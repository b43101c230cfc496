"""Chapter 9: its parts against torch, by counting, and by what they promise."""

import contextlib
import io
from pathlib import Path

import alice
import attention
import cells
import longer
import numpy as np
import pytest
import torch
from shared import defined
from torch import nn
from torch.nn import functional as F

BOOK = Path(__file__).parents[2] / "book"


@pytest.fixture(scope="module")
def chapter():
    return defined("09-language-model")


@pytest.fixture
def tokens():
    return torch.randint(7, (3, 6), generator=torch.Generator().manual_seed(0))


def test_no_logit_of_the_language_model_depends_on_what_comes_later(tokens):
    torch.manual_seed(0)
    model = attention.LanguageModel(7, n_positions=6, d_model=8, n_heads=2)
    before = model(tokens)
    for t in range(5):
        changed = tokens.clone()
        changed[:, t + 1 :] = (changed[:, t + 1 :] + 1) % 7
        after = model(changed)
        torch.testing.assert_close(after[:, : t + 1], before[:, : t + 1])
        assert not torch.allclose(after[:, t + 1], before[:, t + 1])


def test_the_leak_test_finds_a_single_open_position(chapter, tokens):
    class Leaky(nn.Module):
        def forward(self, tokens):
            peeking = torch.zeros(*tokens.shape, 7)
            peeking[:, 2] = F.one_hot(tokens[:, 4], 7)  # position 2 sees token 4
            return peeking

    chapter["n_tokens"] = 7
    assert chapter["leaks"](Leaky(), tokens) == [2, 3]
    honest = attention.LanguageModel(7, n_positions=6, d_model=8, n_heads=2)
    assert chapter["leaks"](honest, tokens) == []


def test_running_step_by_step_is_the_model_and_silence_is_an_ablation(chapter, tokens):
    torch.manual_seed(0)
    model = attention.LanguageModel(7, n_positions=6, d_model=8, n_heads=2)
    logits, weights = chapter["run"](model, tokens)
    torch.testing.assert_close(logits, model(tokens))
    assert weights.shape == (2, 3, 2, 6, 6)
    silent, _ = chapter["run"](model, tokens, 1, 0, torch.zeros(6, 6))
    W_o = model.layers[1].self_attn.W_o.weight
    with torch.no_grad():
        W_o.unflatten(1, (2, -1))[:, 0] = 0
    torch.testing.assert_close(silent, model(tokens))


# ---- the longer run, whose numbers are published


@pytest.fixture(scope="module")
def published():
    """What the chapter defines before it trains, and its model with these numbers."""
    names = longer.chapter_until_it_trains()
    model = names["LanguageModel"](len(names["known"]), n_positions=64).double()
    numbers = np.load(BOOK / "data/pairs-2000.npy")
    assert numbers.dtype == np.float16 and numbers.nbytes < 300_000
    flat = torch.from_numpy(numbers).double()
    assert len(flat) == sum(p.numel() for p in model.parameters())
    nn.utils.vector_to_parameters(flat, model.parameters())
    return names, model.requires_grad_(False)


def test_the_longer_run_guesses_held_out_text_better_than_counting(published):
    names, model = published
    windows = names["in_windows"](names["held_out_pairs"])[:60]
    assert names["loss_on"](model, windows) < names["of_pairs"][1] - 0.1  # trigram
    assert names["leaks"](model, windows[:1]) == []


def test_the_model_in_numpy_computes_the_same(published):
    names, theirs = published
    model = alice.read_model(BOOK / "data/pairs-2000.npy", BOOK / "data/alice.txt")
    assert model.pieces == names["known"]
    windows = names["held_out_pairs"][: model.held_out.size].view(-1, 64)
    assert np.array_equal(model.held_out, windows)
    attend = attention.scaled_dot_product_attention
    seen = alice.logits(model, model.held_out[:4], attend)
    assert np.abs(seen - theirs(windows[:4]).numpy()).max() < 1e-5  # a table for GELU


def test_the_model_on_one_page_computes_the_same(published, monkeypatch):
    monkeypatch.chdir(BOOK)
    sister, (chapter, theirs) = {}, published
    with contextlib.redirect_stdout(io.StringIO()):
        for source in cells.chapter("whole").sources:
            exec(source, sister)
    text = "'Oh,' said the Queen, 'what smartphones!'"
    ids = [chapter["number_of_piece"][piece] for piece in chapter["pieces_in"](text)]
    assert sister["encode"](text) == ids
    wanted = theirs(torch.tensor([ids]))[0]
    np.testing.assert_allclose(sister["logits"](ids), wanted, atol=1e-10)
