"""Parser of the file names that Moodle and Canvas make, and safe names for folders.

Moodle: mod/assign/classes/downloader.php. Canvas: lib/content_zipper.rb.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal

Platform = Literal["moodle", "canvas", ""]

# Ada Lovelace_12_assignsubmission_file, with or without a last underscore, as a folder,
# or before the file's own name. Moodle leaves no underscore in names; teams without a
# group have no number.
MOODLE = re.compile(
    r"(?P<name>[^_]+)(?:_(?P<number>\d+))?_assignsubmission_[a-z]+(?:_.*)?", re.S
)
# lovelaceada_LATE_34_5678_roots-1.ipynb, LATE_anon_x7Yz2_5678_roots.ipynb
CANVAS = re.compile(
    r"(?:(?P<late>LATE)_)?anon_(?P<anonymous>[A-Za-z0-9]+)_(?P<anonymous_file>\d+)_.+"
    r"|(?P<name>.+?)_(?:(?P<name_late>LATE)_)?(?P<number>\d+)_(?P<file>\d+)_.+",
    re.S,
)
# paths of other platforms, which are recognized when all of an archive are so
FORMS = {
    "Blackboard": re.compile(
        r"(?P<whose>[^/]+?)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:[_./].*)?", re.S
    ),
    "Brightspace": re.compile(
        r"\d+-\d+ - (?P<whose>[^/]+?) - "
        r"(?P<time>[^\W\d]+ \d+, \d{4} \d+ [AP]M)(?:(?: - |/).*)?",
        re.S,
    ),
    "Sakai": re.compile(
        r"[^/()]+\((?P<whose>[^/()]+)\)/Submission attachment\(s\)/.*", re.S
    ),
    "the exchange": re.compile(
        r"(?P<whose>[^/+]+)\+[^/+]+\+(?P<time>\d{4}-\d\d-\d\d [^/+]+)(?:[+/].*)?", re.S
    ),
}


@dataclass(frozen=True)
class Label:
    """What a platform wrote before or around a student's file.

    ``file`` counts up with each upload; ``number`` is empty where there is none.
    ``names`` are all that it knows the student by; ``time`` is when the work came.
    """

    platform: Platform
    name: str
    number: str = ""
    late: bool = False
    anonymous: bool = False
    file: int = 0
    names: tuple[str, ...] = ()
    time: datetime | None = None


def label_of(part: str, platform: Platform = "") -> Label | None:
    """What Moodle or Canvas wrote; of one of them alone when ``platform`` tells."""
    if platform != "canvas" and (match := MOODLE.fullmatch(part)):
        return Label("moodle", match["name"], match["number"] or "")
    if platform == "moodle" or not (match := CANVAS.fullmatch(part)):
        return None
    unknown, late = match["anonymous"], bool(match["late"] or match["name_late"])
    file = int(match["anonymous_file"] or match["file"])
    name = f"anon-{unknown}" if unknown else match["name"]
    return Label("canvas", name, match["number"] or "", late, bool(unknown), file)


def hidden(path: PurePosixPath) -> bool:
    """What systems add to archives, and nbgrader's file of the student's machine."""
    if {"__MACOSX", ".ipynb_checkpoints"} & set(path.parts):
        return True
    return path.name in ("timestamp.txt", ".DS_Store") or path.name.startswith("._")


def tokens(text: str) -> list[str]:
    """The runs of letters and digits, in lower case."""
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def within(few: list[str], many: list[str]) -> list[tuple[int, int]]:
    """Where the one list stands in the other: starts and ends."""
    size = len(few)
    starts = range(len(many) - size + 1) if size else ()
    return [(at, at + size) for at in starts if many[at : at + size] == few]


def plain(text: str) -> str:
    """Letters and digits alone, in lower case."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in normal if char.isalnum())


def cleaned(name: str) -> str:
    """A name as a part of a path: letters and digits, the rest as dashes."""
    text = unicodedata.normalize("NFKC", name)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc"))
    text = re.sub(r"[^\w.@]+", "-", text).strip("-.@")
    return text.encode()[:80].decode(errors="ignore") or "student"


def safe(name: str) -> str:
    """As ``cleaned``, and two names that differ never give the same.

    One name in two forms of Unicode, as macOS and others write it, is one name.
    """
    name = unicodedata.normalize("NFC", name)
    clean = cleaned(name)
    if clean == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{clean}-{digest[:6]}"
