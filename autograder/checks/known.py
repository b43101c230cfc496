"""Known mistakes, by what the visible checks see of them.

While the checks of a question run, they note what an answer gives on their fixed
inputs. The notes of each known mistake are in ``known.json`` beside the checks, as
fingerprints: no code, and nothing from which an answer could be made. So a mistake has
the same name on a laptop, in the page and in grading.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

# Numbers are rounded to a grid of this many steps, so that processors agree. The factor
# is irrational: 0.5 or 0.125 never lies halfway between two steps, where rounding would
# depend on the last bit.
GRID = 100 * math.sqrt(2)
Trail = Iterable[list[str]]
_notes: list[list[str]] = []  # of the questions that are being checked


@contextlib.contextmanager
def noted() -> Iterator[list[str]]:
    """Collect what is noted meanwhile."""
    notes: list[str] = []
    _notes.append(notes)
    try:
        yield notes
    finally:
        _notes.pop()


def note(value: Any) -> None:
    """Note what an answer gave."""
    if _notes:
        _notes[-1].append(told(value))


def told(value: Any) -> str:
    """A value up to rounding, as text that is the same on every machine."""
    if hasattr(value, "detach"):
        value = value.detach()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
        return "tensor " + told(value.numpy())
    if isinstance(value, np.ndarray | np.generic):
        return f"{value.dtype.kind}{value.shape}{numbers(np.asarray(value))}"
    if isinstance(value, bool | str | bytes | type(None)):
        return repr(value)
    if isinstance(value, int | float):
        return f"{type(value).__name__} {numbers(np.asarray(value))}"
    if isinstance(value, dict):
        return f"{{{','.join(f'{k}:{told(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({','.join(map(told, value))})"
    return "object"


def numbers(values: np.ndarray) -> str:
    """The numbers rounded to a grid, which is scaled by the largest of them.

    The scale is a power of two. Adding 0.1234 moves the border between two scales away
    from powers of two, which are frequent results.
    """
    if values.dtype.kind in "biu":
        return str(values.ravel().tolist())
    if values.dtype.kind != "f":
        return "…"
    flat = values.astype(float).ravel()
    finite = flat[np.isfinite(flat)]
    largest = float(np.abs(finite).max(initial=0.0))
    width = 2.0 ** math.ceil(math.log2(largest) + 0.1234) if largest > 1e-6 else 1.0
    steps = [str(round(v / width * GRID)) if math.isfinite(v) else str(v) for v in flat]
    return f"{width}[{' '.join(steps)}]"


def fingerprints(number: int, trail: Trail, chance: set[str]) -> Iterator[str]:
    """The notes of one check after the other, in short; each with all before it.

    The first is check ``number``. Places of notes in ``chance`` ("2.5" is note 5 of
    check 2) hold other numbers in every run, and are passed over.
    """
    so_far = str(number)
    for check, notes in enumerate(trail, number):
        # the sentence of a wrong shape or type tells no number
        safe = {f"{check}.1"} if notes[0] != "value" else set()
        kept = [n for i, n in enumerate(notes) if f"{check}.{i}" not in chance - safe]
        text = "\0".join([so_far, *kept])
        so_far = hashlib.sha256(text.encode()).hexdigest()[:16]
        yield so_far


def found(table: dict[str, Any], number: int, trail: Trail) -> Any:
    """The longest-prefix lookup of a trail: the entry it leads to, or None.

    Fingerprints of prefixes that several mistakes share are in the table with the value
    null, which means: look at the next check.
    """
    for key in fingerprints(number, trail, set(table.get("chance", ()))):
        if table.get(key) or key not in table:
            return table.get(key)
    return None


def table(package: str) -> dict[str, Any]:
    """The known mistakes of an assignment: by question, by fingerprint."""
    path = Path(__file__).parent / package.rpartition(".")[2] / "known.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError:  # an assignment without a catalog, or behind the wall
        return {}
