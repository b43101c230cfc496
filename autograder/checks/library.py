"""A factory of arguments in the student's process, such as torch modules.

A check in grading runs in another process and cannot send a module there. So it asks
for one to be made beside the student's function; on a laptop that is the same process.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any


def library(answer: Any, module: str, name: str) -> Any:
    """``name`` of ``module`` in the process that ``answer`` lives in.

    A judge cannot send a torch module across the wall; it lets one be made there:
    ``library(encode, "torch.nn", "Embedding")(7, 4)``. Without a module (""), it is
    what the student's notebook has under ``name``.

    Raises AttributeError when there is nothing of that name.
    """
    # a decorator's own function has the globals of the module that it is from
    answer = inspect.unwrap(answer)
    if hook := getattr(type(answer), "_wall_library_", None):
        return hook(answer, module, name)
    if not module:
        names = getattr(answer, "__globals__", {})
        if name not in names:
            raise AttributeError(name)
        return names[name]
    return getattr(importlib.import_module(module), name)
