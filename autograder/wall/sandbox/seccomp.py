"""System calls that no exercise needs, refused by the kernel (a seccomp filter).

A second line behind the namespaces: it keeps a student's code away from parts of the
kernel in which holes were found before. On other machines than those below it is left
out, and the namespaces and limits have to do.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

_libc = ctypes.CDLL(None, use_errno=True)
PR_SET_SECCOMP, MODE_FILTER = 22, 2

# audit number of the architecture; then calls by their number there
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "syslog": (103, 116),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    # memory that no limit of a process counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
}
CLONE, CLONE3, SOCKET, MMAP = (56, 220), (435, 435), (41, 198), (9, 222)
NEW_NAMESPACES = 0x7E020080
FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
SHARED_ANONYMOUS, GROWS_DOWN = 0x21, 0x100  # flags of mmap, not counted as data

LOAD, JUMP_EQUAL, JUMP_SET, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
AND = 0x54
# offsets in struct seccomp_data
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, FOURTH_ARGUMENT = 0, 4, 16, 40
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


def program(machine: str) -> bytes:
    """The filter for one architecture: instructions of (code, true, false, value)."""
    column = list(MACHINES).index(machine)
    no = REFUSE | errno.EPERM
    steps: list[tuple[int, int, int, int]] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, MACHINES[machine]),
        (RETURN, 0, 0, no),
        (LOAD, 0, 0, NUMBER),
        (JUMP_AT_LEAST, 0, 1, 0x40000000),  # a second set of numbers on x86
        (RETURN, 0, 0, no),
    ]
    for numbers in REFUSED.values():
        steps += [(JUMP_EQUAL, 0, 1, numbers[column]), (RETURN, 0, 0, no)]
    # its flags lie in memory, which a filter cannot read; libraries then use clone
    steps += [
        (JUMP_EQUAL, 0, 1, CLONE3[column]),
        (RETURN, 0, 0, REFUSE | errno.ENOSYS),
        (JUMP_EQUAL, 0, 4, CLONE[column]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_SET, 0, 1, NEW_NAMESPACES),
        (RETURN, 0, 0, no),
        (RETURN, 0, 0, ALLOW),
        (JUMP_EQUAL, 0, 6, MMAP[column]),
        (LOAD, 0, 0, FOURTH_ARGUMENT),
        (JUMP_SET, 2, 0, GROWS_DOWN),
        (AND, 0, 0, SHARED_ANONYMOUS),
        (JUMP_EQUAL, 0, 1, SHARED_ANONYMOUS),
        (RETURN, 0, 0, REFUSE | errno.ENOMEM),
        (RETURN, 0, 0, ALLOW),
        (JUMP_EQUAL, 0, len(FAMILIES) + 2, SOCKET[column]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
    ]
    for left, family in zip(range(len(FAMILIES), 0, -1), FAMILIES, strict=True):
        steps.append((JUMP_EQUAL, left, 0, family))
    steps += [
        (RETURN, 0, 0, REFUSE | errno.EAFNOSUPPORT),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


# made once, before the forks
PROGRAM = program(platform.machine()) if platform.machine() in MACHINES else b""


def install() -> bool:
    """Filter this process and all it forks; False where there is no filter."""
    if not PROGRAM:
        return False
    instructions = ctypes.create_string_buffer(PROGRAM)
    pointer = struct.pack("HxxxxxxP", len(PROGRAM) // 8, ctypes.addressof(instructions))
    return _libc.prctl(PR_SET_SECCOMP, MODE_FILTER, pointer, 0, 0) == 0
