"""Where a machine has all it needs, nothing may be skipped: NO_SKIPS=1 sees to it."""

import os

import pytest


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("NO_SKIPS") or reporter is None:
        return
    if skipped := reporter.stats.get("skipped"):
        reporter.write_line(f"NO_SKIPS is set, and {len(skipped)} tests were skipped.")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
