"""The numbers of system calls, compared with the tables of libseccomp."""

import ctypes

import pytest
from machine import FORBIDDEN

from autograder.wall.sandbox import landlock, namespaces, syscalls

UNKNOWN = -1  # to this version of the library; other negative numbers: not there
# calls that are newer than libseccomp 2.5.4, with the one number of every machine
YOUNG = {"fchmodat2": 452}
GROUPS = {
    name: group
    for name, group in vars(syscalls).items()
    if name.isupper() and isinstance(group, str)
}
OTHERS = (
    f"{FORBIDDEN}\nlandlock_add_rule {landlock.ADD_RULE} {landlock.ADD_RULE}\n"
    f"mount_setattr {namespaces.SYS_MOUNT_SETATTR} {namespaces.SYS_MOUNT_SETATTR}"
)


@pytest.fixture(scope="module")
def number():
    """The number of a call on a machine, by libseccomp."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("libseccomp.so.2 is not installed")
    resolve = library.seccomp_syscall_resolve_name_arch
    resolve.argtypes = ctypes.c_uint32, ctypes.c_char_p
    return lambda name, machine: resolve(syscalls.MACHINES[machine], name.encode())


def test_there_is_a_group_for_everything():
    assert len(GROUPS) >= 12 and "FILES" in GROUPS


@pytest.mark.parametrize("machine", syscalls.MACHINES)
@pytest.mark.parametrize("group", [*GROUPS, "OTHERS"])
def test_every_number_is_the_kernels(number, group, machine):
    table = GROUPS.get(group, OTHERS)
    names = [line.split()[0] for line in table.strip().splitlines()]
    ours = syscalls.numbers(table, machine)
    theirs = {name: number(name, machine) for name in names}
    for name in names:
        if theirs[name] == UNKNOWN:
            assert ours[name] == YOUNG[name], name
        elif theirs[name] < 0:
            assert name not in ours, name
        else:
            assert ours.get(name) == theirs[name], name
