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


def test_a_file_of_the_user_is_not_there_or_closed(run, tmp_path):
    file = tmp_path / "gradebook.db"
    file.write_text("a secret")
    _, seen = run(f"""try: print('reached', open({str(file)!r}).read())
except OSError as error: print(type(error).__name__)""")
    second = seen.wall == "landlock"
    due = "PermissionError" if second else "FileNotFoundError"
    assert text_of(seen).strip() == due


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


MOUNTS = """
for line in open("/proc/self/mountinfo"):
    place, options = line.split()[4:6]
    if "ro" not in options.split(","): print(place)"""


def test_all_that_is_mounted_is_read_only_but_for_the_folders_of_its_own(run):
    """Also single files, which belong to whoever grades: that is who the student is."""
    _, seen = run(MOUNTS)
    if seen.wall == "landlock":
        assert "PermissionError" in text_of(seen)  # Landlock keeps all of them
    else:
        assert text_of(seen).split() == ["/home/student", "/tmp", "/dev/shm"]


def test_parts_of_a_file_are_locked_as_if_and_cost_no_memory(run, unprotected):
    """A database works; locks of another process are not there to be seen."""
    source = """import fcntl, os, sqlite3
with sqlite3.connect("data") as data: data.execute("create table t (n)")
file = open("a", "w")
for number in range(100): fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * number)
if os.fork() == 0:
    try: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB); os._exit(0)
    except OSError: os._exit(1)
print(os.waitstatus_to_exitcode(os.wait()[1]))"""
    assert text_of(run(source)[1]).strip() == "0"
    assert text_of(run(source, by=unprotected)[1]).strip() == "1"


def test_timers_of_the_kernel_leave_some_for_others(run):
    source = """import ctypes
libc, timer, made = ctypes.CDLL(None), ctypes.c_long(), 0
while made < 2000 and not libc.timer_create(0, None, ctypes.byref(timer)): made += 1
print(made)"""
    assert int(text_of(run(source)[1])) <= 1024


# a process is limited in its own memory; these kinds would come on top of it
UNCOUNTED = {
    "shared-memory": "mmap.mmap(-1, 1 << 30)",
    "memory-of-a-device": "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 30)",
    "files-in-memory": "os.memfd_create('x')",
    "a-stack-of-ones-own": "mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | 0x120)",
    "old-shared-memory": "check(ctypes.CDLL(None).shmget(0, 1 << 30, 0o1600))",
    "semaphores": "check(ctypes.CDLL(None).semget(0, 100, 0o1600))",
    "messages": "check(ctypes.CDLL(None).msgget(0, 0o1600))",
    "buffers-of-sockets": "socket.socketpair()[0].setsockopt(1, 7, 1 << 22)",
    "buffers-of-pipes": "fcntl.fcntl(os.pipe()[0], 1031, 1 << 20)",
}


@pytest.mark.parametrize("name", UNCOUNTED)
def test_memory_that_no_limit_counts_is_refused(run, unprotected, name):
    source = f"""import ctypes, fcntl, mmap, os, socket
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


def test_a_process_has_bounds_that_it_cannot_lift(run):
    source = """import resource as r
for kind in (r.RLIMIT_STACK, r.RLIMIT_AS, r.RLIMIT_DATA, r.RLIMIT_NPROC):
    soft, hard = r.getrlimit(kind)
    assert hard != r.RLIM_INFINITY
    try: r.setrlimit(kind, (soft, r.RLIM_INFINITY)); print('lifted')
    except (OSError, ValueError): print('refused')
print(r.getrlimit(r.RLIMIT_STACK)[1] >> 20, r.getrlimit(r.RLIMIT_AS)[1] >> 30)"""
    _, seen = run(source)
    said = text_of(seen).split()
    assert said[:4] == ["refused"] * 4
    assert int(said[4]) <= 8 and int(said[5]) <= 12


def test_memory_below_the_stack_is_bounded(run):
    """A stack grows down as far as its limit lets it, and counts as no data."""
    source = """import ctypes, re, resource
try: resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, resource.RLIM_INFINITY))
except (OSError, ValueError): pass
low = min(int(m[1], 16) for m in [re.match('(\\w+)-', l)
          for l in open('/proc/self/maps') if '[stack]' in l])
for mega in range(1, 200): ctypes.memset(low - (mega << 20), 1, 1)
print('reached')"""
    _, seen = run(source)
    assert "reached" not in text_of(seen)


def test_processes_of_a_student_share_memory_as_python_does(run):
    source = """import multiprocessing, multiprocessing.shared_memory as s, numpy as np
value = multiprocessing.get_context('fork').Array('d', [1.0] * 1000)
block = s.SharedMemory(create=True, size=8000)
np.ndarray(1000, buffer=block.buf)[:] = 2.0
print(sum(value) + np.ndarray(1000, buffer=block.buf).sum())
block.close(); block.unlink()"""
    _, seen = run(source)
    if seen.wall == "landlock":  # /dev/shm is everybody's there
        assert "PermissionError" in text_of(seen)
    else:
        assert "3000.0" in text_of(seen)


def test_processes_of_a_student_talk_to_each_other(run):
    source = """import multiprocessing, subprocess, sys
context = multiprocessing.get_context('fork')
here, there = context.Pipe()
child = context.Process(target=lambda: there.send([1, 2]))
child.start(); print(here.recv()); child.join()
print(subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True))"""
    _, seen = run(source)
    assert "[1, 2]" in text_of(seen) and "b'42" in text_of(seen)


def test_its_descriptors_are_output_fonts_and_channels(run):
    source = """import os, stat
for fd in range(256):
    try: mode = os.fstat(fd).st_mode
    except OSError: continue
    if stat.S_ISSOCK(mode): print('socket')
    elif stat.S_ISCHR(mode): print('null' if os.fstat(fd).st_rdev == 0x103 else fd)
    elif not stat.S_ISREG(mode): print('rules' if not stat.S_IFMT(mode) else fd)
    elif os.fstat(fd).st_nlink == 0: print('output' if fd in (1, 2) else 'memory')
    else: print('font' if os.pread(fd, 4, 0) == b'\\0\\1\\0\\0' else fd)"""
    _, seen = run(source)
    kinds = text_of(seen).split()
    assert kinds[:3] == ["null", "output", "output"]
    # the judge, and behind the second wall who ends processes
    assert kinds.count("socket") == (2 if seen.wall == "landlock" else 1)
    assert set(kinds) <= {"null", "output", "socket", "rules", "memory", "font"}


def test_of_processes_it_sees_at_most_itself_and_the_warm_parent(run):
    """/proc is the warm parent's: it is listed there, and cannot be looked into.

    Behind the second wall there is no /proc at all.
    """
    source = """import os
try: print(len([p for p in os.listdir('/proc') if p.isdigit()]), 'processes')
except PermissionError: print('no processes')
for name in ('environ', 'mem', 'maps', 'cwd/x', 'root/x', 'fd/0'):
    try: print('reached', name, open(f'/proc/1/{name}', 'rb').read(1))
    except PermissionError: print('refused')
try: open('/proc/self/oom_score_adj', 'w').write('0')
except OSError: print('refused')"""
    _, seen = run(source)
    said = text_of(seen)
    assert ("no processes" if seen.wall == "landlock" else "2 processes") in said
    assert said.count("refused") == 7, said


def test_it_is_in_a_group_and_a_session_of_its_own(run):
    """A signal to one's own group reaches all in it, whatever namespace they are in."""
    source = "import os\nprint('alone', os.getpgrp() == os.getsid(0) == os.getpid())"
    _, seen = run(source)
    assert "alone True" in text_of(seen)


def test_a_program_of_the_student_is_still_ended_first(run):
    """The kernel lets every process ask to be spared; /proc is not for writing."""
    source = """import subprocess
ask = 'echo 0 > /proc/self/oom_score_adj && echo spared; echo done'
print(subprocess.run(['sh', '-c', ask], capture_output=True, text=True).stdout)"""
    _, seen = run(source)
    assert text_of(seen).split() == ["done"]


def test_all_sockets_of_a_process_hold_little(run):
    """The kernel keeps what was sent and not read, and counts it to no process."""
    source = """import socket
kept, sent = [], 0
try:
    while True:
        kept.append(socket.socketpair())
        for end in kept[-1]:
            end.setblocking(False)
            try:
                while True: sent += end.send(bytes(1 << 16))
            except BlockingIOError: pass
except OSError: print(len(kept), sent >> 20)"""
    _, seen = run(source)
    pairs, megabytes = map(int, text_of(seen).split())
    assert 50 < pairs < 128 and megabytes < 128


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
    assert "FileNotFound" in text_of(seen) or "PermissionError" in text_of(seen)
    assert "secret" in text_of(bare)


def test_nothing_passes_from_one_submission_to_the_next(run):
    path = "import os, tempfile; path = tempfile.gettempdir() + '/note'\n"
    _, first = run(f"{path}open(path, 'w').write('x'); print(os.path.exists(path))")
    assert text_of(first).strip() == "True"
    _, seen = run(f"{path}print(os.path.exists(path))")
    assert text_of(seen).strip() == "False"
