"""Path patterns of ``collect --pattern``, such as ``{assignment}_{student}_{file}``.

A field is the shortest text without a slash that fits. A regular expression with named
groups, as nbgrader's collector takes it, is a pattern too.
"""

from __future__ import annotations

import re
from datetime import tzinfo

from autograder.errors import CourseError
from autograder.intake.archive import Left
from autograder.intake.names import Label
from autograder.release.dates import platform_time
from autograder.text import meant

WHO = ("student", "student_id", "first_name", "last_name", "email")
LONGEST_NAME = 300  # characters, of what a platform writes before a student's own
FIELDS = [*WHO, "assignment", "timestamp", "file", "file_id"]


class Pattern:
    """A pattern of paths; CourseError when it is none, or does not tell a student."""

    def __init__(self, text: str) -> None:
        self.text = text
        parts = re.split(r"\{(\w*)\}", text)
        places = [f"(?P<{part}>[^/]+?)" for part in parts[1::2]]
        literal = [re.escape(part) for part in parts[::2]]
        built = literal[0] + "".join(
            place + after for place, after in zip(places, literal[1:], strict=True)
        )
        try:
            expression = text if "(?P<" in text else built
            self.expression = re.compile(f"(?:{expression})(?:/.*)?", re.S)
        except re.error as error:
            raise CourseError(f"--pattern {text!r} cannot be used: {error}.") from None
        for field in self.expression.groupindex:
            if field not in FIELDS:
                hint = meant(field, FIELDS)
                raise CourseError(f"--pattern has the unknown field {field!r}; {hint}")
        if not {"student", "student_id"} & self.expression.groupindex.keys():
            raise CourseError(f"--pattern {text!r} has no {{student}}.")
        fields = self.expression.groupindex
        self.who = "student" if "student" in fields else "student_id"

    def label(self, path: str, zone: tzinfo) -> Label | None:
        """Whose the file is, and when it came; None when the path has another form."""
        match = self.expression.fullmatch(path)
        if match is None:
            return None
        # an expression may take its text from what a student has put behind the name
        ends = range(min(len(path), LONGEST_NAME))
        begun = (self.expression.fullmatch(path[:end]) for end in ends)
        if any(one and one.start(self.who) < match.start(self.who) for one in begun):
            raise Left("can be read in two ways by --pattern; write .*? instead of .*")
        found = {k: v for k, v in match.groupdict().items() if v}
        student = found.get("student") or found.get("student_id")
        if not student:
            return None
        names = [student, found.get("email", "")]
        names.append(f"{found.get('first_name', '')} {found.get('last_name', '')}")
        time = None
        if written := found.get("timestamp"):
            time = platform_time(written, zone)
            if time is None:
                raise Left(f"has a timestamp that cannot be read: {written[:60]!r}")
        told = tuple(name for name in names if name.strip())
        return Label("", student, names=told, time=time)
