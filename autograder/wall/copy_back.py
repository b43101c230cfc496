"""Copy-back of arguments: what a call in the sandbox changed is changed here as well.

Arguments are sent as copies. After the call the changed copy returns, and the original
is changed in place to equal it, as if there had been one object.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autograder.libraries import is_tensor, support_of


class Reshaped(RuntimeError):
    """A copy came back with another shape or dtype."""


def update(local: Any, changed: Any) -> None:
    """Change ``local`` in place to what the student's code made of its copy."""
    if isinstance(local, tuple) and isinstance(changed, tuple):
        for one, other in zip(local, changed, strict=False):
            update(one, other)
    elif isinstance(local, list) and isinstance(changed, list):
        local[:] = _updated(local, changed) + changed[len(local) :]
    elif isinstance(local, dict) and isinstance(changed, dict):
        before = dict(local)
        local.clear()
        for key, value in changed.items():
            local[key] = _updated([before.get(key)], [value])[0]
    elif isinstance(local, np.ndarray) and isinstance(changed, np.ndarray):
        if local.shape != changed.shape or local.dtype != changed.dtype:
            raise Reshaped("your code changed the shape of an array that it was passed")
        if local.flags.writeable:
            local[...] = changed
    elif isinstance(local, np.random.Generator) and isinstance(
        changed, np.random.Generator
    ):
        local.bit_generator.state = changed.bit_generator.state
    elif is_tensor(local) and is_tensor(changed):
        if local.shape != changed.shape or local.dtype != changed.dtype:
            raise Reshaped("your code changed the shape of a tensor that it was passed")
        support_of(local).assign(local, changed)


def _updated(local: Iterable[Any], changed: Iterable[Any]) -> list[Any]:
    """The items of a container after a call; what can change in place stays itself."""
    items = []
    for one, other in zip(local, changed, strict=False):
        lasting = isinstance(one, np.ndarray | list | dict | tuple)
        lasting = lasting or hasattr(type(one), "_wall_library_")  # a remote one
        if type(one) is type(other) and (lasting or is_tensor(one)):
            update(one, other)
            items.append(one)
        else:
            items.append(other)
    return items
