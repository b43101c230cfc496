"""Write-ahead log of scores sent by LTI: a line per student, begun before sending.

Time, assignment, column, student, user, points, and what came of it, between tabs. A
line without its end tells that the command was stopped while that score was on its
way; the next push asks the platform whether it arrived.
"""

from __future__ import annotations

import fcntl
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from autograder.lti.files import read_private
from autograder.lti.sentences import Refused
from autograder.text import one_line

PENDING = "pending"


class Entry(NamedTuple):
    """What was sent for a student: a share of the points, or None for pending.

    ``sure`` when the platform has confirmed it.
    """

    share: float | None
    sure: bool


class Journal:
    """``lti/pushed.log`` while one command writes it.

    ``ours`` has, by column and user, what may stand in the platform from us: what was
    confirmed last, and what went out since.
    """

    def __init__(self, descriptor: int, text: str) -> None:
        self.descriptor = descriptor
        self.ours: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for column, user, entry in filter(None, map(read_line, text.splitlines())):
            if entry.sure:
                self.ours[column, user].clear()
            self.ours[column, user].append(entry)
        if text and not text.endswith("\n"):
            self.write("interrupted\n")

    def begin(self, *parts: str) -> None:
        """Assignment, column, student, user and points that are about to be sent."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.write("\t".join(map(one_line, (now, *parts))) + "\t")

    def end(self, said: str) -> None:
        """What came of it: ``sent``, ``refused: …`` or ``unknown: …``."""
        self.write(one_line(said) + "\n")

    def write(self, text: str) -> None:
        """Append, and wait for the disk."""
        os.write(self.descriptor, text.encode())
        os.fsync(self.descriptor)


@contextmanager
def opened(path: Path) -> Iterator[Journal]:
    """The journal, of one command at a time."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield Journal(descriptor, read_private(path))
    except BlockingIOError:
        raise Refused("busy") from None
    finally:
        os.close(descriptor)


def read_line(line: str) -> tuple[str, str, Entry] | None:
    """Column, user and what was sent; None where it was refused."""
    parts = [*line.split("\t"), "", ""]
    if len(parts) < 8 or parts[6].startswith("refused"):
        return None
    what, sure = parts[5], parts[6] == "sent"
    score, _, most = what.partition("/")
    try:
        share = None if what == PENDING else float(score) / float(most)
    except (ValueError, ZeroDivisionError):  # cut off by a loss of power
        return None
    return parts[2], parts[4], Entry(share, sure)
