"""A file at an address, of which only the parts that are read are fetched.

A zip archive has its contents at the end, so one member of a large archive costs two
or three small requests, as pip itself reads the metadata of a wheel.
"""

import hashlib
import io
import urllib.request
from urllib.request import Request

PART = 1 << 20  # bytes asked for at once
PATIENCE = 30  # seconds


class VendorError(Exception):
    """What could not be had, and what to do."""


def proved(name: str, content: bytes, *sums: str) -> bytes:
    """``content``, if its SHA-256 is one of ``sums``."""
    if hashlib.sha256(content).hexdigest() not in sums:
        raise VendorError(f"{name} is not the file whose checksum is pinned.")
    return content


class NoRanges(OSError):
    """The server sends whole files only."""


class RemoteFile(io.RawIOBase):
    """Reads an address by range requests."""

    def __init__(self, address: str) -> None:
        self.address, self.position = address, 0
        head = Request(address, method="HEAD")
        with urllib.request.urlopen(head, timeout=PATIENCE) as answer:
            self.size = int(answer.headers["Content-Length"] or 0)
        if not self.size:
            raise NoRanges(f"{address} does not tell its length")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}
        self.position = start[whence] + offset
        return self.position

    def readinto(self, buffer) -> int:
        end = min(self.position + len(buffer), self.size)
        if end <= self.position:
            return 0
        wanted = Request(self.address)
        wanted.add_header("Range", f"bytes={self.position}-{end - 1}")
        with urllib.request.urlopen(wanted, timeout=PATIENCE) as answer:
            if answer.status != 206:
                raise NoRanges(f"{self.address} is only sent as a whole")
            content = answer.read()
        buffer[: len(content)] = content
        self.position += len(content)
        return len(content)


def opened(address: str) -> io.BufferedReader:
    """The file at ``address``, to be read in any order."""
    return io.BufferedReader(RemoteFile(address), PART)
