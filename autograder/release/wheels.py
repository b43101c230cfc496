"""Writer of wheels, and the build backend of the engine's own.

A wheel is a zip file with a list of its files. The same files make the same wheel, byte
for byte. This module imports nothing of the package: pip runs it while the package
is being installed.
"""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SKIPPED = {"__pycache__", ".ipynb_checkpoints"}
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # a zip file knows no earlier one
WHEEL = """\
Wheel-Version: 1.0
Generator: nbjudge
Root-Is-Purelib: true
Tag: py3-none-any
"""
# nbconvert looks there before it takes its own template
TEMPLATES = "data/share/jupyter/nbconvert/templates/formgrade"


def metadata(project: Mapping[str, Any]) -> str:
    """The text of METADATA, from what pyproject.toml has under ``[project]``."""
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}"]
    lines.append(f"Version: {project['version']}")
    if "description" in project:
        lines.append(f"Summary: {project['description']}")
    lines.append(f"Requires-Python: {project.get('requires-python', '>=3.11')}")
    if "license" in project:
        lines.append(f"License: {project['license']}")
    lines += [f"Author: {one['name']}" for one in project.get("authors", [])]
    if "keywords" in project:
        lines.append(f"Keywords: {','.join(project['keywords'])}")
    lines += [f"Classifier: {one}" for one in project.get("classifiers", [])]
    lines += [f"Requires-Dist: {one}" for one in project.get("dependencies", [])]
    for extra, packages in project.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {one}; extra == '{extra}'" for one in packages]
    readme = project.get("readme", {})
    if isinstance(readme, dict) and "text" in readme:
        lines += ["Description-Content-Type: text/markdown", "", readme["text"]]
    return "\n".join(lines) + "\n"


def stem(project: Mapping[str, Any]) -> str:
    """How the names of a wheel and of the folders inside it begin."""
    name = re.sub(r"[-_.]+", "_", project["name"])
    return f"{name}-{project['version']}"


def write(
    folder: Path,
    project: Mapping[str, Any],
    contents: Mapping[str, bytes],
    points: Mapping[str, Mapping[str, str]],
) -> str:
    """Write a wheel with these files and entry points, by group; its file name."""
    about = f"{stem(project)}.dist-info"
    lines = []
    for group, entries in points.items():
        lines += [f"[{group}]", *(f"{name} = {at}" for name, at in entries.items()), ""]
    added = {
        f"{about}/METADATA": metadata(project).encode(),
        f"{about}/WHEEL": WHEEL.encode(),
        f"{about}/entry_points.txt": "\n".join(lines).encode(),
    }
    whole = {**contents, **added}
    listed = [f"{place},{digest(data)},{len(data)}" for place, data in whole.items()]
    whole[f"{about}/RECORD"] = "\n".join([*listed, f"{about}/RECORD,,", ""]).encode()
    wheel = f"{stem(project)}-py3-none-any.whl"
    with zipfile.ZipFile(folder / wheel, "w") as archive:
        for place, data in whole.items():
            entry = zipfile.ZipInfo(place, FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return wheel


def digest(data: bytes) -> str:
    """A hash as RECORD writes it."""
    found = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={found.rstrip(b'=').decode()}"


def files_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The files below a folder, by relative name, without what Python makes."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not SKIPPED.intersection(path.parts):
            yield path.relative_to(folder).as_posix(), path.read_bytes()


# ---- the engine: pip calls these in the folder of its pyproject.toml


def build(folder: str, contents: dict[str, bytes]) -> str:
    """Write the engine's wheel: these files, commands, and formgrader's template."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    for name, data in files_in(Path("results/formgrader")):
        contents[f"{stem(project)}.data/{TEMPLATES}/{name}"] = data
    points = {"console_scripts": project["scripts"]}
    return write(Path(folder), project, contents, points)


def build_wheel(folder: str, settings: Any = None, metadata: Any = None) -> str:
    """Build the wheel."""
    found = files_in(Path())
    files = {f"autograder/{n}": data for n, data in found if n != "pyproject.toml"}
    return build(folder, files)


def build_editable(folder: str, settings: Any = None, metadata: Any = None) -> str:
    """Build what `pip install --editable` installs: the way to the source."""
    return build(folder, {"nbjudge.pth": f"{Path.cwd().parent}\n".encode()})
