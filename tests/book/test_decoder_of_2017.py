"""The interlude's decoder against torch's own, and its grammar."""

import pytest
import torch
from shared import defined
from torch import nn


@pytest.fixture(scope="module")
def chapter():
    return defined("the-decoder-of-2017")


def test_the_decoder_with_a_source_agrees_with_torchs_own(chapter):
    torch.manual_seed(0)
    ours = chapter["TranslatorLayer"](12, 3, 20).double()
    theirs = nn.TransformerDecoderLayer(
        12, 3, 20, 0.0, activation="gelu", batch_first=True, norm_first=True
    ).double()
    with torch.no_grad():
        for own, other in [
            (ours.self_attn, theirs.self_attn),
            (ours.cross_attn, theirs.multihead_attn),
        ]:
            for name in ("weight", "bias"):
                parts = [getattr(m, name) for m in (own.W_q, own.W_k, own.W_v)]
                getattr(other, f"in_proj_{name}").copy_(torch.cat(parts))
            other.out_proj.load_state_dict(own.W_o.state_dict())
        theirs.linear1.load_state_dict(ours.ffn.linear1.state_dict())
        theirs.linear2.load_state_dict(ours.ffn.linear2.state_dict())
    x, source = torch.randn(2, 4, 12).double(), torch.randn(2, 6, 12).double()
    hidden = torch.ones(4, 4).triu(1).bool()
    expected = theirs(x, source, tgt_mask=hidden)
    torch.testing.assert_close(ours(x, source)[0], expected)


def test_no_french_word_reaches_back_and_every_english_word_counts(chapter):
    torch.manual_seed(0)
    layer = chapter["TranslatorLayer"](12, 3, 20).double()
    x, source = torch.randn(1, 4, 12).double(), torch.randn(1, 5, 12).double()
    before, _ = layer(x, source)
    later, other = x.clone(), source.clone()
    later[:, 2:] += 1
    other[:, -1] += 1
    torch.testing.assert_close(layer(later, source)[0][:, :2], before[:, :2])
    assert ((layer(x, other)[0] - before).abs().amax(dim=-1) > 1e-6).all()
