"""A certificate is for those who completed the course, and cannot be changed."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import shutil
from datetime import UTC, datetime

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from jsonschema import validate

from autograder.cli import main
from autograder.errors import CourseError
from autograder.results.certificate import credential, did, signing_key, verify
from autograder.results.templates import render

NAME = "Ada <script>alert(1)</script> \u202eecalevoL"

URI = {"type": "string", "pattern": "^(urn:uuid:|did:key:|https://)"}
NAMED = {"type": "string", "minLength": 1}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}


def thing(kind, **fields):
    """A schema: an object of this type that has all of these fields."""
    types = {"type": "array", "contains": {"const": kind}}
    return {
        "type": "object",
        "properties": {"type": types} | fields,
        "required": ["type", *fields],
    }


# what the JSON schema of Open Badges 3.0 requires of an AchievementCredential
IDENTITY = {
    "type": "object",
    "properties": {
        "type": {"const": "IdentityObject"},
        "hashed": {"type": "boolean"},
        "identityHash": NAMED,
        "identityType": {"const": "name"},
    },
    "required": ["type", "hashed", "identityHash", "identityType"],
}
ACHIEVEMENT = thing(
    "Achievement",
    id=URI,
    name=NAMED,
    description=NAMED,
    criteria={"type": "object", "required": ["narrative"]},
)
OPEN_BADGE = thing(
    "OpenBadgeCredential",
    **{
        "@context": {
            "type": "array",
            "minItems": 2,
            "prefixItems": [
                {"const": "https://www.w3.org/ns/credentials/v2"},
                {"pattern": r"^https://purl.imsglobal.org/spec/ob/v3p0/context-3.0"},
            ],
        },
        "id": URI,
        "name": NAMED,
        "issuer": thing("Profile", id=URI),
        "validFrom": TIME,
        "credentialSubject": thing(
            "AchievementSubject",
            identifier={"type": "array", "items": IDENTITY, "minItems": 1},
            achievement=ACHIEVEMENT,
        ),
        "proof": {
            "type": "object",
            "required": ["type", "created", "verificationMethod", "proofValue"],
        },
    },
)


def canonical(value):
    """RFC 8785 by hand, for what has no numbers."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{quoted(n)}:{canonical(value[n])}" for n in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else quoted(value)


def quoted(text):
    escapes = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f"}
    escapes |= {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    low = {chr(n): f"\\u{n:04x}" for n in range(32)}
    return '"' + "".join((low | escapes).get(char, char) for char in text) + '"'


def multibase(text):
    """The bytes of base58 text, as its definition says: a leading 1 is a byte of 0."""
    digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    assert text[0] == "z"
    number = sum(digits.index(c) * 58**k for k, c in enumerate(reversed(text[1:])))
    zeros = len(text[1:]) - len(text[1:].lstrip("1"))
    return bytes(zeros) + number.to_bytes(-(-number.bit_length() // 8), "big")


def second_opinion(signed):
    """Verify as W3C's eddsa-jcs-2022 tells, without a function of ours."""
    document = copy.deepcopy(signed)
    proof = document.pop("proof")
    signature = multibase(proof.pop("proofValue"))
    name, fragment = proof["verificationMethod"].split("#")
    assert name == document["issuer"]["id"] == f"did:key:{fragment}"
    prefix, raw = multibase(fragment)[:2], multibase(fragment)[2:]
    assert prefix == b"\xed\x01" and len(signature) == 64
    hashes = [hashlib.sha256(canonical(x).encode()).digest() for x in (proof, document)]
    Ed25519PublicKey.from_public_bytes(raw).verify(signature, b"".join(hashes))


def leaves(value, path=()):
    """The way to everything that is no list and no object."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in pairs:
            yield from leaves(inner, (*path, name))
    else:
        yield path


@pytest.fixture
def key(course):
    return signing_key(course)


@pytest.fixture
def signed(key):
    return credential(key, "attention", NAME, "9 of 10", datetime.now(UTC))


def test_a_certificate_is_checked_without_a_network(course, signed, capsys):
    (course.root / "ada.json").write_text(json.dumps(signed, indent=3))
    assert main(["certificate", "--verify", "ada.json"]) == 0
    assert "\\u202e" in capsys.readouterr().out


def test_another_program_comes_to_the_same_verdict(signed):
    second_opinion(signed)
    signed["credentialSubject"]["identifier"][0]["identityHash"] = "Eve"
    with pytest.raises(InvalidSignature):
        second_opinion(signed)


@pytest.mark.parametrize("name", ["\u00e9\U0001f600", 'a"b\\c', "\x00\x1f\n\x7f\u2028"])
def test_any_name_is_signed_as_the_standard_writes_it(key, name):
    second_opinion(credential(key, name, name, name, datetime.now(UTC)))


def test_it_is_an_open_badge(signed):
    validate(signed, OPEN_BADGE)
    assert set(signed["type"]) == {"VerifiableCredential", "OpenBadgeCredential"}


def test_a_change_or_a_loss_of_any_field_is_refused(key, signed):
    own = did(key.public_key())
    assert verify(json.dumps(signed), own)
    paths = list(leaves(signed))
    assert len(paths) >= 28
    for path in paths:
        for change in ("other", "gone"):
            forged = copy.deepcopy(signed)
            place = forged
            for name in path[:-1]:
                place = place[name]
            if change == "gone":
                del place[path[-1]]
            elif isinstance(place[path[-1]], bool):
                place[path[-1]] = not place[path[-1]]
            else:
                place[path[-1]] += "1"
            with pytest.raises(CourseError, match=r"was changed|not a certificate"):
                verify(json.dumps(forged), own)
                pytest.fail(f"{change}: {path}")
    forged = signed | {"evidence": []}
    with pytest.raises(CourseError, match="was changed"):
        verify(json.dumps(forged), own)


def test_a_certificate_signed_by_somebody_else_is_refused(key, course):
    (course.root / "certificate.key").unlink()
    other = signing_key(course)
    forged = credential(other, "attention", "Eve", "9 of 10", datetime.now(UTC))
    with pytest.raises(CourseError, match="not a certificate of this course"):
        verify(json.dumps(forged), did(key.public_key()))
    forged["issuer"]["id"] = did(key.public_key())
    with pytest.raises(CourseError, match="was changed"):
        verify(json.dumps(forged), did(key.public_key()))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"proof": 1}', "[" * 99_999])
def test_what_is_no_certificate_is_refused(key, text):
    with pytest.raises(CourseError, match="not a certificate"):
        verify(text, did(key.public_key()))


def test_the_key_is_kept_secret_and_stays(course, key):
    path = course.root / "certificate.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert did(signing_key(course).public_key()) == did(key.public_key())
    assert (course.root / "certificate.pub").read_text().startswith("did:key:z6Mk")


def test_nobody_is_told_that_a_stranger_is_still_to_be_graded(course, marked, capsys):
    marked({"ada@x.org": 20.0})
    assert main(["certificate", "ada"]) == 2
    assert (
        "No work by ada is graded yet; give the student's id" in capsys.readouterr().err
    )
    assert main(["certificate", "ada@x.org"]) == 0
    assert main(["certificate", "ada@x.org", "--least", "0.9"]) == 2
    assert "20 of 24 points, but a certificate requires 90%." in capsys.readouterr().err


@pytest.fixture
def three(course):
    """A course with two more assignments than it has handed out."""
    for name in ("00-puzzles", "04-masking"):
        shutil.copytree(course.solutions / "01-attention", course.solutions / name)
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write("\nc.Autograder.due = {}\n")

    def give(*names):
        with (course.root / "nbgrader_config.py").open("a") as file:
            due = dict.fromkeys(names, "2026-03-09 23:59")
            file.write(f"c.Autograder.due = {due}\n")

    return give


def test_what_was_never_handed_out_is_not_asked_for(course, three, marked, capsys):
    marked({"ada": 20.0, "bob": 20.0})
    assert main(["certificate", "ada"]) == 0
    marked({"bob": 20.0}, "04-masking")
    assert main(["certificate", "ada"]) == 2
    said = capsys.readouterr().err
    assert "04-masking, which was graded for others, was not graded." in said


def test_due_dates_say_what_is_asked_for(course, three, marked, capsys):
    marked({"ada": 20.0})
    marked({"bob": 1.0}, "00-puzzles")  # practice, which somebody handed in
    three("01-attention")
    assert main(["certificate", "ada"]) == 0
    signed = json.loads((course.root / "certificates/ada.json").read_text())
    criteria = signed["credentialSubject"]["achievement"]["criteria"]["narrative"]
    assert criteria == "All assignments graded: 20 of 24 points in 01-attention."
    three("01-attention", "04-masking")
    assert main(["certificate", "ada"]) == 2
    assert "04-masking, which has a due date, was" in capsys.readouterr().err
    three("04-masking")
    assert main(["certificate", "ada"]) == 2
    assert "04-masking, which has a due date, was" in capsys.readouterr().err


def test_the_name_of_the_gradebook_is_on_it(course, marked):
    marked({"ada@x.org": 20.0})
    (course.root / "roster.csv").write_text("student_id,name\nada@x.org,Ada Lovelace\n")
    assert main(["names", "roster.csv"]) == 0

    def printed(*options):
        assert main(["certificate", "ada@x.org", *options]) == 0
        page = (course.root / "certificates/ada@x.org.html").read_text()
        return re.search("<bdi>(.*?)</bdi>", page)[1]

    assert printed() == "Ada Lovelace"
    assert printed("--name", "A. Lovelace") == "A. Lovelace"


def test_no_markup_of_a_name_is_on_the_page():
    about = {"title": "attention", "points": "9 of 10", "date": "2026-03-09"}
    assert "<script>" not in render("certificate.html", name=NAME, **about)
