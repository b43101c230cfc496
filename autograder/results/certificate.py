"""``autograder certificate``: a signed Open Badge for students who completed all.

With ``--verify``, it checks one: who signed it, and that nobody has changed it. The
signature is W3C Data Integrity's eddsa-jcs-2022: Ed25519 over the SHA-256 of the
canonical JSON (RFC 8785) of the proof's options and of the credential.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from autograder.course import Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import add_file, describe, share
from autograder.release.dates import due_dates
from autograder.results.templates import render
from autograder.text import one_line

CONTEXT = [
    "https://www.w3.org/ns/credentials/v2",
    "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
]
SUITE = {
    "type": "DataIntegrityProof",
    "cryptosuite": "eddsa-jcs-2022",
    "proofPurpose": "assertionMethod",
    "@context": CONTEXT,
}
PRIVATE, PUBLIC = "certificate.key", "certificate.pub"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
KEY, ED25519 = "did:key:z", b"\xed\x01"  # and the multicodec prefix of such a key
Json = dict[str, Any]  # a JSON object of the standard's making


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder certificate`."""
    describe(
        verb,
        "The student needs a grade in every assignment with a due date in "
        "c.Autograder.due, or, if there are no due dates, in every assignment that "
        "was graded for anybody. The key is created on first use. Keep certificate.key "
        "secret, and publish certificate.pub.",
        'autograder certificate ada --name "Ada Lovelace"',
    )
    who = verb.add_mutually_exclusive_group(required=True)
    who.add_argument("student", nargs="?", metavar="STUDENT")
    words = (
        "check this certificate instead; the exit code is 0 when the course signed "
        "exactly this"
    )
    who.add_argument("--verify", type=Path, metavar="FILE", help=words)
    add_file(verb, "--key", "public key for --verify (default: certificate.pub)")
    words = "name on the certificate (default: the gradebook's, else the id)"
    verb.add_argument("--name", help=words)
    words = "minimum share of all points (default: 0.6)"
    verb.add_argument("--least", type=share, default=0.6, metavar="SHARE", help=words)


def run(options: argparse.Namespace) -> None:
    """Write the certificate of one student, or check one."""
    if options.verify:
        return check(options.verify, options.key)
    for path in issue(Course.find(), options.student, options.name, options.least):
        print(f"wrote {one_line(str(path))}")


def check(path: Path, key: Path | None) -> None:
    """Say what is certified, and to whom; CourseError when it was not signed here."""
    try:
        public = (key or Course.find().root / PUBLIC).read_text().strip()
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"Nothing was checked: {error}.") from None
    credential = verify(text, public)
    name = credential["credentialSubject"]["identifier"][0]["identityHash"]
    print(f"Signed by this course: {one_line(credential['name'])}, {one_line(name)}.")


def issue(course: Course, student: str, name: str | None, least: float) -> list[Path]:
    """Write the credential of a student who has completed the course, and a page."""
    from autograder.grading.store import Store

    score = most = 0.0
    with Store(course) as store:
        results = {a.name: store.results(a.name) for a in course.assignments()}
        name = name or store.names().get(student) or student
    due = sorted(due_dates(course))
    given = due or [title for title, found in results.items() if found]
    if not any(student in found for found in results.values()):
        raise CourseError(
            f"No work by {one_line(student)} is graded yet; give the student's id as "
            "it appears in submitted/."
        )
    none = f"{one_line(student)} has no certificate yet:"
    for assignment in given:
        verdict = results.get(assignment, {}).get(student)
        if verdict is None:
            which = "has a due date" if due else "was graded for others"
            raise CourseError(f"{none} {assignment}, which {which}, was not graded.")
        if verdict.score is None or verdict.unfinished:
            raise CourseError(f"{none} {assignment} {verdict.unfinished}.")
        score, most = score + verdict.score, most + verdict.max_score
    if score < least * most:
        raise CourseError(
            f"{none} {score:g} of {most:g} points, but a certificate requires "
            f"{least:.0%}."
        )
    title = str(course.nbgrader().CourseDirectory.course_id)
    points = f"{score:g} of {most:g} points"
    now = datetime.now(UTC)
    narrative = f"{points} in {', '.join(given)}"
    signed = credential(signing_key(course), title, name, narrative, now)
    folder = course.root / "certificates"
    shown = {"title": title, "name": name, "points": points}
    page = render("certificate.html", date=f"{now:%Y-%m-%d}", **shown)
    text = json.dumps(signed, indent=1, ensure_ascii=False) + "\n"
    write_whole(folder / f"{student}.json", text)
    write_whole(folder / f"{student}.html", page)
    return [folder / f"{student}.json", folder / f"{student}.html"]


def credential(
    key: Ed25519PrivateKey, course: str, name: str, points: str, now: datetime
) -> Json:
    """A signed AchievementCredential."""
    issuer = did(key.public_key())
    time = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    title = f"Completion of {course}"
    person = {"type": "IdentityObject", "identityHash": name, "identityType": "name"}
    unsigned = {
        "@context": CONTEXT,
        "id": f"urn:uuid:{uuid.uuid4()}",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "name": title,
        "issuer": {"id": issuer, "type": ["Profile"], "name": course},
        "validFrom": time,
        "credentialSubject": {
            "type": ["AchievementSubject"],
            "identifier": [person | {"hashed": False}],
            "achievement": {
                "id": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, issuer)}",
                "type": ["Achievement"],
                "name": title,
                "description": "Every assignment of the course was graded.",
                "criteria": {"narrative": f"All assignments graded: {points}."},
            },
        },
    }
    method = f"{issuer}#{issuer.removeprefix('did:key:')}"
    proof = SUITE | {"created": time, "verificationMethod": method}
    signature = key.sign(digest(unsigned, proof))
    return {**unsigned, "proof": {**proof, "proofValue": "z" + base58(signature)}}


def verify(text: str, course_key: str) -> Json:
    """The credential when the course signed exactly this; CourseError otherwise."""
    key = public_key(course_key)
    try:
        signed = json.loads(text)
        unsigned = {k: v for k, v in signed.items() if k != "proof"}
        proof = dict(signed["proof"])
        value = proof.pop("proofValue")
        context = {"@context": unsigned["@context"]}
        suite = {part: proof[part] for part in SUITE}
        if suite != SUITE | context or value[:1] != "z":
            raise ValueError
        if unsigned["issuer"]["id"] != did(key):
            raise ValueError
        key.verify(base58_bytes(value[1:]), digest(unsigned, proof))
        start = datetime.fromisoformat(unsigned["validFrom"])
    except InvalidSignature:
        raise CourseError(
            "The signature does not match: the file was changed."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CourseError("The file is not a certificate of this course.") from None
    if start > datetime.now(UTC):
        raise CourseError("The certificate is not valid yet.")
    return unsigned


def digest(unsigned: Json, proof: Json) -> bytes:
    """What is signed: the hash of the options, then that of the credential.

    What we write has no fractions, and names of keys in ASCII.
    """
    style: Json = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}
    texts = (json.dumps(part, **style).encode() for part in (proof, unsigned))
    return b"".join(hashlib.sha256(text).digest() for text in texts)


# --------------------------------------------------------------------- keys


def signing_key(course: Course) -> Ed25519PrivateKey:
    """The course's key; made on first use, with its public half beside it."""
    path = course.root / PRIVATE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        try:
            key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(path.read_text()))
        except (OSError, ValueError):
            raise CourseError(
                f"{path} is not a key that this program has made."
            ) from None
    else:
        key = Ed25519PrivateKey.generate()
        with open(descriptor, "w") as file:
            file.write(key.private_bytes_raw().hex())
    write_whole(course.root / PUBLIC, did(key.public_key()) + "\n")
    return key


def did(key: Ed25519PublicKey) -> str:
    """A public key as a did:key, which holds the whole key."""
    return KEY + base58(ED25519 + key.public_bytes_raw())


def base58(data: bytes) -> str:
    """Bytes in the letters of did:key, in which none looks like another."""
    number, digits = int.from_bytes(data), ""
    while number:
        number, rest = divmod(number, 58)
        digits = BASE58[rest] + digits
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + digits


def base58_bytes(text: str) -> bytes:
    """The inverse of :func:`base58`; ValueError for other letters."""
    number = 0
    for char in text:
        number = number * 58 + BASE58.index(char)
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)


def public_key(course_key: str) -> Ed25519PublicKey:
    """The key in a did:key; CourseError when there is none."""
    try:
        data = base58_bytes(course_key.removeprefix(KEY))
        if not data.startswith(ED25519):
            raise ValueError
        return Ed25519PublicKey.from_public_bytes(data[2:])
    except ValueError:
        raise CourseError(
            "The course's public key is not an Ed25519 did:key."
        ) from None
