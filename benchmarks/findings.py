"""Do the findings of chapters 12 and 13 hold for seeds that the chapters do not use?

    python -m benchmarks.findings [--seeds 8]

Trains the chapters' own models, from the code in the notebooks, and counts in how many
trainings each finding holds. Prints tables for ``results.md``.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import sys
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.pages import ROOT

Names = dict[str, Any]
KEPT = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
CONSTANTS = ("D", "LENGTHS", "held_out")
LAYERS = ("Softmax", "Recent", "Window", "Latent", "Linear", "Delta", "Hybrid")


def definitions(chapter: str) -> Names:
    """What a chapter's cells import and define, without anything that they compute."""
    text = (ROOT / f"book/{chapter}.ipynb").read_text("utf-8")
    names: Names = {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            tree.body = [one for one in tree.body if kept(one)]
            exec(compile(tree, chapter, "exec"), names)
    return names


def kept(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]).strip("(").startswith(CONSTANTS)
    return isinstance(statement, KEPT)


# ---- chapter 12


def birth(chapter: Names, seed: int) -> dict[str, float]:
    """The numbers of one training that the chapter's sentences rest on."""
    examine, cut = chapter["examine"], chapter["cut"]
    model, history = chapter["train"](seed)
    first, second = chapter["heads_of"](model)
    loss, one_back, induction = examine(model)
    with cut(model.layers[0], first):
        without = examine(model)[2][1, second].item()
    paths = {
        path: chapter["without_path"](model, path) - loss
        for path in ("queries", "keys", "values", "logits")
    }
    keys = paths.pop("keys")
    return {
        "drop begins": next(step for step, loss, *_ in history if loss < 2.5),
        "drop ends": next((step for step, loss, *_ in history if loss < 1), math.inf),
        "loss": loss,
        "one back at 300": history[15][2][0].max().item(),
        "induction at 300": history[15][3][1].max().item(),
        "induction": induction[1, second].item(),
        "second induction head": induction[1].min().item(),
        "one back": one_back[0, first].item(),
        "second head one back": one_back[0].min().item(),
        "induction, first head cut": without,
        "cost of the keys": keys,
        "largest other cost": max(paths.values()),
    }


BIRTH: dict[str, Callable[[dict[str, float]], bool]] = {
    "the loss stays above 2.5 for more than 300 steps": lambda n: (
        n["drop begins"] > 300
    ),
    "then it falls below 1 within 300 more": lambda n: (
        n["drop ends"] - n["drop begins"] <= 300
    ),
    "at step 300 the head that looks one back is ahead": lambda n: (
        n["one back at 300"] > n["induction at 300"]
    ),
    "both heads of layer 1 look at what followed (0.3 or more)": lambda n: (
        n["second induction head"] >= 0.3
    ),
    "both heads of layer 0 look one back (0.3 or more)": lambda n: (
        n["second head one back"] >= 0.3
    ),
    "cutting the first head takes half of the stripe or more": lambda n: (
        n["induction, first head cut"] <= n["induction"] / 2
    ),
    "the keys carry five times as much as any other way": lambda n: (
        n["cost of the keys"] >= 5 * n["largest other cost"]
    ),
}


def births(seeds: range) -> None:
    chapter = definitions("12-a-head-is-born")
    rows = [birth(chapter, seed) for seed in seeds]
    print("| finding of chapter 12 | holds in |\n|---|---|")
    for sentence, holds in BIRTH.items():
        print(f"| {sentence} | {sum(map(holds, rows))} of {len(rows)} |")
    print("\n| number | least | most |\n|---|---|---|")
    for name in rows[0]:
        found = [row[name] for row in rows]
        print(f"| {name} | {min(found):.2f} | {max(found):.2f} |")


# ---- chapter 13


def recalls(seeds: range) -> None:
    chapter = definitions("13-what-came-after")
    lengths = chapter["LENGTHS"]
    print(f"\n| layer | pairs | {' | '.join(map(str, lengths))} |")
    print(f"|---|---|{'---|' * len(lengths)}")
    for name in LAYERS:
        models = [chapter["train"](chapter[name], seed) for seed in seeds]
        for update in (False, True):
            shares = torch.stack([chapter["right"](one, update) for one in models])
            ends = zip(shares.amin(dim=0), shares.amax(dim=0), strict=True)
            cells = " | ".join(f"{low:.2f}–{high:.2f}" for low, high in ends)
            print(f"| {name} | {'updates' if update else 'new'} | {cells} |")


def main(arguments: list[str]) -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seeds", type=int, default=8)
    seeds = range(reader.parse_args(arguments).seeds)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.double)
    sys.path.insert(0, str(ROOT / "book"))
    births(seeds)
    recalls(seeds)


if __name__ == "__main__":
    main(sys.argv[1:])
