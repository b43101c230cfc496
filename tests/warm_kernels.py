"""Kernels that are forks of one process, which has the libraries.

`serve FOLDER` imports them, and forks whenever a kernel is wanted. Where Jupyter would
start ipykernel, the kernelspec in FOLDER has it start `ask`: the fork becomes a kernel,
which ends with whoever asked for it.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

LIBRARIES = ("ipykernel.kernelapp", "numpy.random", "matplotlib.pyplot", "torch")
LIBRARIES += ("torch._dynamo",)  # which the first optimizer imports


def started(config) -> Path:
    """A JUPYTER_PATH with which all kernels are forks of one process of this run."""
    if not hasattr(config, "warm_kernels"):
        config.warm_kernels = folder = Path(tempfile.mkdtemp())
        config.add_cleanup(lambda: shutil.rmtree(folder))
        specify(folder)
        server = subprocess.Popen(
            [sys.executable, "-P", __file__, "serve", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        config.add_cleanup(server.communicate)  # it ends with its input
        assert server.stdout.readline() == "ready\n"
    return config.warm_kernels


def specify(folder: Path) -> None:
    """Write the kernelspec: with JUPYTER_PATH, the folder's kernels come first."""
    command = [sys.executable, "-I", "-S", __file__, "ask", str(folder)]
    spec = {
        "argv": [*command, "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
    }
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")


def serve(folder: Path) -> None:
    """Fork kernels until standard input ends."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()  # what forks leave alone is not copied for them
    signal.signal(signal.SIGCHLD, take_leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as door:
        os.chdir(folder)  # the address of a socket is short
        door.bind("socket")
        door.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([door, sys.stdin], [], [])[0]:
            asker, _ = door.accept()
            if not os.fork():
                door.close()
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
