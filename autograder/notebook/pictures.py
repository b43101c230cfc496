"""Validation of pictures that students paste into text cells; a broken one is left out.

PNG and JPEG are checked here in Python, so that no image decoder in grading reads bytes
that a student made.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from typing import Any

MAX_PIXELS = 40_000_000
MAX_SIDE = 30_000
PNG = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # of a PNG, by its type of color
# JPEG segments that open a frame tell its size; these markers have no content
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
BARE = {0x01, *range(0xD0, 0xD9)}


def kept(attachments: Any) -> tuple[dict[str, dict[str, str]], list[str]]:
    """The pictures of a cell that decode, and the names of what was left out."""
    pictures: dict[str, dict[str, str]] = {}
    dropped: list[str] = []
    if not isinstance(attachments, dict):
        return pictures, dropped
    for name, kinds in attachments.items():
        for kind, text in kinds.items() if isinstance(kinds, dict) else []:
            check = {"image/png": is_png, "image/jpeg": is_jpeg}.get(kind)
            content = decoded(text)
            if check and content and check(content):
                clean = base64.b64encode(content).decode()
                pictures.setdefault(name, {})[kind] = clean
        if name not in pictures:
            dropped.append(name)
    return pictures, dropped


def decoded(text: Any) -> bytes:
    """The bytes behind base64, which the format allows to be a list of lines."""
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        text = "".join(text)
    if not isinstance(text, str):
        return b""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return b""


def is_png(content: bytes) -> bool:
    """A whole PNG: every checksum right, and as many pixels as it says."""
    if not content.startswith(PNG):
        return False
    place, data, size = len(PNG), zlib.decompressobj(), None
    unpacked = 0
    try:
        while place < len(content):
            (length,) = struct.unpack_from(">I", content, place)
            kind = content[place + 4 : place + 8]
            body = content[place + 8 : place + 8 + length]
            (checksum,) = struct.unpack_from(">I", content, place + 8 + length)
            if zlib.crc32(kind + body) != checksum:
                return False
            if kind == b"IHDR":
                width, height, depth, color = struct.unpack_from(">IIBB", body)
                if not fits(width, height):
                    return False
                size = height * (1 + (width * depth * CHANNELS[color] + 7) // 8)
            elif kind == b"IDAT":
                if size is None:
                    return False
                # interlaced pictures have a few filter bytes more
                room = size + 8 * MAX_SIDE - unpacked
                unpacked += len(data.decompress(body, max(room, 1)))
                if data.unconsumed_tail:
                    return False
            elif kind == b"IEND":
                return size is not None and unpacked >= size and data.eof
            place += 12 + length
    except (struct.error, zlib.error, KeyError):
        return False
    return False


def is_jpeg(content: bytes) -> bool:
    """A JPEG with a frame of a sensible size, its scans, and an end."""
    if not content.startswith(b"\xff\xd8"):
        return False
    place, framed, scanned = 2, False, False
    try:
        while True:
            place = content.index(b"\xff", place)
            while content[place] == 0xFF:
                place += 1
            marker = content[place]
            place += 1
            if marker == 0xD9:
                return framed and scanned
            if marker == 0 or marker in BARE:  # data of a scan
                continue
            (length,) = struct.unpack_from(">H", content, place)
            if marker in FRAMES:
                height, width = struct.unpack_from(">HH", content, place + 3)
                if not fits(width, height):
                    return False
                framed = True
            scanned |= marker == 0xDA
            place += length
    except (ValueError, IndexError, struct.error):
        return False


def fits(width: int, height: int) -> bool:
    """Some pixels, and not so many that showing them is an attack."""
    sides = 0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE
    return sides and width * height <= MAX_PIXELS
