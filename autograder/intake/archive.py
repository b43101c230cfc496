"""Archives that students' work comes in, opened with care: nothing is unpacked."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NoReturn

from autograder.errors import CourseError
from autograder.files import read_regular
from autograder.notebook.reading import SIZE_LIMIT
from autograder.text import one_line

ENTRIES = 200_000
RATIO = 500
PACKED = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".xz", ".bz2")


@dataclass(frozen=True)
class Entry:
    """A file in an archive or a folder: its path there, its time, its bytes."""

    path: PurePosixPath
    time: datetime
    read: Callable[[], bytes]


@contextmanager
def opened(path: Path) -> Iterator[list[Entry]]:
    """The files in a zip archive or a folder; CourseError when one is unsafe."""
    if path.is_dir():
        yield list(in_folder(path))
        return
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise CourseError(f"There is no archive {path}.") from None
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise CourseError(f"{path} cannot be opened as a zip: {error}.") from None
    with archive:
        infos = archive.infolist()
        if len(infos) > ENTRIES:
            raise CourseError(f"{path} has more than {ENTRIES} entries.")
        yield [in_zip(archive, info) for info in infos if not checked(info).is_dir()]


def in_folder(folder: Path) -> Iterator[Entry]:
    """The regular files below a folder; links are refused."""
    for parent, subfolders, files in os.walk(folder):
        for name in sorted([*subfolders, *files]):
            path = Path(parent, name)
            inside = PurePosixPath(path.relative_to(folder))
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                continue
            if not stat.S_ISREG(mode):
                refuse(str(inside), "it is a link or a device, not a file")
            time = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
            yield Entry(inside, time, partial(read_regular, path, SIZE_LIMIT))


def checked(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """An entry that is safe to read; all entries are checked before any is used."""
    name = info.orig_filename
    parts = name.replace("\\", "/").split("/")
    mode = info.external_attr >> 16
    if "\0" in name:
        refuse(name, "its name holds a null character")
    if name.startswith(("/", "\\")) or ".." in parts or name[1:3] in (":/", ":\\"):
        refuse(name, "its path leads out of the archive")
    if parts in ([""], ["."]):
        refuse(name, "it has no name")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        refuse(name, "it is a link or a device, not a file")
    if info.flag_bits & 1:
        refuse(name, "it is encrypted")
    if info.file_size > 1_000_000 and info.file_size > RATIO * info.compress_size:
        refuse(name, "it would unpack to far more than it is")
    return info


def in_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Entry:
    """The entry; a zip tells local time, and this machine's zone is taken for it."""

    def read() -> bytes:
        try:
            with archive.open(info) as file:
                return file.read(SIZE_LIMIT + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            refuse(info.filename, f"it is damaged ({error})")

    try:
        time = datetime(*info.date_time).astimezone(UTC)
    except ValueError:
        time = datetime(1980, 1, 1, tzinfo=UTC)
    # some programs for Windows write its separators
    return Entry(PurePosixPath(info.filename.replace("\\", "/")), time, read)


def refuse(name: str, reason: str) -> NoReturn:
    """The whole archive; nothing was written yet."""
    raise CourseError(
        f"The archive was refused, nothing was collected. The entry "
        f"{one_line(name)[:200]}: {reason}."
    )
