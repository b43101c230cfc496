"""``autograder certificate``: a signed Open Badge for students who completed all.

With ``--verify``, it checks one: who signed it, and that nobody has changed it.
"""

from __future__ import annotations

import argparse
import json
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from autograder.course import Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import add_file, describe, share
from autograder.release.dates import due_dates
from autograder.results.templates import render
from autograder.results.verify import PUBLIC, Json, base58, did, digest, verify
from autograder.text import one_line

CONTEXT = [
    "https://www.w3.org/ns/credentials/v2",
    "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
]
PRIVATE = "certificate.key"


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
    who.add_argument(
        "--verify",
        type=Path,
        metavar="FILE",
        help="check this certificate instead; the exit code is 0 when the course "
        "signed exactly this",
    )
    add_file(verb, "--key", "public key for --verify (default: certificate.pub)")
    verb.add_argument(
        "--name", help="name on the certificate (default: the gradebook's, else the id)"
    )
    verb.add_argument(
        "--least",
        type=share,
        default=0.6,
        metavar="SHARE",
        help="minimum share of all points (default: 0.6)",
    )


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
    verdicts = {title: results.get(title, {}).get(student) for title in given}
    if not any(student in found for found in results.values()):
        raise CourseError(
            f"No work by {one_line(student)} is graded yet; give the student's id as "
            "it appears in submitted/."
        )
    for assignment, verdict in verdicts.items():
        who = f"{one_line(student)} has no certificate yet: {assignment}"
        if verdict is None:
            which = "has a due date" if due else "was graded for others"
            raise CourseError(f"{who}, which {which}, was not graded.")
        if verdict.score is None or verdict.unfinished:
            raise CourseError(f"{who} {verdict.unfinished}.")
        score, most = score + verdict.score, most + verdict.max_score
    if score < least * most:
        raise CourseError(
            f"{one_line(student)} has no certificate yet: {score:g} of {most:g} "
            f"points, but a certificate requires {least:.0%}."
        )
    title = str(course.nbgrader().CourseDirectory.course_id)
    points = f"{score:g} of {most:g} points"
    now = datetime.now(UTC)
    key, which = signing_key(course), f"{points} in {', '.join(given)}"
    signed = credential(key, title, name, which, now)
    folder = course.root / "certificates"
    paths = [folder / f"{student}.json", folder / f"{student}.html"]
    text = json.dumps(signed, indent=1, ensure_ascii=False) + "\n"
    write_whole(paths[0], text)
    write_whole(paths[1], page(title, name, points, now))
    return paths


def page(title: str, name: str, points: str, now: datetime) -> str:
    """A page to print; what counts is the signed file."""
    return render(
        "certificate.html",
        title=title,
        name=name,
        points=points,
        date=f"{now:%Y-%m-%d}",
    )


def credential(
    key: Ed25519PrivateKey, course: str, name: str, points: str, now: datetime
) -> Json:
    """A signed AchievementCredential."""
    issuer = did(key.public_key())
    time = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    unsigned = {
        "@context": CONTEXT,
        "id": f"urn:uuid:{uuid.uuid4()}",
        "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "name": f"Completion of {course}",
        "issuer": {"id": issuer, "type": ["Profile"], "name": course},
        "validFrom": time,
        "credentialSubject": {
            "type": ["AchievementSubject"],
            "identifier": [
                {
                    "type": "IdentityObject",
                    "identityHash": name,
                    "identityType": "name",
                    "hashed": False,
                }
            ],
            "achievement": {
                "id": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, issuer)}",
                "type": ["Achievement"],
                "name": f"Completion of {course}",
                "description": "Every assignment of the course was graded.",
                "criteria": {"narrative": f"All assignments graded: {points}."},
            },
        },
    }
    proof = {
        "type": "DataIntegrityProof",
        "cryptosuite": "eddsa-jcs-2022",
        "created": time,
        "verificationMethod": f"{issuer}#{issuer.removeprefix('did:key:')}",
        "proofPurpose": "assertionMethod",
        "@context": CONTEXT,
    }
    signature = key.sign(digest(unsigned, proof))
    return {**unsigned, "proof": {**proof, "proofValue": "z" + base58(signature)}}


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
