"""How a process with a student's code ended, in words."""

from __future__ import annotations

import signal


def ending(status: int, seconds: str = "") -> str:
    """How a process ended that could run for some ``seconds``, by its exit status."""
    if status >= 0:
        return f"ended the program (exit code {status})"
    if -status == signal.SIGKILL:
        return "was stopped (signal 9); perhaps it used too much memory"
    if -status in (signal.SIGXCPU, signal.SIGPROF):
        return f"ran longer than {seconds} s"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = "unknown"
    return f"crashed (signal {-status}, {name})"
