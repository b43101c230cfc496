"""Linux namespaces through ctypes: a container for one submission, in plain Python.

No daemon, no image, no root is needed. A process that went through
:func:`close_world` sees an empty home, an empty /tmp, the Python environment read-only,
no network and no other process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import stat
import struct
from collections.abc import Callable
from pathlib import Path

from autograder.wall.records import Limits
from autograder.wall.sandbox import readable_paths
from autograder.wall.sandbox.libc import done, libc
from autograder.wall.sandbox.limits import first_to_end
from autograder.wall.sandbox.privileges import NOBODY

HOME = "/home/student"
SCRATCH = (HOME, "/tmp", "/dev/shm")  # the only folders that can be written
INSIDE = 1000  # the user inside


NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
PRIVATE = NEWNS | NEWUTS | NEWIPC

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC = 2, 4, 8, 4096, 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
SYS_MOUNT_SETATTR = 442  # the same number on every architecture


def _mount(
    source: str, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    encoded = [None if text is None else text.encode() for text in (kind, data)]
    result = libc.mount(
        source.encode(), target.encode(), encoded[0], ctypes.c_ulong(flags), encoded[1]
    )
    done(result, f"mount {target}")


def _attributes(path: str, attributes: int, deep: bool = False) -> None:
    """Add mount attributes, such as read-only, to ``path``."""
    wanted = struct.pack("QQQQ", attributes, 0, 0, 0)
    flags = AT_RECURSIVE if deep else 0
    result = libc.syscall(
        SYS_MOUNT_SETATTR, AT_FDCWD, path.encode(), flags, wanted, len(wanted)
    )
    done(result, f"mount_setattr {path}")


def map_users(pid: int, *, nested: bool = False) -> None:
    """Say who the users inside are; the parent of an unshared process does it.

    An ordinary user becomes the user inside. Root maps itself for the set-up alone, and
    nobody for the user inside; ``nested``, where students' code runs, that one only.
    """
    proc, uid, gid = Path(f"/proc/{pid}"), os.geteuid(), os.getegid()
    if nested and uid == 0:
        uid = gid = INSIDE
    if uid == 0:
        uids = gids = f"0 0 1\n{INSIDE} {NOBODY} 1\n"
    else:
        uids, gids = f"{INSIDE} {uid} 1\n", f"{INSIDE} {gid} 1\n"
        (proc / "setgroups").write_text("deny")
    (proc / "uid_map").write_text(uids)
    (proc / "gid_map").write_text(gids)


def open_world() -> None:
    """Enter namespaces that no other process is in; the next fork is their process 1.

    Whoever is outside has to call :func:`map_users` before that fork.
    """
    done(libc.unshare(NEWUSER | NEWPID | NEWNET | PRIVATE), "unshare")


def build_tree() -> None:
    """Make a read-only file system of what students may see, and nothing else."""
    root = "/tmp"  # covered by our own empty one: no folder is left behind
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    trees, files, masked = (
        readable_paths.trees(),
        readable_paths.files(),
        readable_paths.masked(),
    )
    links = {tree: os.readlink(tree) for tree in trees if os.path.islink(tree)}
    folders = [tree for tree in trees if tree not in links]
    sources = {path: os.open(path, os.O_PATH) for path in [*folders, *files]}

    _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for folder in (*SCRATCH, "/proc", "/etc"):
        os.makedirs(root + folder)
    for path in files:  # the student is their owner; a device takes data all the same
        _bind(sources[path], root + path)
        _attributes(root + path, ATTR_RDONLY | ATTR_NOSUID)
    for folder in folders:
        _bind(sources[folder], root + folder)
        _attributes(root + folder, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV, deep=True)
    for link, target in links.items():
        os.makedirs(os.path.dirname(root + link), exist_ok=True)
        os.symlink(target, root + link)
    for folder in masked:
        _mount("tmpfs", root + folder, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k")
    Path(f"{root}/etc/passwd").write_text(f"student:x:{INSIDE}:{INSIDE}::{HOME}:\n")
    for source in sources.values():
        os.close(source)
    _mount_proc(f"{root}/proc")
    os.chdir(root)
    done(libc.pivot_root(b".", b"."), "pivot_root")
    done(libc.umount2(b".", MNT_DETACH), "umount2")
    _attributes("/", ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    os.chdir("/")


def fork_first() -> int:
    """Fork a child that is process 1 of a new process namespace."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    try:
        done(libc.unshare(NEWPID), "unshare")
        pid = os.fork()
        if pid:
            done(libc.setns(own, NEWPID), "setns")
        return pid
    finally:
        os.close(own)


def close_world(limits: Limits, more_bytes: int, mapped: Callable[[], None]) -> None:
    """Part with the warm parent: own users and mounts; empty home and /tmp.

    Of the network, which is as empty, nothing remains when a student's process ends.
    ``mapped`` returns once the parent has called :func:`map_users` for this process.
    """
    if os.getuid() == 0:  # root outside is not to be known inside at all
        os.setgroups([])
        os.setresgid(INSIDE, INSIDE, INSIDE)
        os.setresuid(INSIDE, INSIDE, INSIDE)
    done(libc.unshare(NEWUSER | PRIVATE), "unshare")
    mapped()
    quota = f"size={limits.disk_bytes + more_bytes},nr_inodes={limits.files}"
    quota += f",mode=700,uid={INSIDE},gid={INSIDE}"
    paths = [path for path in readable_paths.paths() if os.path.exists(path)]
    for folder in SCRATCH:
        # an environment that lives below /tmp stays visible there
        inside = [path for path in paths if path.startswith(folder + "/")]
        kept = {path: os.open(path, os.O_PATH) for path in inside}
        _mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, quota)
        for path, source in kept.items():
            _bind(source, path)
            os.close(source)
    with contextlib.suppress(OSError):
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    first_to_end()  # what can be set in /proc is set: from here on it is for reading
    _mount_proc("/proc")
    _attributes("/proc", ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    socket.sethostname("sandbox")
    os.chdir(HOME)


def _bind(source: int, target: str) -> None:
    """Show a file or folder that is open under ``target``, which is made for it."""
    if stat.S_ISDIR(os.fstat(source).st_mode):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT, 0o644))
    _mount(f"/proc/self/fd/{source}", target, None, MS_BIND | MS_REC)


def _mount_proc(target: str) -> None:
    """Only the own processes; containers that cover parts of /proc do not allow it."""
    with contextlib.suppress(OSError):
        _mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
