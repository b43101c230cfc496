"""What a student's process can reach of the machine it runs on."""

import os
import socket
from pathlib import Path

import pytest
from corpus import text_of

LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
REFUSED = {
    "site-packages": "open(np.__file__, 'a')",
    "a-new-module": "open(os.path.dirname(np.__file__) + '/evil.py', 'w')",
    "system-libraries": "open('/usr/evil', 'w')",
    "memory-device": "open('/dev/mem', 'rb')",
    "a-device-of-ones-own": "os.mknod('/tmp/d', 0o60600, os.makedev(8, 0))",
    "higher-priority": "os.nice(-5)",
    "real-time": "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
    "the-users-again": "os.setuid(0) or open('/etc/shadow').read()",
    "core-dumps": "resource.setrlimit(resource.RLIMIT_CORE, (1, 1))",
    "a-host-name": "socket.sethostname('evil')",
    "another-root": "os.chroot('/')",
    "the-network": "socket.create_connection(('127.0.0.1', 1), 1)",
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(run, name):
    source = f"""import os, resource, socket, numpy as np
try:
    {REFUSED[name]}
    print("reached")
except (OSError, ValueError) as error:
    print("refused", error)"""
    _, seen = run(source)
    assert "refused" in text_of(seen)


CALLS = {
    "ptrace": "ptrace(16, os.getppid() or 1, 0, 0)",
    "mount": "mount(b'none', b'/tmp', b'tmpfs', 0, None)",
    "keyrings": "syscall(250, 0, -3, 1)",
    "new-namespaces": "unshare(0x10000000)",
}


@pytest.mark.parametrize("name", CALLS)
def test_a_system_call_fails(run, name):
    _, seen = run(f"{LIBC}print('gave', libc.{CALLS[name]})")
    assert "gave -1" in text_of(seen)


# a process is limited in its own memory; these kinds would come on top of it
UNCOUNTED = {
    "shared-memory": "mmap.mmap(-1, 1 << 30)",
    "memory-of-a-device": "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 30)",
    "files-in-memory": "os.memfd_create('x')",
    "a-stack-of-ones-own": "mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | 0x120)",
    "old-shared-memory": "check(ctypes.CDLL(None).shmget(0, 1 << 30, 0o1600))",
}


@pytest.mark.parametrize("name", UNCOUNTED)
def test_memory_that_no_limit_counts_is_refused(run, unprotected, name):
    source = f"""import ctypes, mmap, os
def check(number):
    if number < 0: raise OSError('shmget')
try:
    {UNCOUNTED[name]}
    print("reached")
except OSError as error:
    print("refused", error)"""
    _, seen = run(source)
    assert "refused" in text_of(seen)
    _, bare = run(source, by=unprotected)
    assert "reached" in text_of(bare)


def test_processes_of_a_student_share_memory_and_files_as_python_does(run):
    source = """import multiprocessing, multiprocessing.shared_memory as s, numpy as np
value = multiprocessing.get_context('fork').Array('d', [1.0] * 1000)
block = s.SharedMemory(create=True, size=8000)
np.ndarray(1000, buffer=block.buf)[:] = 2.0
print(sum(value) + np.ndarray(1000, buffer=block.buf).sum())
block.close(); block.unlink()"""
    _, seen = run(source)
    assert "3000.0" in text_of(seen)


def test_its_descriptors_are_output_fonts_and_one_channel(run):
    source = """import os
for fd in sorted(map(int, os.listdir('/proc/self/fd'))):
    try: print(fd, os.readlink(f'/proc/self/fd/{fd}').split(' ')[0])
    except OSError: pass  # the listing's own"""
    _, seen = run(source)
    found = [line.split() for line in text_of(seen).splitlines() if line]
    assert [fd for fd, _ in found[:3]] == ["0", "1", "2"]
    kinds = [kind for _, kind in found]
    assert len([kind for kind in kinds if kind.startswith("socket:")]) == 1
    harmless = ("/dev/null", "/memfd:output", "socket:")
    assert not [k for k in kinds if not (k.startswith(harmless) or k.endswith(".ttf"))]


def test_of_processes_it_sees_itself_and_the_warm_parent(run):
    """/proc is the warm parent's: it is listed there, and cannot be looked into."""
    source = """import os
print(len([p for p in os.listdir('/proc') if p.isdigit()]), 'processes')
for name in ('environ', 'mem', 'maps', 'cwd/x', 'root/x', 'fd/0'):
    try: print('reached', name, open(f'/proc/1/{name}', 'rb').read(1))
    except PermissionError: print('refused')"""
    _, seen = run(source)
    said = text_of(seen)
    assert "2 processes" in said and said.count("refused") == 6, said


def test_an_abstract_socket_of_the_machine_is_not_there(run, unprotected):
    name = f"\0autograder-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        attack = f"import socket\nsocket.socket(1).connect({name!r})\nprint('in')"
        _, seen = run(attack)
        _, bare = run(attack, by=unprotected)
    assert "Error" in text_of(seen) and "in" in text_of(bare).split()
    assert "in" not in text_of(seen).split("\n")


def test_shared_memory_of_the_machine_is_not_there(run, unprotected):
    path = Path(f"/dev/shm/autograder-test-{os.getpid()}")
    path.write_text("secret")
    try:
        attack = f"print(open({str(path)!r}).read())"
        _, seen = run(attack)
        _, bare = run(attack, by=unprotected)
    finally:
        path.unlink()
    assert "FileNotFoundError" in text_of(seen)
    assert "secret" in text_of(bare)


def test_nothing_passes_from_one_submission_to_the_next(run):
    _, first = run("open('/tmp/note', 'w').write('hello'); print('written')")
    assert "written" in text_of(first)
    _, seen = run("import os; print(os.listdir('/tmp'))")
    assert "note" not in text_of(seen)
