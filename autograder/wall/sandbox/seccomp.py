"""A filter of system calls (seccomp): what is not in ``syscalls`` is refused.

It keeps a student's code away from parts of the kernel in which holes were found
before, from memory that no limit counts, and, where there are no namespaces, from other
processes and from files that Landlock does not look at.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from dataclasses import dataclass

from autograder.wall.sandbox import syscalls
from autograder.wall.sandbox.libc import done, libc

PR_SET_SECCOMP, MODE_FILTER = 22, 2

# instructions of the kernel's filter machine
LOAD, AND, JUMP, RETURN = 0x20, 0x54, 0x05, 0x06
JUMP_EQUAL, JUMP_AT_LEAST = 0x15, 0x35
# offsets in struct seccomp_data; of an argument, its lower half
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
ALLOW, ANSWER = 0x7FFF0000, 0x00050000
EVERY_BIT = 0xFFFFFFFF
Step = tuple[int, int, int, int]  # code, jump if true, jump if false, value


@dataclass(frozen=True)
class Look:
    """At one argument: ``values`` are the only ones, or else those that are refused."""

    argument: int
    values: tuple[int, ...]
    only: bool = True
    mask: int = EVERY_BIT
    error: int = errno.EPERM

    def steps(self) -> list[Step]:
        """Go on below with what is allowed, and return from the call with the rest."""
        steps: list[Step] = [(LOAD, 0, 0, ARGUMENTS + 8 * self.argument)]
        if self.mask != EVERY_BIT:
            steps.append((AND, 0, 0, self.mask))
        left = len(self.values)
        for value in self.values:
            left -= 1
            steps.append((JUMP_EQUAL, left + 1, 0, value))
        answer = (RETURN, 0, 0, ANSWER | self.error)
        if self.only:
            return [*steps, answer]
        return [*steps, (JUMP, 0, 0, 1), answer]


NEW_NAMESPACES = 0x7E020080
SHARED_ANONYMOUS, GROWS_DOWN = 0x21, 0x100  # flags of mmap, not counted as data
UNIX, INET, INET6, NETLINK, STREAM = 1, 2, 10, 16, 1
ONLY_TRUNCATE = 0o1000  # open for reading, and empty the file
BUFFER_SIZES = (7, 8, 32, 33)  # SO_SNDBUF, SO_RCVBUF and the same by force
# F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ
SIGNALS_AND_LEASES = (8, 10, 15, 1024, 1026, 1031)
# F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW: memory for each part of a file that is
# locked, which no limit counts. Answered as done: who has a file here has it alone.
RECORD_LOCKS = (6, 7, 37, 38)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
HARMLESS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# PR_SET_PDEATHSIG, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA
OPTIONS = (1, 15, 16, 0x53564D41)
ITSELF = (0,)

LOOKS: dict[str, tuple[Look, ...]] = {
    "mmap": (
        Look(3, (GROWS_DOWN,), False, GROWS_DOWN, errno.ENOMEM),
        Look(3, (SHARED_ANONYMOUS,), False, SHARED_ANONYMOUS, errno.ENOMEM),
    ),
    "clone": (Look(0, (0,), mask=NEW_NAMESPACES),),
    "open": (Look(1, (ONLY_TRUNCATE,), False, ONLY_TRUNCATE | os.O_ACCMODE),),
    "openat": (Look(2, (ONLY_TRUNCATE,), False, ONLY_TRUNCATE | os.O_ACCMODE),),
    "fcntl": (
        Look(1, SIGNALS_AND_LEASES, False),
        Look(1, RECORD_LOCKS, False, error=0),
    ),
    "ioctl": (Look(1, HARMLESS, error=errno.ENOTTY),),
    "prctl": (Look(0, OPTIONS, error=errno.EINVAL),),
    "prlimit64": (Look(0, ITSELF),),
    "sched_setaffinity": (Look(0, ITSELF),),
    "setpriority": (Look(0, ITSELF), Look(1, ITSELF)),
    "socket": (Look(0, (UNIX, INET, INET6, NETLINK), error=errno.EAFNOSUPPORT),),
    # datagrams could be sent to any other socket
    "socketpair": (
        Look(0, (UNIX,), error=errno.EAFNOSUPPORT),
        Look(1, (STREAM,), mask=0xF, error=errno.EPROTONOSUPPORT),
    ),
    "setsockopt": (Look(2, BUFFER_SIZES, False),),
}


def program(machine: str, alone: bool, signals: bool = True) -> bytes:
    """The filter for one architecture.

    ``alone``: in namespaces of its own, where connections reach nobody and read-only
    mounts keep the files as they are. ``signals``: something else, namespaces or
    Landlock, keeps them from other processes.
    """
    groups = [*syscalls.ALWAYS]
    answers = dict.fromkeys(
        syscalls.numbers(syscalls.EXTENDED_ATTRIBUTES, machine).values(), errno.ENOTSUP
    )
    if alone:
        groups += [syscalls.ATTRIBUTES, syscalls.CONNECTIONS]
    else:
        groups.append(syscalls.LANDLOCK)
        # done, says the kernel, and does nothing: copies of files go on
        attributes = syscalls.numbers(syscalls.ATTRIBUTES, machine)
        answers |= dict.fromkeys(attributes.values(), 0)
        answers[attributes["truncate"]] = errno.EPERM
        connections = syscalls.numbers(syscalls.CONNECTIONS, machine)
        answers |= dict.fromkeys(connections.values(), errno.EACCES)
    if signals:
        groups.append(syscalls.SIGNALS_TO_OTHERS)
    else:
        others = syscalls.numbers(syscalls.SIGNALS_TO_OTHERS, machine)
        answers |= dict.fromkeys(others.values(), errno.EPERM)
    allowed: dict[str, int] = {}
    for group in groups:
        allowed |= syscalls.numbers(group, machine)
    return b"".join(struct.pack("HBBI", *s) for s in steps(machine, allowed, answers))


def steps(machine: str, allowed: dict[str, int], answers: dict[int, int]) -> list[Step]:
    """Instructions: look at the machine, then for the number of the call."""
    no = (RETURN, 0, 0, ANSWER | errno.EPERM)
    found: list[Step] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, syscalls.MACHINES[machine]),
        no,
        (LOAD, 0, 0, NUMBER),
        (JUMP_AT_LEAST, 0, 1, 0x40000000),  # a second set of numbers on x86
        no,
    ]
    for name in sorted(allowed, key=lambda name: name not in LOOKS):
        looks = [step for look in LOOKS.get(name, ()) for step in look.steps()]
        block = [*looks, (RETURN, 0, 0, ALLOW)]
        found += [(JUMP_EQUAL, 0, len(block), allowed[name]), *block]
    for number, error in answers.items():
        found += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, ANSWER | error)]
    # as from an older kernel: libraries then use what is older
    return [*found, (RETURN, 0, 0, ANSWER | errno.ENOSYS)]


def install(instructions: bytes) -> None:
    """Filter this process and all it forks, or raise OSError."""
    memory = ctypes.create_string_buffer(instructions)
    count = len(instructions) // 8
    pointer = struct.pack("HxxxxxxP", count, ctypes.addressof(memory))
    done(libc.prctl(PR_SET_SECCOMP, MODE_FILTER, pointer, 0, 0), "seccomp")


def tried(*, alone: bool, signals: bool = True) -> bytes:
    """The filter for this machine; OSError where there is none: nothing is graded.

    A fork tries it, since a filter stays.
    """
    machine = platform.machine()
    if machine not in syscalls.MACHINES:
        raise OSError(f"there is no table of system calls for {machine}")
    instructions = program(machine, alone, signals)
    pid = os.fork()
    if not pid:
        try:
            libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
            install(instructions)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(pid, 0)[1]:
        raise OSError("the kernel accepts no filters for system calls (seccomp)")
    return instructions
