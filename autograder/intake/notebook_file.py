"""Reader of one submission folder: finds and reads the notebook that is to be graded.

The file may have another name, be a link or be missing; notes say what was done.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from autograder.course import Submission
from autograder.errors import Held
from autograder.files import read_regular
from autograder.notebook.finding import resemblance
from autograder.notebook.reading import SIZE_LIMIT, read
from autograder.notebook.records import Release
from autograder.text import one_line

# what nbgrader's exchange leaves beside a submission: when it came, and the secret that
# makes the name under which its feedback can be fetched
RECEIPT = ("timestamp.txt", "submission_secret.txt")
MISSING = "It was not handed in."


class Opened(NamedTuple):
    """One notebook of a submission: its bytes, notes about the files, and its name."""

    data: bytes
    notes: tuple[str, ...] = ()
    name: str = ""


def receipt_of(folder: Path) -> dict[str, bytes]:
    """What the exchange left in the folder of a submission, by the file's name."""
    receipt = {}
    for name in RECEIPT:
        with contextlib.suppress(OSError):
            receipt[name] = read_regular(folder / name, 1000)
    return receipt


def open_submission(
    submission: Submission, release: Release, names: Sequence[str] = ()
) -> Opened:
    """The notebook that was handed in, and notes about the files.

    Only regular files are opened; links are not followed. ``names`` are those of all
    notebooks of the assignment, if there are several.
    """
    wanted = f"{release.notebook}.ipynb"
    modes = modes_of(submission.folder)
    files = [name for name, mode in modes.items() if stat.S_ISREG(mode)]
    notebooks = [name for name in files if name.endswith(".ipynb")]
    notes: list[str] = []
    if wanted in modes and wanted not in notebooks:
        raise Held(f"{wanted} is a link or a device, not a file.")
    name = wanted
    if wanted not in notebooks:
        several = len(names) > 1
        if several and any(n in notebooks for n in names):
            notebooks = [n for n in notebooks if n not in names]
            if not notebooks:
                raise Held(MISSING)
        if not notebooks:
            raise Held(f"There is no notebook; {wanted} was expected.")
        name = most_like(release, submission.folder, sorted(notebooks))
        if several and cells_found(release, submission.folder / name) < 1:
            raise Held(MISSING)
        notes.append(f"The notebook was handed in as {one_line(name)}.")
    known = {name, *RECEIPT, *release.files, *names}
    others = sorted(n for n in modes if n not in known and not n.startswith("."))
    if others:
        listed = ", ".join(one_line(other)[:60] for other in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        notes.append(f"Files next to the notebook were not used: {listed}{more}.")
    return Opened(read_notebook(submission.folder / name), tuple(notes), name)


def modes_of(folder: Path) -> dict[str, int]:
    """The kinds of files in a folder; Held when it cannot be read."""
    try:
        return {
            entry.name: entry.stat(follow_symlinks=False).st_mode
            for entry in os.scandir(folder)
        }
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Held(f"The folder that was handed in cannot be read: {why}.") from None


def most_like(release: Release, folder: Path, names: list[str]) -> str:
    """Of several notebooks, the one with most cells of the assignment."""

    if len(names) == 1:
        return names[0]
    return max(names, key=lambda name: cells_found(release, folder / name))


def cells_found(release: Release, path: Path) -> int:
    """How many cells of the assignment are in a notebook; -1 when it is none."""
    try:
        return resemblance(release, read(read_notebook(path)))
    except Held:
        return -1


def read_notebook(path: Path) -> bytes:
    """The bytes of a file that is no link; Held when it cannot be opened."""
    try:
        return read_regular(path, SIZE_LIMIT)
    except OSError as error:
        reason = error.strerror or "it is not a regular file"
        raise Held(f"{one_line(path.name)} cannot be opened: {reason}.") from None
