"""A small course, and archives as learning platforms make them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course import CONFIG, Course
from autograder.grading.store import Store
from autograder.grading.verdict import QuestionResult, Verdict
from autograder.release.sample_class import reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook

ASSIGNMENT = "01-attention"


@pytest.fixture(autouse=True)
def pool(inline):
    """One worker is this process; where there are two, they are processes."""
    inline(most=1)


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
def hand_in(course):
    """Put a notebook, or another file, into submitted/."""

    def put(student: str, text: str, file: str = "attention.ipynb") -> Path:
        folder = course.submitted / student / ASSIGNMENT
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
        return folder

    return put


@pytest.fixture
def handed_in(course):
    """What lies in submitted/ of a student."""

    def read(student: str, file: str = "attention.ipynb") -> str:
        return (course.submitted / student / ASSIGNMENT / file).read_text()

    return read


@pytest.fixture
def students(course):
    """Who has a folder in submitted/, sorted."""
    return lambda: sorted(path.name for path in course.submitted.glob("*"))


@pytest.fixture
def collect(course, archive, tmp_path):
    """Collect files, with lists of the class and of teams; the exit code."""

    def run(files: dict, roster: str | bytes = "", *options: str, teams: str = ""):
        command = ["collect", str(archive(files)), *options]
        for option, text in (("--roster", roster), ("--teams", teams)):
            if text:
                path = tmp_path / f"{option[2:]}.csv"
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
                command += [option, str(path)]
        return main(command)

    return run


@pytest.fixture
def marked(course, release):
    """Store verdicts without running anything: points by student, None for waiting."""

    def store(points, assignment=ASSIGNMENT):
        with Store(course) as gradebook:
            gradebook.prepare([replace(release, assignment=assignment)])
            for student, given in points.items():
                gradebook.save(student, assignment, "key", verdict(given))

    def verdict(given):
        left, questions = given or 0.0, []
        for cell in release.cells:
            if cell.kind not in ("test", "written"):
                continue
            earned = min(left, cell.points)
            left -= earned
            waits = given is None and cell.kind == "written"
            questions.append(
                QuestionResult(
                    cell.grade_id, None if waits else earned, cell.points, waiting=waits
                )
            )
        answers = {question.id: "as it was" for question in questions}
        questions = tuple(questions)
        return Verdict("graded", release.max_score, None, questions, answers=answers)

    return store


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler, and its two workers."""
    from distributed import Client  # which takes a while

    address_file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_"]
    started = []

    def start(kind, *options):
        command = [f"{dask[-1]}{kind}", *options]
        process = subprocess.Popen(
            [*dask[:-1], *command],
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


@pytest.fixture
def page(browser):
    """A page that notes what it asks for and whether a script of a student ran."""
    context = browser.new_context()
    page = context.new_page()
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("dialog", lambda dialog: dialog.dismiss())
    yield page
    context.close()


@pytest.fixture
def formgrader(course, tmp_path):
    """The address of formgrader on the course, served as `jupyter lab` does."""
    environment = os.environ | {
        "HOME": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
    }
    extension = "{'nbgrader.server_extensions.formgrader': True}"
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--port=0"]
    command += ["--allow-root", "--IdentityProvider.token=secret"]
    command += [f"--ServerApp.jpserver_extensions={extension}"]
    log = tmp_path / "log"
    with log.open("w") as target:
        process = subprocess.Popen(
            command, cwd=course.root, env=environment, stdout=target, stderr=target
        )
    try:
        end = time.monotonic() + 120
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/", log.read_text())):
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield found[0]
    finally:
        process.terminate()
        process.wait()
