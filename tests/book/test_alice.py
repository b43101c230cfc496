"""The model that writes in the first chapters: masks, text, what does not fit."""

import alice
import attention
import notebooks
import numpy as np
import pytest

DATA = notebooks.BOOK / "data"


@pytest.fixture(scope="module")
def model():
    return alice.read_model(DATA / "pairs-2000.npy", DATA / "alice.txt")


attend = attention.scaled_dot_product_attention


def test_a_mask_gives_what_one_query_after_the_other_gives(model):
    def masked(Q, K, V):
        mask = attention.causal_mask(Q.shape[-2])
        return attention.scaled_dot_product_attention(Q, K, V, mask)

    tokens = model.held_out[:2]
    one_by_one = alice.logits(model, tokens, attend)
    at_once = alice.logits(model, tokens, masked, causal=False)
    assert np.allclose(one_by_one, at_once)


def test_what_it_writes_is_cut_as_chapter_9_cuts_text(model):
    text = "'Oh,' said the Queen, 'what little Gnats!'"
    tokens = alice.encode(model.pieces, text)
    assert "|".join(model.pieces[i] for i in tokens).startswith("'|O|h|,|'| said| the|")
    assert alice.write(model, attend, text, length=0) == text


def test_an_output_of_another_shape_is_named(model):
    with pytest.raises(ValueError, match=r"shape \(4, 16\).*has to be \(4, 1, 16\)"):
        alice.logits(model, [1, 2], lambda Q, K, V: V[..., 0, :])


def test_a_sign_that_is_not_in_the_books_is_named(model):
    with pytest.raises(ValueError, match="the two books have no 3 é"):
        alice.write(model, attend, "é and 3")
