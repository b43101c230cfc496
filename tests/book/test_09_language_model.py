"""Chapter 9: its parts against torch, by counting, and by what they promise."""

import ast
from pathlib import Path

import attention
import jupytext
import longer
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

BOOK = Path(__file__).parents[2] / "book"


@pytest.fixture(scope="module")
def chapter():
    """The functions and classes that the chapter defines itself, by name."""
    names = {}
    for cell in jupytext.read(BOOK / "text" / "09-language-model.md").cells:
        if cell.cell_type == "code":
            kinds = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
            body = [n for n in ast.parse(cell.source).body if isinstance(n, kinds)]
            exec(compile(ast.Module(body, []), cell.source[:40], "exec"), names)
    return names


@pytest.fixture
def tokens():
    return torch.randint(7, (3, 6), generator=torch.Generator().manual_seed(0))


@pytest.fixture
def logits():
    return torch.randn(3, 6, 7, generator=torch.Generator().manual_seed(1)).double()


def test_decoder_layer_agrees_with_torchs_encoder_layer_under_a_causal_mask():
    torch.manual_seed(0)
    ours = attention.DecoderLayer(12, 3, 20).double().eval()
    for norm in (ours.norm1, ours.norm2):
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
    theirs = nn.TransformerEncoderLayer(
        12, 3, 20, activation="gelu", batch_first=True, norm_first=True
    )
    theirs = theirs.double().eval()
    mha = ours.self_attn
    with torch.no_grad():
        for name in ("weight", "bias"):
            parts = [getattr(m, name) for m in (mha.W_q, mha.W_k, mha.W_v)]
            getattr(theirs.self_attn, f"in_proj_{name}").copy_(torch.cat(parts))
        pairs = [(theirs.self_attn.out_proj, mha.W_o), (theirs.norm1, ours.norm1)]
        pairs += [(theirs.norm2, ours.norm2), (theirs.linear1, ours.ffn.linear1)]
        for to, of in [*pairs, (theirs.linear2, ours.ffn.linear2)]:
            to.load_state_dict(of.state_dict())
    x = torch.randn(2, 5, 12, dtype=torch.double)
    hidden = torch.ones(5, 5).triu(1).bool()
    torch.testing.assert_close(ours(x), theirs(x, src_mask=hidden))


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


def test_the_loss_is_torchs_cross_entropy_of_the_next_token(logits, tokens):
    expected = F.cross_entropy(logits[:, :-1].mT, tokens[:, 1:])
    torch.testing.assert_close(attention.next_token_loss(logits, tokens), expected)


def test_the_loss_of_a_padded_text_is_that_of_the_text_alone(logits, tokens):
    mask = torch.arange(6) < torch.tensor([[4], [1], [1]])
    padded = attention.next_token_loss(logits, tokens, mask)
    alone = attention.next_token_loss(logits[:1, :4], tokens[:1, :4])
    torch.testing.assert_close(padded, alone)


@pytest.mark.parametrize(("temperature", "top_k"), [(1, None), (2.5, None), (0.7, 3)])
def test_tokens_come_as_often_as_their_probabilities_say(temperature, top_k):
    row = torch.tensor([0.3, 2.0, -1.0, 1.1, 0.0]).double()
    kept = row.sort().values[-(top_k or 5) :]
    expected = torch.where(row >= kept.min(), (row / temperature).exp(), 0)
    expected /= expected.sum()
    generator = torch.Generator().manual_seed(0)
    rows = row.expand(40_000, 5)
    drawn = attention.sample(rows, temperature, top_k, generator)
    shares = drawn.bincount(minlength=5) / len(rows)
    assert (shares - expected).abs().max() < 0.015
    assert (shares[expected == 0] == 0).all()


def test_temperature_zero_takes_the_largest_and_negative_ones_are_refused(logits):
    rows = logits[0]
    assert torch.equal(attention.sample(rows, 0), rows.argmax(-1))
    with pytest.raises(ValueError, match="must not be negative"):
        attention.sample(rows, -0.5)


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


def test_the_longer_run_is_chapter_9s_model_and_better_than_counting(chapter):
    """The published weights fit the model, and guess held-out text."""
    names = longer.chapter_until_it_trains()
    model = names["LanguageModel"](len(names["known"]), n_positions=64)
    numbers = np.load(BOOK / "data/pairs-2000.npy")
    assert numbers.dtype == np.float16 and numbers.nbytes < 300_000
    flat = torch.from_numpy(numbers).double()
    assert len(flat) == sum(p.numel() for p in model.parameters())
    nn.utils.vector_to_parameters(flat, model.parameters())
    windows = names["in_windows"](names["held_out_pairs"])[:60]
    loss = names["loss_on"](model, windows)
    assert loss < names["of_pairs"][1] - 0.1  # the trigram
    assert names["leaks"](model, windows[:1]) == []
