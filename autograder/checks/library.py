"""Parts for a student's function to work on, made where it lives: here or there."""

from __future__ import annotations

import importlib
from typing import Any


def library(answer: Any, module: str, name: str) -> Any:
    """``name`` of ``module`` in the process that ``answer`` lives in.

    A judge cannot send a torch module across the wall; it lets one be made there:
    ``library(encode, "torch.nn", "Embedding")(7, 4)``. Without a module (""), it is
    what the student's notebook has under ``name``.

    Raises AttributeError when there is nothing of that name.
    """
    if hook := getattr(answer, "_wall_library_", None):
        return hook(module, name)
    if not module:
        names = getattr(answer, "__globals__", {})
        if name not in names:
            raise AttributeError(name)
        return names[name]
    return getattr(importlib.import_module(module), name)
