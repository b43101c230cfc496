"""A submission is limited as a whole where a control group is lent to the grading.

Most machines lend none; then these tests see that each process has its limits. Lend
one to them, this FILE, with
``systemd-run --user --scope -p Delegate=yes python -m pytest FILE``.
"""

import os
import socket
import time
from dataclasses import astuple, replace

import pytest
from machine import SHORT

from autograder.errors import Closed, NoSandbox
from autograder.wall import claim
from autograder.wall.channel import Channel
from autograder.wall.sandbox import cgroups
from autograder.wall.warm_process import WarmProcess

TOGETHER = 250 << 20
SMALL = replace(SHORT, submission_bytes=TOGETHER)


@pytest.fixture(scope="module")
def lent():
    """Whether these tests have a group."""
    return claim()


@pytest.fixture
def parent(lent, wall):
    """The warm parent of submissions that have little memory together."""
    parent = WarmProcess("sandbox", "none", wall, limits=SMALL)
    parent.wait_until_ready()
    yield parent
    parent.stop()


def run(parent, source):
    """What a cell prints; nothing if its process was ended."""
    here, there = socket.socketpair()
    with there:
        parent.channel.send((astuple(SMALL), 0), fds=(there.fileno(),))
    student = Channel(here)
    student.send(("files", {}))
    student.send(("cell", 1, source, 60.0))
    try:
        outputs, _, _ = student.receive(deadline=time.monotonic() + 300)
    except Closed:
        outputs = []
    student.close()
    parent.channel.send("stop")
    parent.channel.receive(deadline=time.monotonic() + 60)
    return "".join(text for kind, *_, text in outputs if kind == "stream")


# each has less than a process may have, and all of them more than a submission
SIX_TIMES = """import os
ready, go = os.pipe(), os.pipe()
for _ in range(6):
    if os.fork() == 0:
        held = b'x' * (60 << 20)
        os.write(ready[1], b'.'); os.close(ready[1])
        os.read(go[0], 1)
        os._exit(0)
os.close(ready[1])
count = 0
while count < 6 and os.read(ready[0], 1): count += 1
print('all' if count == 6 else 'some')"""


def test_memory_of_all_processes_together_is_limited(parent, lent):
    assert ("all" in run(parent, SIX_TIMES)) != lent
    assert parent.process.poll() is None
    assert run(parent, "print(6 * 7)") == "42\n"  # who comes next has all of it


def test_processes_and_threads_together_are_limited(parent, lent):
    """Also where a cell lifts its own limit as far as it can."""
    source = """import resource, threading
_, most = resource.getrlimit(resource.RLIMIT_NPROC)
resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
go, count = threading.Event(), 0
try:
    while count < 500:
        threading.Thread(target=go.wait).start()
        count += 1
except RuntimeError: pass
go.set()
print(count)"""
    count = int(run(parent, source))
    assert count > 5
    assert count <= SMALL.processes + cgroups.OWN_PROCESSES or not lent


def test_a_group_holds_the_students_side_and_goes_with_it(lent, wall):
    parent = WarmProcess("sandbox", "none", wall, limits=SMALL)
    try:
        parent.wait_until_ready()
        group = parent.group
        assert (group is not None) == lent
        if group:
            inside = (group / "cgroup.procs").read_text().split()
            assert str(parent.process.pid) in inside
            assert str(os.getpid()) not in inside
            assert (group / "cpu.weight").read_text() == f"{cgroups.WEIGHT}\n"
            assert (group / "memory.max").read_text() == f"{TOGETHER}\n"
    finally:
        parent.stop()
    assert group is None or not group.exists()


def test_a_warm_parent_joins_the_group_that_it_is_given(wall, tmp_path, monkeypatch):
    procs = tmp_path / "cgroup.procs"
    monkeypatch.setattr(cgroups, "new", lambda limits: tmp_path)
    removed = []
    monkeypatch.setattr(cgroups, "remove", removed.append)
    parent = WarmProcess("sandbox", "none", wall, limits=SMALL)
    try:
        parent.wait_until_ready()
        assert procs.read_text() == "0"  # to the kernel: the process that writes
        procs.unlink()
    finally:
        parent.stop()
    assert removed == [tmp_path]
    judge = WarmProcess("judge", "numpy", wall, limits=SMALL)
    judge.wait_until_ready()
    judge.stop()
    assert judge.group is None and not procs.exists()


def test_no_submission_is_run_where_its_group_cannot_be_made(monkeypatch, tmp_path):
    monkeypatch.setattr(cgroups, "lent", lambda: tmp_path / "gone")
    with pytest.raises(NoSandbox, match="no control group for a submission"):
        WarmProcess("sandbox", "none", "none", limits=SMALL)


@pytest.fixture
def group(tmp_path, monkeypatch):
    """Plain files in place of the kernel's."""
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (tmp_path / "cgroup.subtree_control").touch()
    monkeypatch.setattr(cgroups, "own", lambda: tmp_path)
    return tmp_path


def test_a_group_of_ones_own_is_claimed(group):
    assert cgroups.claim()
    assert (group / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    assert (group / cgroups.GRADING / "cgroup.procs").read_text() == "0"


def test_a_group_with_other_processes_is_left_as_it_is(group):
    (group / "cgroup.procs").write_text(f"1\n{os.getpid()}\n")
    assert not cgroups.claim()
    assert not (group / cgroups.GRADING).exists()
    assert (group / "cgroup.subtree_control").read_text() == ""


def test_a_group_without_all_controllers_is_left(group):
    (group / "cgroup.subtree_control").unlink()
    (group / "cgroup.subtree_control").mkdir()  # cannot be written
    assert not cgroups.claim()
    assert (group / "cgroup.procs").read_text() == "0"  # back again


def test_without_a_group_there_are_the_limits_of_each_process(monkeypatch):
    monkeypatch.setattr(cgroups, "own", lambda: None)
    assert not cgroups.claim() and cgroups.new(SMALL) is None
