"""A small course, and archives as learning platforms make them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from distributed import Client

from autograder.course import CONFIG, Course
from autograder.release import notebook_text, students_notebook
from autograder.sample_class import reference_answers, solved

ASSIGNMENT = "01-attention"


@pytest.fixture(scope="session")
def repository() -> Course:
    return Course.find(Path(__file__).parent)


@pytest.fixture(scope="session")
def attention(repository):
    return repository.chosen([ASSIGNMENT])[0]


@pytest.fixture(scope="session")
def untouched(repository, attention) -> str:
    """The students' notebook as it was released."""
    return notebook_text(students_notebook(repository, attention))


@pytest.fixture(scope="session")
def right(untouched, attention) -> str:
    return solved(json.loads(untouched), reference_answers(attention))


@pytest.fixture
def course(tmp_path, repository, monkeypatch) -> Course:
    root = tmp_path / "course"
    root.mkdir()
    shutil.copy(repository.root / CONFIG, root / CONFIG)
    source = repository.solutions / ASSIGNMENT
    shutil.copytree(source, root / "solutions" / ASSIGNMENT)
    monkeypatch.chdir(root)
    return Course(root)


@pytest.fixture
def archive(tmp_path):
    """Write a zip: path -> text, or path -> (text, time)."""

    def write(files: dict, name: str = "download.zip") -> Path:
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as target:
            for path, content in files.items():
                text, time = (
                    content
                    if isinstance(content, tuple)
                    else (content, (2026, 3, 4, 5, 6, 8))
                )
                info = zipfile.ZipInfo(path, time)
                info.compress_type = zipfile.ZIP_DEFLATED
                target.writestr(info, text)
        return tmp_path / name

    return write


@pytest.fixture
def cluster(tmp_path, repository):
    """The address of a scheduler, and its two workers."""
    environment = {**os.environ, "PYTHONPATH": str(repository.root)}
    address_file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_"]
    started = []

    def start(kind, *options):
        command = [f"{dask[-1]}{kind}", *options]
        process = subprocess.Popen(
            [*dask[:-1], *command],
            env=environment,
            cwd=tmp_path,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        started.append(process)
        return process

    file = ["--scheduler-file", str(address_file)]
    start("scheduler", *file, "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    own = [*file, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    workers = [start("worker", *own, "--name", str(n)) for n in range(2)]
    deadline = time.monotonic() + 30
    while not address_file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    address = json.loads(address_file.read_text())["address"]
    with Client(address, timeout=30) as client:
        client.wait_for_workers(2, timeout=30)
    yield address, workers
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
