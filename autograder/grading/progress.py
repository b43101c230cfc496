"""Progress of long work: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Progress:
    """Counts steps out of ``total`` and tells rate and time left."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total, self.done, self.worked = total, 0, 0
        self.stream = sys.stdout if stream is None else stream
        self.terminal = self.stream.isatty()
        self.started = time.monotonic()

    def step(self, line: str, *, worked: bool = True) -> None:
        """One more is done; without ``worked`` it was done before this run."""
        self.done += 1
        self.worked += worked
        if self.terminal:
            self.stream.write(f"\r\x1b[K{self.bar()}")
        else:
            self.stream.write(f"[{self.done}/{self.total}] {line}\n")
        self.stream.flush()

    def bar(self) -> str:
        """The bar with rate and time left."""
        width = 30
        filled = width * self.done // max(self.total, 1)
        rate = self.worked / max(time.monotonic() - self.started, 1e-6)
        text = f"{'━' * filled}{'·' * (width - filled)} {self.done} of {self.total}"
        if self.worked:
            left = (self.total - self.done) / rate
            text += f" · {rate:.1f} a second · {left:.0f} s left"
        return text

    def close(self) -> None:
        """Leave the bar's line."""
        if self.terminal:
            self.stream.write("\n")
            self.stream.flush()
