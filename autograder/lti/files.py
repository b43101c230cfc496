"""Files of the LTI connection in a course's ``lti/`` folder, for its owner only.

They are the private key, the platform (Moodle or Canvas) with its addresses, and the
link: the one course on it that scores are sent to.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from autograder.course import Course
from autograder.lti.sentences import Refused


@dataclass(frozen=True)
class Platform:
    """What the platform is called, where its services are, and what it calls us."""

    kind: str
    address: str
    client_id: str
    deployment_id: str
    issuer: str
    login_url: str
    token_url: str
    keys_url: str


@dataclass(frozen=True)
class Link:
    """One course of the platform: where its columns and its people are."""

    context: str
    title: str
    lineitems: str
    memberships: str


class Folder:
    """The files of the course that belong to LTI."""

    def __init__(self, course: Course) -> None:
        self.path = course.root / "lti"
        self.key_file, self.link_file = self.path / "key.pem", self.path / "link.json"

    def key(self) -> str:
        """The private key, in PEM."""
        return self.text(self.key_file)

    def platform(self) -> Platform:
        """What `register` stored."""
        return Platform(**self.read("platform"))

    def link(self) -> Link:
        """What `link` stored."""
        return Link(**self.read("link"))

    def text(self, path: Path) -> str:
        """One of the files; Refused with what to do first when it is not there."""
        if not path.exists():
            raise Refused(f"no-{path.stem}")
        return read_private(path)

    def read(self, name: str) -> dict[str, Any]:
        """One of the files in JSON."""
        path = self.path / f"{name}.json"
        try:
            return dict(json.loads(self.text(path)))
        except ValueError:
            raise Refused("damaged", path=path) from None

    def save(self, name: str, value: Platform | Link) -> None:
        """Write one of the files in JSON."""
        text = json.dumps(asdict(value), indent=1) + "\n"
        write_private(self.path / f"{name}.json", text)


def read_private(path: Path) -> str:
    """The text of a file that nobody else can read; Refused when others can."""
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise Refused("readable", path=path, folder=path.parent)
    return path.read_text("utf-8")


def write_private(path: Path, text: str) -> None:
    """Write a file atomically, readable by its owner only at every moment."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)  # mode 600
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def origin(url: str, what: str) -> str:
    """Scheme and host of an address; Refused where others could listen in."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise Refused("plain-http", what=what, url=url) from None
    here = parts.scheme == "http" and host in ("127.0.0.1", "localhost")
    if not host or parts.username or not (parts.scheme == "https" or here):
        raise Refused("plain-http", what=what, url=url)
    return f"{parts.scheme}://{host}:{port or 443}"


def at_home(url: str, platform: Platform) -> None:
    """Scores and names go to the registered host alone; Refused for another one."""
    if origin(url, "A service") != origin(platform.address, "--address"):
        raise Refused("other-host", url=url, address=platform.address)
