"""The site, built once per session into a folder that is thrown away."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    output = tmp_path_factory.mktemp("site")
    command = [Path(sys.executable).parent / "jupyter-book", "build", "."]
    strict = ["-W", "-n", "--keep-going", "--all", "--path-output", output]
    build = subprocess.run(
        command + strict,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return SimpleNamespace(folder=output / "_build" / "html", build=build)
