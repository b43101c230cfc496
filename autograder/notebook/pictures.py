"""Choice of the pictures in text cells that are kept: PNG and JPEG of a sensible size.

Grading decodes none of them; a browser does, later.
"""

from __future__ import annotations

import base64
import binascii
import struct
from typing import Any

MAX_PIXELS = 40_000_000
MAX_SIDE = 30_000
PNG = b"\x89PNG\r\n\x1a\n"


def kept(attachments: Any) -> dict[str, dict[str, str]]:
    """The pictures of a cell that can be shown."""
    pictures: dict[str, dict[str, str]] = {}
    if not isinstance(attachments, dict):
        return pictures
    for name, kinds in attachments.items():
        for kind, text in kinds.items() if isinstance(kinds, dict) else []:
            check = {"image/png": is_png, "image/jpeg": is_jpeg}.get(kind)
            content = decoded(text)
            if check and content and check(content):
                clean = base64.b64encode(content).decode()
                pictures.setdefault(name, {})[kind] = clean
    return pictures


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
    """Whether this begins as a PNG does, and is not so large that showing it hurts."""
    if not content.startswith(PNG) or len(content) < 24:
        return False
    width, height = struct.unpack_from(">II", content, 16)
    sides = 0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE
    return sides and width * height <= MAX_PIXELS


def is_jpeg(content: bytes) -> bool:
    """Whether this begins as a JPEG does, which has no side over 65,535 pixels."""
    return content.startswith(b"\xff\xd8\xff")
