"""Safe file access: read regular files only, and replace a file atomically."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from autograder.errors import CourseError

# what editors, browsers and systems leave beside a file: copies of it, and records
COPIES = (
    *(".*", "*~", "#*#", "~$*", "*.bak", "*.orig", "*.rej", "*.old", "*.save", "*.tmp"),
    *("*.sw[a-p]", "*.pyc", "__pycache__", "__macosx", "thumbs.db", "desktop.ini"),
    *("*-checkpoint.*", "*.ipynb.*"),
)


def stays(path: PurePath, ignored: Iterable[str] = ()) -> bool:
    """Whether a file's name, or that of a folder it is in, says that it is kept back.

    By ``ignored``, which are names as in a shell, or as a copy of an editor's.
    """
    names = [*path.parts, path.as_posix()]
    return any(fnmatchcase(n, pattern) for n in names for pattern in ignored) or any(
        fnmatchcase(part.lower(), pattern) for part in path.parts for pattern in COPIES
    )


def read_regular(path: Path, limit: int) -> bytes:
    """The bytes of a regular file; OSError for links, pipes and devices.

    At most ``limit`` + 1 bytes are read, so that the caller can see when it is longer.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        return file.read(limit + 1)


def write_whole(path: Path, data: str | bytes) -> None:
    """Write a file so that it is there as a whole, or as it was before."""
    data = data.encode() if isinstance(data, str) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{path.name[:40]}."  # some names are as long as names can be
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=prefix)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def expect_writable(path: Path) -> None:
    """CourseError when a file could not be written after all the work is done."""
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        kind = "is a folder" if path.is_dir() else "cannot be written there"
        raise CourseError(f"--json {path} {kind}; give the name of a file.")
