"""Reader of zip archives and folders with students' work; it never unpacks to the disk.

A file that cannot be used is left out with the reason, and costs no other.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path, PurePosixPath

from autograder.errors import CourseError
from autograder.files import read_regular
from autograder.notebook.reading import MAX_BYTES

ENTRIES = 200_000
LONGEST = 4_000  # characters of a path
PACKED = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".xz", ".bz2")
LAST = 253_402_214_400  # seconds until the year 9999
LINK = "is a link or a device, not a file"


class Left(Exception):
    """This file is not collected; the text says why."""


@dataclass(frozen=True)
class Entry:
    """A file in an archive or a folder: its path there and its time.

    ``unpack`` gives its first bytes, one more than it is asked for at most;
    ``refused`` says why it may not be used; ``clock`` is what a zip says of the time,
    without a zone.
    """

    path: PurePosixPath
    time: datetime
    unpack: Callable[[int], bytes]
    refused: str = ""
    clock: datetime | None = None

    def in_zone(self, zone: tzinfo) -> Entry:
        """The entry of a zip that a platform wrote in the zone of its server.

        Of an hour that comes twice, the later one is taken: no file is too old then.
        """
        if self.clock is None:
            return self
        time = self.clock.replace(tzinfo=zone, fold=1).astimezone(UTC)
        return replace(self, time=time)

    def read(self, limit: int = MAX_BYTES) -> bytes:
        """The bytes; Left where it is refused, broken or too large."""
        if self.refused:
            raise Left(self.refused)
        try:
            data = self.unpack(limit)
        except MemoryError:
            raise
        except Exception as error:  # each way of packing has errors of its own
            raise Left(f"is damaged ({str(error)[:200]})") from None
        if len(data) > limit:
            raise Left(f"is larger than {limit // 1_000_000} MB")
        return data


@contextmanager
def opened(path: Path) -> Iterator[list[Entry]]:
    """The files in a zip archive or a folder; CourseError when it is neither."""
    if path.is_dir():
        yield list(in_folder(path))
        return
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise CourseError(f"There is no archive {path}.") from None
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise CourseError(
            f"{path} cannot be opened as a zip: {error}. Unpack it, and collect the "
            "folder."
        ) from None
    with archive:
        infos = archive.infolist()
        if len(infos) > ENTRIES:
            raise CourseError(f"{path} has more than {ENTRIES} entries.")
        yield [in_zip(archive, i) for i in infos if not i.is_dir() or reason(i)]


def in_folder(folder: Path) -> Iterator[Entry]:
    """The files below a folder, links and what cannot be opened among them."""
    closed: list[OSError] = []
    for parent, subfolders, files in os.walk(folder, onerror=closed.append):
        for name in sorted([*subfolders, *files]):
            path = Path(parent, name)
            try:
                status = path.lstat()
            except OSError as error:
                closed.append(error)
                continue
            if stat.S_ISDIR(status.st_mode):
                continue
            why = "" if stat.S_ISREG(status.st_mode) else LINK
            if any("\ud800" <= character <= "\udfff" for character in str(path)):
                why = "has a name that is not UTF-8"
            time = datetime.fromtimestamp(min(max(0, int(status.st_mtime)), LAST), UTC)
            relative = PurePosixPath(path.relative_to(folder))
            yield Entry(relative, time, partial(read_regular, path), why)
    for problem in closed:
        place = PurePosixPath(Path(str(problem.filename)).relative_to(folder))
        why = f"cannot be read: {problem.strerror}"
        yield Entry(place, datetime.now(UTC), lambda _: b"", why)


def reason(info: zipfile.ZipInfo) -> str:
    """Why an entry may not be used; empty where it may."""
    name = info.orig_filename
    parts = name.replace("\\", "/").split("/")
    mode = info.external_attr >> 16
    if len(name) > LONGEST:
        return f"has a path of more than {LONGEST:,} characters"
    if "\0" in name:
        return "has a null character in its name"
    if name.startswith(("/", "\\")) or ".." in parts or name[1:3] in (":/", ":\\"):
        return "has a path that leads out of the archive"
    if not "".join(parts).strip("."):
        return "" if name == "./" else "has no name"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return LINK
    return "is encrypted" if info.flag_bits & 1 else ""


def in_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Entry:
    """The entry; a zip tells local time, and for its zone this machine's is taken."""

    def unpack(limit: int) -> bytes:
        with archive.open(info) as file:
            return file.read(limit + 1)

    try:
        clock = datetime(*info.date_time)
    except ValueError:
        clock = datetime(1980, 1, 1)
    # some programs for Windows write its separators
    path = PurePosixPath(info.filename.replace("\\", "/"))
    time = clock.astimezone(UTC)
    return Entry(path, time, unpack, reason(info), clock)
