"""Zip of feedback pages, with the file names that a platform's bulk upload takes.

Moodle: mod/assign/feedback/file/importziplib.php finds a student by the number in a
folder's name. In a team assignment it is the group's in Moodle 4.5, whose members all
get the page, and a participant's in Moodle 4.1. Canvas:
``generate_comments_from_files`` finds student and submission by the two numbers in a
file's name, as in its own download.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.grading.verdict import Verdict
from autograder.intake.names import label_of
from autograder.intake.versions import Origin, origin_of
from autograder.text import Left

PLATFORMS = ("moodle", "moodle-4.1", "canvas")
ORDER = (
    "next: in Moodle, import the grades before you upload a zip; after it, Moodle "
    'skips them ("No modified grades found"). Moodle shows whose pages it will store: '
    "read the names."
)


def write_zips(
    course: Course,
    assignments: list[Assignment],
    platform: str,
    only: Mapping[str, Collection[str]] | None = None,
) -> tuple[list[Path], list[str]]:
    """One zip for each assignment, of pages whose points are final; lines on others.

    ``platform`` is one of PLATFORMS. ``only`` has the students whose pages go in, by
    assignment; None means all.
    """
    from autograder.grading.store import Store

    paths: list[Path] = []
    left = Left("not in the zip")
    with Store(course) as store:
        for assignment in assignments:
            results = store.results(assignment.name)
            chosen = results if only is None else only.get(assignment.name, ())
            found = pages(course, assignment, results, chosen, platform, left)
            if not found:
                continue
            target = io.BytesIO()
            with zipfile.ZipFile(target, "w") as archive:
                for place, page in found.items():
                    info = zipfile.ZipInfo(place)
                    info.external_attr = 0o644 << 16
                    archive.writestr(info, page, zipfile.ZIP_DEFLATED)
            again = "-again" if only is not None else ""
            path = course.root / f"feedback-{platform}-{assignment.name}{again}.zip"
            write_whole(path, target.getvalue())
            paths.append(path)
    if not paths:
        why = "".join(f" {line[0].upper()}{line[1:]}." for line in left.lines())
        where = platform.partition("-")[0].title()
        raise CourseError(f"There is no page to send to {where}.{why}")
    return paths, left.lines()


def pages(
    course: Course,
    assignment: Assignment,
    results: Mapping[str, Verdict],
    chosen: Collection[str],
    platform: str,
    left: Left,
) -> dict[str, bytes]:
    """The pages by their places in the zip: a student's, or one for all of a team."""
    name = f"{assignment.notebook}.html"
    where, _, older = platform.partition("-")
    teams: dict[str, list[str]] = defaultdict(list)
    gone: dict[str, str] = {}  # why the work is not there any more, by place
    for student, verdict in results.items():
        try:
            origin = origin_of(course, student, assignment.name)
            place = place_of(origin, name, where, bool(older))
        except Unsent as why:
            if student in chosen:
                left.add(student, verdict.unfinished or str(why))
            continue
        teams[place].append(student)
        if origin and origin.other_work:
            gone[place] = origin.other_work
    found: dict[str, bytes] = {}
    for place, students in teams.items():
        if not set(students) & set(chosen):
            continue
        ready = {}
        for student in students:
            page = course.feedback / student / assignment.name / name
            if reason := results[student].unfinished or gone.get(place):
                left.add(student, reason)
            elif not page.is_file():
                left.add(student, "has no page")
            else:
                ready[student] = page.read_bytes()
        if len(ready) == len(students) and len(set(ready.values())) == 1:
            found[place] = ready[students[0]]
            continue
        for student in ready:
            left.add(
                student,
                f"is in a team whose members have different pages, and {where.title()} "
                "gives all of them the same one; send these pages one by one",
            )
    return found


class Unsent(Exception):
    """The platform cannot be told whose page it is; the text says why."""


def place_of(origin: Origin | None, name: str, platform: str, older: bool) -> str:
    """The path by which the platform knows whose page it is; Unsent when it cannot."""
    if origin is None or origin.platform != platform:
        raise Unsent(f"has work that was not collected from {platform.title()}")
    if platform == "canvas":
        label = label_of(origin.label, "canvas")
        if label is None or label.anonymous:
            raise Unsent("is anonymous there")
        return str(PurePosixPath(origin.label).with_suffix(".html"))
    if origin.team and origin.group is None:
        raise Unsent("was collected without the team's number; collect the zip again")
    text = origin.label if older else origin.group or origin.label
    if not re.fullmatch(r"[^_]+_\d+", text):
        if origin.group and not older:
            raise Unsent(
                "is in no group on Moodle, or in several, and Moodle gives pages of a "
                "team assignment to groups alone; send these pages one by one"
            )
        raise Unsent(
            "has work without the participant's number on Moodle; collect Moodle's zip "
            "of all submissions again, with its grading worksheet"
        )
    # the last underscore is for Moodle before 4.1, and later ones take it too
    clean = re.sub(r'[\\/:*?"<>|\x00-\x1f]', "", text)
    return f"{clean}_assignfeedback_file_/{name}"
