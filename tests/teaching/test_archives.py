"""Archives as data: what cannot be used is left out by name, and costs nobody else.

The cases are in ``archives.toml``: bombs, encrypted and broken entries, odd names,
links, devices and damaged archives.
"""

from __future__ import annotations

import resource
import struct
import tomllib
import zipfile
from pathlib import Path

import pytest
from shared import drawn

from autograder.cli import main

CASES = tomllib.loads(Path(__file__).with_name("archives.toml").read_text("utf-8"))
NAMES = {"{deep}": "folder/" * 300, "{long}": "x" * 3000}
MOST_MEMORY = 400 << 20  # bytes, beyond what this process has already
CENTRAL, END = b"PK\x01\x02", b"PK\x05\x06"
# where a number is in the two heads of an entry
AT = {"flag": (6, 8, "<H"), "method": (8, 10, "<H"), "date": (10, 12, "<I")}
AT |= {"crc": (14, 16, "<I"), "size": (22, 24, "<I")}
FOREIGN = {"latin": b"\xfc", "null": b"\0"}  # bytes that zipfile would not write


def entries(case, right):
    """What is in the archive: (name, bytes, the case's word on it)."""
    if not case.get("only"):
        yield "ada/attention.ipynb", right.encode(), {}
    for about in case.get("entry", []):
        for number in range(about.get("as", 1)):
            name = about["name"].replace("{}", str(number))
            for word, text in NAMES.items():
                name = name.replace(word, text)
            content = right if about.get("right") else about["text"]
            yield name, content.encode() * about.get("times", 1), about


def write(path, case, right):
    """The archive: made by zipfile, and then changed byte by byte."""
    if "whole" in case:
        path.write_bytes(case["whole"].encode("latin-1"))
        return
    listed = []
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = b"x" * case.get("comment", 0)
        for name, content, about in entries(case, right):
            info = zipfile.ZipInfo(name, (2026, 3, 4, 5, 6, 8))
            info.filename = name  # with the separators that it has
            info.external_attr = about.get("mode", 0o100644) << 16
            info.compress_type = about.get("packed", zipfile.ZIP_DEFLATED)
            archive.writestr(info, content)
            listed.append((info, about))
    data = bytearray(path.read_bytes())
    first = next((i.header_offset for i, about in listed if about), 0)
    central = data.rindex(CENTRAL, 0, data.rindex(END)) if listed else 0
    for info, about in reversed(listed):
        local = info.header_offset
        for word, (near, far, form) in AT.items():
            if word in about:
                struct.pack_into(form, data, local + near, about[word])
                struct.pack_into(form, data, central + far, about[word])
        if about.get("damage"):
            data[local + 30 + len(info.filename) + info.compress_size // 2] ^= 0xFF
        if case.get("overlap") and about:
            struct.pack_into("<I", data, central + 42, first)
        for word, byte in FOREIGN.items():
            if about.get(word):
                edit(data, local + 30, central + 46, info, byte)
        central = data.rfind(CENTRAL, 0, central)
    if disks := case.get("disks"):
        struct.pack_into("<HH", data, data.rindex(END) + 4, disks, disks)
    data[:0] = case.get("before", "").encode()
    path.write_bytes(data[: len(data) - case.get("cut", 0)])


def edit(data, local, central, info, byte):
    """Put a byte into the name of an entry, in the place of ``?`` or of ``ü``."""
    name = info.filename.encode()
    old = b"?" if b"?" in name else "ü".encode()
    at = name.index(old)
    new = byte if len(old) == 1 else byte + b"x"
    for place in (local, central):
        data[place + at : place + at + len(old)] = new
    for place in (local - 24, central - 38):  # in no encoding that is told
        struct.pack_into("<H", data, place, 0)


@pytest.mark.parametrize(
    "name",
    drawn(CASES, 15),
)
def test_what_cannot_be_used_is_left_out_by_name(course, right, tmp_path, capsys, name):
    case, path = CASES[name], tmp_path / "download.zip"
    write(path, case, right)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert main(["collect", str(path)]) == case.get("code", 0), capsys.readouterr()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (after - before) << 10 < MOST_MEMORY
    said = capsys.readouterr().out
    for left, why in case.get("left", {}).items():
        lines = [s for s in said.splitlines() if s.startswith(f"not collected: {left}")]
        assert any(why in line for line in lines), said
    found = course.submitted.iterdir() if course.submitted.is_dir() else []
    students = sorted(folder.name for folder in found)
    if case.get("code", 0):
        assert not students
        return
    notebook = course.submitted / "ada" / "01-attention" / "attention.ipynb"
    assert notebook.read_text("utf-8") == right
    more = case.get("more", [])
    others = [student for student in students if student != "ada"]
    assert others == more or (more == ["*"] and len(others) == 1), said
    inside = {path for path in tmp_path.rglob("*") if path.is_symlink()}
    assert not inside and not (tmp_path.parent / "eve").exists()
