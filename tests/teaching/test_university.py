"""What the page for a university says works as it is written there."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from shared import UNPROTECTED

from autograder.cli import main


@pytest.fixture(scope="session")
def page_text(repository):
    return (repository.root / "book" / "for-a-university.md").read_text("utf-8")


def block(text, kind, starts=""):
    """The first block of code of a kind that starts like this."""
    return re.search(rf"```{kind}\n({re.escape(starts)}.*?)```", text, re.DOTALL)[1]


@pytest.fixture
def grading(tmp_path, page_text):
    """The folder with certificates and dask.yaml, by the commands of the page."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path / "grading"
    folder.mkdir()
    commands = block(page_text, "sh")
    made = ["sh", "-ec", commands]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    settings = block(page_text, "yaml", "distributed:")
    (folder / "dask.yaml").write_text(settings.replace("/srv/grading", str(folder)))
    return folder


@pytest.fixture
def scheduler(grading, tmp_path):
    """The address of a scheduler that speaks TLS alone, with one worker."""
    environment = os.environ | {"DASK_CONFIG": str(grading / "dask.yaml")}
    file = tmp_path / "scheduler.json"
    log = (tmp_path / "dask.log").open("w")
    started = []

    def start(*command):
        program = [sys.executable, "-m", f"distributed.cli.dask_{command[0]}"]
        process = subprocess.Popen(
            [*program, *command[1:]],
            env=environment,
            cwd=tmp_path,
            start_new_session=True,
            stdout=log,
            stderr=log,
        )
        started.append(process)

    own = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    start("scheduler", "--protocol", "tls", *own, "--scheduler-file", str(file))
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    address = json.loads(file.read_text())["address"]
    start("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
    yield address
    for process in started:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    log.close()


def test_grading_behind_certificates_and_not_without(
    course, right, scheduler, grading, capsys, hand_in
):
    hand_in("ada", right)
    command = ["grade", *UNPROTECTED, "--json", "results.json", "--scheduler"]

    assert scheduler.startswith("tls://")
    plain = scheduler.replace("tls:", "tcp:")
    for address, why in (
        (scheduler, "Dask has no certificate here"),
        (plain, f"There is no scheduler at {plain}"),
    ):
        assert main([*command, address]) == 2
        assert why in capsys.readouterr().err.splitlines()[-1]
    known = subprocess.run(
        [sys.executable, "-m", "autograder", *command, scheduler],
        cwd=course.root,
        env=os.environ | {"DASK_CONFIG": str(grading / "dask.yaml")},
        capture_output=True,
        text=True,
    )
    assert known.returncode == 0, known.stderr
    (result,) = json.loads((course.root / "results.json").read_text())["submissions"]
    assert result["score"] == result["max_score"] - 4  # a person reads one answer
