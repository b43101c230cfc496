"""Validation of an LTI launch: a signed token by which the platform names its course.

Signature, times and addresses are checked before anything of it is used.
"""

from __future__ import annotations

import time
from typing import Any

import jwt
import requests

from autograder.lti.files import Folder, Link, Platform, at_home
from autograder.lti.register import SCOPES
from autograder.lti.sentences import Refused
from autograder.text import one_line

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
ENDPOINT = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
REQUIRED = ["iss", "aud", "exp", "iat", "nonce", "sub"]
STAFF = ("membership#Instructor", "membership/Instructor#", "person#Administrator")
WRONG = {
    jwt.ExpiredSignatureError: "expired",
    jwt.InvalidAudienceError: "audience",
    jwt.InvalidIssuerError: "issuer",
    jwt.MissingRequiredClaimError: "no-claim",
    jwt.InvalidSignatureError: "signature",
}
CLOCKS = 60  # seconds by which two clocks may differ


def accepted(folder: Folder, token: str, nonce: str) -> Link:
    """The course that a launch comes from; Refused when anything about it is wrong.

    ``nonce`` is the one that the launch has to answer.
    """
    platform = folder.platform()
    claims = verified(token, platform)
    if claims["nonce"] != nonce:
        raise Refused("used-nonce")
    link = link_of(claims, platform)
    if folder.link_file.exists() and (other := folder.link()).context != link.context:
        path = folder.link_file
        raise Refused("other-course", title=link.title, other=other.title, path=path)
    return link


def verified(token: str, platform: Platform) -> dict[str, Any]:
    """The claims of a token that this platform signed, for us, now."""
    ours = platform.client_id
    try:
        header = jwt.get_unverified_header(token)
    except jwt.InvalidTokenError:
        raise Refused("no-token") from None
    if header.get("alg") != "RS256":
        raise Refused("algorithm", alg=header.get("alg"))
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key_of(platform, str(header.get("kid"))),
            algorithms=["RS256"],
            audience=ours,
            issuer=platform.issuer,
            leeway=CLOCKS,
            options={"require": REQUIRED, "verify_iat": False},
        )
    except jwt.InvalidTokenError as error:
        name = next((n for kind, n in WRONG.items() if isinstance(error, kind)), "")
        about: dict[str, Any] = {
            "client": ours,
            "issuer": platform.issuer,
            "url": platform.keys_url,
        }
        about |= {"claim": getattr(error, "claim", "")}
        raise Refused(name or "unreadable", error=error, **about) from None
    if not isinstance(claims["iat"], int | float):
        raise Refused("no-claim", claim="iat")
    if claims["iat"] > time.time() + CLOCKS:
        raise Refused("future")
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if several else ours) != ours:
        raise Refused("azp", azp=claims.get("azp"), client=ours)
    return claims


def key_of(platform: Platform, kid: str) -> jwt.PyJWK:
    """The platform's public key of that name."""
    url = platform.keys_url
    try:
        answer = requests.get(url, timeout=30, allow_redirects=False)
        answer.raise_for_status()
        for key in map(dict, answer.json()["keys"]):
            if key.get("kid") == kid and key.get("kty") == "RSA":
                return jwt.PyJWK(key, "RS256")
    except (
        *(requests.RequestException, jwt.PyJWTError),
        *(LookupError, TypeError, ValueError),
    ) as error:
        raise Refused("no-keys", url=url, error=error) from None
    raise Refused("unknown-key", kid=kid, url=url)


def link_of(claims: dict[str, Any], platform: Platform) -> Link:
    """What a verified launch says about its course."""

    def part(name: str, kind: type) -> Any:
        found = claims.get(name)
        return found if isinstance(found, kind) else kind()

    message = claims.get(f"{CLAIM}message_type")
    deployment = str(claims.get(f"{CLAIM}deployment_id"))
    roles = map(str, part(f"{CLAIM}roles", list))
    course, endpoint = part(f"{CLAIM}context", dict), part(ENDPOINT, dict)
    allowed = endpoint.get("scope") or []
    missing = [scope.rpartition("/")[2] for scope in SCOPES if scope not in allowed]
    lineitems = endpoint.get("lineitems")
    memberships = part(MEMBERS, dict).get("context_memberships_url")
    right = {
        "version": claims.get(f"{CLAIM}version") == "1.3.0",
        "message": message == "LtiResourceLinkRequest",
        "deployment": deployment == platform.deployment_id,
        "role": any(staff in role for role in roles for staff in STAFF),
        "no-course": course.get("id"),
        "no-gradebook": lineitems,
        "scopes": not missing,
        "no-people": memberships,
    }
    about: dict[str, Any] = {
        "type": message,
        "missing": " and ".join(missing),
        "got": deployment,
    }
    for name, holds in right.items():
        if not holds:
            raise Refused(name, registered=platform.deployment_id, **about)
    title = str(course.get("title") or course.get("label") or course["id"])
    for url in (lineitems, memberships):
        at_home(str(url), platform)
    return Link(str(course["id"]), one_line(title), str(lineitems), str(memberships))
