"""Linux namespaces from plain Python: a world of its own for one submission.

No daemon, no image, no root: the system calls are made through ctypes. A process that
went through :func:`enter` and :func:`lock` sees an empty home, an empty /tmp, the
Python environment read-only, no network, no other process, and can gain no rights.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from autograder.wall.records import Limits

HOME = "/home/student"
SCRATCH = (HOME, "/tmp", "/dev/shm")  # the only folders that can be written
INSIDE = 1000  # the user inside
NOBODY = 65534  # who that is outside, when root grades

_libc = ctypes.CDLL(None, use_errno=True)

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
PRIVATE = NEWNS | NEWUTS | NEWIPC | NEWNET

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC = 2, 4, 8, 4096, 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
SYS_MOUNT_SETATTR = 442  # the same number on every architecture

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38


def _check(result: int, what: str) -> int:
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def _mount(
    source: str, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    encoded = [None if text is None else text.encode() for text in (kind, data)]
    result = _libc.mount(
        source.encode(), target.encode(), encoded[0], ctypes.c_ulong(flags), encoded[1]
    )
    _check(result, f"mount {target}")


def _attributes(path: str, attributes: int, deep: bool = False) -> None:
    """Add mount attributes, such as read-only, to ``path``."""
    wanted = struct.pack("QQQQ", attributes, 0, 0, 0)
    flags = AT_RECURSIVE if deep else 0
    result = _libc.syscall(
        SYS_MOUNT_SETATTR, AT_FDCWD, path.encode(), flags, wanted, len(wanted)
    )
    _check(result, f"mount_setattr {path}")


def die_with_parent() -> None:
    """The kernel kills this process when the one that forked it is gone."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")


def map_users(pid: int, unprivileged: int = NOBODY) -> None:
    """Say who the users inside are; the parent of an unshared process does it.

    An ordinary user becomes the user inside. Root maps itself for the set-up alone,
    and an ``unprivileged`` user for the time after it.
    """
    proc, uid, gid = Path(f"/proc/{pid}"), os.geteuid(), os.getegid()
    if uid == 0:
        uids = gids = f"0 0 1\n{INSIDE} {unprivileged} 1\n"
    else:
        uids, gids = f"{INSIDE} {uid} 1\n", f"{INSIDE} {gid} 1\n"
        (proc / "setgroups").write_text("deny")
    (proc / "uid_map").write_text(uids)
    (proc / "gid_map").write_text(gids)


@cache
def visible_trees() -> tuple[list[str], list[str]]:
    """Folders that the sandbox sees read-only, and those in them that it must not."""
    trees = ["/lib", "/lib64", "/bin"]  # usually links into /usr
    for base in ("/usr", "/usr/local", sys.base_prefix):
        trees += [f"{base}/{folder}" for folder in ("bin", "lib", "lib64")]
    if sys.prefix != sys.base_prefix:
        trees += [sys.prefix, os.path.realpath(sys.prefix)]
    shown: list[str] = []
    for tree in sorted({t for t in trees if os.path.lexists(t)}, key=len):
        if not any(tree == top or tree.startswith(top + "/") for top in shown):
            shown.append(tree)
    package = str(Path(__file__).resolve().parents[2])  # with the hidden checks
    masked = [package] if any(package.startswith(top + "/") for top in shown) else []
    return shown, masked


def open_world() -> None:
    """Enter namespaces that no other process is in; the next fork is their process 1.

    Whoever is outside has to call :func:`map_users` before that fork.
    """
    _check(_libc.unshare(NEWUSER | NEWPID | PRIVATE), "unshare")


def build_tree() -> None:
    """Make a read-only file system of what students may see, and nothing else."""
    root = "/tmp"  # covered by our own empty one: no folder is left behind
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    trees, masked = visible_trees()
    # not /dev/zero: mapped, it is memory that no limit counts
    devices = [f"/dev/{name}" for name in ("null", "full", "random", "urandom")]
    files = [path for path in [*devices, "/etc/ld.so.cache"] if os.path.exists(path)]
    links = {tree: os.readlink(tree) for tree in trees if os.path.islink(tree)}
    folders = [tree for tree in trees if tree not in links]
    sources = {path: os.open(path, os.O_PATH) for path in [*folders, *files]}

    _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for folder in (*SCRATCH, "/proc", "/etc"):
        os.makedirs(root + folder)
    for path in files:
        os.close(os.open(root + path, os.O_CREAT, 0o644))
        _bind(sources[path], root + path)
    for folder in folders:
        os.makedirs(root + folder, exist_ok=True)
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
    _check(_libc.pivot_root(b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "umount2")
    _attributes("/", ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    os.chdir("/")


def fork_first() -> int:
    """Fork a child that is process 1 of a new process namespace."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    try:
        _check(_libc.unshare(NEWPID), "unshare")
        pid = os.fork()
        if pid:
            _check(_libc.setns(own, NEWPID), "setns")
        return pid
    finally:
        os.close(own)


def close_world(limits: Limits, more_bytes: int, mapped: Callable[[], None]) -> None:
    """Part with the warm parent: own users, mounts, network; empty home and /tmp.

    ``mapped`` returns once the parent has called :func:`map_users` for this process.
    """
    _check(_libc.unshare(NEWUSER | PRIVATE), "unshare")
    mapped()
    quota = f"size={limits.disk_bytes + more_bytes},nr_inodes={limits.files}"
    quota += f",mode=700,uid={INSIDE},gid={INSIDE}"
    trees = visible_trees()[0]
    for folder in SCRATCH:
        # an environment that lives below /tmp stays visible there
        inside = [t for t in trees if t.startswith(folder + "/") and os.path.isdir(t)]
        kept = {tree: os.open(tree, os.O_PATH) for tree in inside}
        _mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, quota)
        for tree, source in kept.items():
            os.makedirs(tree)
            _bind(source, tree)
            os.close(source)
    with contextlib.suppress(OSError):
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    _mount_proc("/proc")
    socket.sethostname("sandbox")
    os.chdir(HOME)


def _bind(source: int, target: str) -> None:
    _mount(f"/proc/self/fd/{source}", target, None, MS_BIND | MS_REC)


def _mount_proc(target: str) -> None:
    """Only the own processes; containers that cover parts of /proc do not allow it."""
    with contextlib.suppress(OSError):
        _mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)


def lock() -> None:
    """Give up every right there is left, for good."""
    capability = 0
    while _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(INSIDE, INSIDE, INSIDE)
        os.setresuid(INSIDE, INSIDE, INSIDE)
    header = struct.pack("Ii", 0x20080522, 0)
    _check(_libc.capset(header, bytes(24)), "capset")
    _check(_libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    die_with_parent()  # a change of user clears it


def restrict(limits: Limits) -> None:
    """Limits that the kernel keeps, with or without namespaces."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # first to be killed
    used = _data_bytes()
    cpu = int(limits.total_seconds) + 10
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_DATA, used + limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, 256),
    ):
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def restrict_processes(limits: Limits) -> None:
    """At most so many processes; counted per user namespace."""
    count = limits.processes
    resource.setrlimit(resource.RLIMIT_NPROC, (count, count))


def _data_bytes() -> int:
    """What this process already counts against RLIMIT_DATA."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[5]) * resource.getpagesize()
