"""Certificates of completion: Open Badges 3.0, signed so that anyone can check them.

The signature is W3C Data Integrity's eddsa-jcs-2022: Ed25519 over the SHA-256 of the
canonical JSON (RFC 8785) of the proof's options and of the credential.
"""

from __future__ import annotations

import hashlib
import html
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

from autograder.course import Course, CourseError, printable, write_whole

CONTEXT = [
    "https://www.w3.org/ns/credentials/v2",
    "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json",
]
PRIVATE, PUBLIC = "certificate.key", "certificate.pub"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
ED25519 = b"\xed\x01"  # the multicodec prefix of such a key


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
            raise CourseError(f"{path} is not a key of this program.") from None
    else:
        key = Ed25519PrivateKey.generate()
        with open(descriptor, "w") as file:
            file.write(key.private_bytes_raw().hex())
    write_whole(course.root / PUBLIC, did(key.public_key()) + "\n")
    return key


def did(key: Ed25519PublicKey) -> str:
    """A public key as a did:key, which holds the whole key."""
    return f"did:key:z{base58(ED25519 + key.public_bytes_raw())}"


def base58(data: bytes) -> str:
    number, digits = int.from_bytes(data), ""
    while number:
        number, rest = divmod(number, 58)
        digits = BASE58[rest] + digits
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + digits


def base58_bytes(text: str) -> bytes:
    number = 0
    for char in text:
        number = number * 58 + BASE58.index(char)
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)


def public_key(course_key: str) -> Ed25519PublicKey:
    try:
        data = base58_bytes(course_key.removeprefix("did:key:z"))
        if not data.startswith(ED25519):
            raise ValueError
        return Ed25519PublicKey.from_public_bytes(data[2:])
    except ValueError:
        raise CourseError("The course's public key is no Ed25519 did:key.") from None


# ------------------------------------------------------------- the credential


def credential(
    key: Ed25519PrivateKey, course: str, name: str, points: str, now: datetime
) -> dict[str, Any]:
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
                "description": "Every exercise of the course was handed in and graded.",
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


def digest(unsigned: dict[str, Any], proof: dict[str, Any]) -> bytes:
    """What is signed: the hash of the options, then that of the credential."""
    parts = (hashlib.sha256(canonical(part)).digest() for part in (proof, unsigned))
    return b"".join(parts)


def canonical(value: dict[str, Any]) -> bytes:
    """RFC 8785 for what we write: no fractions, names of keys in ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def verify(text: str, course_key: str) -> dict[str, Any]:
    """The credential when the course signed exactly this; CourseError otherwise."""
    key = public_key(course_key)
    try:
        signed = json.loads(text)
        unsigned = {k: v for k, v in signed.items() if k != "proof"}
        proof = dict(signed["proof"])
        value = proof.pop("proofValue")
        suite = proof["type"], proof["cryptosuite"], proof["proofPurpose"]
        wanted = ("DataIntegrityProof", "eddsa-jcs-2022", "assertionMethod")
        if suite != wanted or value[:1] != "z" or unsigned["issuer"]["id"] != did(key):
            raise ValueError
        if proof["@context"] != unsigned["@context"]:
            raise ValueError
        key.verify(base58_bytes(value[1:]), digest(unsigned, proof))
        start = datetime.fromisoformat(unsigned["validFrom"])
    except InvalidSignature:
        raise CourseError("The signature does not fit: the file was changed.") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CourseError("The file is no certificate of this course.") from None
    if start > datetime.now(UTC):
        raise CourseError("The certificate is not valid yet.")
    return unsigned


# ------------------------------------------------------------------- commands


def issue(course: Course, student: str, name: str, least: float) -> list[Path]:
    """Write the credential of a student who has completed the course, and a page."""
    from autograder.grading.store import Store

    score = most = 0.0
    with Store(course) as store:
        for assignment in course.assignments():
            results = store.results(assignment.name)
            own = next((r for r in results if r["student"] == student), None)
            who = f"{printable(student)} has no certificate yet: {assignment.name}"
            if own is None:
                raise CourseError(f"{who} was not graded.")
            if own["status"] != "graded":
                raise CourseError(f"{who} is held.")
            if any(question["needs_manual_grade"] for question in own["questions"]):
                raise CourseError(f"{who} waits for a grade by hand.")
            score, most = score + own["score"], most + own["max_score"]
    if score < least * most:
        raise CourseError(
            f"{printable(student)} has no certificate yet: {score:g} of {most:g} "
            f"points, and it takes {least:.0%} of them."
        )
    title = str(course.nbgrader().CourseDirectory.course_id)
    points = f"{score:g} of {most:g} points"
    now = datetime.now(UTC)
    signed = credential(signing_key(course), title, name, points, now)
    folder = course.root / "certificates"
    paths = [folder / f"{student}.json", folder / f"{student}.html"]
    text = json.dumps(signed, indent=1, ensure_ascii=False) + "\n"
    write_whole(paths[0], text)
    write_whole(paths[1], page(title, name, points, now))
    return paths


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}: {name}</title>
<style>
@page {{ size: A4 landscape }}
body {{ font: 1.25rem Georgia, serif; text-align: center; margin: 12vh 10vw }}
main {{ border: 3px double; padding: 4rem 2rem }}
</style>
<main><p>{title}</p><h1><bdi>{name}</bdi></h1>
<p>has completed the course with {points}.</p><p>{date}</p></main>
</html>
"""


def page(title: str, name: str, points: str, now: datetime) -> str:
    """A page to print; what counts is the signed file."""
    return PAGE.format(
        title=html.escape(title),
        name=html.escape(name),
        points=html.escape(points),
        date=f"{now:%Y-%m-%d}",
    )
