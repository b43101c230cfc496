"""A browser where tests need one, and grading without processes that start again.

NO_SKIPS=1 where no test may be skipped; SEED=3 for the numbers of an earlier run.
"""

import gc
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections import Counter
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest
import shared
import warm_kernels
from sqlalchemy import Engine, event

from autograder.course import Assignment, Course
from autograder.notebook.records import Release
from autograder.release.grading_plan import plan

ROOT = Path(__file__).parents[1]
# of all processes that tests start, as make has it
PATHS = [ROOT / "tests/light", ROOT, ROOT / "book", os.environ.get("PYTHONPATH", "")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, map(str, PATHS)))

# the shell needs half the processor time of the whole browser
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # a tenth of the processor time of a page
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # whatever a page asks for: no name is looked up
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]


DURATIONS = Path(__file__).with_name("durations.json")  # seconds, by file
# tests of the long run that once failed: in every run since
FAILED = Path(__file__).with_name("failed.txt")


def pytest_configure():
    """One seed for the run: the processes of the run find it in their environment."""
    os.environ.setdefault("SEED", str(random.SystemRandom().randrange(10_000)))


def pytest_report_header():
    return f"seed: {os.environ['SEED']} (the same again: SEED={os.environ['SEED']})"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and collected lives to the end: nothing looks for garbage."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items):
    """Long files first: what begins last should be short."""
    took = json.loads(DURATIONS.read_text("utf-8"))
    items.sort(key=lambda item: -took.get(item.nodeid.partition("::")[0], 0))
    failed = set(FAILED.read_text("utf-8").splitlines())
    for item in items:
        if item.nodeid in failed:
            item.own_markers = [m for m in item.own_markers if m.name != "long"]


seconds: Counter[str] = Counter()


def pytest_runtest_logreport(report):
    seconds[report.nodeid.partition("::")[0]] += report.duration


def keep_durations():
    """For the order of later runs: DURATIONS=1 make run-tests."""
    if "DURATIONS" in os.environ and "PYTEST_XDIST_WORKER" not in os.environ:
        long = {file: round(spent) for file, spent in seconds.items() if spent >= 5}
        kept = json.loads(DURATIONS.read_text("utf-8")) | long
        there = {file: kept[file] for file in sorted(kept) if Path(file).is_file()}
        DURATIONS.write_text(json.dumps(there, indent=1) + "\n", "utf-8")


@pytest.fixture(autouse=True, scope="module")
def numbers_of_its_own():
    """Chapters choose the dtype of new tensors: other files do not see it."""
    yield
    if torch := sys.modules.get("torch"):
        torch.set_default_dtype(torch.float32)


@pytest.fixture(scope="session")
def seed():
    """The seed of the run, which is printed at its start."""
    return int(os.environ["SEED"])


@pytest.fixture(scope="session")
def repository() -> Course:
    """The course of this repository."""
    return Course(ROOT)


@pytest.fixture(scope="session")
def attention(repository) -> Assignment:
    """The assignment of most tests."""
    return repository.chosen(["01-attention"])[0]


@pytest.fixture(scope="session")
def release(repository, attention) -> Release:
    """What grading knows of it, in each course with its usual settings."""
    return plan(repository, attention)


@pytest.fixture(scope="session")
def verdicts(seed):
    """Entries of the catalogs, each judged once in a process."""
    return shared.Verdicts(seed)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """What students install, built once in a run: the engine and the course."""

    def make(folder):
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        command += ["--no-build-isolation", "--wheel-dir", str(folder)]
        subprocess.run([*command, str(ROOT / "autograder"), str(ROOT)], check=True)

    folder = shared.once(tmp_path_factory, "wheels", make)
    return [next(folder.glob(f"{name}*.whl")) for name in ("nbjudge", "paying")]


@pytest.fixture(scope="session")
def wheel(wheels):
    """The course's own."""
    return zipfile.ZipFile(wheels[1])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    keep_durations()
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("NO_SKIPS") or reporter is None:
        return
    if skipped := reporter.stats.get("skipped"):
        reporter.write_line(f"NO_SKIPS is set, and {len(skipped)} tests were skipped.")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def playwright():
    """What drives browsers: there is one in a process."""
    with pytest.importorskip("playwright.sync_api").sync_playwright() as engine:
        yield engine


@pytest.fixture(scope="session")
def browser(playwright):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def axe():
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def kernel_server(pytestconfig):
    """A JUPYTER_PATH with which all kernels are forks of one process."""
    return warm_kernels.started(pytestconfig)


@pytest.fixture
def quick_kernels(kernel_server, monkeypatch):
    """What the test starts finds the kernels of the kernel server."""
    monkeypatch.setenv("JUPYTER_PATH", str(kernel_server))


@event.listens_for(Engine, "connect")
def wait_for_no_disk(connection, _):
    """Gradebooks of tests need not outlive a loss of power."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")


class Inline(Executor):
    """Does jobs at once, in this process, where one grader stays warm."""

    def submit(self, function, *arguments):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def inline(monkeypatch):
    """Let a grading that asks for at most so many workers do without processes.

    Releases are proved, and questions about code are made, by the grader that stays
    warm.
    """
    from autograder import wall
    from autograder.grading import jobs
    from autograder.release import proof, students_version
    from autograder.results import interview

    def warm(wall=None):
        return nullcontext(jobs.grader_of(wall != "none"))

    started = jobs.local_pool
    monkeypatch.setattr(students_version, "Grader", warm)
    monkeypatch.setattr(interview, "Grader", warm)
    both = SimpleNamespace(available=wall.available, Grader=warm)
    monkeypatch.setattr(proof, "wall", both)

    def inline(most):
        def pool(workers, releases):
            if workers > most:
                return started(workers, releases)
            jobs.learn(releases)
            return Inline()

        monkeypatch.setattr(jobs, "local_pool", pool)

    return inline
