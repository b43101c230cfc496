"""Substitute for IPython: the object that ``get_ipython()`` returns, and the module.

The same few magics work on a laptop, in the page and in grading. Shell commands run in
none of them: a note says what was left out. Of the module, ``display`` works, and so
does keeping what is printed. All else changes a screen alone, and does nothing here.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import io
import os
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# they change how a notebook looks or behaves on a screen, and no result
QUIET = {
    *("matplotlib", "pylab", "config", "load_ext", "reload_ext", "unload_ext", "pdb"),
    *("autoreload", "autosave", "automagic", "colors", "precision", "xmode", "pinfo"),
    *("pinfo2", "psource", "pdoc", "pfile", "who", "whos", "history", "reset", "time"),
    *("timeit", "debug", "logstart", "logstop", "page", "pprint", "doctest_mode"),
}

MODULES = """IPython IPython.core IPython.core.display IPython.core.getipython
IPython.core.interactiveshell IPython.core.magic IPython.display IPython.lib
IPython.lib.display IPython.utils IPython.utils.capture IPython.utils.io
matplotlib_inline matplotlib_inline.backend_inline"""
# what `from IPython.display import *` has to give by name
RICH = """Audio Code DisplayObject FileLink FileLinks GeoJSON HTML IFrame Image JSON
Javascript Latex Markdown Math Pretty SVG ScribdDocument TextDisplayObject Video
VimeoVideo YouTubeVideo"""
SILENT = "clear_output publish_display_data set_matplotlib_close set_matplotlib_formats"
SHOWING = "html javascript jpeg json latex markdown pdf png pretty svg"
SIZE = 20_000_000  # bytes of a file that %run reads


class Shell:
    """The part of IPython's shell that cells ask for."""

    def __init__(
        self,
        names: dict[str, Any],
        execute: Callable[[str, str], None],
        note: Callable[[str], None],
    ) -> None:
        self.user_ns, self._execute, self._note = names, execute, note
        self.config: dict[str, Any] = {}
        self.kernel = None
        self.events = types.SimpleNamespace(register=nothing, unregister=nothing)

    def run_line_magic(self, name: str, line: str = "", _stack_depth: int = 1) -> Any:
        """``%name line``; what has no effect on results does nothing."""
        method = getattr(self, f"_magic_{name}", None)
        if method is not None:
            return method(line)
        if name not in QUIET:
            self._note(f"left out: %{name} {line}".rstrip())
        return None

    magic = run_line_magic

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        """``%%name line`` over a cell; files are written, other languages left out."""
        if name in ("writefile", "file"):
            return self._write(line, cell)
        if name in ("time", "timeit", "capture", "prun"):
            return self._execute(cell, f"%%{name}")
        return self._note(f"left out: a cell that starts with %%{name}")

    def system(self, command: str) -> None:
        """``!command``: not run."""
        self._note(f"left out: !{command.strip()}")

    def getoutput(self, command: str, *_: Any, **__: Any) -> list[str]:
        """``x = !command``: not run, so there is no line of output."""
        self._note(f"left out: = !{command.strip()}")
        return []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """What else IPython's shell can do: left out."""
        if name.startswith("_"):
            raise AttributeError(name)
        self._note(f"left out: get_ipython().{name}")
        return nothing

    # ------------------------------------------------------------- line magics

    def _magic_time(self, line: str) -> None:
        if line:
            self._execute(line, "%time")

    _magic_timeit = _magic_prun = _magic_time

    def _magic_run(self, line: str) -> None:
        """Run a file; what it defines is there afterwards, as after IPython's %run."""
        words = line.split()
        while words and words[0].startswith("-"):
            words.pop(0)
        if not words:
            return
        path = Path(words[0].strip("'\""))
        if not path.suffix and not path.exists():
            path = path.with_suffix(".py")
        if path.suffix == ".ipynb":
            return self._note(f"left out: %run {path}")
        with path.open("rb") as file:
            source = file.read(SIZE).decode("utf-8-sig")
        arguments, sys.argv = sys.argv, [str(path), *words[1:]]
        try:
            self._execute(source, str(path))
        finally:
            sys.argv = arguments

    def _magic_pwd(self, _: str = "") -> str:
        return os.getcwd()

    def _magic_cd(self, line: str) -> None:
        """Change the folder; one that is not here, such as a drive, is noted."""
        try:
            os.chdir(os.path.expanduser(line.strip().strip("'\"") or "~"))
        except OSError:
            self._note(f"left out: %cd {line.strip()}")

    def _magic_env(self, line: str) -> Any:
        name, equals, value = line.partition("=")
        if not name.strip():
            return dict(os.environ)
        if equals:
            os.environ[name.strip()] = value.strip()
            return None
        return os.environ.get(name.strip())

    _magic_set_env = _magic_env

    def _write(self, line: str, cell: str) -> None:
        append = "-a" in line.split()
        name = " ".join(word for word in line.split() if word not in ("-a", "--append"))
        path = Path(name.strip("'\""))
        path.parent.mkdir(parents=True, exist_ok=True)  # by a !mkdir that was left out
        with path.open("a" if append else "w", encoding="utf-8") as file:
            file.write(cell)
            if cell and not cell.endswith("\n"):
                file.write("\n")


# -------------------------------------------------------------------- the module


class Rich:
    """What IPython.display calls HTML, Markdown and so on: here, its text."""

    def __init__(self, data: Any = None, *_: Any, **__: Any) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<IPython.core.display.{type(self).__name__} object>"


@dataclass
class DisplayHandle:
    """What ``display(value, display_id=...)`` gives, to show another value later."""

    display: Callable[..., Any]

    def update(self, value: Any, **_: Any) -> None:
        """Show a value, below the one before."""
        self.display(value)


@dataclass
class Captured:
    """What was printed meanwhile."""

    stdout: str = ""
    stderr: str = ""
    outputs: tuple = ()

    def show(self) -> None:
        """Print it now."""
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)

    __call__ = show


@contextlib.contextmanager
def capture_output(*_: Any, **__: Any) -> Iterator[Captured]:
    """Keep what is printed; it is there when the block has ended."""
    captured = Captured()
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield captured
    finally:
        captured.stdout, captured.stderr = out.getvalue(), err.getvalue()


def nothing(given: Any = None, *_: Any, **__: Any) -> Any:
    """A function for a screen; as a decorator, it gives back what it was given."""
    return given if callable(given) else None


class Module(types.ModuleType):
    """A module of IPython. It has every name: a class, or a function for a screen."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return type(name, (Rich,), {}) if name[0].isupper() else nothing


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives notebooks an ``IPython`` that belongs to this engine.

    ``get`` gives the shell, and ``display`` shows values.
    """

    def __init__(self, get: Callable[[], Any], display: Callable) -> None:
        shell = type("InteractiveShell", (), {"instance": get, "initialized": get})
        names: dict[str, Any] = {name: type(name, (Rich,), {}) for name in RICH.split()}
        names |= {f"display_{kind}": display for kind in SHOWING.split()}
        names |= {"display": display, "update_display": lambda one, **_: display(one)}
        names |= {"get_ipython": get, "InteractiveShell": shell, "ProgressBar": range}
        names |= {"capture_output": capture_output, "DisplayHandle": DisplayHandle}
        names |= dict.fromkeys(SILENT.split(), nothing)
        names |= {"__version__": "9.0.0", "version_info": (9, 0, 0, ""), "__path__": []}
        self.modules = {name: Module(name) for name in MODULES.split()}
        for module in self.modules.values():
            vars(module).update(names)
        for name, module in self.modules.items():
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(self.modules[parent], last, module)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module, if it is one of IPython's."""
        known = name in self.modules
        return importlib.machinery.ModuleSpec(name, self) if known else None

    def create_module(self, spec: Any) -> types.ModuleType:
        return self.modules[spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing: it is made already."""
