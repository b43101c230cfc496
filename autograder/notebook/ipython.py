"""Substitute for the module ``IPython``: the names that notebooks import from it.

``display`` and similar functions work; what only changes a screen does nothing.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import io
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

RICH = """Audio Code DisplayObject FileLink FileLinks GeoJSON HTML IFrame Image JSON
Javascript Latex Markdown Math Pretty SVG ScribdDocument TextDisplayObject Video
VimeoVideo YouTubeVideo"""
SHOWING = "html javascript jpeg json latex markdown pdf png pretty svg"
QUIET = "clear_output publish_display_data set_matplotlib_close set_matplotlib_formats"


class Rich:
    """What IPython.display calls HTML, Markdown and so on: here, its text."""

    def __init__(self, data: Any = None, *_: Any, **__: Any) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<IPython.core.display.{type(self).__name__} object>"


# made once, not in the process of every notebook
SHOWN: dict[str, Any] = {name: type(name, (Rich,), {}) for name in RICH.split()}
SHOWN |= dict.fromkeys(QUIET.split(), lambda *_, **__: None)
INTERACTIVE: Any = type("InteractiveShell", (), {"ast_node_interactivity": "last_expr"})


class DisplayHandle:
    """What ``display(value, display_id=...)`` gives, to change the output later."""

    show: Callable  # the notebook's display

    def __init__(self, display_id: str | None = None) -> None:
        self.display_id = display_id or str(id(self))

    def display(self, value: Any, **_: Any) -> None:
        """Show a value."""
        type(self).show(value, display_id=self.display_id)

    def update(self, value: Any, **_: Any) -> None:
        """Show a value in the place of the one before."""
        type(self).show(value, display_id=self.display_id, update=True)


class ProgressBar:
    """Counts from 0 to ``total``."""

    def __init__(self, total: int) -> None:
        self.total, self.progress = total, 0

    def __iter__(self) -> Iterator[int]:
        for step in range(self.total):
            self.progress = step
            yield step

    def display(self) -> None:
        """Show nothing."""

    update = display


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


class Magics:
    """A class of a student's own magics, given to ``register_magics``."""

    def __init__(self, shell: Any = None, **_: Any) -> None:
        self.shell = shell


def registering(get: Callable[[], Any], kinds: tuple[str, ...]) -> Callable:
    """``register_line_magic`` and its like: with a name, or without."""

    def register(given: Any) -> Any:
        if isinstance(given, str):
            return lambda function: get().add_magic(kinds, given, function)
        return get().add_magic(kinds, given.__name__, given)

    return register


def marking(kinds: tuple[str, ...]) -> Callable:
    """``line_magic`` and its like, over the methods of a class."""

    def mark(given: Any) -> Any:
        def named(function: Callable, name: str) -> Callable:
            function.__dict__["magic"] = kinds, name
            return function

        if isinstance(given, str):
            return lambda function: named(function, given)
        return named(given, given.__name__)

    return mark


class Finder(importlib.abc.MetaPathFinder):
    """Gives notebooks an ``IPython`` that belongs to this engine."""

    def __init__(self, get: Callable[[], Any], display: Callable) -> None:
        self.modules = modules(get, display)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.modules:
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(self.modules[name]))


class _Loader(importlib.abc.Loader):
    def __init__(self, module: types.ModuleType) -> None:
        self.module = module

    def create_module(self, spec: Any) -> types.ModuleType:
        return self.module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def modules(get: Callable[[], Any], display: Callable) -> dict[str, types.ModuleType]:
    """The modules by name; ``get`` gives the shell, ``display`` shows values."""
    DisplayHandle.show = staticmethod(display)
    INTERACTIVE.instance = INTERACTIVE.initialized = staticmethod(get)
    shown = SHOWN | {f"display_{kind}": display for kind in SHOWING.split()}
    shown |= {
        "display": display,
        "update_display": lambda value, *, display_id, **_: display(
            value, display_id=display_id, update=True
        ),
        "DisplayHandle": DisplayHandle,
        "ProgressBar": ProgressBar,
    }
    captures = {"capture_output": capture_output, "CapturedIO": Captured}
    both = ("line", "cell")
    magic: dict[str, Any] = {"Magics": Magics, "magics_class": lambda given: given}
    magic |= dict.fromkeys(("needs_local_scope", "no_var_expand"), lambda given: given)
    for name, kinds in (("line", both[:1]), ("cell", both[1:]), ("line_cell", both)):
        magic[f"{name}_magic"] = marking(kinds)
        magic[f"register_{name}_magic"] = registering(get, kinds)
    formats = {"set_matplotlib_formats": lambda *_, **__: None}
    contents: dict[str, dict[str, Any]] = {
        "IPython": {
            "__version__": "9.0.0",
            "version_info": (9, 0, 0, ""),
            "get_ipython": get,
            "InteractiveShell": INTERACTIVE,
        },
        "IPython.display": shown,
        "IPython.core": {},
        "IPython.core.display": shown,
        "IPython.core.getipython": {"get_ipython": get},
        "IPython.core.interactiveshell": {"InteractiveShell": INTERACTIVE},
        "IPython.core.magic": magic,
        "IPython.lib": {},
        "IPython.lib.display": shown,
        "IPython.utils": {},
        "IPython.utils.capture": captures,
        "IPython.utils.io": captures,
        "matplotlib_inline": {},
        "matplotlib_inline.backend_inline": formats,
    }
    found = {name: types.ModuleType(name) for name in contents}
    for name, module in found.items():
        module.__dict__.update(contents[name], __path__=[])
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(found[parent], last, module)
    return found
