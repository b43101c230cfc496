"""Libraries of tensors beside NumPy, and the packages that support them here.

The support of a library is one package with three modules that the engine asks:
``values``, about tensors and random numbers, ``wire``, about what crosses between
sandbox and judge, and ``planted``, for tests that students write of its classes. They
are imported once the library has been, and never in a course of NumPy alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

SUPPORT = {"torch": "autograder.torch_support"}


def loaded(part: str = "values") -> Iterator[Any]:
    """This module of the support of each library that has been imported."""
    return (_part(SUPPORT[name], part) for name in SUPPORT if name in sys.modules)


@cache
def _part(package: str, name: str) -> Any:
    return import_module(f"{package}.{name}")


def support_of(value: Any) -> Any:
    """The support of the library whose tensor this is; None of anything else."""
    for support in loaded():
        if support.is_tensor(value):
            return support
    return None


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor of a library that is supported and imported."""
    return support_of(value) is not None


def as_array(tensor: Any) -> Any:
    """The numbers of a tensor as an array, which may share its memory."""
    return support_of(tensor).as_array(tensor)


def dtype_name(dtype: object) -> str:
    """The name of a dtype, such as "float32", without that of its library."""
    return str(dtype).rpartition(".")[2]
