"""The editor of exercise pages: CodeMirror, bundled when the site is built.

npm's packages are pinned in code-mirror.txt, by version and the SHA-256 of the archive.
One of them, esbuild, makes a single module of the others and of code-mirror.js. It lies
in _build, in a folder whose name changes with all that it is made from; without it the
pages keep their plain text areas.
"""

import gzip
import hashlib
import platform
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from remote import VendorError, proved

ROOT = Path(__file__).parents[1]
ENTRY = ROOT / "book/code-mirror.js"
PINS = ROOT / "book/code-mirror.txt"
BUNDLERS = {"x86_64": "@esbuild/linux-x64", "aarch64": "@esbuild/linux-arm64"}
HOW = ("--bundle", "--minify", "--format=esm", "--legal-comments=none")


def target() -> Path:
    """Where the module of today's sources lies, when it is made."""
    made_from = PINS.read_bytes() + ENTRY.read_bytes() + " ".join(HOW).encode()
    return ROOT / f"_build/code-mirror-{hashlib.sha256(made_from).hexdigest()[:10]}"


def bundle(folder: Path) -> None:
    """Make ``folder`` with the module and the licenses, if it is not there."""
    if folder.exists():
        return
    bundler = BUNDLERS.get(platform.machine(), "esbuild for this machine")
    lines = PINS.read_text(encoding="utf-8").splitlines()
    pinned = {package: digest for digest, package in map(str.split, lines)}
    packages = [p for p in pinned if p.startswith(bundler) or "@esbuild" not in p]
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        scratch = Path(name)
        try:
            command = ["npm", "pack", "--silent", "--fetch-retries=0", *packages]
            subprocess.run(command, cwd=scratch, check=True, capture_output=True)
            for package in packages:
                unpack(package, pinned[package], scratch)
            (made := scratch / "made").mkdir()
            shutil.copy(ENTRY, scratch)
            esbuild = scratch / "node_modules" / bundler / "bin/esbuild"
            command = [esbuild, ENTRY.name, *HOW, f"--outfile={made / ENTRY.name}"]
            subprocess.run(command, cwd=scratch, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise VendorError(f"npm gave no editor: {error}.") from error
        packed = gzip.compress((made / ENTRY.name).read_bytes(), mtime=0)
        (made / f"{ENTRY.name}.gz").write_bytes(packed)
        texts = {  # most packages have the same one
            path.read_text(encoding="utf-8"): path.parent.relative_to(scratch)
            for path in sorted(scratch.glob("node_modules/**/LICENSE"))
        }
        told = "\n".join(f"{package}\n\n{text}" for text, package in texts.items())
        (made / "LICENSES.txt").write_text(told, encoding="utf-8")
        made.rename(folder)


def unpack(package: str, digest: str, scratch: Path) -> None:
    """Put a package where esbuild looks for it, if its archive is the pinned one."""
    name, _, version = package.rpartition("@")
    archive = scratch / f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"
    proved(package, archive.read_bytes(), digest)
    with tarfile.open(archive) as tar:
        for member in filter(tarfile.TarInfo.isfile, tar):
            _, _, inside = member.name.partition("/")
            path = scratch / "node_modules" / name / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(tar.extractfile(member).read())
            path.chmod(member.mode)


def add_editor(folder: Path) -> None:
    """Put the module beside the pages of the site in ``folder``."""
    if (made := target()).exists():
        shutil.copytree(made, folder / "_static/code-mirror", dirs_exist_ok=True)
