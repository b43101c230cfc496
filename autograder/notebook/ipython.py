"""Substitute for the module ``IPython``: the names that notebooks import from it.

``display`` works, and so does keeping what is printed. All else changes a screen alone,
and does nothing here.
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

MODULES = """IPython IPython.core IPython.core.display IPython.core.getipython
IPython.core.interactiveshell IPython.core.magic IPython.display IPython.lib
IPython.lib.display IPython.utils IPython.utils.capture IPython.utils.io
matplotlib_inline matplotlib_inline.backend_inline"""
RICH = "Audio Code HTML IFrame Image JSON Javascript Latex Markdown Math SVG Video"
SHOWING = "html javascript jpeg json latex markdown pdf png pretty svg"


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
        names |= {"capture_output": capture_output, "clear_output": nothing}
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
