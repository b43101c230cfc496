"""A browser where tests need one; NO_SKIPS=1 where no test may be skipped."""

import os
import shutil
from importlib.resources import files

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("NO_SKIPS") or reporter is None:
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
