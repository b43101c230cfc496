"""Fork servers: they have imported all libraries, and fork per submission.

There are two kinds. The one of the sandbox is isolated, has the libraries and the
visible checks, and forks students' processes. The one of the judge has the instructor's
checks too, and forks judges. Both end when their grader does.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.abc
import io
import os
import select
import signal
import site
import socket
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from autograder import libraries, registry
from autograder.errors import Closed
from autograder.notebook.test_cells import CHECKS, NotOffered, compiled
from autograder.wall.channel import Channel
from autograder.wall.judge import judge
from autograder.wall.records import Cell, Limits, Wall
from autograder.wall.sandbox import cgroups, runner
from autograder.wall.sandbox.backends import Backend, Namespaces, NoWall
from autograder.wall.sandbox.landlocked import Landlocked
from autograder.wall.sandbox.libc import libc
from autograder.wall.sandbox.limits import restrict_judge
from autograder.wall.sandbox.privileges import die_with_parent, hide_memory

# NumPy loads numpy.random when it is first used: here, and not in every fork.
# What checks need beyond this is imported with them.
NUMPY = ("numpy", "numpy.random", "numpy.linalg")
FIGURES = "matplotlib.pyplot"

BACKENDS: dict[Wall, type[Backend]] = {
    "namespaces": Namespaces,
    "landlock": Landlocked,
    "none": NoWall,
}


def main(
    kind: str,
    profile: str,
    wall: Wall,
    folder: str,
    group: str,
    abi: int,
    descriptor: int,
) -> None:
    """The life of a warm parent; the grader starts it with a socket."""
    if group:
        cgroups.join(group)
    channel = Channel(socket.socket(fileno=descriptor))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the grader
    if kind == "judge":
        warnings.simplefilter("ignore")  # checks that ask for warnings record them
        _warm((*NUMPY, profile))
        fill_holes()
        hide_memory()
        channel.send("ready")
        _serve_judges(channel)
        return
    more = (profile, "seaborn") if profile in libraries.SUPPORT else ()
    # "none" is to find out whether namespaces work here
    _warm(() if profile == "none" else (*NUMPY, FIGURES, *more))
    sys.meta_path.insert(0, NotOffered(profile))
    if profile != "none":
        _import_visible_checks()
    forget_places()
    fill_holes()
    backend = BACKENDS[wall](channel, folder, abi)
    try:
        backend.open()
        channel.send("ready")
        _serve_students(channel, backend)
    except OSError as error:
        channel.send(f"failed: {error}")
    finally:
        backend.close()
        os._exit(0)


def _warm(modules: tuple[str, ...]) -> None:
    """Import the libraries, and do once what every first figure would do again."""
    sys.dont_write_bytecode = True
    for name in modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if name == "numpy" or (error.name or "").partition(".")[0] != name:
                raise
    if plt := sys.modules.get(FIGURES):
        plt.switch_backend("agg")
        figure, ax = plt.subplots()
        ax.plot([0, 1], label="$x^2$")
        ax.legend()
        figure.savefig(io.BytesIO(), format="png", bbox_inches="tight")
        plt.close(figure)
        # every fork would empty this cache first thing
        sys.modules["matplotlib.font_manager"]._get_font.cache_clear()
    for part in ("values", "wire", "planted"):
        for support in libraries.loaded(part):
            support.warm()


def _import_visible_checks() -> None:
    """Import the visible checks, as students' notebooks do."""
    for name in registry.names():
        with contextlib.suppress(ImportError):  # of a library that is not offered
            registry.checks_of(name)
    importlib.import_module("autograder.code_questions")


def forget_places() -> None:
    """Forget the course's path, what imports saw there, and how this process began."""
    engine = Path(__file__).resolve().parents[2]
    parts = [path.parent for path in registry.library().values()]
    own = {str(path) for path in (engine, *registry.private(), *parts)}
    own -= {os.path.realpath(path) for path in site.getsitepackages()}  # of wheels
    sys.path[:] = [path for path in sys.path if os.path.realpath(path) not in own]
    sys.path_importer_cache.clear()
    sys.orig_argv[:] = sys.argv[:] = [""]


def _serve_students(channel: Channel, backend: Backend) -> None:
    """Fork a student's process on request, and tell how it ended."""
    while True:
        try:
            (limits, more), files = channel.receive_with_files(1)
        except Closed:
            return
        _tidy()
        pid = _fork_student(channel, backend, Limits(*limits), more, files[0])
        ended = os.pidfd_open(pid)
        word = None
        with contextlib.suppress(Closed):
            backend.wait_for_word()
            word = channel.receive()
        # "dead" says that it hung up: then it is about to end by itself
        patience = 5 if word == "dead" else 0
        by_itself = bool(select.select([ended], [], [], patience)[0])
        os.close(ended)
        if not by_itself:
            os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        backend.clean()
        if word is None:
            return
        channel.send(status if by_itself else None)


def _fork_student(
    channel: Channel, backend: Backend, limits: Limits, more: int, descriptor: int
) -> int:
    pid = backend.fork(limits, more)
    if not pid:
        try:
            channel.close()
            runner.main(Channel(socket.socket(fileno=descriptor)), backend)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(0)
    os.close(descriptor)
    return pid


def _serve_judges(channel: Channel) -> None:
    """Fork a judge on request; it answers the grader on a socket of its own."""
    signal.signal(signal.SIGCHLD, _take_leave)
    while True:
        try:
            request, descriptors = channel.receive_with_files(2)
        except Closed:
            return
        cells, limits, files, *haste = request
        cells = [Cell(*cell) for cell in cells]
        for cell in cells:
            if cell.test:
                _get_ready(cell.source, cell.test)
        _tidy()
        if os.fork():
            for descriptor in descriptors:
                os.close(descriptor)
            continue
        try:
            channel.close()
            die_with_parent()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            grader, student = (
                Channel(socket.socket(fileno=number)) for number in descriptors
            )
            bounds = Limits(*limits)
            restrict_judge(bounds)
            judge.main(grader, student, cells, bounds, files, *haste)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(0)


def _tidy() -> None:
    """Spare forks copy-on-write: pages that a fork only touches need not be copied.

    ``gc.freeze`` keeps the collector of a fork away from the libraries' objects. One
    large allocation makes the C allocator merge its free chunks here, once, where the
    first large allocation of every fork would do it.
    """
    gc.freeze()
    bytearray(1 << 16)


class Heap(ctypes.Structure):
    """What mallinfo2(3) of glibc tells; ``top`` is what is free at the end."""

    _fields_ = [("size", ctypes.c_size_t)]
    _fields_ += [(f"other_{n}", ctypes.c_size_t) for n in range(8)]
    _fields_ += [("top", ctypes.c_size_t)]


def fill_holes() -> None:
    """Take the memory that imports have freed between the libraries' objects, for good.

    What a fork makes would lie scattered there, and the kernel copies each page that a
    fork writes to. So it lies side by side, at the end: a quarter fewer pages.
    """
    gc.collect()
    if not hasattr(libc, "mallinfo2"):
        return
    bytearray(1 << 16)
    libc.mallinfo2.restype = Heap
    libc.malloc.restype = libc.sbrk.restype = ctypes.c_void_p
    heap, end = libc.mallinfo2(), libc.sbrk(0)
    # not what is mapped elsewhere, which without a limit of the stack is below
    holes = range(end - heap.size, end - heap.top)
    for size in (*range(1 << 17, 1 << 10, -512), *range(1 << 10, 0, -16)):
        while (place := libc.malloc(size)) in holes:
            continue
        libc.free(ctypes.c_void_p(place))


def _take_leave(*_: Any) -> None:
    """Reap judges that have ended: no zombies, and their processor time is counted."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue


@cache
def _get_ready(source: str, name: str) -> None:
    """Compile a test cell, and import its checks, once for all judges."""
    with contextlib.suppress(SyntaxError, ValueError):  # the judge meets it again
        compiled(source, f"<{name}>")
    for checks in CHECKS.findall(source):
        _import_checks(checks)


@cache
def _import_checks(name: str) -> None:
    """Import an assignment's checks and know its misconceptions."""
    with contextlib.suppress(ImportError):  # the judge meets it again, and tells
        checks = registry.checks_of(name)
        if assignment := getattr(checks, "assignment", None):
            assignment.prepare()
    if plt := sys.modules.get(FIGURES):
        plt.close("all")
    fill_holes()
