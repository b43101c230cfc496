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
CLOCKS = 60  # seconds by which two clocks may differ
BY_HAND = 600  # seconds for an answer, and to copy a token out of a browser


def accepted(folder: Folder, token: str, state: str | None) -> Link:
    """The course that a launch comes from; Refused when anything about it is wrong.

    ``state`` came beside the token; None for a token that was copied by hand. A launch
    is taken once.
    """
    platform = folder.platform()
    claims = verified(token, platform, CLOCKS if state is not None else BY_HAND)
    if not spend(folder, claims["nonce"], state):
        raise Refused("used-nonce")
    link = link_of(claims, platform)
    if folder.link_file.exists() and (other := folder.link()).context != link.context:
        path = folder.link_file
        raise Refused("other-course", title=link.title, other=other.title, path=path)
    return link


def verified(token: str, platform: Platform, leeway: int) -> dict[str, Any]:
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
            leeway=leeway,
            options={"require": REQUIRED, "verify_iat": False},
        )
    except jwt.ExpiredSignatureError:
        raise Refused("expired") from None
    except jwt.InvalidAudienceError:
        raise Refused("audience", client=ours) from None
    except jwt.InvalidIssuerError:
        raise Refused("issuer", issuer=platform.issuer) from None
    except jwt.MissingRequiredClaimError as error:
        raise Refused("no-claim", claim=error.claim) from None
    except jwt.InvalidSignatureError:
        raise Refused("signature", url=platform.keys_url) from None
    except jwt.InvalidTokenError as error:
        raise Refused("unreadable", error=error) from None
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
        keys = [dict(key) for key in answer.json()["keys"]]
        for key in keys:
            if key.get("kid") == kid and key.get("kty") == "RSA":
                return jwt.PyJWK(key, "RS256")
    except (requests.RequestException, LookupError, TypeError, ValueError) as error:
        raise Refused("no-keys", url=url, error=error) from None
    except jwt.PyJWTError as error:
        raise Refused("no-keys", url=url, error=error) from None
    raise Refused("unknown-key", kid=kid, url=url)


def link_of(claims: dict[str, Any], platform: Platform) -> Link:
    """What a verified launch says about its course."""

    def part(name: str, kind: type) -> Any:
        found = claims.get(name)
        return found if isinstance(found, kind) else kind()

    if claims.get(f"{CLAIM}version") != "1.3.0":
        raise Refused("version")
    if (message := claims.get(f"{CLAIM}message_type")) != "LtiResourceLinkRequest":
        raise Refused("message", type=message)
    deployment = str(claims.get(f"{CLAIM}deployment_id"))
    if deployment != platform.deployment_id:
        raise Refused("deployment", got=deployment, registered=platform.deployment_id)
    roles = map(str, part(f"{CLAIM}roles", list))
    if not any(staff in role for role in roles for staff in STAFF):
        raise Refused("role")
    course, endpoint = part(f"{CLAIM}context", dict), part(ENDPOINT, dict)
    members = part(MEMBERS, dict)
    if not course.get("id"):
        raise Refused("no-course")
    if not endpoint.get("lineitems"):
        raise Refused("no-gradebook")
    missing = [s for s in SCOPES if s not in (endpoint.get("scope") or [])]
    if missing:
        names = (scope.rpartition("/")[2] for scope in missing)
        raise Refused("scopes", missing=" and ".join(names))
    if not members.get("context_memberships_url"):
        raise Refused("no-people")
    link = Link(
        str(course["id"]),
        one_line(str(course.get("title") or course.get("label") or course["id"])),
        str(endpoint["lineitems"]),
        str(members["context_memberships_url"]),
    )
    for url in (link.lineitems, link.memberships):
        at_home(url, platform)
    return link


def expect_launch(folder: Folder, state: str, nonce: str) -> None:
    """Remember what was asked for; one launch may answer it."""
    folder.save("waiting", waiting(folder) | {state: [nonce, time.time()]})


def spend(folder: Folder, nonce: object, state: str | None) -> bool:
    """Whether this nonce waits for a launch, with this state; then it waits no more."""
    known = waiting(folder)
    for name, (value, _) in known.items():
        if value == nonce and state in (None, name):
            folder.save("waiting", {k: v for k, v in known.items() if k != name})
            return True
    return False


def waiting(folder: Folder) -> dict[str, Any]:
    """Nonces of the last minutes with their times, by state."""
    if not (folder.path / "waiting.json").exists():
        return {}
    known = folder.read("waiting").items()
    return {state: v for state, v in known if time.time() - v[1] < BY_HAND}
