"""Warm parents: processes that have imported everything and fork for each submission.

There are two kinds. The one of the sandbox lives in namespaces of its own, has the
libraries and the visible checks, and forks students' processes. The one of the judge
has the instructor's checks too, and forks judges. Both end when their grader does.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.abc
import io
import os
import pkgutil
import re
import select
import shutil
import signal
import socket
import sys
import warnings
from functools import cache
from pathlib import Path

from autograder.checks.surroundings import BOOK_MODULES
from autograder.errors import Closed
from autograder.notebook.questions import NoTorch
from autograder.notebook.running import one_thread
from autograder.wall.channel import Channel
from autograder.wall.judge import judge
from autograder.wall.records import Cell, Limits
from autograder.wall.sandbox import namespaces, runner

# NumPy loads numpy.random when it is first used: not in every fork anew
NUMPY = ("numpy", "numpy.random", "numpy.linalg")
# What checks need beyond this is imported with them.
JUDGES = {"numpy": NUMPY, "torch": (*NUMPY, "torch")}
STUDENTS = {
    "none": (),  # to find out whether namespaces work here
    "numpy": (*NUMPY, "matplotlib.pyplot"),
    "torch": (*NUMPY, "matplotlib.pyplot", "torch", "seaborn"),
}


def main(kind: str, profile: str, sandboxed: bool, descriptor: int) -> None:
    """The life of a warm parent; the grader starts it with a socket."""
    channel = Channel(socket.socket(fileno=descriptor))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the grader
    if kind == "judge":
        warnings.simplefilter("ignore")  # checks that ask for warnings record them
        _warm(JUDGES[profile])
        channel.send("ready")
        _serve_judges(channel)
        return
    _warm(STUDENTS[profile])
    if profile != "torch":
        sys.meta_path.insert(0, NoTorch())
    _import_visible_checks()
    if not sandboxed:
        gc.freeze()
        channel.send("ready")
        _serve_students(channel, sandboxed)
        return
    try:
        namespaces.open_world()
    except OSError as error:
        channel.send(f"failed: {error}")
        return
    channel.send("unshared")
    channel.receive()  # the grader has said who is who
    first = os.fork()
    if first:
        channel.close()
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    namespaces.die_with_parent()
    try:
        namespaces.build_tree()
        runner.set_environment(namespaces.HOME)
        gc.freeze()
        channel.send("ready")
        _serve_students(channel, sandboxed)
    except OSError as error:
        channel.send(f"failed: {error}")
    finally:
        os._exit(0)


def _warm(libraries: tuple[str, ...]) -> None:
    """Import the libraries, and do once what every first figure would do again."""
    sys.dont_write_bytecode = True
    for name in libraries:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if name == "numpy" or (error.name or "").partition(".")[0] != name:
                raise
    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.switch_backend("agg")
        figure, ax = plt.subplots()
        ax.plot([0, 1], label="$x^2$")
        ax.legend()
        figure.savefig(io.BytesIO(), format="png", bbox_inches="tight")
        plt.close(figure)
        # every fork would empty this cache first thing
        sys.modules["matplotlib.font_manager"]._get_font.cache_clear()
    if torch := sys.modules.get("torch"):
        one_thread(torch)
        torch.nn.Linear(2, 2)(torch.zeros(1, 2)).sum().backward()
    gc.collect()


def _import_visible_checks() -> None:
    """What students import from the course: the visible checks and the book's modules.

    Those of the book lie beside this package in the repository, and are installed by
    name from the students' wheel.
    """
    import autograder.checks as checks

    book = str(Path(__file__).resolve().parents[2] / "book")
    sys.path.insert(0, book)
    for name in (*BOOK_MODULES, "autograder.checks.planted_modules"):
        with contextlib.suppress(ImportError):  # needs torch, or is not here
            importlib.import_module(name)
    sys.path.remove(book)
    if planted_modules := sys.modules.get("autograder.checks.planted_modules"):
        planted_modules.rehearse()
    for found in pkgutil.iter_modules(checks.__path__, "autograder.checks."):
        if found.ispkg:
            try:
                importlib.import_module(found.name)
            except ImportError:  # needs torch, in a profile without
                continue


def _serve_students(channel: Channel, sandboxed: bool) -> None:
    """Fork a student's process on request, and tell how it ended."""
    while True:
        try:
            (limits, more), files = channel.receive_with_files(1)
        except Closed:
            return
        pid = _fork_student(channel, Limits(*limits), more, files[0], sandboxed)
        ended = os.pidfd_open(pid)
        word = None
        with contextlib.suppress(Closed):
            word = channel.receive()
        # "dead" says that it hung up: then it is about to end by itself
        patience = 5 if word == "dead" else 0
        by_itself = bool(select.select([ended], [], [], patience)[0])
        os.close(ended)
        if not by_itself:
            os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if not sandboxed:
            _clean_up(pid)
        if word is None:
            return
        channel.send(status if by_itself else None)


def _fork_student(
    channel: Channel, limits: Limits, more: int, descriptor: int, sandboxed: bool
) -> int:
    here, there = socket.socketpair()
    pid = namespaces.fork_first() if sandboxed else os.fork()
    if not pid:
        try:
            channel.close()
            here.close()

            def mapped() -> None:
                there.send(b"?")
                if there.recv(1) != b"!":
                    os._exit(1)
                there.close()

            student = Channel(socket.socket(fileno=descriptor))
            runner.main(student, limits, mapped if sandboxed else None, more)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(0)
    os.close(descriptor)
    there.close()
    if sandboxed and here.recv(1):
        namespaces.map_users(pid, namespaces.INSIDE)
        here.send(b"!")
    here.close()
    return pid


def _clean_up(pid: int) -> None:
    """Without namespaces: what a student's process left, as far as it can be found."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    shutil.rmtree(f"/tmp/autograder-{pid}", ignore_errors=True)


def _serve_judges(channel: Channel) -> None:
    """Fork a judge on request; it answers the grader on a socket of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for judges
    while True:
        try:
            request, descriptors = channel.receive_with_files(2)
        except Closed:
            return
        cells, limits, files = request
        cells = [Cell(*cell) for cell in cells]
        for name in _IMPORTED.findall("\n".join(c.source for c in cells if c.test)):
            _import_checks(name)
        gc.freeze()  # judges need not look through the libraries for garbage
        if os.fork():
            for descriptor in descriptors:
                os.close(descriptor)
            continue
        try:
            channel.close()
            namespaces.die_with_parent()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            grader, student = (
                Channel(socket.socket(fileno=number)) for number in descriptors
            )
            judge.main(grader, student, cells, Limits(*limits), files)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(0)


_IMPORTED = re.compile(r"autograder\.checks(?:\.| import )(\w+)")


@cache
def _import_checks(name: str) -> None:
    """Import an assignment's checks and know its misconceptions, for all judges."""
    for part in ("", ".hidden", ".catalog"):
        try:
            module = importlib.import_module(f"autograder.checks.{name}{part}")
        except ImportError:  # the judge meets it again, and tells
            continue
        if part == ".catalog":
            module.catalog.prepare()
    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.close("all")
