"""Parts from libraries for a student's function to work on, here or behind the wall."""

from __future__ import annotations

import importlib
from typing import Any


def library(answer: Any, module: str, name: str) -> Any:
    """``name`` of ``module`` in the process that ``answer`` lives in.

    A judge cannot send a torch module across the wall; it lets one be made there:
    ``library(encode, "torch.nn", "Embedding")(7, 4)``.
    """
    if hook := getattr(answer, "_wall_library_", None):
        return hook(module, name)
    return getattr(importlib.import_module(module), name)
