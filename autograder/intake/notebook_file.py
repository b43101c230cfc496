"""Reader of one submission folder: finds and reads the notebook that is to be graded.

The file may have another name, be a link or be missing; notes say what was done.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from autograder.course import Submission
from autograder.errors import Held
from autograder.files import read_regular, stays
from autograder.notebook.cell_search import resemblance
from autograder.notebook.reading import MAX_BYTES, read_cells
from autograder.notebook.records import Release
from autograder.text import one_line

# what nbgrader's exchange leaves beside a submission: when it came, and the secret that
# makes the name under which its feedback can be fetched
RECEIPT = ("timestamp.txt", "submission_secret.txt")
DEEPEST = 5  # folders in folders
MOST_FILES = 1000
MISSING = "It was not handed in."


class Opened(NamedTuple):
    """One notebook of a submission, and the student's own files beside it.

    ``name`` is what the student called the notebook, ``notes`` are about all files.
    """

    data: bytes
    notes: tuple[str, ...] = ()
    name: str = ""
    files: Mapping[str, bytes] = {}


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
    folder = folder_of(submission.folder, wanted)
    modes = modes_of(folder)
    notebooks = [
        n for n, m in modes.items() if n.endswith(".ipynb") and stat.S_ISREG(m)
    ]
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
        found = {n: cells_found(release, folder / n) for n in sorted(notebooks)}
        name = max(found, key=found.__getitem__)
        if several and found[name] < 1:
            raise Held(MISSING)
    called = (folder / name).relative_to(submission.folder).as_posix()
    notes: list[str] = []
    if called != wanted:
        notes.append(f"The notebook was handed in as {one_line(called)}.")
    own, others = own_files(folder, release)
    others += [n for n in modes if n.endswith(".ipynb") and n not in (name, *names)]
    if others := sorted(n for n in others if not n.startswith(".")):
        listed = ", ".join(one_line(other)[:60] for other in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        notes.append(f"Files next to the notebook were not used: {listed}{more}.")
    return Opened(read_notebook(folder / name), tuple(notes), called, own)


def folder_of(folder: Path, wanted: str) -> Path:
    """The folder with the notebooks: this one, or one in it, as of an archive.

    Held when several have notebooks and none has the one that is wanted.
    """
    paths = [
        path
        for path in islice(walk(folder), 5 * MOST_FILES)
        if path.suffix == ".ipynb" or path.name == wanted
    ]
    found = {path.parent: path.name for path in reversed(paths)}
    if not found or folder in found:
        return folder
    right = [path.parent for path in paths if path.name == wanted]
    if len(right) == 1 or len(found) == 1:
        return (right or list(found))[0]
    listed = ", ".join(
        one_line(str((place / name).relative_to(folder)))[:80]
        for place, name in sorted(found.items())[:5]
    )
    raise Held(f"{wanted} is not in the folder; there are notebooks below: {listed}.")


def walk(folder: Path, deepest: int = DEEPEST) -> Iterator[Path]:
    """The files in a folder and below; no link is followed, nothing hidden is shown."""
    for name, mode in sorted(modes_of(folder).items()):
        if stays(Path(name)):
            continue
        if stat.S_ISDIR(mode) and deepest:
            with contextlib.suppress(Held):  # it is closed
                yield from walk(folder / name, deepest - 1)
        elif not stat.S_ISDIR(mode):
            yield folder / name


def own_files(folder: Path, release: Release) -> tuple[dict[str, bytes], list[str]]:
    """What the student handed in beside the notebook; and names of what is not used.

    A file of the course comes before the student's of that name, unless the course
    lets students write it. All together have a size that the course sets.
    """
    own: dict[str, bytes] = {}
    unused = []
    fixed = {name for name in release.files if name not in release.own}
    modules = {Path(name).stem for name in fixed if name.endswith(".py")}
    room = max(release.room - sum(map(len, release.files.values())), 0)
    for path in islice(walk(folder), 5 * MOST_FILES):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".ipynb" or name in RECEIPT:
            continue
        try:
            name.encode()
            data = read_regular(path, room)
        except (OSError, UnicodeError):
            unused.append(name)
            continue
        if name in fixed:
            unused += [name] if data != release.files[name] else []
        elif Path(name).parts[0].partition(".")[0] in modules:
            unused.append(name)  # it would be imported in place of the course's
        elif len(data) > room or len(own) >= MOST_FILES:
            unused.append(f"{name} (more than {release.room / 1e6:g} MB in all)")
        else:
            own[name] = data
            room -= len(data)
    return own, unused


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


def cells_found(release: Release, path: Path) -> int:
    """How many cells of the assignment are in a notebook; -1 when it is none."""
    try:
        return resemblance(release, read_cells(read_notebook(path)))
    except Held:
        return -1


def read_notebook(path: Path) -> bytes:
    """The bytes of a file that is no link; Held when it cannot be opened."""
    try:
        return read_regular(path, MAX_BYTES)
    except OSError as error:
        reason = error.strerror or "it is not a regular file"
        raise Held(f"{one_line(path.name)} cannot be opened: {reason}.") from None
