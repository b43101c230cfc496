"""Local web server of ``autograder lti link``: takes one LTI launch, and then ends."""

from __future__ import annotations

import html
import secrets
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from autograder.course import Course
from autograder.errors import CourseError
from autograder.lti.files import Folder, Link
from autograder.lti.launch import accepted
from autograder.lti.sentences import Refused
from autograder.text import one_line

PATIENCE = 600  # seconds until the page gives up
LONGEST = 100_000  # bytes of a launch


def link_course(course: Course, port: int) -> None:
    """Take one launch, and store its course."""
    folder = Folder(course)
    folder.platform()  # says what is missing before anybody clicks
    link = from_page(folder, port)
    folder.save("link", link)
    print(f"Linked to {link.title}. Next: autograder lti roster")


def from_page(folder: Folder, port: int) -> Link:
    """Serve until a launch was taken; Refused when none came."""
    try:
        server = Page(folder, port)
    except OSError as error:
        raise Refused("port", port=port, error=error.strerror) from None
    port = server.server_port
    print(
        f"Waiting at http://127.0.0.1:{port} for one click on the tool in the course.\n"
        "If the browser is on another machine, run this there first:\n"
        f"  ssh -L {port}:127.0.0.1:{port} THIS-MACHINE",
        flush=True,
    )
    with server:
        end = time.monotonic() + PATIENCE
        while server.link is None and time.monotonic() < end:
            server.handle_request()
    if server.link is None:
        raise Refused("nobody-clicked", minutes=PATIENCE // 60)
    return server.link


class Page(ThreadingHTTPServer):
    """Serves this machine alone; a client that is slow keeps no other waiting."""

    timeout = 1.0  # of handle_request, in seconds

    def __init__(self, folder: Folder, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.folder, self.link = folder, None  # type: Folder, Link | None
        self.waiting: dict[str, str] = {}  # nonces by state
        self.turn = threading.Lock()  # each request changes what is waited for

    def login(self, form: dict[str, str]) -> str:
        """Where the browser goes to be sent back with a launch."""
        platform = self.folder.platform()
        ours = platform.client_id
        if (iss := form.get("iss")) != platform.issuer:
            raise Refused("other-platform", iss=iss, issuer=platform.issuer)
        if (client := form.get("client_id", ours)) != ours:
            raise Refused("other-client", client=client, registered=ours)
        if not form.get("login_hint"):
            raise Refused("no-login-hint")
        state, nonce = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.waiting[state] = nonce
        question = {
            **{"scope": "openid", "response_type": "id_token"},
            **{"response_mode": "form_post", "prompt": "none"},
            **{"client_id": ours, "state": state, "nonce": nonce},
            "redirect_uri": f"http://127.0.0.1:{self.server_port}/launch",
        } | {k: form[k] for k in ("login_hint", "lti_message_hint") if k in form}
        mark = "&" if urlsplit(platform.login_url).query else "?"
        return f"{platform.login_url}{mark}{urlencode(question)}"

    def launch(self, form: dict[str, str]) -> Link:
        """The course of a launch that answers what was asked; it may answer once."""
        if "error" in form:
            said = form.get("error_description") or form["error"]
            raise Refused("platform-refused", said=said)
        if not (state := form.get("state", "")):
            raise Refused("no-state")
        if (nonce := self.waiting.pop(state, None)) is None:
            raise Refused("foreign-state")
        return accepted(self.folder, form.get("id_token", ""), nonce)


class Handler(BaseHTTPRequestHandler):
    """Two addresses: /login asks the platform, /launch takes its answer."""

    server: Page
    timeout = 10  # seconds for a browser to send what it began

    def do_GET(self) -> None:
        self.answer(urlsplit(self.path).query)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        # nine digits: Python refuses to read thousands of them
        size = min(int(length[:9]), LONGEST) if length.isdecimal() else 0
        self.answer(self.rfile.read(size).decode("utf-8", "replace"))

    def answer(self, query: str) -> None:
        """Answer with a redirect, a success or a sentence."""
        form = {name: values[0] for name, values in parse_qs(query).items()}
        place = urlsplit(self.path).path
        try:
            if place == "/login":
                with self.server.turn:
                    target = self.server.login(form)
                self.show(HTTPStatus.FOUND, "To the platform …", Location=target)
            elif place == "/launch" and self.command == "POST":
                with self.server.turn:
                    link = self.server.launch(form)
                self.show(HTTPStatus.OK, f"Linked to {link.title}. Close this page.")
                self.server.link = link
            else:
                self.show(HTTPStatus.NOT_FOUND, "Click the tool in the course.")
        except CourseError as error:
            print(f"refused: {one_line(str(error))}", flush=True)
            self.show(HTTPStatus.BAD_REQUEST, str(error))

    def show(self, status: HTTPStatus, text: str, **headers: str) -> None:
        """A page of one sentence."""
        data = (
            f"<!doctype html><title>autograder</title><p>{html.escape(text)}".encode()
        )
        self.send_response(status)
        headers |= {"Content-Type": "text/html; charset=utf-8"}
        headers |= {"Content-Security-Policy": "default-src 'none'"}
        for name, value in (headers | {"Content-Length": str(len(data))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the terminal has the sentences."""
