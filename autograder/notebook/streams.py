"""Text streams in place of stdout and stderr, to capture what cells print."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

STREAMS = ("stdout", "stderr")
Write = Callable[[str, bytes], None]


def stream(name: str, write: Write) -> io.TextIOWrapper:
    """A text stream whose bytes go straight to ``write``."""
    return io.TextIOWrapper(
        _Stream(name, write),
        encoding="utf-8",
        errors="backslashreplace",
        write_through=True,
    )


class _Stream(io.RawIOBase):
    def __init__(self, name: str, write: Write) -> None:
        self.name, self._write = name, write

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1 if self.name == "stdout" else 2

    def write(self, content: Any) -> int:
        content = bytes(content)
        self._write(self.name, content)
        return len(content)
