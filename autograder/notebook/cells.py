"""Execution of notebook cells without Jupyter: outputs, figures, errors, magics.

One engine for a student's laptop, the exercise page and grading. It imports nothing of
Jupyter, and neither NumPy nor Matplotlib unless the cells do.
"""

from __future__ import annotations

import ast
import builtins
import codeop
import contextlib
import inspect
import io
import linecache
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any

from autograder.explain.locations import Location, cell_name, location_of
from autograder.notebook.magics import translate
from autograder.notebook.shell import Captured, DisplayHandle, Finder, Shell
from autograder.text import lines_of

MAX_OUTPUTS = 500  # of a cell; each stretch of printed text is one
MAX_ERROR = 8_000  # characters of what an exception says
MAX_NOTE = 100  # characters of what was left out
CUT = "… the output was too long; the rest is left out\n"
STREAMS = ("stdout", "stderr")
# what IPython defines beside the student's names
OWN_NAMES = {"In", "Out", "exit", "quit", "get_ipython"}


class OutOfTime(BaseException):
    """A cell reached its time limit. Not an Exception: few programs catch it."""

    __module__ = "builtins"  # so that a traceback shows the plain name


class Stream(io.RawIOBase):
    """What is behind stdout or stderr while a cell runs: bytes go to ``write``."""

    def __init__(self, name: str, write: Callable[[str, bytes], None]) -> None:
        self.name, self._write = name, write

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1 if self.name == "stdout" else 2

    def write(self, content: Any) -> int:
        content = bytes(content)
        self._write(self.name, content)
        return len(content)


class Notebook:
    """The namespace that cells share, and what they print and draw."""

    def __init__(
        self, output_bytes: int = 1 << 20, figure_bytes: int = 4 << 20
    ) -> None:
        self.output_bytes, self.figure_bytes = output_bytes, figure_bytes
        # as in a notebook: `from __future__ import …` holds for the cells after it too,
        # and that of this file for none
        self.compile = codeop.Compile()
        self.compile.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.module = types.ModuleType("__main__")
        self.module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self.module
        self.outputs: list[tuple] = []
        self.room = self.picture_room = 0
        self.place: Location | None = None
        self.number = 0
        self.results: dict[int, Any] = {}
        self.inputs = [""]
        self.shown: list[Any] = []  # the latest results, which are called _, __ and ___
        self.loop: Any = None
        self.shell = Shell(self.names, self._execute, self._note)
        self.names.update(In=self.inputs, Out=self.results, _="", __="", ___="")
        self.streams = [
            io.TextIOWrapper(
                Stream(name, self._write),
                encoding="utf-8",
                errors="backslashreplace",
                write_through=True,
            )
            for name in STREAMS
        ]
        builtins.display = self.display  # type: ignore[attr-defined]
        builtins.input = _no_input
        builtins.get_ipython = lambda: self.shell  # type: ignore[attr-defined]
        sys.meta_path.insert(0, Finder(lambda: self.shell, self.display))
        if plt := sys.modules.get("matplotlib.pyplot"):
            vars(plt)["show"] = lambda *args, **kwargs: self._draw_all()

    @property
    def names(self) -> dict[str, Any]:
        """What the cells have defined."""
        return self.module.__dict__

    def defined(self) -> list[str]:
        """The student's own names, without those that every notebook has."""
        return [
            name
            for name in self.names
            if not name.startswith("_") and name not in OWN_NAMES
        ]

    def run(self, number: int, source: str) -> tuple[list, str | None]:
        """Run code cell ``number``; its outputs, and the type of what stopped it.

        Afterwards ``place`` is where that was raised, if it was in a cell.
        """
        self.outputs, self.room = [], self.output_bytes
        self.picture_room, self.number, self.place = self.figure_bytes, number, None
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = self.streams
        failed = None
        try:
            try:
                with self._limits():
                    self._cell(source)
                    self._draw_all()
            except BaseException as error:
                failed = type(error).__name__
                self._draw_all(quiet=True)
                self._tell(error)
        except BaseException as error:  # the time limit again, or a hostile __str__
            failed = type(error).__name__
            self.outputs.append(("error", failed, "", [failed]))
        self._flush()
        sys.stdout, sys.stderr = before
        return [
            ("stream", o[1], "".join(o[2])) if o[0] == "stream" else o
            for o in self.outputs
        ], failed

    def _flush(self) -> None:
        """Take what the streams still hold."""
        for one in self.streams:
            with contextlib.suppress(Exception):
                one.flush()

    @contextlib.contextmanager
    def _limits(self) -> Iterator[None]:
        """Context that limits the time of a cell; here, nothing does."""
        yield

    def _cell(self, source: str) -> None:
        self.inputs += [""] * (self.number + 1 - len(self.inputs))
        self.inputs[self.number] = source
        python, captured = translate(source, self.names | vars(builtins))
        before = len(self.outputs)
        self._execute(python, cell_name(self.number), shown=True)
        if captured is not None:
            self._flush()
            kept, self.outputs[before:] = self.outputs[before:], []
            out, err = (
                "".join("".join(o[2]) for o in kept if o[:2] == ("stream", name))
                for name in STREAMS
            )
            if captured:
                self.names[captured] = Captured(out, err)

    def _execute(self, source: str, filename: str, shown: bool = False) -> None:
        """Run code in the notebook's names; show the value of its last line."""
        lines = lines_of(source, ends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
        tree = ast.parse(source, filename)
        last = tree.body[-1] if shown and tree.body else None
        if isinstance(last, ast.Expr):
            del tree.body[-1]
        compiled: Any = self.compile  # takes trees too
        self._evaluate(compiled(tree, filename, "exec"))
        if not isinstance(last, ast.Expr):
            return
        value = self._evaluate(compiled(ast.Expression(last.value), filename, "eval"))
        if value is not None and not _is_quiet(source):
            self._keep(value)
            self._show("result", value)

    def _evaluate(self, code: types.CodeType) -> Any:
        """The value of compiled code; what it awaits at the top level is waited for."""
        value = eval(code, self.names)
        if not code.co_flags & inspect.CO_COROUTINE:
            return value
        if sys.platform == "emscripten":
            from pyodide.ffi import run_sync  # type: ignore[import-not-found]

            return run_sync(value)
        if self.loop is None:
            import asyncio

            self.loop = asyncio.new_event_loop()
        return self.loop.run_until_complete(value)

    def _keep(self, value: Any) -> None:
        """Call a result ``_``, as IPython does, unless the student uses that name."""
        if value is self.results:
            return
        unders = ("_", "__", "___")
        known = [*self.shown, "", "", ""][:3]
        if all(self.names.get(n) is k for n, k in zip(unders, known, strict=True)):
            self.names.update(zip(unders, [value, *known[:2]], strict=True))
        self.shown = [value, *known[:2]]
        self.results[self.number] = self.names[f"_{self.number}"] = value

    # ----------------------------------------------------------------- outputs

    def display(self, *values: Any, display_id: Any = None, **_: Any) -> Any:
        """What notebooks call ``display``; with an id, it gives a handle."""
        for value in values:
            self._show("display", value)
        return None if display_id is None else DisplayHandle(self.display)

    def _add(self, output: tuple) -> None:
        """Keep one more output; after too many there is one sentence, and no more."""
        if len(self.outputs) < MAX_OUTPUTS:
            self.outputs.append(output)
        elif len(self.outputs) == MAX_OUTPUTS:
            self.outputs.append(("stream", "stderr", [CUT]))
            self.room = -1

    def _note(self, text: str) -> None:
        self._add(("note", text[:MAX_NOTE]))

    def _show(self, kind: str, value: Any) -> None:
        figure = sys.modules.get("matplotlib.figure")
        if figure and isinstance(value, figure.Figure):
            self._draw(value)
            return
        text = str(repr(value))
        if self.room < 0:  # cut already
            return
        if len(text) > self.room:
            text, self.room = text[: self.room] + "\n" + CUT, -1
        else:
            self.room -= len(text)
        self._add((kind, text))

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
            self._note("a figure that is too large was left out")
            return
        self.picture_room -= len(content)
        width, height = figure.get_size_inches()
        size = f"{width * figure.dpi:.0f}x{height * figure.dpi:.0f}"
        text = f"<Figure size {size} with {len(figure.axes)} Axes>"
        self._add(("figure", text, content))

    def _tell(self, error: BaseException) -> None:
        """Add the error as an output, from the student's first line on."""
        self.place = location_of(error)
        frames = error.__traceback__
        while frames and frames.tb_frame.f_code.co_filename != cell_name(self.number):
            frames = frames.tb_next
        told = traceback.TracebackException(type(error), error, frames, limit=-20)
        here = os.path.dirname(os.path.dirname(__file__)) + os.sep
        told.stack[:] = [f for f in told.stack if not f.filename.startswith(here)]
        said = "".join(told.format())
        if len(said) > MAX_ERROR:
            half = MAX_ERROR // 2
            said = f"{said[:half]}\n…\n{said[-half:]}"
        name = type(error).__name__
        text = str(told)[:MAX_ERROR]
        self.outputs.append(("error", name[:200], text, lines_of(said)))

    def _write(self, name: str, content: bytes) -> None:
        if not content or self.room < 0:  # cut already
            return
        if len(content) > self.room:
            content, self.room = content[: self.room] + b"\n" + CUT.encode(), -1
        else:
            self.room -= len(content)
        text = content.decode("utf-8", "replace")  # never more than the bytes
        if self.outputs and self.outputs[-1][:2] == ("stream", name):
            self.outputs[-1][2].append(text)
        else:
            self._add(("stream", name, [text]))


def _is_quiet(source: str) -> bool:
    """Whether the last line ends with a semicolon, which hides its value."""
    *_, last = source.rstrip().rpartition("\n")
    return last.partition("#")[0].rstrip().endswith(";") or last.endswith(";")


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("input() is not available when a notebook is checked")
