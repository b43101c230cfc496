"""Signature of a certificate: who signed it, and that nobody has changed it.

The signature is W3C Data Integrity's eddsa-jcs-2022: Ed25519 over the SHA-256 of the
canonical JSON (RFC 8785) of the proof's options and of the credential.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from autograder.errors import CourseError

PUBLIC = "certificate.pub"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
ED25519 = b"\xed\x01"  # the multicodec prefix of such a key
Json = dict[str, Any]  # a JSON object of the standard's making


def verify(text: str, course_key: str) -> Json:
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
        raise CourseError(
            "The signature does not match: the file was changed."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CourseError("The file is not a certificate of this course.") from None
    if start > datetime.now(UTC):
        raise CourseError("The certificate is not valid yet.")
    return unsigned


def digest(unsigned: Json, proof: Json) -> bytes:
    """What is signed: the hash of the options, then that of the credential."""
    parts = (hashlib.sha256(canonical(part)).digest() for part in (proof, unsigned))
    return b"".join(parts)


def canonical(value: Json) -> bytes:
    """RFC 8785 for what we write: no fractions, names of keys in ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


# --------------------------------------------------------------------- keys


def did(key: Ed25519PublicKey) -> str:
    """A public key as a did:key, which holds the whole key."""
    return f"did:key:z{base58(ED25519 + key.public_bytes_raw())}"


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
        data = base58_bytes(course_key.removeprefix("did:key:z"))
        if not data.startswith(ED25519):
            raise ValueError
        return Ed25519PublicKey.from_public_bytes(data[2:])
    except ValueError:
        raise CourseError(
            "The course's public key is not an Ed25519 did:key."
        ) from None
