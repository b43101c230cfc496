"""One clock around all that reads a submission outside of the sandbox."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from autograder.errors import TooLong

READING = 10.0  # seconds of processor time: an honest notebook takes hundredths of one
SLOWER = 3  # a thread is measured by the wall's clock, and others are at work


@contextmanager
def at_most(seconds: float, what: str = "read this notebook") -> Iterator[None]:
    """Raise TooLong after so much processor time, and again until it is heard.

    One inside another ends with the outer one. Elsewhere than in the main thread, where
    no signal arrives, elapsed time counts; and none where the system has no timers.
    """
    why = f"It takes longer than {seconds:g} s to {what}."
    if threading.current_thread() is not threading.main_thread():
        with interrupted(seconds * SLOWER):
            yield
    elif not hasattr(signal, "setitimer"):  # Windows, and the browser
        yield
    else:
        stopped = ended = False

        def stop(_: int, at: FrameType | None) -> None:
            nonlocal stopped
            # the next signal comes soon: logging would never release its lock
            logs = at is not None and at.f_globals.get("__name__") == "logging"
            if not (ended or logs):  # else what is put back below would be left
                stopped = True
                raise TooLong(why)

        started = time.process_time()
        before = signal.getsignal(signal.SIGPROF)
        outer, again = signal.getitimer(signal.ITIMER_PROF)
        try:
            signal.signal(signal.SIGPROF, stop)
            signal.setitimer(signal.ITIMER_PROF, min(seconds, outer or seconds), 0.5)
            yield
        except SystemError as error:  # of ast.parse, when it was interrupted
            if not stopped:
                raise
            raise TooLong(why) from error
        finally:
            ended = True
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
            if outer:
                left = outer - (time.process_time() - started)
                signal.setitimer(signal.ITIMER_PROF, max(left, 0.01), again)


@contextmanager
def interrupted(seconds: float) -> Iterator[None]:
    """The same for another thread than the main one."""
    thread, lock, ended = threading.get_ident(), threading.Lock(), threading.Event()

    def watch() -> None:
        if not ended.wait(seconds):
            with lock:
                if not ended.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(thread), ctypes.py_object(TooLong)
                    )

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            ended.set()
