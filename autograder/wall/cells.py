"""Running a student's cells as a notebook does: outputs, figures, errors, no magics.

This runs inside the sandbox. It imports nothing of Jupyter.
"""

from __future__ import annotations

import ast
import builtins
import codeop
import contextlib
import fcntl
import io
import linecache
import os
import re
import signal
import sys
import traceback
import types
from typing import Any

from autograder.wall.records import Limits

_MAGIC = re.compile(r"\s*(%|!|\?|pip\s|conda\s)|.*\?\s*$")
_ASSIGNED = re.compile(r"(\s*[\w, ]+=)\s*[!%]")
_TIMED = re.compile(r"(\s*)%time(?:it)?\s+(?!-)(.*)")
_QUIET = ("%matplotlib", "%config", "%load_ext", "%autoreload", "%reset", "%time")
_RUN_ANYWAY = ("%%time", "%%timeit", "%%capture", "%%prun")
STREAMS = ("stdout", "stderr")
_CUT = "… the output was longer than what is kept; the rest is left out\n"


class OutOfTime(BaseException):
    """A cell reached its time limit. Not an Exception: few programs catch it."""

    __module__ = "builtins"  # so that a traceback shows the plain name


class Notebook:
    """The namespace that cells share, and what they print and draw."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        # as in a notebook: `from __future__ import …` holds for the cells after it too,
        # and that of this file for none
        self.compile = codeop.Compile()
        self.module = types.ModuleType("__main__")
        self.module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self.module
        self.outputs: list[tuple] = []
        self.room = 0
        self.files = [_capture(1), _capture(2)]
        self.streams = [self._stream(name) for name in STREAMS]
        builtins.display = self.display
        builtins.input = _no_input
        builtins.get_ipython = lambda: None  # notebooks ask where they run
        signal.signal(signal.SIGALRM, _out_of_time)
        if plt := sys.modules.get("matplotlib.pyplot"):
            plt.show = lambda *args, **kwargs: self._draw_all()

    @property
    def names(self) -> dict[str, Any]:
        """What the cells have defined."""
        return self.module.__dict__

    def run(self, name: str, source: str, seconds: float) -> tuple[list, str | None]:
        """Run one cell; its outputs, and the type of the error that stopped it."""
        self.outputs, self.room = [], self.limits.output_bytes
        self.picture_room = self.limits.figure_bytes
        sys.stdout, sys.stderr = self.streams
        filename = f"<{name}>"
        failed = None
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            try:
                source, notes = without_magics(source)
                self.outputs += [("note", note) for note in notes]
                lines = source.splitlines(keepends=True)
                linecache.cache[filename] = (len(source), None, lines, filename)
                self._execute(source, filename)
                self._draw_all()
            except BaseException as error:
                failed = type(error).__name__
                self._draw_all(quiet=True)
                self._tell(error, filename, seconds)
        except BaseException as error:  # the clock again, or an error that bites
            failed = type(error).__name__
            self.outputs.append(("error", failed, "", [failed]))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for stream in self.streams:
            with contextlib.suppress(Exception):
                stream.flush()
        for memory, number, name in zip(self.files, (1, 2), STREAMS, strict=True):
            self._write(name, _drain(memory, number, self.room))
        return self.outputs, failed

    def _execute(self, source: str, filename: str) -> None:
        tree = ast.parse(source, filename)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(self.compile(tree, filename, "exec"), self.names)
        if last is not None:
            value = eval(self.compile(last, filename, "eval"), self.names)
            if value is not None and not source.rstrip().endswith(";"):
                self._show("result", value)

    def display(self, *values: Any, **_: Any) -> None:
        """What notebooks call ``display``."""
        for value in values:
            self._show("display", value)

    def _show(self, kind: str, value: Any) -> None:
        figure = sys.modules.get("matplotlib.figure")
        if figure and isinstance(value, figure.Figure):
            self._draw(value)
            return
        text = repr(value)
        if len(text) > self.room:
            text = text[: max(self.room, 0)] + _CUT
        self.room -= len(text)
        self.outputs.append((kind, str(text)))

    def _draw_all(self, quiet: bool = False) -> None:
        """Keep the open figures as pictures and close them, as notebooks do."""
        plt = sys.modules.get("matplotlib.pyplot")
        if plt is None or not plt.get_fignums():
            return
        try:
            for number in plt.get_fignums():
                self._draw(plt.figure(number))
        except Exception:
            if not quiet:
                raise
        finally:
            plt.close("all")

    def _draw(self, figure: Any) -> None:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight")
        content = picture.getvalue()
        if len(content) > self.picture_room:
            self.outputs.append(("note", "a figure that is too large was left out"))
            return
        self.picture_room -= len(content)
        width, height = figure.get_size_inches()
        size = f"{width * figure.dpi:.0f}x{height * figure.dpi:.0f}"
        text = f"<Figure size {size} with {len(figure.axes)} Axes>"
        self.outputs.append(("figure", text, content))

    def _tell(self, error: BaseException, filename: str, seconds: float) -> None:
        """Add the error as an output, from the student's first line on."""
        if isinstance(error, OutOfTime):
            text = f"the cell ran longer than {seconds:g} s"
            error = error.with_traceback(error.__traceback__)
            error.args = (text,)
        frames = error.__traceback__
        while frames and frames.tb_frame.f_code.co_filename != filename:
            frames = frames.tb_next
        told = traceback.TracebackException(type(error), error, frames, limit=-20)
        told.stack[:] = [frame for frame in told.stack if frame.filename != __file__]
        lines = "".join(told.format())[-8000:].splitlines()
        self.outputs.append(("error", type(error).__name__, str(told), lines))

    def _stream(self, name: str) -> io.TextIOWrapper:
        raw = _Stream(name, self._write)
        return io.TextIOWrapper(
            raw, encoding="utf-8", errors="backslashreplace", write_through=True
        )

    def _write(self, name: str, content: bytes) -> None:
        if not content:
            return
        if self.room < 0:  # cut already
            return
        if len(content) > self.room:
            content = content[: self.room] + b"\n" + _CUT.encode()
        self.room -= len(content)
        text = content.decode("utf-8", "backslashreplace")
        if self.outputs and self.outputs[-1][:2] == ("stream", name):
            self.outputs[-1][2].append(text)
        else:
            self.outputs.append(("stream", name, [text]))


class _Stream(io.RawIOBase):
    """What is written here goes straight into the cell's outputs."""

    def __init__(self, name: str, write: Any) -> None:
        self.name, self._write = name, write

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1 if self.name == "stdout" else 2

    def write(self, content: Any) -> int:
        content = bytes(content)
        self._write(self.name, content)
        return len(content)


def without_magics(source: str) -> tuple[str, list[str]]:
    """The cell without the lines that only a notebook server understands.

    A line goes only if Python cannot read it. The notes say what was left out.
    """
    notes = []
    if source.lstrip().startswith("%%"):
        first, _, rest = source.lstrip().partition("\n")
        if not first.startswith(_RUN_ANYWAY):
            return "", [f"left out: a cell that starts with {first.split()[0]}"]
        source = "\n" + rest
    lines = source.split("\n")
    for _ in range(len(lines)):
        try:
            ast.parse("\n".join(lines))
            break
        except SyntaxError as error:
            number = (error.lineno or 0) - 1
            if not 0 <= number < len(lines) or not _replace(lines, number, notes):
                break
    return "\n".join(lines), notes


def _replace(lines: list[str], number: int, notes: list[str]) -> bool:
    line = lines[number]
    indent = line[: len(line) - len(line.lstrip())]
    if timed := _TIMED.match(line):
        lines[number] = timed[1] + timed[2]
    elif assigned := _ASSIGNED.match(line):
        lines[number] = f"{assigned[1]} None"
        notes.append(f"left out: {line.strip()[:80]}")
    elif _MAGIC.match(line):
        lines[number] = f"{indent}pass"
        if not line.strip().startswith(_QUIET):
            notes.append(f"left out: {line.strip()[:80]}")
    else:
        return False
    return True


def _capture(descriptor: int) -> int:
    """Send what programs write to a descriptor to a file in memory."""
    memory = os.memfd_create("output")
    fcntl.fcntl(memory, fcntl.F_SETFL, os.O_APPEND)
    os.dup2(memory, descriptor)
    return memory


def _drain(memory: int, descriptor: int, room: int) -> bytes:
    """What was written; the descriptor works again if the student's code closed it."""
    try:
        os.dup2(memory, descriptor)
        content = os.pread(memory, max(room, 0) + 1, 0)
        if content:
            os.ftruncate(memory, 0)
    except OSError:  # closed by the student's code
        return b""
    return content


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("input() is not available in grading")


def _out_of_time(*_: Any) -> None:
    raise OutOfTime
