"""Zip of feedback pages, with the file names that a platform's bulk upload takes.

Moodle: mod/assign/feedback/file/importziplib.php finds a student by the number in a
folder's name. Canvas: ``generate_comments_from_files`` finds student and submission by
the two numbers in a file's name, as in its own download.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.grading.verdict import Verdict
from autograder.intake.names import label_of
from autograder.intake.versions import Origin, origin_of
from autograder.text import Left


def write_zips(
    course: Course,
    assignments: list[Assignment],
    platform: str,
    only: Mapping[str, Collection[str]] | None = None,
) -> tuple[list[Path], list[str]]:
    """One zip for each assignment, of pages whose points are final; lines on others.

    ``only`` has the students whose pages go in, by assignment; None means all.
    """
    from autograder.grading.store import Store

    paths: list[Path] = []
    lines = Left("not in the zip")
    with Store(course) as store:
        for assignment in assignments:
            results = store.results(assignment.name)
            if only is not None:
                mine = only.get(assignment.name, ())
                results = {who: results[who] for who in mine if who in results}
            if not results:
                continue
            data = zipped(pages(course, assignment, results, platform, lines))
            if data is None:
                continue
            again = "-again" if only is not None else ""
            path = course.root / f"feedback-{platform}-{assignment.name}{again}.zip"
            write_whole(path, data)
            paths.append(path)
    if not paths:
        why = "".join(f" {line[0].upper()}{line[1:]}." for line in lines.lines())
        raise CourseError(f"There is no page to send to {platform.title()}.{why}")
    return paths, lines.lines()


def pages(
    course: Course,
    assignment: Assignment,
    results: Mapping[str, Verdict],
    platform: str,
    lines: Left,
) -> Iterator[tuple[str, bytes]]:
    """Where in the zip each page goes. A group on Canvas gets one."""
    sent: dict[str, str] = {}
    for student, verdict in results.items():
        page = course.feedback / student / assignment.name
        page = page / f"{assignment.notebook}.html"
        origin = origin_of(course, student, assignment.name)
        if verdict.unfinished:
            lines.add(student, verdict.unfinished)
        elif origin is None or origin.platform != platform:
            where = platform.title()
            lines.add(student, f"has work that was not collected from {where}")
        elif not page.is_file():
            lines.add(student, "has no page")
        elif (place := place_of(origin, page.name)) is None:
            lines.add(student, "is anonymous there")
        elif place in sent:
            lines.add(student, f"gets the page of {sent[place]}")
        else:
            sent[place] = student
            yield place, page.read_bytes()


def place_of(origin: Origin, name: str) -> str | None:
    """The path by which the platform knows whose page it is; None when it cannot."""
    if origin.platform == "moodle":
        if not re.fullmatch(r"[^_]+_\d+", origin.label):
            return None
        # the last underscore is for Moodle before 4.1, and later ones take it too
        clean = re.sub(r'[\\/:*?"<>|\x00-\x1f]', "", origin.label)
        return f"{clean}_assignfeedback_file_/{name}"
    label = label_of(origin.label, "canvas")
    if label is None or label.anonymous:
        return None
    return str(PurePosixPath(origin.label).with_suffix(".html"))


def zipped(files: Iterator[tuple[str, bytes]]) -> bytes | None:
    """A zip of these files; None when there are none."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files:
            info = zipfile.ZipInfo(path)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
        empty = not archive.infolist()
    return None if empty else target.getvalue()
