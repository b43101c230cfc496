"""Feedback pages in the zip that a platform's bulk upload takes.

Moodle: mod/assign/feedback/file/importziplib.php finds a student by the number in a
folder's name. Canvas: ``generate_comments_from_files`` finds student and submission by
the two numbers in a file's name, as in its own download.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.grading.verdict import Verdict
from autograder.intake.names import label_of
from autograder.intake.versions import Origin, origin_of


def write_zips(
    course: Course, assignments: list[Assignment], platform: str
) -> tuple[list[Path], list[str]]:
    """One zip for each assignment, of pages whose points are final; lines on others."""
    from autograder.grading.store import Store

    paths: list[Path] = []
    lines: list[str] = []
    with Store(course) as store:
        for assignment in assignments:
            results = store.results(assignment.name)
            if not results:
                continue
            data = zipped(pages(course, assignment, results, platform, lines))
            if data is None:
                continue
            path = course.root / f"feedback-{platform}-{assignment.name}.zip"
            write_whole(path, data)
            paths.append(path)
    if not paths:
        why = f" {lines[0][0].upper()}{lines[0][1:]}." if lines else ""
        raise CourseError(f"There is no page to send to {platform.title()}.{why}")
    return paths, lines


def pages(
    course: Course,
    assignment: Assignment,
    results: Mapping[str, Verdict],
    platform: str,
    lines: list[str],
) -> Iterator[tuple[str, bytes]]:
    """Where in the zip each page goes. A group on Canvas gets one."""
    sent: dict[str, str] = {}
    for student, verdict in results.items():
        page = course.feedback / student / assignment.name
        page = page / f"{assignment.notebook}.html"
        origin = origin_of(course, student, assignment.name)
        if verdict.unfinished:
            lines.append(f"not in the zip: {student} {verdict.unfinished}")
        elif origin is None or origin.platform != platform:
            lines.append(
                f"not in the zip: the work of {student} was not collected from "
                f"{platform.title()}"
            )
        elif not page.is_file():
            lines.append(f"not in the zip: there is no page for {student}")
        elif (place := place_of(origin, page.name)) is None:
            lines.append(f"not in the zip: {student} is anonymous there")
        elif place in sent:
            lines.append(f"not in the zip: {student} gets the page of {sent[place]}")
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
