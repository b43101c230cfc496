"""book/minilm.py agrees with the published sentence encoder.

The expected numbers come from the authors' own route: BertModel and BertTokenizer of
transformers 5.23.0 on the same files, in float32 on a CPU.
"""

import minilm
import pytest
import torch

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = "The animal didn't cross the street because it was too wide."
ODD = "Unbelievably, the café's naïve tokenization of 3.14 isn't worrisome!"
EATING = "A man is eating food."

# first numbers of the sentence embeddings, and their cosines with that of TIRED
EMBEDDINGS = [
    [0.087989, 0.061218, 0.060578, 0.150076, 0.048185, -0.014877],
    [0.110204, 0.058880, 0.061293, 0.071245, 0.022829, -0.051425],
    [-0.016174, -0.021684, 0.038549, -0.005315, 0.082253, -0.039402],
    [0.033242, 0.004406, -0.006277, 0.048379, -0.138702, -0.033617],
]
COSINES = [1.0, 0.832372, 0.073676, -0.043291]
# TIRED, layer 3, head 1, the row of "it"
ROW_OF_IT = [
    *[0.101610, 0.044273, 0.676848, 0.003691, 0.003904, 0.000606, 0.013058, 0.002318],
    *[0.050216, 0.002837, 0.064439, 0.004706, 0.001131, 0.016952, 0.004189, 0.009222],
]


@pytest.fixture(scope="module")
def vocabulary():
    return minilm.load_vocabulary()


@pytest.fixture(scope="module")
def encoder():
    return minilm.load_encoder()


@pytest.fixture(scope="module")
def encoded(encoder, vocabulary):
    sentences = [TIRED, WIDE, ODD, EATING]
    tokens = [minilm.tokenize(sentence, vocabulary) for sentence in sentences]
    ids = minilm.as_ids(tokens, vocabulary)
    real = ids != vocabulary["[PAD]"]
    return real, *encoder(ids, real[:, None, None, :])


def test_words_are_split_into_the_published_pieces(vocabulary):
    expected = "[CLS] un ##bel ##ie ##va ##bly , the cafe ' s naive token ##ization"
    expected += " of 3 . 14 isn ' t wo ##rri ##some ! [SEP]"
    assert " ".join(minilm.tokenize(ODD, vocabulary)) == expected


def test_a_word_without_any_known_piece_is_unknown(vocabulary):
    assert minilm.tokenize("tired\u2603", vocabulary) == [
        *["[CLS]", "tired", "[UNK]", "[SEP]"]
    ]


def test_sentence_embeddings_are_the_published_ones(encoded):
    real, hidden, _ = encoded
    summed = (hidden[-1] * real[..., None]).sum(dim=1)
    embeddings = torch.nn.functional.normalize(summed, dim=-1)
    expected = torch.tensor(EMBEDDINGS)
    torch.testing.assert_close(embeddings[:, :6], expected, atol=1e-5, rtol=0)
    cosines = embeddings @ embeddings[0]
    torch.testing.assert_close(cosines, torch.tensor(COSINES), atol=1e-5, rtol=0)


def test_attention_weights_are_the_published_ones(encoded):
    real, _, attentions = encoded
    row = attentions[3, 0, 1, 10, : len(ROW_OF_IT)]
    torch.testing.assert_close(row, torch.tensor(ROW_OF_IT), atol=1e-5, rtol=0)
    assert attentions.shape == (6, 4, 12, real.shape[1], real.shape[1])
    padding = attentions.masked_select(~real[None, :, None, None, :])
    assert torch.all(padding == 0)


def test_padding_changes_nothing(encoder, vocabulary, encoded):
    _, hidden, _ = encoded
    tokens = minilm.tokenize(EATING, vocabulary)
    alone, _ = encoder(minilm.as_ids([tokens], vocabulary))
    together = hidden[:, 3:, : len(tokens)]
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
