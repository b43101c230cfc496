"""The same class on a cluster: a real scheduler, and workers that may die."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import pytest
from shared import UNPROTECTED

from autograder.cli import main


def grade(course, *options):
    target = course.root / "results.json"
    command = ["grade", "--json", str(target), *UNPROTECTED, *options]
    assert main(command) == 0
    return json.loads(target.read_text())["submissions"]


def kill_at_work(address, worker):
    """Kill the worker named 0 as soon as it holds a job.

    A clock would be no measure: on a fast machine the run is over first.
    """
    from distributed import Client  # which takes a while

    deadline = time.monotonic() + 60
    with Client(address, timeout=30, set_as_default=False) as client:
        while time.monotonic() < deadline:
            known = client.scheduler_info(n_workers=-1)["workers"]
            jobs = client.processing()
            if any(str(known[at]["name"]) == "0" for at in known if jobs.get(at)):
                return os.kill(worker.pid, signal.SIGKILL)
            time.sleep(0.005)


@pytest.mark.long
def test_a_cluster_gives_the_same_verdicts_though_a_worker_is_killed(
    course, cluster, right, untouched, capsys, hand_in
):
    for number in range(8):
        hand_in(f"s{number}", right if number % 2 else untouched)
    address, workers = cluster

    killer = threading.Thread(target=kill_at_work, args=(address, workers[0]))
    killer.start()
    there = grade(course, "--scheduler", address)
    killer.join()
    assert workers[0].wait(timeout=10) == -signal.SIGKILL
    assert [each["status"] for each in there] == ["graded"] * 8
    here = grade(course, "--workers", "1", "--force")
    assert here == there
