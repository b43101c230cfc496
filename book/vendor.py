"""Put Python for the exercise pages beside the site, so that no other host is needed.

    python book/vendor.py

The runtime comes from the npm package `pyodide`; the wheels of NumPy and Matplotlib,
which only the Pyodide distribution publishes, from the host in _config.yml. Each is
compared with the SHA-256 in the runtime's own lock file. All of it lies in
_build/pyodide, and the next build of the book takes it from there.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "_build/pyodide"
RUNTIME = [
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
]
WANTED = ["numpy", "matplotlib"]


class VendorError(Exception):
    """What could not be had, and what to do."""


def host() -> str:
    """The address in _config.yml; its version is also that of the npm package."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return config["sphinx"]["config"]["pyodide_url"]


def fetch_runtime(folder: Path) -> dict:
    """Unpack the runtime into ``folder``; return its lock file."""
    version = host().split("/v")[-1].split("/")[0]
    command = ["npm", "pack", "--silent", f"pyodide@{version}"]
    try:
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    except FileNotFoundError:
        raise VendorError("`make vendor` needs npm, which comes with Node.") from None
    except subprocess.CalledProcessError:
        raise VendorError(f"npm has no package pyodide@{version}.") from None
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as tar:
        for name in RUNTIME:
            content = tar.extractfile(f"package/{name}").read()
            (folder / name).write_bytes(content)
    archive.unlink()
    return json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))


def needed(lock: dict) -> list[dict]:
    """The lock's entries of what is wanted and of all that it depends on."""
    names, found = list(WANTED), {}
    while names:
        name = names.pop()
        if name not in found:
            found[name] = lock["packages"][name.lower()]
            names += found[name]["depends"]
    return sorted(found.values(), key=lambda entry: entry["file_name"])


def fetch_wheels(lock: dict, folder: Path, address: str) -> None:
    """Download each wheel, and refuse one whose checksum is not the lock's."""
    for entry in needed(lock):
        name = entry["file_name"]
        try:
            with urllib.request.urlopen(address + name, timeout=60) as answer:
                content = answer.read()
        except OSError as error:
            raise VendorError(f"{address}{name} cannot be had: {error}.") from None
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise VendorError(f"{address}{name} is not the file of the lock file.")
        (folder / name).write_bytes(content)


def main() -> None:
    TARGET.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TARGET.parent) as scratch:
        folder = Path(scratch)
        fetch_wheels(fetch_runtime(folder), folder, host())
        shutil.rmtree(TARGET, ignore_errors=True)
        shutil.copytree(folder, TARGET)
    size = sum(path.stat().st_size for path in TARGET.iterdir()) / 1e6
    print(f"{TARGET.relative_to(ROOT)}: {size:.0f} MB; now build the book again.")


if __name__ == "__main__":
    try:
        main()
    except VendorError as error:
        sys.exit(f"{error} Nothing was changed.")
