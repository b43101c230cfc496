"""Substitute for IPython's shell: the object that ``get_ipython()`` returns in cells.

The same few magics work on a laptop, in the page and in grading. Shell commands run in
none of them: a note says what was left out.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.notebook.ipython import nothing

# they change how a notebook looks or behaves on a screen, and no result
QUIET = {
    *("matplotlib", "pylab", "config", "load_ext", "reload_ext", "unload_ext", "pdb"),
    *("autoreload", "autosave", "automagic", "colors", "precision", "xmode", "pinfo"),
    *("pinfo2", "psource", "pdoc", "pfile", "who", "whos", "history", "reset", "time"),
    *("timeit", "debug", "logstart", "logstop", "page", "pprint", "doctest_mode"),
}
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
