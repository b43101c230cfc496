"""Parser of dates and times in due dates, timestamp.txt and Moodle's worksheets."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from autograder.course import CONFIG, Course
from autograder.errors import CourseError
from autograder.text import nearest, one_line

STAMP = "timestamp.txt"  # nbgrader's file beside a submission
LANGUAGES = (
    "ar bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy id is it "
    "ja ka ko lt lv mk ms nb nl nn pl pt ro ru sk sl sq sr sv sw th tr uk ur uz vi zh"
)
CLOCK = re.compile(
    r"(?P<hour>\d{1,2})\s?[:.hH]\s?(?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
    r"\s*(?P<half>[AaPp])?(?(half)\.?\s?[Mm]\.?)"
)
WRITTEN = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:[ T](?P<clock>\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?))?"
    r"\s*(?P<zone>\S.*)?"
)


def zone_of(name: str) -> tzinfo:
    """A time zone by its name, such as UTC, Europe/Berlin or +02:00."""
    if name in ("UTC", "GMT", "Z"):
        return UTC
    try:
        if re.fullmatch(r"[+-]\d\d:?\d\d", name):
            return datetime.strptime(name, "%z").tzinfo or UTC
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise CourseError(
            f"There is no time zone {one_line(name)}; write UTC, +02:00 or a name such "
            "as Europe/Berlin."
        ) from None


def course_zone(course: Course) -> tzinfo:
    """The time zone of a course: nbgrader's own setting, else UTC."""
    return zone_of(str(course.nbgrader().get("Exchange", {}).get("timezone", "UTC")))


def due_dates(course: Course) -> dict[str, datetime]:
    """When assignments are due, by name, from ``c.Autograder.due``.

    CourseError when something there cannot be read.
    """
    zone = course_zone(course)
    names = [assignment.name for assignment in course.assignments()]
    found = {}
    for name, due in course.table("due").items():
        if name not in names and (near := meant(name, names)):
            raise CourseError(
                f"c.Autograder.due in {CONFIG} has the unknown assignment "
                f"{one_line(name)}; did you mean {near}?"
            )
        # others may be of assignments to come
        found[name] = moment(str(due), zone).astimezone(UTC)
    return found


def meant(name: str, names: list[str]) -> str | None:
    """The assignment that a name is a misspelling or the beginning of.

    Any other name may be of an assignment to come.
    """
    begun = (known for known in names if name and known.startswith(name))
    return nearest(name, names) or next(begun, None)


def moment(text: str, zone: tzinfo) -> datetime:
    """``2026-03-09 23:59``, with a zone behind it if need be; the end of a mere day."""
    match = WRITTEN.fullmatch(text.strip())
    if match is None:
        raise CourseError(
            f"{one_line(text)!r} is not a date and time; write it as 2026-03-09 23:59."
        )
    try:
        clock = match["clock"] or "23:59:59"
        time = datetime.fromisoformat(f"{match['day']} {clock}")
    except ValueError:
        raise CourseError(f"{one_line(text)!r} is not a valid date and time.") from None
    here = time.replace(tzinfo=zone)
    if not match["zone"] or here.tzname() == match["zone"]:  # nbgrader writes PDT
        return here
    return time.replace(tzinfo=zone_of(match["zone"]))


def platform_time(text: str, zone: tzinfo) -> datetime | None:
    """A time in a file's name: ``2026-03-09-22-10-11``, ``Mar 9, 2026 1022 PM``.

    None when it cannot be read.
    """
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    try:
        if len(numbers) >= 5:
            time = datetime(*numbers[:6])  # type: ignore[arg-type]
        else:
            month, day, year, clock, half = re.split(r",? ", text)
            written = f"{month[:3]} {day} {year} {clock.zfill(4)} {half}"
            time = datetime.strptime(written, "%b %d %Y %I%M %p")
    except (ValueError, TypeError):
        return None
    return time.replace(tzinfo=UTC if text.endswith(("UTC", "Z")) else zone)


def read_stamp(
    folder: Path, zone: tzinfo = UTC, file: Path | None = None
) -> datetime | None:
    """When the submission in a folder was handed in, as timestamp.txt tells."""
    try:
        return moment((file or folder / STAMP).read_text()[:100], zone).astimezone(UTC)
    except (OSError, ValueError, CourseError):
        return None


def stamp(time: datetime) -> str:
    """The text of timestamp.txt."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC\n"


def of_worksheet(text: str, zone: tzinfo) -> datetime | None:
    """Moodle's "Monday, 9 March 2026, 5:30 PM", in the language of the download.

    None when the day cannot be told for sure.
    """
    clock = None
    for clock in CLOCK.finditer(text):  # noqa: B007  the last one is the time of day
        pass
    if clock is None:
        return None
    hour = int(clock["hour"])
    if clock["half"]:
        hour = hour % 12 + 12 * (clock["half"] in "pP")
    words = re.findall(r"\d+|[^\W\d]+", text[: clock.start()])
    numbers = [word for word in words if word.isdigit()]
    year = next((n for n in numbers if re.fullmatch(r"(?:19|20)\d\d", n)), "")
    names = [word.casefold() for word in words if not word.isdigit()]
    found = {months()[name] for name in names if name in months()}
    rest = [int(number) for number in numbers if number != year]
    if len(rest) == 1 and len(found) == 1:
        (month,) = found
    elif len(rest) == 2 and numbers[0] == year:  # 2026年3月9日
        month = rest.pop(0)
    else:
        month = None
    if not year or month is None:
        return None
    try:
        minute, second = int(clock["minute"]), int(clock["second"] or 0)
        time = datetime(int(year), month, rest[0], hour, minute, second)
    except ValueError:
        return None
    return time.replace(tzinfo=zone).astimezone(UTC)


@lru_cache
def months() -> dict[str, int | None]:
    """Names of months in many languages; None where two of them disagree."""
    from babel import Locale

    found: dict[str, int | None] = {}
    for language in LANGUAGES.split():
        locale = Locale.parse(language)
        for context in ("format", "stand-alone"):
            for number, name in locale.months[context]["wide"].items():
                word = str(name).casefold()
                same = found.get(word, number) == number
                found[word] = number if same else None
    return found
