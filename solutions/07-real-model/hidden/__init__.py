"""Hidden checks of 07-real-model, for grading only, on inputs drawn for each run."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.question import Hidden
from autograder.torch_support.tensors import draw

from .. import visible
from ..visible import compare_parameters, compare_triple, new_layer, published

load_layer = Hidden(visible.load_layer, core=0.5)
sentence_embedding = Hidden(visible.sentence_embedding, core=0.5)
strongest_head = Hidden(visible.strongest_head, core=0.5)


# ------------------------------------------------------------- load_layer


@load_layer.check(0.25)
def layers_of_any_size_are_copied(answer: Any, rng: np.random.Generator) -> None:
    """Layers of several sizes are copied correctly, whatever the index."""
    for n_layers, d_model, d_ff in [(3, 6, 5), (13, 4, 4), (2, 5, 9)]:
        tensors = published(rng, n_layers, d_model, d_ff)
        # "layer.1" also begins the names of layer.10 and those after it
        index = 1 if n_layers > 10 else int(rng.integers(1, n_layers))
        layer = new_layer(answer, d_model, 1, d_ff)
        given = {name: tensor.clone() for name, tensor in tensors.items()}
        answer(layer, given, index)
        if not expect.same(given, tensors):
            raise CheckFailed("the tensors have changed", "as before", kind="changed")
        try:
            compare_parameters(layer, tensors, index)
        except CheckFailed:
            raise CheckFailed("different numbers") from None


@load_layer.check(0.25)
def loaded_layer_computes_the_same(answer: Any, rng: np.random.Generator) -> None:
    """The loaded layer's outputs agree with those of torch's own layer."""
    tensors, index = published(rng, 3, 12, 20), 1
    layer = new_layer(answer, 12, 3, 20)
    answer(layer, tensors, index)
    own = {n.split(".", 3)[-1]: t for n, t in tensors.items() if f".{index}." in n}
    oracle = nn.TransformerEncoderLayer(
        12, 3, 20, dropout=0.0, activation="gelu", batch_first=True
    )
    three = ("query", "key", "value")
    for kind in ("weight", "bias"):
        rows = [own[f"attention.self.{name}.{kind}"] for name in three]
        with torch.no_grad():
            getattr(oracle.self_attn, f"in_proj_{kind}").copy_(torch.cat(rows))
            for module, name in [
                (oracle.self_attn.out_proj, "attention.output.dense"),
                (oracle.norm1, "attention.output.LayerNorm"),
                (oracle.linear1, "intermediate.dense"),
                (oracle.linear2, "output.dense"),
                (oracle.norm2, "output.LayerNorm"),
            ]:
                getattr(module, kind).copy_(own[f"{name}.{kind}"])
    x = draw(rng, 2, 5, 12)
    wanted = oracle(x).detach().numpy()
    value = expect.tensor(expect.call(layer, x), (2, 5, 12), "the output")
    expect.close(value, wanted, tolerance=1e-4)


# ----------------------------------------------------- sentence_embedding


def oracle_embedding(hidden: torch.Tensor, mask: torch.Tensor) -> np.ndarray:
    """Compute the vectors sentence by sentence, in double precision."""
    rows = []
    for tokens, real in zip(hidden.double().numpy(), mask.numpy(), strict=True):
        mean = tokens[real].mean(axis=0)
        rows.append(mean / np.sqrt((mean**2).sum()))
    return np.array(rows)


@sentence_embedding.check(0.25)
def embeddings_of_random_sentences(answer: Any, rng: np.random.Generator) -> None:
    """Sentences of several lengths, padded anywhere, give the right vectors."""
    for batch, n, d in [(3, 6, 4), (4, 4, 4), (1, 9, 5)]:
        hidden = 3 * draw(rng, batch, n, d) + 1
        mask = torch.from_numpy(rng.random((batch, n)) < 0.6)
        mask[:, int(rng.integers(n))] = True
        value = expect.tensor(expect.call(answer, hidden, mask), (batch, d))
        expect.close(value, oracle_embedding(hidden, mask))


@sentence_embedding.check(0.15)
def padding_does_not_matter(answer: Any, rng: np.random.Generator) -> None:
    """The numbers in the padding change nothing, however large they are."""
    hidden = draw(rng, 2, 5, 6)
    mask = torch.arange(5) < torch.tensor([[3], [4]])
    loud = torch.where(mask[..., None], hidden, 1e6 * draw(rng, 2, 5, 6))
    value = expect.tensor(expect.call(answer, loud, mask), (2, 6))
    expect.close(value, oracle_embedding(hidden, mask), tolerance=1e-3)


@sentence_embedding.check(0.1)
def double_precision_is_kept(answer: Any, rng: np.random.Generator) -> None:
    """Double precision stays double precision."""
    hidden = draw(rng, 2, 4, 3, dtype=np.float64)
    mask = torch.ones(2, 4, dtype=torch.bool)
    value = expect.tensor(expect.call(answer, hidden, mask), (2, 3))
    if value.dtype != np.float64:
        raise CheckFailed("a different dtype", "", kind="type")
    expect.close(value, oracle_embedding(hidden, mask), tolerance=1e-9)


# --------------------------------------------------------- strongest_head


def with_decoys(rng: np.random.Generator, query: int, key: int) -> torch.Tensor:
    """Return maps (4, 6, 3, 3) where other weights are larger than the one sought."""
    maps = torch.full((4, 6, 3, 3), 0.1)
    layers, heads = rng.permutation([1, 2]), rng.permutation(6)
    maps[0, :, query, key] = 0.5  # the strongest layer on the mean
    maps[layers[0], heads[0], query, key] = 0.9
    maps[layers[1], heads[1], query, (key + 1) % 3] = 0.95
    maps[layers[1], heads[2], (query + 1) % 3, key] = 0.97
    if query != key:
        maps[layers[1], heads[3], key, query] = 0.99
    return maps


def compare_strongest(answer: Any, maps: torch.Tensor, query: int, key: int) -> None:
    """Compare the answer with a search through a NumPy array."""
    numbers = maps[:, :, query, key].numpy()
    layer, head = np.argwhere(numbers == numbers.max())[0].tolist()
    wanted = (layer, head, float(numbers[layer, head]))
    compare_triple(expect.call(answer, maps, query, key), wanted)


@strongest_head.check(0.4)
def strongest_of_random_maps(answer: Any, rng: np.random.Generator) -> None:
    """The answer finds layer, head and weight in maps of several sizes."""
    sizes = [(4, 6, 12, 5), (4, 5, 2, 4), (4, 3, 3, 3), (4, 1, 7, 6), (0.1, 2, 4, 9)]
    for spread, layers, heads, n in sizes:  # in the last no weight is large
        maps = (spread * draw(rng, layers, heads, n, n)).softmax(dim=-1)
        query, key = (int(i) for i in rng.permutation(n)[:2])
        compare_strongest(answer, maps, query, key)
    query, key = (int(i) for i in rng.permutation(3)[:2])
    compare_strongest(answer, with_decoys(rng, query, key), query, key)


@strongest_head.check(0.1)
def token_may_look_at_itself(answer: Any, rng: np.random.Generator) -> None:
    """Query and key may be the same position."""
    place = int(rng.integers(3))
    compare_strongest(answer, with_decoys(rng, place, place), place, place)
