"""``autograder lti register``: make a key pair, store the platform's addresses."""

from __future__ import annotations

import argparse
import json
from typing import Any

from jwcrypto.jwk import JWK
from pylti1p3.registration import Registration

from autograder.course import Course
from autograder.lti.files import Folder, Platform, origin, write_private
from autograder.lti.sentences import Refused

AGS = "https://purl.imsglobal.org/spec/lti-ags/scope"
SCOPES = [f"{AGS}/lineitem", f"{AGS}/result.readonly", f"{AGS}/score"]
PEOPLE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
NEEDED = ("platform", "address", "client_id", "deployment_id")
ADDRESSES = ("issuer", "login_url", "token_url", "keys_url")


def register(course: Course, options: argparse.Namespace) -> None:
    """Make a key if there is none; print what to paste, or store the platform."""
    folder = Folder(course)
    if not folder.key_file.exists():
        pem = JWK.generate(kty="RSA", size=2048).export_to_pem(True, None)
        write_private(folder.key_file, pem.decode())
    missing = [name for name in NEEDED if not getattr(options, name)]
    if len(missing) == len(NEEDED):
        print(to_paste(folder.key(), f"http://127.0.0.1:{options.port}"))
        return
    if missing:
        names = [f"--{name.replace('_', '-')}" for name in missing]
        raise Refused("options", names=" and ".join(names))
    address = options.address.rstrip("/")
    places = zip(ADDRESSES, usual(options.platform, address), strict=True)
    found = {name: getattr(options, name) or place for name, place in places}
    for name, place in (("address", address), *list(found.items())[1:]):
        origin(place, f"--{name.replace('_', '-')}")
    ids = options.client_id, options.deployment_id
    platform = Platform(options.platform, address, *ids, **found)
    folder.save("platform", platform)
    print(f"Registered {address}. Now link the course: autograder lti link")


def usual(kind: str, address: str) -> tuple[str, ...]:
    """Issuer, login, token and key addresses as Moodle and Canvas have them."""
    if kind == "moodle":
        scripts = ("auth", "token", "certs")
        return address, *(f"{address}/mod/lti/{name}.php" for name in scripts)
    hosted = address.endswith(".instructure.com")
    at = "https://sso.canvaslms.com" if hosted else address
    return (
        "https://canvas.instructure.com",
        f"{at}/api/lti/authorize_redirect",
        f"{at}/login/oauth2/token",
        f"{at}/api/lti/security/jwks",
    )


def public_of(private: str) -> str:
    """The public half of the key, in PEM."""
    return str(JWK.from_pem(private.encode()).export_to_pem().decode())


def to_paste(private: str, page: str) -> str:
    """What an administrator pastes into Moodle or Canvas; the guide says where."""
    public = public_of(private)
    return (
        f"Tool URL and redirection URI: {page}/launch\n"
        f"Initiate login URL:           {page}/login\n\n"
        f"Moodle, public key:\n{public}\n"
        f"Canvas, configuration:\n{json.dumps(for_canvas(public, page), indent=2)}\n\n"
        "The guide explains where to paste this (Scores into Moodle and Canvas). "
        "Then run\nthe command again with --platform, --address, --client-id and "
        "--deployment-id."
    )


def for_canvas(public: str, page: str) -> dict[str, Any]:
    """The tool as Canvas reads it."""
    title, target = "Scores of the autograder", {"target_link_uri": f"{page}/launch"}
    placement = {
        "placement": "course_navigation",
        "message_type": "LtiResourceLinkRequest",
        "text": title,
        "visibility": "admins",
        "windowTarget": "_blank",
    }
    extension = {
        "platform": "canvas.instructure.com",
        "privacy_level": "public",
        "settings": {"placements": [placement | target]},
    }
    return target | {
        "title": title,
        "description": "Sends the scores of graded notebooks",
        "oidc_initiation_url": f"{page}/login",
        "scopes": [*SCOPES, PEOPLE],
        "public_jwk": dict(Registration.get_jwk(public)),
        "extensions": [extension],
    }
