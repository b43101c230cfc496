"""The second wall, Landlock: what namespaces hide by not showing it is shut here.

Each attack is tried as on a new kernel and as on older ones, which have less of it.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from corpus import Case, text_of
from machine import SHORT, alive, family, gone, missing
from shared import drawn

from autograder.wall import Cell, Grader, Limits
from autograder.wall.channel import Channel
from autograder.wall.sandbox import landlock, readable_paths, workdir
from autograder.wall.sandbox.limits import started_now

ABIS = [version for version in (1, 3, 7) if version <= landlock.abi()]


@pytest.fixture(scope="module", params=drawn(ABIS))
def second(request):
    """A grader behind Landlock, as a kernel with this ABI has it."""
    if reason := missing("landlock"):
        pytest.skip(reason)
    with Grader(wall="landlock", abi=request.param, limits=SHORT) as grader:
        yield grader


@pytest.fixture
def run(second):
    """Run cells behind this wall; the transcript."""
    return lambda source: second.judge([Cell("cell", source)])


@pytest.fixture
def course(tmp_path):
    """Files of the user who grades, as open to others as they can be."""
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / "gradebook.db").write_text("a secret")
    for path in (*tmp_path.parents, tmp_path, folder):
        if path.stat().st_uid == os.geteuid() and path.is_relative_to("/tmp"):
            path.chmod(0o777)
    (folder / "gradebook.db").chmod(0o666)
    return folder


FILES = {
    "read": "open(file).read()",
    "listed": "os.listdir(folder)",
    "walked-into": "os.chdir(folder) or os.listdir('.')",
    "written": "open(file, 'a').write('x')",
    "emptied": "os.truncate(file, 0)",
    "emptied-on-opening": "os.open(file, os.O_RDONLY | os.O_TRUNC)",
    "moved-here": "os.rename(file, 'mine')",
    "moved-there": "open('a', 'w').close() or os.rename('a', file)",
    "linked": "os.link(file, 'mine')",
    "linked-by-name": "os.symlink(file, 'mine') or open('mine').read()",
    "removed": "os.unlink(file)",
    "joined": "open(folder + '/new', 'w')",
    "a-new-folder": "os.mkdir(folder + '/new')",
    "executed": "os.execv(file, ['x'])",
    "closed": "os.chmod(file, 0) or open(file)",
    "closed-around": "os.chmod(folder, 0) or os.listdir(folder)",
    "of-another-time": "os.utime(file, (0, 0)) or open(file)",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_user_is_neither_seen_nor_changed(course, run, name):
    file = course / "gradebook.db"
    before = file.stat(), course.stat()
    source = f"""import os
folder, file = {str(course)!r}, {str(file)!r}
try: print('reached', {FILES[name]})
except OSError as error: print('refused', error)"""
    seen = run(source)
    after = file.stat(), course.stat()
    assert "refused" in text_of(seen) and "secret" not in text_of(seen)
    assert file.read_text() == "a secret" and os.listdir(course) == [file.name]
    for one, other in zip(before, after, strict=True):
        assert (one.st_mode, one.st_mtime) == (other.st_mode, other.st_mtime)


def test_a_library_cannot_be_emptied_by_opening_it(run):
    """Landlock looks at this since ABI 3; before, seccomp does."""
    path = Path(readable_paths.files()[-1])
    before = path.stat().st_size
    seen = run(f"import os\nos.open({str(path)!r}, os.O_TRUNC)")
    assert "Error" in text_of(seen) and path.stat().st_size == before > 0


@pytest.fixture
def bystander():
    """A process of the user who grades."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


OTHERS = {
    "killed": "os.kill(pid, 9)",
    "killed-in-its-group": "os.killpg(os.getpgid(pid), 9)",
    "traced": "check(libc.ptrace(16, pid, 0, 0))",
    "read": "open(f'/proc/{pid}/environ').read()",
    "listed": "os.listdir('/proc')",
    "limited": "resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0))",
    "slowed-down": "os.setpriority(os.PRIO_PROCESS, pid, 19)",
    "put-aside": "os.sched_setaffinity(pid, {0})",
    "given-up": "os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))",
    "signalled-by-a-file": "fcntl.fcntl(os.pipe()[0], 8, pid)",
    "opened": "signal.pidfd_send_signal(os.pidfd_open(pid), 9)",
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_process_of_the_user_is_left_alone(bystander, run, name):
    source = f"""import ctypes, fcntl, os, resource, signal
libc, pid = ctypes.CDLL(None, use_errno=True), {bystander.pid}
def check(number):
    if number < 0: raise OSError(ctypes.get_errno(), 'call')
try: print('reached', {OTHERS[name]})
except OSError as error: print('refused', error)"""
    seen = run(source)
    assert "refused" in text_of(seen)
    assert bystander.poll() is None
    assert os.getpriority(os.PRIO_PROCESS, bystander.pid) < 19


def test_no_socket_of_the_machine_is_reached(course, run):
    path = str(course / "s")
    with (
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mail,
        socket.create_server(("127.0.0.1", 0)) as tcp,
    ):
        unix.bind(path)
        unix.listen()
        mail.bind(f"\0autograder-mail-{os.getpid()}")
        mail.setblocking(False)
        source = f"""import socket
def tried(f):
    try: f(); print('reached')
    except OSError: print('refused')
tried(lambda: socket.socket(socket.AF_UNIX).connect({path!r}))
tried(lambda: socket.create_connection(('127.0.0.1', {tcp.getsockname()[1]}), 1))
tried(lambda: socket.create_server(('127.0.0.1', 0)))
tried(lambda: socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(
    b'x', {mail.getsockname()!r}))
tried(lambda: socket.socketpair()[0].sendto(b'x', {mail.getsockname()!r}))"""
        seen = run(source)
        assert text_of(seen).split() == ["refused"] * 5
        with pytest.raises(BlockingIOError):
            mail.recv(1)


DAEMON = """import ctypes, os, time
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    time.sleep(60)
time.sleep(0.2)
def square(x): return x * x"""


def test_a_daemon_ends_with_its_question_and_no_file_is_left(second):
    cells = Case("", first=DAEMON, square=DAEMON.replace("if os", "if not os")).cells()
    results = second.judge(cells).results
    assert results["test_total"].score == 3.0
    parent = second._parents["sandbox", "numpy"]
    assert len(family(parent.process.pid)) == 2  # it and the one that cleans up
    assert os.listdir(parent.folder) == []


@pytest.mark.parametrize("which", [0, 1])
def test_when_a_warm_parent_is_killed_no_daemon_and_no_file_is_left(which):
    if reason := missing("landlock"):
        pytest.skip(reason)
    with Grader(wall="landlock") as grader:
        grader.warm()
        parent = grader._parents["sandbox", "numpy"]
        student = grader._start_student("numpy", {}, Limits())
        channel = Channel(student)
        channel.send(("cell", 1, DAEMON, 9.0))
        channel.receive(deadline=time.monotonic() + 20)
        everyone, end = [], time.monotonic() + 20
        # both warm parents, the runner and the daemon, whose own parent ends soon
        while len(everyone) != 4 and time.monotonic() < end:
            everyone = [pid for pid in family(parent.process.pid) if alive(pid)]
        assert len(everyone) == 4
        os.kill(everyone[which], signal.SIGKILL)
        assert gone(everyone)
        end = time.monotonic() + 10
        while os.path.exists(parent.folder) and time.monotonic() < end:
            time.sleep(0.01)
        assert not os.path.exists(parent.folder)
        student.close()


@pytest.fixture
def small(graders):
    """A grader whose submissions have little room on the disk."""
    if reason := missing("landlock"):
        pytest.skip(reason)
    return graders("landlock", Limits(disk_bytes=4 << 20, files=1000))


def test_folders_that_are_closed_or_very_deep_are_removed(small):
    source = """import os
os.makedirs('a/b'); open('a/b/c', 'w').close(); os.mkdir('closed', 0o100)
for _ in range(990): os.mkdir('d' * 9); os.chdir('d' * 9)
print('made')"""
    assert "made" in text_of(small.judge([Cell("cell", source)]))
    small._end_student()
    assert os.listdir(small._parents["sandbox", "numpy"].folder) == []


FILL = {
    "many": "for i in range(1100): open(f'{i}', 'w').close()",
    "large": "for i in range(9): open(f'{i}', 'wb').write(bytes(10**6))",
    "hidden": "os.mkdir('closed', 0o300)",
    "with-a-watch-that-is-kept-busy": """import sys, threading
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "backend"): frame = frame.f_back
keeper = frame.f_locals["self"].backend.keeper
def keep_busy():
    while keeper.send(b"?") and keeper.recv(1): time.sleep(0.1)
threading.Thread(target=keep_busy, daemon=True).start()
for i in range(9): open(f"{i}", "wb").write(bytes(10**6))""",
}


@pytest.mark.parametrize("how", drawn(FILL, 2))
def test_too_much_on_the_disk_ends_the_cell(small, how):
    make = FILL[how]
    after = f"import os, time\n{make}\nfor _ in range(60): time.sleep(0.1)"
    seen = small.judge([Cell("cell", after)])
    hidden = "closed" in make and os.geteuid() == 0  # root looks in all the same
    stopped = "the cell was stopped (signal 9)" in text_of(seen)
    assert stopped != hidden


@pytest.mark.parametrize(
    ("before", "left", "due"),
    [(9, 0.5, True), (9, 2, False), (0.9, 0.5, False), (1.2, 0.5, False)],
)
def test_files_without_a_name_count_when_the_disk_runs_out(
    monkeypatch, before, left, due
):
    """Removed while they are open, they are in no folder, and fill the disk."""
    size = SimpleNamespace(f_bavail=int(left * (1 << 18)), f_frsize=4096)
    monkeypatch.setattr(workdir.os, "statvfs", lambda path: size)
    assert workdir.runs_out("/", int(before * (1 << 30))) == due


def test_processes_are_counted_beside_those_that_the_user_has_already():
    before = started_now()
    sleepers = [subprocess.Popen(["sleep", "60"]) for _ in range(5)]
    try:
        exempt = os.geteuid() == 0  # the kernel does not count root's
        assert exempt or 3 <= started_now() - before <= 60
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()


def test_the_courses_package_is_left_out_where_it_is_installed(monkeypatch, tmp_path):
    package = tmp_path / "lib" / "python" / "autograder"
    (package / "checks").mkdir(parents=True)
    (tmp_path / "lib" / "python" / "numpy").mkdir()
    (tmp_path / "lib" / "other").touch()
    monkeypatch.setattr(readable_paths, "private", lambda: [str(package)])
    monkeypatch.setattr(readable_paths, "trees", lambda: [str(tmp_path / "lib")])
    monkeypatch.setattr(readable_paths, "files", list)
    read, listed = readable_paths.readable.__wrapped__()
    assert sorted(read) == [
        str(tmp_path / "lib" / "other"),
        str(tmp_path / "lib" / "python" / "numpy"),
    ]
    assert listed == [str(tmp_path / "lib"), str(tmp_path / "lib" / "python")]
    assert readable_paths.masked() == [str(package)]
    assert readable_paths.holds(package / "checks") == str(tmp_path / "lib")


def test_of_an_environment_in_the_course_folder_only_its_libraries_are_shown(
    monkeypatch, tmp_path
):
    for name in ("bin", "lib", "solutions"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    found = readable_paths.trees.__wrapped__()
    assert str(tmp_path / "lib") in found
    assert not [tree for tree in found if str(tmp_path / "solutions").startswith(tree)]


def test_the_process_helpers_see_a_process_end(bystander):
    assert alive(bystander.pid)
    bystander.kill()
    assert gone([bystander.pid])
