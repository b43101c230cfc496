"""Visible checks of 07-real-model, for students at work and for grading."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import expect
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed
from autograder.checks.library import library
from autograder.checks.published import constant
from autograder.libraries import is_tensor
from autograder.torch_support.modules import wrong_of

assignment = Assignment(__name__, page="07-reading-attention")
__getattr__ = assignment.hidden_half

load_layer = assignment.question("load_layer", 10, "a-real-encoder")
sentence_embedding = assignment.question("sentence_embedding", 6, "a-real-encoder")
strongest_head = assignment.question("strongest_head", 6, "all-seventy-two-heads")

# our name: the published name below encoder.layer.<index>
PUBLISHED: dict[str, str] = constant("minilm", "LAYER")


def shapes(d_model: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    """The parameters of a layer by our names."""
    found: dict[str, tuple[int, ...]] = {}
    for ours in PUBLISHED:
        rows = d_ff if ours == "ffn.linear1" else d_model
        columns = d_ff if ours == "ffn.linear2" else d_model
        norm = ours.startswith("norm")
        found[f"{ours}.weight"] = (rows,) if norm else (rows, columns)
        found[f"{ours}.bias"] = (rows,)
    return found


def published(
    rng: np.random.Generator, n_layers: int, d_model: int, d_ff: int
) -> dict[str, torch.Tensor]:
    """Random tensors of several layers by their published names."""
    tensors = {"embeddings.LayerNorm.bias": torch.zeros(d_model)}
    for index in range(n_layers):
        for name, shape in shapes(d_model, d_ff).items():
            ours, kind = name.rsplit(".", 1)
            numbers = 0.5 * rng.standard_normal(shape)
            theirs = f"encoder.layer.{index}.{PUBLISHED[ours]}.{kind}"
            tensors[theirs] = torch.from_numpy(numbers.astype(np.float32))
    return tensors


def new_layer(answer: Any, d_model: int, n_heads: int, d_ff: int) -> Any:
    """An encoder layer of the book, where the answer lives, without dropout."""
    kind = library(answer, "attention", "EncoderLayer")
    layer = kind(d_model, n_heads, d_ff, dropout=0.0)
    layer.eval()
    return layer


def compare_parameters(layer: Any, tensors: dict, index: int) -> None:
    """Every parameter of the layer is the published one of layer ``index``."""
    start = f"encoder.layer.{index}."
    due = {
        f"{ours}.{kind}": f"{start}{theirs}.{kind}"
        for ours, theirs in PUBLISHED.items()
        for kind in ("weight", "bias")
    }
    state = layer.state_dict()
    wrong = [name for name in due if not torch.equal(state[name], tensors[due[name]])]
    for ours in wrong[:1]:
        same = [
            name
            for name, tensor in tensors.items()
            if tensor.shape == state[ours].shape and torch.equal(tensor, state[ours])
        ]
        what = f"the tensor {same[0]}" if same else "none of the published tensors"
        told = f"after load_layer with index {index}, {ours} is {what}"
        raise CheckFailed(told, due[ours], reason=wrong_of(wrong, len(due)))


# ------------------------------------------------------------- load_layer


@load_layer.visible
def first_layer_is_copied(answer: Any) -> None:
    """Every parameter of a small layer becomes that of layer 0."""
    tensors = published(np.random.default_rng(1), 1, 8, 12)
    layer = new_layer(answer, 8, 2, 12)
    answer(layer, tensors, 0)
    compare_parameters(layer, tensors, 0)


@load_layer.visible
def index_chooses_the_layer(answer: Any) -> None:
    """With index 2, the tensors of layer 2 are copied."""
    tensors = published(np.random.default_rng(2), 4, 8, 12)
    layer = new_layer(answer, 8, 2, 12)
    answer(layer, tensors, 2)
    compare_parameters(layer, tensors, 2)


# ----------------------------------------------------- sentence_embedding


@sentence_embedding.visible
def embedding_has_a_row_per_sentence(answer: Any) -> None:
    """Hidden states (2, 5, 3) give embeddings (2, 3)."""
    hidden = torch.sin(torch.arange(30.0)).reshape(2, 5, 3)
    mask = torch.ones(2, 5, dtype=torch.bool)
    expect.tensor(expect.call(answer, hidden, mask), (2, 3))


@sentence_embedding.visible
def embedding_is_the_mean_at_length_one(answer: Any) -> None:
    """The mean of the real tokens, scaled to length 1; padding does not count."""
    hidden = torch.tensor([[[6.0, 0.0], [0.0, 8.0], [-70.0, 50.0]]])
    mask = torch.tensor([[True, True, False]])
    result = expect.tensor(expect.call(answer, hidden, mask), (1, 2))[0]
    seen = f"tokens [6, 0] and [0, 8] and one token of padding gave {result.round(3)}"
    wanted = "[0.6, 0.8]: their mean is [3, 4], which has length 5"
    expect.close(result, np.array([0.6, 0.8]), seen, wanted, tolerance=1e-5)


@sentence_embedding.visible
def each_sentence_has_its_own_mean(answer: Any) -> None:
    """Two sentences in a batch: each has the mean of its own tokens."""
    hidden = torch.tensor([[[3.0, 0.0], [3.0, 8.0]], [[5.0, 0.0], [1.0, 0.0]]])
    mask = torch.tensor([[True, True], [True, False]])
    result = expect.tensor(expect.call(answer, hidden, mask), (2, 2))
    expect.close(
        result,
        np.array([[0.6, 0.8], [1.0, 0.0]]),
        "the tokens [3, 0] and [3, 8] of one sentence and the token [5, 0] of another "
        f"gave {result.astype(float).round(3).tolist()}",
        "[[0.6, 0.8], [1, 0]]: the means [3, 4] and [5, 0], scaled to length 1",
        tolerance=1e-5,
    )


# --------------------------------------------------------- strongest_head


def triple(value: Any) -> tuple[int, int, float]:
    """``value`` as layer, head and weight."""
    if not isinstance(value, tuple | list) or len(value) != 3:
        what = (
            f"{len(value)} values" if isinstance(value, tuple | list) else "one value"
        )
        seen = f"your function returned {what}"
        raise CheckFailed(seen, "layer, head, weight", kind="type")
    numbers = []
    for part, what in zip(value, ("layer", "head", "weight"), strict=True):
        number = part.detach().numpy() if is_tensor(part) else part
        number = np.asarray(number)
        kinds = "f" if what == "weight" else "iu"
        if number.shape != () or number.dtype.kind not in kinds:
            wanted = "a number" if what == "weight" else "an integer, counted from 0"
            single = number.shape == () and number.dtype.kind == "f"
            shown = f"{number.item():.4g}" if single else repr(part)
            raise CheckFailed(f"the {what} is {shown}"[:120], wanted, kind="type")
        numbers.append(number.item())
    return numbers[0], numbers[1], numbers[2]


def compare_triple(
    value: Any, wanted: tuple, seen: str = "different numbers", expected: str = ""
) -> None:
    """Layer, head and weight against those that are right."""
    layer, head, weight = triple(value)
    if (layer, head) != wanted[:2] or abs(weight - wanted[2]) > 1e-6:
        raise CheckFailed(seen.format(layer, head, weight), expected)


def looks() -> torch.Tensor:
    """Weights of 2 layers with 3 heads, between two tokens; no two heads are alike."""
    from_0 = torch.tensor([[0.6, 0.7, 0.3], [0.8, 0.65, 0.2]])  # to 1
    from_1 = torch.tensor([[0.4, 0.45, 0.9], [0.5, 0.7, 0.4]])  # to 0
    rows = [
        torch.stack([1 - from_0, from_0], -1),
        torch.stack([from_1, 1 - from_1], -1),
    ]
    return torch.stack(rows, -2)


@strongest_head.visible
def head_with_the_largest_weight_is_found(answer: Any) -> None:
    """In 2 layers of 3 heads, the one with the largest weight from 0 to 1 is found."""
    maps = looks()
    compare_triple(
        expect.call(answer, maps, 0, 1),
        (1, 0, float(maps[1, 0, 0, 1])),
        "the strongest weight from 0 to 1 is 0.8, in layer 1, head 0; "
        "your function found layer {}, head {}, weight {:.3g}",
        "(1, 0, 0.8)",
    )


@strongest_head.visible
def direction_matters(answer: Any) -> None:
    """From 1 to 0, another head is the strongest."""
    maps = looks()
    compare_triple(
        expect.call(answer, maps, 1, 0),
        (0, 2, float(maps[0, 2, 1, 0])),
        "the strongest weight from 1 to 0 is 0.9, in layer 0, head 2; "
        "your function found layer {}, head {}, weight {:.3g}",
        "(0, 2, 0.9)",
    )


@strongest_head.visible
def one_weight_of_each_head_counts(answer: Any) -> None:
    """Only the weight from `query` to `key` counts, head by head, in all layers."""
    found = torch.tensor([[0.1, 0.7128, 0.1], [0.6, 0.5, 0.6]])  # from 0 to 1
    maps = torch.zeros(2, 3, 3, 3)
    maps[:, :, 0, 1], maps[:, :, 0, 2] = found, 1 - found
    compare_triple(
        expect.call(answer, maps, 0, 1),
        (0, 1, float(found[0, 1])),
        "from 0 to 1, layer 0 has the weights 0.1, 0.7128, 0.1 and layer 1 has 0.6, "
        "0.5, 0.6; your function found layer {}, head {}, weight {:.4g}",
        "(0, 1, 0.7128): the largest of the six",
    )
