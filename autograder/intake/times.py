"""Moments: of timestamp.txt, of Moodle's worksheet in any language, as people write."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from autograder.errors import CourseError
from autograder.text import one_line

STAMP = "timestamp.txt"  # nbgrader's file beside a submission
CLOCK = re.compile(
    r"(?P<hour>\d{1,2})\s?[:.hH]\s?(?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
    r"\s*(?P<half>[AaPp])?(?(half)\.?\s?[Mm]\.?)"
)
WRITTEN = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:[ T](?P<clock>\d\d:\d\d(?::\d\d)?))?(?:\.\d+)?"
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


def moment(text: str, zone: tzinfo) -> datetime:
    """``2026-03-09 23:59``, with a zone behind it if need be; the end of a mere day."""
    match = WRITTEN.fullmatch(text.strip())
    if match is None:
        raise CourseError(
            f"{one_line(text)!r} is no moment; write it as 2026-03-09 23:59."
        )
    try:
        clock = match["clock"] or "23:59:59"
        time = datetime.fromisoformat(f"{match['day']} {clock}")
    except ValueError:
        raise CourseError(f"{one_line(text)!r} is no day and time there is.") from None
    return time.replace(tzinfo=zone_of(match["zone"]) if match["zone"] else zone)


def read_stamp(folder: Path, zone: tzinfo = UTC) -> datetime | None:
    """When the submission in a folder was handed in, as timestamp.txt tells."""
    try:
        return moment((folder / STAMP).read_text()[:100], zone).astimezone(UTC)
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
    words = re.findall(r"\w+", text[: clock.start()])
    year = next((int(w) for w in words if re.fullmatch(r"(?:19|20)\d\d", w)), None)
    days = [int(w) for w in words if re.fullmatch(r"\d{1,2}", w)]
    names = [w.casefold() for w in words if not w.isdigit()]
    found = {months()[name] for name in names if name in months()}
    if year is None or len(days) != 1 or len(found) != 1 or None in found:
        return None
    month = found.pop()
    assert month is not None
    try:
        second = int(clock["second"] or 0)
        time = datetime(year, month, days[0], hour, int(clock["minute"]), second)
    except ValueError:
        return None
    return time.replace(tzinfo=zone).astimezone(UTC)


@lru_cache
def months() -> dict[str, int | None]:
    """Names of months in every language; None where two languages disagree."""
    from babel import Locale, localedata

    found: dict[str, int | None] = {}
    for identifier in localedata.locale_identifiers():
        if len(identifier) > 3:  # a language, without its countries
            continue
        locale = Locale.parse(identifier)
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in locale.months[context][width].items():
                    word = str(name).casefold().strip(".")
                    if word.isdigit():
                        continue
                    same = found.get(word, number) == number
                    found[word] = number if same else None
    return found
