"""HTTP client of a platform's LTI services, with retries: columns, scores, members."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import requests
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException, LtiServiceException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.registration import Registration
from pylti1p3.service_connector import ServiceConnector

from autograder.lti.files import Folder, Platform, at_home
from autograder.lti.register import PEOPLE, SCOPES, public_of
from autograder.lti.sentences import TEXTS, Refused

WAITS = (1.0, 2.0, 4.0, 8.0)  # seconds before each further try
LONGEST_WAIT = 60.0  # seconds
ASKED_TO_WAIT = (429, 503)  # nothing was done: even a score can be sent again
BROKEN = (500, 502, 504)
SCORE = "a score"
OF_CANVAS = "https://canvas.instructure.com/lti/submission"

BLOCK = "(?:p|div|br|li|ul|ol|tr|table|pre|blockquote|h[1-6])"
FORMATTED = re.compile(rf"\s*<{BLOCK}\b.*>\s*", re.S | re.I)  # as the editor writes it
# in this order: what stays of tags, and the rest of them
PARTS = (
    (r"\s+", " "),
    (r'<a\b[^>]*href="([^"]*)"[^>]*>(.*?)</a>', r"\2 (\1)"),
    (r'<img\b[^>]*alt="([^"]+)"[^>]*>', r"\1"),
    (r'<img\b[^>]*src="([^"]*)"[^>]*>', r"\1"),
    (r"<li\b[^>]*>", "\n- "),
    (rf"</?{BLOCK}\b[^>]*>", "\n"),
    ("<[^>]*>", ""),
)


@dataclass(frozen=True)
class Cell:
    """A student's place in a column; ``score`` is None where there is no grade.

    ``most`` was the column's maximum when the grade was stored.
    """

    score: float | None
    most: float
    comment: str = ""


class Session(requests.Session):
    """Requests to the registered host alone, again when the platform asks for it."""

    def __init__(self, platform: Platform) -> None:
        super().__init__()
        self.platform = platform
        self.auth = lambda request: request  # else a .netrc replaces the token

    def request(self, method: str, url: str, **options: Any) -> requests.Response:  # type: ignore[override]
        """One request; Refused when nobody answers."""
        if url != self.platform.token_url:
            at_home(url, self.platform)
        options |= {"timeout": 30, "allow_redirects": False}
        reading = method.upper() == "GET"
        for wait in (*WAITS, None):
            try:
                answer = super().request(method, url, **options)
            except requests.RequestException as error:
                if not reading or wait is None:
                    about = {"address": self.platform.address, "error": error}
                    raise Refused("unreachable", unknown=not reading, **about) from None
                time.sleep(wait)
                continue
            code = answer.status_code
            again = code in ASKED_TO_WAIT or (reading and code in BROKEN)
            if not again or wait is None:
                break
            asked = answer.headers.get("Retry-After", "")
            time.sleep(min(float(asked) if asked.isdigit() else wait, LONGEST_WAIT))
        if 300 <= code < 400:
            raise Refused("redirect", url=url, target=answer.headers.get("Location"))
        return answer


class Connector(ServiceConnector):
    """Tokens are kept; one that the platform no longer takes is replaced."""

    def __init__(self, platform: Platform, private: str) -> None:
        registration = (
            Registration()
            .set_issuer(platform.issuer)
            .set_client_id(platform.client_id)
            .set_auth_token_url(platform.token_url)
            .set_tool_private_key(private)
            .set_tool_public_key(public_of(private))
        )
        super().__init__(registration, Session(platform))
        self.url = platform.token_url
        self.tokens: dict[str, str] = {}

    def _get_cached_access_token(self, scope_key: str) -> str | None:
        return self.tokens.get(scope_key)

    def _cache_access_token(
        self, scope_key: str, access_token: str, expires_in: float
    ) -> None:
        self.tokens[scope_key] = access_token

    def get_access_token(self, scopes: Any) -> str:
        """A token for these scopes; Refused with what to set when there is none."""
        try:
            return super().get_access_token(scopes)
        except LtiServiceException as error:
            code, text = error.response.status_code, error.response.text[:200]
            if error.response.ok:  # a page
                raise Refused("no-access-token", url=self.url) from None
            if "invalid_scope" in text:
                raise Refused("invalid-scope") from None
            raise Refused("key-refused", url=self.url, code=code, text=text) from None
        except (LookupError, TypeError, ValueError):
            raise Refused("no-access-token", url=self.url) from None

    def make_service_request(self, *args: Any, **options: Any) -> Any:
        """A request with a token; once more with a new one where that was refused."""
        try:
            return super().make_service_request(*args, **options)
        except LtiServiceException as error:
            if error.response.status_code != 401:
                raise
            self.tokens.clear()
            return super().make_service_request(*args, **options)


class Service:
    """The linked course of the platform."""

    def __init__(self, folder: Folder) -> None:
        self.platform, self.link = folder.platform(), folder.link()
        self.connector = Connector(self.platform, folder.key())
        data: Any = {"scope": SCOPES, "lineitems": self.link.lineitems}
        self.grades = AssignmentsGradesService(self.connector, data)

    def members(self) -> list[dict[str, Any]]:
        """Everybody in the course; Refused when it is another course."""
        kind = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
        found: list[dict[str, Any]] = []
        with explained("the list of people"):
            url = self.link.memberships
            for page in self.connector.get_paginated_data([PEOPLE], url, accept=kind):
                body: Any = page["body"]
                course = (body.get("context") or {}).get("id", self.link.context)
                if str(course) != self.link.context:
                    raise Refused("people-of-another", title=self.link.title)
                found += map(dict, body["members"])
        return found

    def column(self, name: str) -> LineItem | None:
        """The gradebook's column of an assignment; None when there is none yet."""
        with explained("the columns of the gradebook"):
            found = [i for i in self.grades.get_lineitems() if i.get("tag") == name]
        if len(found) > 1:
            title = self.link.title
            raise Refused("columns", title=title, count=len(found), name=name)
        return self.ours(LineItem(found[0])) if found else None

    def new_column(self, name: str, most: float) -> LineItem:
        """Make the column of an assignment."""
        item = LineItem().set_tag(name).set_label(name).set_score_maximum(most)
        with explained(f"a new column for {name}"):
            made = self.grades.create_lineitem(item)
        return self.ours(made)

    def ours(self, column: LineItem) -> LineItem:
        """A column of this platform; Refused when it is elsewhere."""
        at_home(str(column.get_id()), self.platform)
        return column

    def results(self, column: LineItem) -> dict[str, Cell]:
        """What stands in a column now, by user."""
        found: dict[str, Cell] = {}
        with explained("the grades of the column"):
            for result in self.grades.get_grades(column):
                score, most = result.get("resultScore"), result.get("resultMaximum")
                score = None if score is None else float(score)
                note = str(result.get("comment") or "")
                found[str(result["userId"])] = Cell(score, float(most or 1), note)
        return found

    def send(
        self, column: LineItem, user: str, score: float | None, most: float, note: str
    ) -> None:
        """Send a final score, or that it is pending; Refused when it was not taken.

        ``note`` is the comment that stands there: Moodle erases what is not sent again.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        grade = Grade().set_user_id(user).set_timestamp(now)
        progress = "Submitted", "PendingManual"
        if score is not None:
            progress = "Completed", "FullyGraded"
            grade.set_score_given(score).set_score_maximum(most)
        grade.set_activity_progress(progress[0]).set_grading_progress(progress[1])
        if self.platform.kind == "canvas":  # else each score counts as an attempt
            grade.set_extra_claims({OF_CANVAS: {"new_submission": False}})
        elif note:  # Canvas would add it once more
            grade.set_comment(as_text(note))
        with explained(SCORE):
            self.grades.put_grade(grade, column)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn what can go wrong with one of the platform's answers into a sentence."""
    try:
        yield
    except LtiServiceException as error:
        code = error.response.status_code
        if what == SCORE and code == 500:
            raise Refused("locked", unknown=True) from None
        reason = TEXTS.get(str(code), TEXTS["500"])
        raise Refused(
            "no-answer", unknown=code >= 500, what=what, code=code, reason=reason
        ) from None
    except requests.JSONDecodeError:
        raise Refused("page", unknown=True) from None
    except (LtiException, AttributeError, LookupError, TypeError, ValueError) as error:
        raise Refused("odd-answer", what=what, error=repr(error)) from None


def as_text(comment: str) -> str:
    """A teacher's comment without tags; one that has none, as our own, stays as it is.

    With each score Moodle replaces it. It takes a tool's as plain text, and shows its
    line breaks, but also its tags (mod/lti, gradebookservices.php).
    """
    if not FORMATTED.fullmatch(comment):
        return comment
    text = comment
    for part, shown in PARTS:
        text = re.sub(part, shown, text, flags=re.I)
    lines = (html.unescape(line).strip() for line in text.split("\n"))
    return "\n".join(filter(None, lines))
