"""Recognition of the columns in a class list, by heading, or by position and content.

Moodle's worksheet has its headings in the language of whoever downloads it: there the
first column counts students ("Teilnehmer/in12"), and the others are known by what is in
them. What cannot be known is asked for with ``--columns``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.errors import CourseError
from autograder.intake.names import Platform
from autograder.intake.sheet import Sheet
from autograder.text import meant

# headings by what they tell, in lower case; the first that is there counts
HEADINGS: Mapping[str, tuple[str, ...]] = {
    "student": ("student_id", "sis login id", "username", "email address", "email"),
    "email": ("email address", "email"),
    "school": ("id number", "idnumber", "sis user id"),
    "number": ("identifier", "id", "number"),
    "name": ("full name", "name", "student"),
    "last": ("lastname", "last name"),
    "first": ("firstname", "first name"),
    "team": ("team", "group", "group_name"),
    "grade": ("grade",),
    "most": ("maximum grade",),
    "open": ("grade can be changed",),
    "time": ("last modified (submission)",),
    "graded": ("last modified (grade)",),
    "comments": ("feedback comments",),
    "status": ("status",),
    "workflow": ("marking workflow state",),
}
# What a platform counts with the numbers of a file or service: two numbers are the same
# person's only where they count the same. Moodle: mod/assign (mapping of users),
# mod/lti; Canvas: lib/gradebook_exporter.rb, app/controllers/lti/ims.
COUNTED: Mapping[tuple[str, str], str] = {
    ("moodle", "roster"): "participants of an assignment",  # "Participant 12"
    ("moodle", "file"): "participants of an assignment",  # Ada Test_12_assignsub...
    ("moodle", "file of a team"): "groups of a course",  # West_75_assignsub...
    ("moodle", "service"): "users of the site",  # user_id of LTI
    ("canvas", "roster"): "users of the site",  # ID in the gradebook
    ("canvas", "file"): "users of the site",  # testada_34_5678_a.ipynb
    ("canvas", "service"): "users of the site",
}
NUMBERED = re.compile(r"(?P<word>\D*?)\s*(?P<digits>\d+)")
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
MOMENT = re.compile(r".*\b(?:19|20)\d\d\b.*\d[:.h]\d\d.*", re.S)


@dataclass(frozen=True)
class Columns:
    """Numbers of columns by what they tell, and whose table it is."""

    platform: Platform
    known: Mapping[str, int] = field(default_factory=dict)

    def __getitem__(self, kind: str) -> int | None:
        return self.known.get(kind)


def same_count(platform: str, place: str, other: str, there: str) -> bool:
    """Whether a number of one file or service is the same person's in the other."""
    counted = COUNTED.get((platform, place))
    return platform == other and counted == COUNTED.get((other, there)) is not None


def recognize(sheet: Sheet, given: Mapping[str, str] | None = None) -> Columns:
    """The columns of a roster; ``given`` are headings by kind, and win."""
    headings = [column.strip().lower() for column in sheet.columns]
    known = {
        kind: next(headings.index(name) for name in names if name in headings)
        for kind, names in HEADINGS.items()
        if set(names) & set(headings)
    }
    wanted = {kind: sheet.find(heading) for kind, heading in (given or {}).items()}
    canvas = "id" in headings[:3] and {"section", "student", "lastname"} & set(headings)
    if canvas:
        platform: Platform = "canvas"
        for kind in known.keys() - {"student", "number", "name", "last", "first"}:
            known.pop(kind)  # these are titles of assignments
    elif counts_students(sheet, headings):
        platform = "moodle"
        known["number"] = 0
        if "full name" not in headings:
            known = by_content(sheet, known, wanted)
    else:
        platform = ""
        if "student" in headings and not known.keys() & {"student", "number"}:
            known["student"] = headings.index("student")
    known |= wanted
    if not known.keys() & {"student", "number"}:
        raise CourseError(
            f"The roster {sheet.name} has no column that identifies students. Add a "
            "column student_id, use the list that Canvas or Moodle exports, or "
            f"choose a column with --columns: {', '.join(sheet.columns)}."
        )
    return Columns(platform, known)


def counts_students(sheet: Sheet, headings: list[str]) -> bool:
    """Whether the first column is the identifier of Moodle's worksheet."""
    if not headings or headings[0] == "identifier":
        return bool(headings)
    found = [NUMBERED.fullmatch(value) for value in sheet.values(0)]
    words = {match["word"] if match else "" for match in found}
    return len(words) == 1 and "" not in words and grade_column(sheet) is not None


def grade_column(sheet: Sheet) -> int | None:
    """The grade: before a column with one number for all, the maximum."""
    for grade in range(1, len(sheet.columns) - 1):
        highest = set(sheet.values(grade + 1))
        same = len(highest) == 1 and NUMBER.fullmatch(next(iter(highest)))
        grades = set(sheet.values(grade)) - {"", "-"}
        if same and all(map(NUMBER.fullmatch, grades)):
            return grade
    return None


def by_content(
    sheet: Sheet, known: dict[str, int], wanted: Mapping[str, int]
) -> dict[str, int]:
    """The columns of a worksheet in another language, or of blind marking.

    What was ``known`` by its heading counts more than what is found here.
    """
    known = {kind: place for kind, place in known.items() if place}
    found = {"number": 0}
    columns = {n: sheet.values(n) for n in range(1, len(sheet.columns))}
    mail = [n for n, column in columns.items() if all("@" in value for value in column)]
    if mail and columns[mail[0]]:
        known["email"] = found["student"] = mail[0]
    if "name" not in wanted and named(columns.get(1, []), bool(mail), sheet):
        known["name"] = 1
    if (grade := grade_column(sheet)) is not None:
        most = grade + 1
        found |= {"grade": grade, "most": most}
        times = [
            n
            for n in range(most + 1, len(sheet.columns))
            if all(v in ("", "-") or MOMENT.fullmatch(v) for v in columns[n])
        ]
        found |= zip(("time", "graded"), times, strict=False)
        if times:
            found["open"] = times[0] - 1
            if times[0] > most + 2:  # one more before "can be changed"
                found["workflow"] = most + 1
        if len(times) > 1 and times[1] + 1 < len(sheet.columns):
            found["comments"] = times[1] + 1
    known = found | known
    before = [known[k] for k in ("number", "student", "name") if k in known]
    return {"status": max(before) + 1} | known


def named(values: list[str], mail: bool, sheet: Sheet) -> bool:
    """Whether the second column has names. In blind marking it is the status."""
    if sheet.columns[1].strip().lower() == "status":
        return False
    many, different = len(values) > 3, len(set(values))
    if mail or (many and different > 0.8 * len(values)):
        return True
    if many and different <= max(2, len(values) // 3):
        return False
    raise CourseError(
        f"It is not clear whether the column {sheet.columns[1]!r} of {sheet.name} has "
        "names. Add --columns name=HEADING or, if marking is blind, "
        f"--columns name={sheet.columns[0]!r}."
    )


def parse_columns(text: str) -> dict[str, str]:
    """``name=Vollständiger Name,grade=Bewertung`` as a mapping."""
    given = {}
    for part in filter(str.strip, text.split(",")):
        kind, sign, heading = part.partition("=")
        if not sign or kind.strip() not in HEADINGS:
            hint = meant(kind.strip(), list(HEADINGS))
            raise CourseError(f"--columns takes KIND=HEADING, not {part!r}; {hint}")
        given[kind.strip()] = heading.strip().strip("'\"")
    return given
