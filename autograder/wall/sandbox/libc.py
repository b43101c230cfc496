"""Binding to the C library by ctypes, for system calls that Python does not have."""

from __future__ import annotations

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def done(result: int, what: str) -> int:
    """The result of a call; OSError where it failed."""
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result
