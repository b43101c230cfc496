"""Train chapter 9's model on pairs for longer, by the chapter's own code.

    python book/longer.py [--steps 2000]

writes data/pairs-<steps>.npy: all parameters one behind the other, in float16; and
data/pairs.json: the alphabet and the merges. The chapter compares the model with the
one that it trains for 400 steps. A run takes about two minutes on one core.
"""

import argparse
import contextlib
import io
import json

import notebooks
import numpy as np
import torch


def chapter_until_it_trains() -> dict:
    """What the chapter has defined and read before its first training."""
    names: dict = {}
    for cell in notebooks.code_cells(notebooks.read_text("09-language-model")):
        if "= train(" in cell.source or "(train(" in cell.source:
            return names
        with (
            contextlib.chdir(notebooks.BOOK),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            exec(compile(cell.source, cell.source[:40], "exec"), names)
    raise ValueError("no cell of chapter 9 trains a model")


def train_longer(chapter: dict, steps: int) -> torch.nn.Module:
    """Chapter 9's model on pairs, seed 0, after so many steps."""
    torch.manual_seed(0)
    model = chapter["LanguageModel"](len(chapter["known"]), n_positions=64)
    chapter["train"](model, chapter["train_pairs"], steps=steps)
    return model


def write_pieces(chapter: dict) -> None:
    """What the model's tokens are made of: the alphabet, then pairs to join."""
    pieces = ["".join(chapter["alphabet"]), chapter["merges"]]
    text = json.dumps(pieces, separators=(",", ":"))
    (notebooks.BOOK / "data/pairs.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    steps = parser.parse_args().steps
    chapter = chapter_until_it_trains()
    model = train_longer(chapter, steps)
    for part in ("train_pairs", "held_out_pairs"):
        windows = chapter["in_windows"](chapter[part])[:248]
        loss = chapter["loss_on"](model, windows)
        print(f"after {steps} steps, {part}: {loss:.2f} nats a token")
    weights = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    path = notebooks.BOOK / f"data/pairs-{steps}.npy"
    np.save(path, weights.numpy().astype(np.float16))
    print(f"{path.name}: {path.stat().st_size:,} bytes")
    write_pieces(chapter)


if __name__ == "__main__":
    main()
