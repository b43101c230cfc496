"""Kernels that are forks of one process, which has the libraries.

`serve FOLDER` imports them, and forks whenever a kernel is wanted. Where Jupyter would
start ipykernel, the kernelspec in FOLDER has it start `ask`: the fork becomes a kernel,
which ends with whoever asked for it.
"""

import contextlib
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

LIBRARIES = ("ipykernel.kernelapp", "numpy.random", "matplotlib.pyplot", "torch")
LIBRARIES += ("torch._dynamo",)  # which the first optimizer imports


def started(config) -> Path:
    """A JUPYTER_PATH with which all kernels are forks of one process of this run.

    The processes of a run share it. It lives as long as one of them has its pipe open.
    """
    if not hasattr(config, "warm_kernels"):
        base = config._tmp_path_factory.getbasetemp()
        if hasattr(config, "workerinput"):  # then each process has its own below it
            base = base.parent
        config.warm_kernels = folder = base / "kernels"
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "pipe").exists():
                os.mkfifo(folder / "pipe")
            alive = os.open(folder / "pipe", os.O_RDWR)  # waits for no other end
            config.add_cleanup(lambda: os.close(alive))
            if not answers(folder):
                config.kernel_server = serve_in(folder)
    return config.warm_kernels


def answers(folder: Path) -> bool:
    """Whether a server holds its lock there."""
    with (folder / "served").open("w") as served:
        try:
            fcntl.flock(served, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def serve_in(folder: Path) -> subprocess.Popen:
    """Start a server and wait until it has its libraries; the pipe's end ends it."""
    specify(folder)
    (folder / "socket").unlink(missing_ok=True)
    pipe = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    server = subprocess.Popen(
        [sys.executable, "-P", __file__, "serve", folder],
        stdin=pipe,
        stdout=subprocess.PIPE,
        text=True,
    )
    os.close(pipe)
    assert server.stdout.readline() == "ready\n"
    return server


def specify(folder: Path) -> None:
    """Write the kernelspec: with JUPYTER_PATH, the folder's kernels come first."""
    command = [sys.executable, "-I", "-S", __file__, "ask", str(folder)]
    spec = {
        "argv": [*command, "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
    }
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True, exist_ok=True)
    (place / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")


def serve(folder: Path) -> None:
    """Fork kernels until standard input ends."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()  # what forks leave alone is not copied for them
    signal.signal(signal.SIGCHLD, take_leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with (folder / "served").open() as lock, socket.socket(socket.AF_UNIX) as door:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.chdir(folder)  # the address of a socket is short
        door.bind("socket")
        door.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([door, sys.stdin], [], [])[0]:
            asker, _ = door.accept()
            if not os.fork():
                door.close()
                lock.close()
                become_a_kernel(asker)
            asker.close()


def take_leave(*_: object) -> None:
    """Of kernels that have ended: what they used is counted with this process."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue


def become_a_kernel(asker: socket.socket) -> None:
    """Live as the process that asked: its output, folder, environment, arguments."""
    size, outputs, *_ = socket.recv_fds(asker, 4, 2)
    wanted = json.loads(asker.recv(int.from_bytes(size), socket.MSG_WAITALL))
    for number, descriptor in enumerate(outputs, 1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    path = wanted["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [place for place in path if place and place not in sys.path]
    sys.argv[1:] = wanted["arguments"]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def end_with_the_asker() -> None:
        asker.recv(1)
        os._exit(1)

    threading.Thread(target=end_with_the_asker, daemon=True).start()
    try:
        importlib.import_module("ipykernel.kernelapp").launch_new_instance()
    finally:
        os._exit(0)


def ask(folder: Path, arguments: list[str]) -> None:
    """Have a kernel forked, and wait for its end."""
    wanted = {
        "arguments": arguments,
        "folder": os.getcwd(),
        "environment": dict(os.environ),
    }
    text = json.dumps(wanted).encode()
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(folder)
        server.connect("socket")
        socket.send_fds(server, [len(text).to_bytes(4)], [1, 2])
        server.sendall(text)
        server.recv(1)


if __name__ == "__main__":
    role, where, *rest = sys.argv[1:]
    if role == "serve":
        serve(Path(where))
    else:
        ask(Path(where), rest)
