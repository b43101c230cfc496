"""A certificate is for those who completed the course, and cannot be changed."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from autograder.certificate import credential, did, page, signing_key, verify
from autograder.cli import main
from autograder.course import CourseError

NAME = "Ada <script>alert(1)</script> \u202eecalevoL"


@pytest.fixture
def key(course):
    return signing_key(course)


@pytest.fixture
def signed(key):
    return credential(key, "attention", NAME, "9 of 10", datetime.now(UTC))


def test_a_certificate_is_checked_without_a_network(course, signed, capsys):
    (course.root / "ada.json").write_text(json.dumps(signed, indent=3))
    assert main(["verify", "ada.json"]) == 0
    assert "\\u202e" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["name", "validFrom", "id"])
def test_a_changed_certificate_is_refused(key, signed, place):
    signed[place] = signed[place].replace("0", "1") + " "
    with pytest.raises(CourseError, match="was changed"):
        verify(json.dumps(signed), did(key.public_key()))


def test_a_certificate_signed_by_somebody_else_is_refused(key, course):
    (course.root / "certificate.key").unlink()
    other = signing_key(course)
    forged = credential(other, "attention", "Eve", "9 of 10", datetime.now(UTC))
    with pytest.raises(CourseError, match="no certificate of this course"):
        verify(json.dumps(forged), did(key.public_key()))
    forged["issuer"]["id"] = did(key.public_key())
    with pytest.raises(CourseError, match="was changed"):
        verify(json.dumps(forged), did(key.public_key()))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"proof": 1}', "[" * 99_999])
def test_what_is_no_certificate_is_refused(key, text):
    with pytest.raises(CourseError, match="no certificate"):
        verify(text, did(key.public_key()))


def test_the_key_is_kept_secret_and_stays(course, key):
    path = course.root / "certificate.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert did(signing_key(course).public_key()) == did(key.public_key())
    assert (course.root / "certificate.pub").read_text().startswith("did:key:z6Mk")


def test_no_markup_of_a_name_is_on_the_page():
    assert "<script>" not in page("attention", NAME, "9 of 10", datetime.now(UTC))
