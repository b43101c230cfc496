"""Recognition of known mistakes by fingerprints: hashes of results on fixed inputs.

While the visible checks of a question run, they note what an answer gives. The hashes
of these notes for each known mistake are in ``known.json`` beside the checks: no code,
and nothing from which an answer could be made. So a mistake has the same name on a
laptop, in the page and in grading. A probe, one more function for each question, notes
results on inputs that tell apart what the visible checks cannot.
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

from autograder.libraries import as_array, is_tensor

# Numbers are rounded to a grid of so many steps, by their bytes, so that processors
# agree. The factor is irrational: 0.5 or 0.125 never lies halfway between two steps.
STEPS = {2: 10, 4: 1e3, 8: 1e5}
SHIFTS = (0.0, 0.5)  # what lies on a border with one of them is within a step with both
Note = tuple[str, ...]  # one text for each shift
Trail = Iterable[list[Note]]
_noted: list[list[Any]] = []  # of the questions that are being checked


@contextlib.contextmanager
def noted() -> Iterator[list[Any]]:
    """Collect the values that are noted meanwhile."""
    values: list[Any] = []
    _noted.append(values)
    try:
        yield values
    finally:
        _noted.pop()


def note(value: Any) -> None:
    """Note what an answer gave; it is rounded if the check fails, which is rare."""
    if _noted:
        _noted[-1].append(copied(value))


def copied(value: Any) -> Any:
    """A value that stays as it is now, whatever becomes of its arrays and lists."""
    if is_tensor(value):
        value = as_array(value)
    kind = type(value)
    if issubclass(kind, np.ndarray):
        return np.array(value)
    if issubclass(kind, dict):
        return {key: copied(part) for key, part in value.items()}
    if issubclass(kind, list | tuple):
        return [copied(part) for part in value]
    return value


def rounded(value: Any) -> Note:
    """A value up to rounding, as texts that are the same on every machine.

    Two values agree where one of their texts is the same.
    """
    if type(value) in (int, float) and abs(value) < 1e15:  # most are: without arrays
        width, scale = grid(abs(value))
        return tuple(f"(){width}[{round(value * scale + s)}]" for s in SHIFTS)
    if is_tensor(value):
        return rounded(as_array(value))
    kind = type(value)  # isinstance would believe what an object says of its class
    if issubclass(kind, bool | str | bytes | type(None)):
        return plain(repr(value))
    if issubclass(kind, np.ndarray | np.generic | int | float):
        numbers = np.asarray(value)
        return tuple(f"{numbers.shape}{text}" for text in steps(numbers))
    if issubclass(kind, dict):
        parts = [(key, rounded(part)) for key, part in value.items()]
        texts = [
            [f"{key}:{note[i]}" for key, note in parts] for i in range(len(SHIFTS))
        ]
        return tuple(f"{{{','.join(sorted(each))}}}" for each in texts)
    if issubclass(kind, list | tuple):
        notes = [rounded(part) for part in value]
        return tuple(f"({','.join(n[i] for n in notes)})" for i in range(len(SHIFTS)))
    return plain(kind.__name__ if value.__class__ in (set, frozenset) else "object")


def plain(text: str) -> Note:
    """A text as a note."""
    return (text,) * len(SHIFTS)


def steps(numbers: np.ndarray) -> Note:
    """The numbers rounded to a grid, which is scaled by the largest of them."""
    if numbers.dtype.kind not in "biuf":
        return plain("…")
    size = numbers.dtype.itemsize if numbers.dtype.kind == "f" else 8
    flat = numbers.astype(float).ravel()
    finite = np.isfinite(flat)
    width, scale = grid(float(np.abs(flat[finite]).max(initial=0.0)), size)
    found = []
    for shift in SHIFTS:
        on_grid = np.rint(np.where(finite, flat, 0.0) * scale + shift).astype(np.int64)
        texts = list(map(str, on_grid.tolist()))
        for i in np.flatnonzero(~finite):
            texts[i] = str(flat[i])
        found.append(f"{width}[{' '.join(texts)}]")
    return tuple(found)


def grid(largest: float, size: int = 8) -> tuple[float, float]:
    """The scale of a grid for numbers of so many bytes, and its steps to one.

    The scale is a power of two. Adding 0.1234 moves the border between two scales away
    from powers of two, which are frequent results.
    """
    power = math.ceil(math.log2(largest) + 0.1234) if largest > 1e-6 else 0
    width = 2.0 ** min(power, 1023)  # the largest that there is
    return width, STEPS.get(size, STEPS[8]) * math.sqrt(2) / width


def fingerprints(number: int, trail: Trail, chance: set[str]) -> list[str]:
    """The notes of check ``number`` and of all after it, in short: one for each shift.

    Places of notes in ``chance`` ("2.5" is note 5 of check 2) hold other numbers in
    every run, and are passed over.
    """
    kept: list[Note] = []
    for check, notes in enumerate(trail, number):
        # the sentence of a wrong shape or type tells no number
        safe = {f"{check}.1"} if notes[0][0] != "value" else set()
        kept += [n for i, n in enumerate(notes) if f"{check}.{i}" not in chance - safe]
    texts = ("\0".join([str(number), *shift]) for shift in zip(*kept, strict=True))
    return [short(text) for text in texts]


def by_probe(number: int, notes: list[Note], chance: set[str]) -> list[str]:
    """The notes of a probe alone, the last to note, in short: one for each shift.

    [] where there is no probe, where chance has a part in it, or where an exception
    came: its text, which differs by versions, is not noted, and its type tells little.
    """
    raised = any("('raised'," in text for note in notes for text in note)
    drawn = any(place.startswith(f"{number}.") for place in chance)
    tells = len(notes) > 2 and not raised and not drawn
    return fingerprints(number, [notes], chance) if tells else []


def short(text: str) -> str:
    """A hash of 16 digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def table(visible: Path) -> dict[str, Any]:
    """The known mistakes of an assignment by question and fingerprint; sentences."""
    path = visible / "known.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError:  # an assignment without a catalog, or behind the wall
        return {"questions": {}, "sentences": {}}
