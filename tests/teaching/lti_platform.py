"""A learning platform for tests: a process that speaks LTI 1.3 over HTTP on loopback.

Tokens, signatures and the services' rules are lti1p3platform's; addresses, claims and
what a score does are as in the sources of Moodle (mod/lti) and Canvas (app/controllers/
lti/ims). ``/control`` is for the test: it reads what happened, and asks for trouble.
"""

from __future__ import annotations

import hmac
import json
import sys
import threading
import time
from contextlib import suppress
from datetime import datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt
from jwcrypto.jwk import JWK
from jwt.utils import base64url_encode
from lti1p3platform.exceptions import LineItemNotFoundException, LtiException
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.membership import Context
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.registration import Registration
from lti1p3platform.request import Request
from lti1p3platform.score import UpdateScoreStatus
from lti1p3platform.service_connector import (
    AssignmentsGradesService,
    NamesRoleProvisioningService,
)

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
ROLES = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
CANVAS = "https://canvas.instructure.com/lti/submission"
CLIENT, DEPLOYMENT = "aBc123", "4"

# whether a private key is a sound one is computed once for each: that takes 40 ms
jwt.algorithms.load_pem_private_key = cache(jwt.algorithms.load_pem_private_key)


class Config(LTI1P3PlatformConfAbstract):
    """One registered tool."""

    def init_platform_config(self, issuer):
        self.key = JWK.generate(kty="RSA", size=2048)
        self._registration = (
            Registration()
            .set_iss(issuer)
            .set_client_id(CLIENT)
            .set_deployment_id(DEPLOYMENT)
            .set_platform_public_key(self.key.export_to_pem().decode())
            .set_platform_private_key(self.key.export_to_pem(True, None).decode())
        )

    def get_registration_by_params(self, **_):
        return self._registration


class Launch(LTIAdvantageMessageLaunchAbstract):
    def get_preflight_response(self):
        return self._request

    def render_launch_form(self, launch_data, **_):
        return launch_data


class Asked(Request):
    def build_metadata(self, handler):
        query = {k: v[0] for k, v in parse_qs(urlsplit(handler.path).query).items()}
        if "page" in query:
            query["page"] = int(query["page"])
        query.pop("type_id", None)
        body = handler.body if handler.command == "POST" else "null"
        return {
            "method": handler.command,
            "form_data": {},
            "get_data": query,
            "headers": handler.headers,
            "content_type": handler.headers.get("Content-Type"),
            "path": handler.path,
            "json": json.loads(body or "null"),
        }


class Columns(AssignmentsGradesService):
    """The gradebook of the course."""

    platform: Platform

    def page_of(self, rows, page):
        size = 50 if self.platform.kind == "moodle" else 10
        part = rows[(page - 1) * size : page * size]
        return {"content": part, "has_next": page * size < len(rows)}

    def find_lineitems(self, page=1, **_):
        return self.page_of(list(self.platform.columns.values()), page)

    def find_lineitem(self, line_item_id):
        return self.platform.columns[line_item_id]

    update_lineitem = delete_lineitem = None  # nobody asks for this

    def create_lineitem(self, creation_data):
        platform = self.platform
        number = str(len(platform.columns) + 1)
        item = creation_data | {"id": platform.column_url(number)}
        platform.columns[number] = item
        platform.grades[number] = {}
        return item

    def get_results(self, line_item_id, page=1, **_):
        rows = []
        for user, grade in self.platform.grades[line_item_id].items():
            if self.platform.kind == "canvas" and not grade["sent"]:
                continue  # Canvas lists what the tool has sent something for
            row = {"id": f"{user}", "userId": user}
            if grade["score"] is not None:
                row |= {"resultScore": grade["score"], "resultMaximum": grade["most"]}
                row |= {"comment": grade["comment"]} if grade["comment"] else {}
            rows.append(row)
        return self.page_of(rows, page)

    def update_score(self, line_item_id, score):
        platform = self.platform
        if line_item_id not in platform.columns:
            raise LineItemNotFoundException
        most = platform.columns[line_item_id]["scoreMaximum"]
        cell = platform.cell(line_item_id, score["userId"])
        moment = datetime.fromisoformat(score["timestamp"]).timestamp()
        if platform.kind == "moodle":
            moment = int(moment)
            if cell["time"] and cell["time"] >= moment:
                return UpdateScoreStatus.OLD_TIMESTAMP
        final = score["gradingProgress"] == "FullyGraded" and "scoreGiven" in score
        given = score["scoreGiven"] * most / score["scoreMaximum"] if final else None
        new = score.get(CANVAS, {}).get("new_submission", True)
        attempts = cell["attempts"] + bool(new and platform.kind == "canvas")
        comment = score.get("comment")
        if platform.kind == "canvas":  # one more; Moodle's is replaced
            comment = "\n".join(filter(None, (cell["comment"], comment)))
        cell |= {"score": given, "sent": True, "time": moment, "attempts": attempts}
        cell |= {"most": most, "comment": comment}
        platform.grades[line_item_id][score["userId"]] = cell
        progress = score["gradingProgress"]
        platform.posts.append([score["userId"], progress, score.get("scoreGiven")])
        return UpdateScoreStatus.SUCCESS


class People(NamesRoleProvisioningService):
    platform: Platform

    def get_member_data_page(self, page=1, **_):
        size = 50 if self.platform.kind == "canvas" else 10_000
        rows = self.platform.members
        part = [dict(row) for row in rows[(page - 1) * size : page * size]]
        return {"content": part, "has_next": page * size < len(rows)}

    def get_context_by_id(self):
        return Context(self.platform.context, "ATT", "Attention")


class Platform:
    """Everything that a test may ask about, and the trouble that it asked for."""

    def __init__(self, kind, base, tool):
        self.kind, self.base, self.lock = kind, base, threading.Lock()
        canvas = "https://canvas.instructure.com"
        self.config = Config(issuer=base if kind == "moodle" else canvas)
        key = dict(Registration.get_jwk(tool))
        self.config.get_registration().set_tool_key_set({"keys": [key]})
        if kind == "moodle":
            self.context, services = "2", f"{base}/mod/lti/services.php"
            self.lineitems = f"{services}/2/lineitems?type_id=4"
            self.people = f"{services}/CourseSection/2/bindings/4/memberships"
        else:
            self.context = "4dde05e8ca1973bcca9bffc13e1548820"
            self.lineitems = f"{base}/api/lti/courses/7/line_items"
            self.people = f"{base}/api/lti/courses/7/names_and_roles"
        self.reset()

    def reset(self):
        self.columns, self.grades, self.posts, self.trouble = {}, {}, [], []
        self.members, self.bad, self.tokens = [], {}, 0

    def column_url(self, number):
        if self.kind == "canvas":
            return f"{self.lineitems}/{number}"
        return self.lineitems.replace("?", f"/{number}/lineitem?")

    def cell(self, number, user):
        empty = {"score": None, "sent": False, "time": 0, "attempts": 0}
        empty |= {"comment": None, "most": self.columns[number]["scoreMaximum"]}
        return self.grades[number].get(user, empty)

    def launch(self, query):
        """What the browser posts to the tool: the signed claims of one click."""
        launch = Launch(query, self.config)
        teacher = self.bad.get("roles", [f"{ROLES}Instructor"])
        launch.set_user_data("9", teacher, "Tea Cher", "tea@x.org")
        launch.set_resource_link_claim("3", title="Scores")
        launch.set_launch_context_claim(self.context, ["CourseSection"], "Attention")
        launch.set_launch_url(query["redirect_uri"])
        launch.set_ags(self.lineitems)
        launch.set_nrps(self.people)
        tool_platform = {"product_family_code": self.kind, "guid": "x", "version": "1"}
        launch.set_extra_claims({f"{CLAIM}tool_platform": tool_platform})
        form = launch.lti_launch()
        token = form["id_token"]
        claims = jwt.decode(token, options={"verify_signature": False})
        if self.kind == "moodle":
            claims.pop("azp")  # and it is valid for one minute
            claims["exp"] = claims["iat"] + 60
        for name, value in self.bad.get("claims", {}).items():
            place = claims
            *path, last = name.split("|")
            for part in path:
                place = place[part]
            place[last] = value
            if value is None:
                del place[last]
        for name, seconds in self.bad.get("shift", {}).items():
            claims[name] = int(time.time()) + seconds
        return {"state": form["state"], "id_token": self.signed(claims)}

    def signed(self, claims):
        """The claims, signed as a platform does, or as somebody else would."""
        reg = self.config.get_registration()
        header = {"kid": reg.get_kid()} | self.bad.get("header", {})
        how = self.bad.get("how", "RS256")
        if how == "none":
            return jwt.encode(claims, None, algorithm="none", headers=header)
        if how == "HS256":  # with the public key as the secret
            parts = [header | {"alg": "HS256", "typ": "JWT"}, claims]
            text = b".".join(base64url_encode(json.dumps(p).encode()) for p in parts)
            secret = reg.get_platform_public_key().encode()
            mac = hmac.new(secret, text, "sha256").digest()
            return (text + b"." + base64url_encode(mac)).decode()
        private = reg.get_platform_private_key()
        if how == "foreign":
            private = JWK.generate(kty="RSA", size=2048).export_to_pem(True, None)
        return jwt.encode(claims, private, algorithm="RS256", headers=header)


class Handler(BaseHTTPRequestHandler):
    platform: Platform
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.body = ""
        self.handle_it()

    def do_POST(self):
        size = int(self.headers.get("Content-Length", 0))
        self.body = self.rfile.read(size).decode()
        self.handle_it()

    def handle_it(self):
        path = urlsplit(self.path).path
        if path == "/control":
            with self.platform.lock:
                return self.control()
        kind = kind_of(path, self.command)
        with self.platform.lock:
            found = next((t for t in self.platform.trouble if self.hits(t, kind)), None)
        found = found or {}
        hold = found.get("hold")  # "before" the work is done, or after it
        done = not found or found.get("after") or (hold and hold != "before")
        if done:
            with self.platform.lock:
                answer = self.work(kind, path)
        if hold:
            return self.wait()
        if found:
            answer = found["status"], found.get("body"), found.get("headers")
        self.say(*answer)

    def hits(self, trouble, kind):
        if trouble["on"] != kind or not trouble["times"]:
            return False
        if trouble["skip"]:
            trouble["skip"] -= 1
            return False
        trouble["times"] -= 1
        trouble["hit"] = True
        return True

    def wait(self):
        """Say nothing until the other side is gone."""
        self.connection.settimeout(30)
        with suppress(OSError):
            self.connection.recv(1)
        self.close_connection = True

    def control(self):
        """Read the state; set parts of it."""
        platform, wished = self.platform, json.loads(self.body or "{}")
        if wished.pop("reset", False):
            platform.reset()
        if "trouble" in wished:
            usual = {"skip": 0, "times": 1}
            platform.trouble = [usual | one for one in wished.pop("trouble")]
        for user, score in wished.pop("typed", {}).items():
            for number in platform.columns:
                cell = platform.cell(number, user) | {"score": score, "time": 1}
                platform.grades[number][user] = cell
        for name, value in wished.items():
            setattr(platform, name, value)
        names = ["posts", "grades", "columns", "tokens", "lineitems", "people"]
        names.append("trouble")
        self.say(200, {name: getattr(platform, name) for name in names})

    def work(self, kind, path):
        """What the platform does and answers: status, body, headers."""
        platform = self.platform
        query = {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
        form = {k: v[0] for k, v in parse_qs(self.body).items()}
        if kind == "keys":
            return 200, platform.config.get_jwks(), {}
        if kind == "auth":
            return 200, platform.launch(query), {}
        if kind == "token":
            try:
                answer = platform.config.get_access_token(form)
            except (LtiException, jwt.InvalidTokenError) as error:
                return 400, {"error": "invalid_client", "why": str(error)}, {}
            platform.tokens += 1
            return 200, answer, {}
        asked = Asked(self)
        if kind == "members":
            service = People(asked, platform.config, platform.people)
            service.platform = platform
            answer = service.handle_resp(service.handle_get_members)
            page = int(query.get("page", 1))
            more = platform.kind == "canvas" and len(platform.members) > 50 * page
            url = f"{platform.people}?page={page + 1}"
            links = {"Link": f'<{url}>; rel="next"'} if more else {}
            return answer.code, answer.result or answer.message, links
        part = path.split("/")
        place = "lineitems" if platform.kind == "moodle" else "line_items"
        after = part[part.index(place) + 1 :]
        number = after[0] if after else ""
        url = platform.column_url(number).partition("?")[0] if number else None
        service = Columns(asked, platform.config, platform.lineitems, url)
        service.platform = platform
        if kind == "scores":
            token = self.headers["Authorization"].split()[1]
            scopes = jwt.decode(token, options={"verify_signature": False})["scopes"]
            if "https://purl.imsglobal.org/spec/lti-ags/scope/score" not in scopes:
                return 401, "no scope", {}
            own = [m for m in platform.members if "Learner" in str(m["roles"])]
            if asked.json["userId"] not in [member["user_id"] for member in own]:
                return (400 if platform.kind == "moodle" else 422), "no student", {}
            work = service.handle_update_score
        elif kind == "results":
            work = service.handle_get_results
        elif self.command == "POST":
            answer = service.handle_resp(service.handle_create_lineitem)
            return answer.code, answer.result or answer.message, {}
        else:
            answer = service.handle_resp(service.handle_get_lineitems)
            return answer.code, (answer.result or {}).get("content", answer.message), {}
        answer = service.handle_resp(work, line_item_id=number)
        if kind == "scores":
            body = None if platform.kind == "moodle" else {"resultUrl": "…"}
            return answer.code, body, {}
        links = {}
        if following := (answer.result or {}).get("next"):
            links = {"Link": f'<{following}>; rel="next"'}
        return answer.code, (answer.result or {}).get("content", answer.message), links

    def say(self, code, body=None, headers=None):
        text = body if isinstance(body, str) else json.dumps(body)
        data = b"" if body is None else text.encode()
        self.send_response(code)
        for line in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(*line)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def kind_of(path, method):
    """Which service an address belongs to."""
    for end, kind in {
        "certs.php": "keys",
        "jwks": "keys",
        "auth.php": "auth",
        "authorize_redirect": "auth",
        "token.php": "token",
        "oauth2/token": "token",
        "memberships": "members",
        "names_and_roles": "members",
        "scores": "scores",
        "results": "results",
    }.items():
        if path.endswith(end):
            return kind
    return "columns" if method == "GET" else "new column"


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    base = f"http://127.0.0.1:{server.server_port}"
    Handler.platform = Platform(sys.argv[1], base, sys.stdin.read())
    print(base, flush=True)
    server.serve_forever()
