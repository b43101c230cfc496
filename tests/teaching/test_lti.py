"""Scores over LTI 1.3, with a platform in another process on the other side."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import jwt
import pytest
import requests
from cryptography.hazmat.primitives import serialization
from shared import drawn

from autograder.cli import main
from autograder.errors import CourseError
from autograder.lti import service
from autograder.lti.files import Folder, Platform, origin
from autograder.lti.journal import opened, read_line
from autograder.lti.launch import accepted, link_of
from autograder.lti.page import Page
from autograder.lti.register import to_paste, usual
from autograder.lti.sentences import TEXTS
from autograder.lti.service import as_text

ASSIGNMENT = "01-attention"
PUSH = "push", ASSIGNMENT
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
TEACHER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
ELSEWHERE = "https://elsewhere.example.org/lineitems"


FROM_MOODLE = Path(__file__).parents[1] / "platforms/moodle-4.5.6/lti"


def said(name, text):
    """Whether a text has the sentence of that name."""
    parts = re.split(r"\{\w+\}", TEXTS[name])
    return re.search(".*?".join(map(re.escape, parts)), text, re.S) is not None


@pytest.fixture(scope="session")
def key(tmp_path_factory, repository):
    """A key as `register` makes it; one for all, since each takes a while."""
    root = tmp_path_factory.mktemp("key")
    (root / "nbgrader_config.py").touch()
    before = Path.cwd()
    os.chdir(root)
    assert main(["lti", "register"]) == 0
    os.chdir(before)
    return root / "lti" / "key.pem"


@pytest.fixture(autouse=True, scope="module")
def keys_checked_once():
    """Whether a private key is a sound one is computed once: that takes 40 ms."""
    with pytest.MonkeyPatch.context() as patch:
        for library in (jwt.algorithms, serialization):
            load = cache(library.load_pem_private_key)
            patch.setattr(library, "load_pem_private_key", load)
        yield


@pytest.fixture(scope="session")
def platforms(key):
    """Starts a platform of each kind once; ends them all."""
    processes, script = {}, Path(__file__).with_name("lti_platform.py")

    def of(kind):
        if kind not in processes:
            process = subprocess.Popen(
                [sys.executable, str(script), kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            process.stdin.write(to_paste(key.read_text(), "").split("\n\n")[1])
            process.stdin.close()
            processes[kind] = process, process.stdout.readline().strip()
        return processes[kind][1]

    yield of
    for process, _ in processes.values():
        process.kill()
        process.wait()


class Other:
    """The platform of a test, and what it did."""

    def __init__(self, kind, base, folder):
        self.kind, self.base, self.folder = kind, base, folder
        self.control(reset=True)

    def control(self, **wished):
        answer = requests.post(f"{self.base}/control", json=wished, timeout=30)
        return answer.json()

    def click(self, page):
        """What a browser does from the click to the answer of our page."""
        issuer = Folder(self.folder).platform().issuer
        hints = {"iss": issuer, "login_hint": "9", "lti_message_hint": "h"}
        asked = requests.post(
            f"{page}/login", data=hints, allow_redirects=False, timeout=30
        )
        form = requests.get(asked.headers["Location"], timeout=30).json()
        return requests.post(f"{page}/launch", data=form, timeout=30), form

    @property
    def cells(self):
        (column,) = self.control()["grades"].values()
        return column

    @property
    def scores(self):
        return {user: cell["score"] for user, cell in self.cells.items()}


@pytest.fixture
def other(request, course, key, platforms):
    """A platform that this course is registered at; Moodle where nothing is said."""
    kind = getattr(request, "param", "moodle")
    base = platforms(kind)
    folder = Folder(course)
    folder.path.mkdir(mode=0o700)
    folder.key_file.write_text(key.read_text())
    folder.key_file.chmod(0o600)
    command = ["lti", "register", "--platform", kind, "--address", base]
    assert main([*command, "--client-id", "aBc123", "--deployment-id", "4"]) == 0
    return Other(kind, base, course)


@pytest.fixture
def server(course, other):
    """The server of `autograder lti link`, until the test ends."""
    server = Page(Folder(course), 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def page(server):
    """The address of its page."""
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def linked(course, other, page):
    """The platform, after one click; with students as its list has them."""
    answer, _ = other.click(page)
    assert answer.status_code == 200, answer.text
    link = accepted_link(course, other)
    Folder(course).save("link", link)
    return other


def accepted_link(course, other):
    """The link that a second launch gives, without the page."""
    folder = Folder(course)
    where = {"state": "state", "nonce": "nonce", "client_id": "aBc123"}
    asked = where | {"redirect_uri": "http://127.0.0.1/launch"}
    url = folder.platform().login_url
    form = requests.get(url, params=asked, timeout=30).json()
    return accepted(folder, form["id_token"], "nonce")


def people(*names, **more):
    """Members as both platforms list them."""
    students = [
        {
            "user_id": f"u-{name}",
            "name": name.title(),
            "email": f"{name}@x.org",
            "roles": [LEARNER],
            "status": "Active",
        }
        for name in names
    ]
    teacher = {"user_id": "9", "email": "tea@x.org", "roles": [TEACHER]}
    return [*students, teacher, *more.get("also", [])]


def push(*options):
    return main(["lti", *PUSH, *options])


@pytest.fixture
def refused(capsys):
    """Run a command that is refused with the sentence of that name."""

    def check(name, *command):
        assert main(["lti", *command]) == 2
        assert said(name, capsys.readouterr().err)

    return check


PLATFORMS = ["moodle", "canvas"]
both = pytest.mark.parametrize("other", PLATFORMS, indirect=True)
one = pytest.mark.parametrize("other", drawn(PLATFORMS), indirect=True)


# ------------------------------------------------------------------- the whole way


@both
def test_final_points_arrive_as_final_and_others_as_pending(linked, marked, capsys):
    linked.control(members=people("ada", "bob", "zoe"))
    marked({"ada@x.org": 20.0, "bob@x.org": None, "zoe@x.org": 0.0})
    assert push("--dry-run") == 0
    assert linked.control()["columns"] == {}  # a dry run makes nothing
    assert push() == 0
    posts = linked.control()["posts"]
    assert posts == [
        ["u-ada", "FullyGraded", 20.0],
        ["u-bob", "PendingManual", None],
        ["u-zoe", "FullyGraded", 0.0],
    ]
    (column,) = linked.control()["columns"].values()
    assert column["tag"] == ASSIGNMENT
    assert all(cell["attempts"] == 0 for cell in linked.cells.values())
    capsys.readouterr()
    assert push() == 0  # again: nothing goes out
    assert linked.control()["posts"] == posts
    assert "3 as before." in capsys.readouterr().out


@one
def test_new_points_replace_ours_and_never_what_a_person_typed(linked, marked, capsys):
    linked.control(members=people("ada", "bob"))
    marked({"ada@x.org": 20.0, "bob@x.org": 11.0})
    assert push() == 0
    linked.control(typed={"u-bob": 15.0})
    marked({"ada@x.org": 22.0, "bob@x.org": 12.0})
    later(linked)
    capsys.readouterr()
    assert push() == 0
    assert linked.scores == {"u-ada": 22.0, "u-bob": 15.0}
    assert said("typed", capsys.readouterr().out)
    marked({"bob@x.org": None})  # not even by what clears it
    assert push() == 0
    assert linked.scores["u-bob"] == 15.0
    marked({"bob@x.org": 12.0})
    assert push("--replace", "bob@x.org") == 0
    assert linked.scores["u-bob"] == 12.0


def later(linked):
    """Moodle counts in seconds: what is sent now is not of the same second."""
    grades = linked.control()["grades"]
    for column in grades.values():
        for cell in column.values():
            cell["time"] = 1
    linked.control(grades=grades)


def test_a_grade_that_was_taken_out_there_stays_out(linked, marked, capsys):
    linked.control(members=people("ada"))
    marked({"ada@x.org": 20.0})
    assert push() == 0
    linked.control(typed={"u-ada": None})
    assert push() == 0
    assert linked.scores == {"u-ada": None}
    assert said("taken-out", capsys.readouterr().out)


@one
def test_points_that_are_not_final_any_more_are_pending_again(linked, marked):
    linked.control(members=people("ada"))
    marked({"ada@x.org": 20.0})
    assert push() == 0
    later(linked)
    marked({"ada@x.org": None})
    assert push() == 0
    assert linked.scores == {"u-ada": None}
    later(linked)
    marked({"ada@x.org": 21.0})
    assert push() == 0
    assert linked.scores == {"u-ada": 21.0}


@one
def test_a_changed_maximum_corrects_every_score_and_a_typed_one_stays(
    linked, marked, capsys
):
    linked.control(members=people("ada", "bob", "eve"))
    marked({"ada@x.org": 20.0, "bob@x.org": 12.0, "eve@x.org": 6.0})
    assert push() == 0
    linked.control(typed={"u-eve": 15.0})
    columns = linked.control()["columns"]
    most = columns["1"]["scoreMaximum"]
    for factor in (2, 1):
        later(linked)
        columns["1"]["scoreMaximum"] = factor * most
        linked.control(columns=columns)
        assert push() == 0
        scores = {"u-ada": factor * 20.0, "u-bob": factor * 12.0, "u-eve": 15.0}
        assert linked.scores == scores
        out = capsys.readouterr().out
        assert f"15 of {factor * most:g} was typed there" in out
        assert push() == 0  # and only once
        assert "2 as before" in capsys.readouterr().out


def test_a_column_as_a_live_moodle_listed_it(linked, marked, course, capsys):
    """Its maximum went from 24 to 48 and back; one student was graded at 48."""

    def stored(name):
        text = (FROM_MOODLE / f"{name}.json").read_text("utf-8")
        return text.replace("http://127.0.0.1:8090", linked.base)

    members = json.loads(stored("memberships"))["members"]
    cells = json.loads(stored("results-01-attention"))
    user = {m["user_id"]: m["email"] for m in members}
    points = {user[cell["userId"]]: cell["resultScore"] for cell in cells}
    points |= {"joerg@example.org": 7.5, "conor@example.org": 8.0}
    points["wim@example.org"] = 3.0
    marked(points)
    (column, *_) = json.loads(stored("lineitems"))
    lines = [
        ("t", "a", column["id"], user[u], u, f"{sent}/24", "sent")
        for u, sent in (("5", 7.5), ("12", 3))
    ]
    log = course.root / "lti" / "pushed.log"
    log.write_text("".join("\t".join(line) + "\n" for line in lines))
    log.chmod(0o600)
    answers = {"columns": "lineitems", "results": "results-01-attention"}
    trouble = [
        {"on": on, "status": 200, "body": stored(name)} for on, name in answers.items()
    ]
    linked.control(members=members, trouble=trouble)
    assert push("--dry-run") == 0
    out = capsys.readouterr().out
    assert "would be sent: joerg@example.org, Jörg Müßig (user 5): 7.5/24" in out
    assert "6.5 of 24 was typed there" in out and "0 of 24 was typed there" in out
    assert "8 as before, 2 kept, 1 would be sent." in out


@both
def test_the_teachers_comment_stays_when_points_change(linked, marked):
    linked.control(members=people("ada"))
    marked({"ada@x.org": 20.0})
    assert push() == 0
    later(linked)
    grades = linked.control()["grades"]
    grades["1"]["u-ada"]["comment"] = "<p>Good, Ada.</p><p>But &lt;b&gt;</p>"
    linked.control(grades=grades)
    marked({"ada@x.org": 21.0})
    assert push() == 0
    expected = "Good, Ada.\nBut <b>"
    if linked.kind == "canvas":  # keeps its own
        expected = grades["1"]["u-ada"]["comment"]
    assert linked.cells["u-ada"]["comment"] == expected


COMMENTS = {
    "see me\nplease": "see me\nplease",
    "is x < y and <b> too?": "is x < y and <b> too?",
    "<p>Good.</p>\n<ul><li>axis</li><li>mask</li></ul>": "Good.\n- axis\n- mask",
    '<p>one<br>two <a href="https://x.org">here</a></p>': (
        "one\ntwo here (https://x.org)"
    ),
    '<p><img src="a.png" alt="a map"></p>': "a map",
    "<div dir='ltr'>caf&eacute; &amp;\n  more</div>": "café & more",
}


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_comment_keeps_its_lines_without_tags(comment):
    text = as_text(comment)
    assert text == COMMENTS[comment]
    assert as_text(text) == text  # as it comes back


@both
def test_students_are_found_by_any_id_and_others_are_named(
    linked, marked, capsys, tmp_path
):
    left = {"status": "Inactive"}
    also = [
        {"user_id": "u-5", "lis_person_sourcedid": "s5", "roles": [LEARNER]},
        {"user_id": "u-6", "email": "gone@x.org", "roles": [LEARNER]} | left,
        {"user_id": "u-7", "name": "Grace Hopper", "roles": [LEARNER]},
        {"user_id": "u-8", "email": "two@x.org", "roles": [LEARNER]},
        {"user_id": "u-9", "email": "two@x.org", "roles": [LEARNER]},
    ]
    linked.control(members=people("ada", also=also))
    roster = tmp_path / "names.csv"
    roster.write_text("student_id,name\ngrace,Grace Hopper\n")
    everybody = ("ADA@x.org", "u-5", "S5", "gone@x.org", "grace", "two@x.org", "eve")
    marked(dict.fromkeys(everybody, 5.0))
    assert push("--roster", str(roster)) == 1
    assert set(linked.scores) == {"u-ada", "u-7"}
    out = capsys.readouterr().out
    for name in ("twin", "no-student", "several", "not-there"):
        assert said(name, out), name
    assert "sent: grace, Grace Hopper (user u-7): 5/" in out
    assert "5 not sent, 2 sent" in out


@one
def test_the_roster_lists_students_and_collect_reads_it(linked, course, tmp_path):
    from autograder.intake.roster import read_roster

    linked.control(members=people(*(f"s{n:03}" for n in range(70))))
    assert main(["lti", "roster", "--to", "class.csv"]) == 0
    roster = read_roster(course.root / "class.csv")
    assert len(roster.people) == 70
    assert roster.people[3].student == "s003@x.org"
    assert roster.people[3].name == "S003"


# ----------------------------------------------------------------------- kills


def pusher(course):
    """`autograder lti push` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", "lti", *PUSH],
        cwd=course.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize(
    "count", [20, pytest.param(300, marks=pytest.mark.long)], ids=["20", "300"]
)
@one
def test_two_kills_and_each_score_arrives_once(linked, marked, course, count):
    """Once after a score arrived and before its answer, once before it arrived."""
    names = [f"s{n:03}" for n in range(count)]
    linked.control(members=people(*names))
    points = {f"{n}@x.org": None if k % 5 == 0 else k % 24 for k, n in enumerate(names)}
    marked(points)
    for skip, moment in ((count // 3, "after"), (count // 3, "before")):
        hold = {"on": "scores", "skip": skip, "hold": moment}
        linked.control(trouble=[hold])
        process = pusher(course)
        wait_for(lambda: linked.control()["trouble"][-1].get("hit"), process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        linked.control(trouble=[])
    assert 0 < len(linked.control()["posts"]) < count
    assert push() == 0
    posts = linked.control()["posts"]
    assert sorted(post[0] for post in posts) == [f"u-{name}" for name in names]
    for user, progress, score in posts:
        wanted = points[f"{user.removeprefix('u-')}@x.org"]
        assert score == wanted
        assert (progress == "PendingManual") == (wanted is None)
    log = (course.root / "lti" / "pushed.log").read_text()
    assert log.count("\tinterrupted\n") == 2
    assert log.count("\tsent\n") == count - 1  # and one that was on its way


def wait_for(happened, process):
    end = time.monotonic() + 120
    while not happened():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_second_push_at_the_same_time_is_refused(linked, marked, course, refused):
    linked.control(members=people("ada"))
    marked({"ada@x.org": 1.0})
    with opened(course.root / "lti" / "pushed.log"):
        refused("busy", *PUSH)


def test_a_line_that_a_loss_of_power_cut_off_counts_for_nothing(tmp_path):
    path = tmp_path / "pushed.log"
    lines = ("t\ta\tc\tada\tu1\t20/24\tsent\n", "t\ta\tc\tbob\tu2\t2")
    path.write_text("".join(lines))
    path.chmod(0o600)
    with opened(path) as journal:
        assert {user for _, user in journal.ours} == {"u1"}
    assert path.read_text().endswith("interrupted\n")
    assert read_line("t\ta\tc\tada\tu1\t20/24\trefused: no") is None


# ------------------------------------------------------------------- bad launches

BAD_LAUNCHES = {
    "alg none": ("algorithm", {"how": "none"}),
    "HS256 with the public key": ("algorithm", {"how": "HS256"}),
    "another key": ("signature", {"how": "foreign"}),
    "unknown kid": ("unknown-key", {"header": {"kid": "nobody"}}),
    "expired": ("expired", {"shift": {"exp": -120}}),
    "from the future": ("future", {"shift": {"iat": 900, "exp": 960}}),
    "not valid yet": ("unreadable", {"shift": {"nbf": 900}}),
    "no exp": ("no-claim", {"claims": {"exp": None}}),
    "no iat": ("no-claim", {"claims": {"iat": None}}),
    "iat in words": ("no-claim", {"claims": {"iat": "today"}}),
    "no nonce": ("no-claim", {"claims": {"nonce": None}}),
    "no user": ("no-claim", {"claims": {"sub": None}}),
    "another nonce": ("used-nonce", {"claims": {"nonce": "mine"}}),
    "nonce as a list": ("used-nonce", {"claims": {"nonce": ["a"]}}),
    "aud of another tool": ("audience", {"claims": {"aud": "other"}}),
    "azp of another tool": ("azp", {"claims": {"azp": "other"}}),
    "two audiences without azp": ("azp", {"claims": {"aud": ["aBc123", "other"]}}),
    "another issuer": ("issuer", {"claims": {"iss": ELSEWHERE}}),
    "another deployment": ("deployment", {"claims": {f"{CLAIM}deployment_id": "5"}}),
    "no deployment": ("deployment", {"claims": {f"{CLAIM}deployment_id": None}}),
    "a student": ("role", {"roles": [LEARNER]}),
    "a mentor": ("role", {"roles": [LEARNER.replace("Learner", "Mentor")]}),
    "nobody": ("role", {"claims": {f"{CLAIM}roles": None}}),
    "roles in one word": ("role", {"claims": {f"{CLAIM}roles": TEACHER}}),
    "another message": (
        "message",
        {"claims": {f"{CLAIM}message_type": "LtiDeepLinkingRequest"}},
    ),
    "another version": ("version", {"claims": {f"{CLAIM}version": "1.1"}}),
    "outside a course": ("no-course", {"claims": {f"{CLAIM}context": None}}),
    "course without id": ("no-course", {"claims": {f"{CLAIM}context": {"id": ""}}}),
    "no gradebook": ("no-gradebook", {"claims": {AGS: None}}),
    "no columns": ("no-gradebook", {"claims": {f"{AGS}|lineitems": None}}),
    "nothing allowed": ("scopes", {"claims": {f"{AGS}|scope": []}}),
    "no people": ("no-people", {"claims": {NRPS: None}}),
    "columns on another host": (
        "other-host",
        {"claims": {f"{AGS}|lineitems": ELSEWHERE}},
    ),
    "people on another host": (
        "other-host",
        {"claims": {f"{NRPS}|context_memberships_url": ELSEWHERE}},
    ),
    "columns without https": (
        "plain-http",
        {"claims": {f"{AGS}|lineitems": "http://moodle.example.org/x"}},
    ),
}


@pytest.mark.parametrize("case", drawn(BAD_LAUNCHES, 8))
def test_a_bad_launch_is_refused_with_its_sentence(other, page, course, case):
    name, bad = BAD_LAUNCHES[case]
    other.control(bad=bad)
    answer, _ = other.click(page)
    assert answer.status_code == 400
    assert said(name, html.unescape(answer.text)), answer.text
    assert not (Folder(course).path / "link.json").exists()
    other.control(bad={})
    assert other.click(page)[0].status_code == 200  # the next click is taken


def test_the_launch_of_a_live_moodle_names_its_course():
    claims = json.loads((FROM_MOODLE / "launch-claims.json").read_text("utf-8"))
    at = claims["iss"]
    platform = Platform("moodle", at, claims["aud"], "1", *usual("moodle", at))
    link = link_of(claims, platform)
    assert (link.context, link.title) == ("2", "Attention Testkurs")
    assert link.lineitems == f"{at}/mod/lti/services.php/2/lineitems?type_id=1"


def test_a_launch_is_taken_once(other, page):
    answer, form = other.click(page)
    assert answer.status_code == 200
    again = requests.post(f"{page}/launch", data=form, timeout=30)
    assert said("foreign-state", html.unescape(again.text))


@one
def test_a_nonce_of_another_state_is_refused(other, page, server):
    _, form = other.click(page)
    server.waiting["mine"] = "another"
    again = requests.post(f"{page}/launch", data=form | {"state": "mine"}, timeout=30)
    assert said("used-nonce", html.unescape(again.text))


BAD_FORMS = {
    "no state": ("no-state", {"id_token": "x"}),
    "foreign state": ("foreign-state", {"id_token": "x", "state": "theirs"}),
    "no launch": ("no-token", {"id_token": "a.b", "state": "ours"}),
    "empty": ("no-token", {"state": "ours"}),
    "an error": ("platform-refused", {"error": "login_required", "state": "ours"}),
}


@pytest.mark.parametrize("case", BAD_FORMS)
def test_a_form_that_is_no_launch_is_refused(page, server, case):
    name, form = BAD_FORMS[case]
    server.waiting["ours"] = "nonce"
    answer = requests.post(f"{page}/launch", data=form, timeout=30)
    assert answer.status_code == 400
    assert said(name, html.unescape(answer.text)), answer.text


BAD_LOGINS = {
    "another platform": ("other-platform", {"iss": "https://evil.example.org"}),
    "no platform": ("other-platform", {"iss": ""}),
    "another tool": ("other-client", {"client_id": "other"}),
    "nobody": ("no-login-hint", {"login_hint": ""}),
}


@pytest.mark.parametrize("case", BAD_LOGINS)
def test_a_login_of_somebody_else_is_refused(other, page, case):
    name, form = BAD_LOGINS[case]
    form = {"iss": other.base, "login_hint": "9"} | form
    answer = requests.get(
        f"{page}/login", params=form, allow_redirects=False, timeout=30
    )
    assert answer.status_code == 400
    assert said(name, html.unescape(answer.text)), answer.text


def test_what_strangers_write_is_shown_as_text(other, page):
    form = {"error": "<script>alert(1)</script>\x1b[2J"}
    answer = requests.post(f"{page}/launch", data=form, timeout=30)
    assert "<script>" not in answer.text and "\x1b" not in answer.text


DAMAGED = '{"keys": [{"kid": "KID", "kty": "RSA"}]}'


@pytest.mark.parametrize("body", [DAMAGED, "<html>", "{}"])
def test_keys_that_cannot_be_read_are_refused(other, page, body):
    url = Folder(other.folder).platform().keys_url
    (kid,) = (key["kid"] for key in requests.get(url, timeout=30).json()["keys"])
    bad = {"on": "keys", "status": 200, "body": body.replace("KID", kid)}
    other.control(trouble=[bad])
    answer, _ = other.click(page)
    assert said("no-keys", html.unescape(answer.text)), answer.text


@pytest.mark.parametrize("length", ["9" * 5000, "\xb2", "-1", "100"])
def test_a_client_that_sends_nothing_more_keeps_no_other_waiting(other, page, length):
    where = ("127.0.0.1", int(page.rpartition(":")[2]))
    with socket.create_connection(where) as slow:
        slow.sendall(
            f"POST /launch HTTP/1.1\r\nContent-Length: {length}\r\n".encode("latin-1")
        )
        assert other.click(page)[0].status_code == 200
        slow.sendall(b"\r\n")
        slow.shutdown(socket.SHUT_WR)
        assert slow.makefile("rb").readline().startswith(b"HTTP/1.0 400")


def test_a_folder_stays_with_its_course(linked, page, course):
    linked.control(
        bad={"claims": {f"{CLAIM}context": {"id": "77", "title": "Physics"}}}
    )
    answer, _ = linked.click(page)
    assert said("other-course", html.unescape(answer.text)), answer.text


def test_the_command_waits_for_one_click_and_ends(other, course):
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", "lti", "link", "--port", "0"],
        cwd=course.root,
        stdout=subprocess.PIPE,
        text=True,
    )
    page = re.search(r"http://\S+", process.stdout.readline())[0]
    assert other.click(page)[0].status_code == 200
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "Linked to Attention" in out
    with pytest.raises(requests.ConnectionError):
        requests.get(page, timeout=5)


def test_a_port_that_is_in_use_and_a_page_without_a_click(
    other, course, page, refused, monkeypatch
):
    port = page.rpartition(":")[2]
    refused("port", "link", "--port", port)
    monkeypatch.setattr("autograder.lti.page.PATIENCE", 0)
    refused("nobody-clicked", "link", "--port", "0")


# ------------------------------------------------------------------- bad answers

AWAY = json.dumps({"id": ELSEWHERE})
# name: the sentence; what is asked for, status and body of the answer, and more
BAD_ANSWERS = {
    "key refused": ("key-refused", "token", 401, "no"),
    "scope refused": ("invalid-scope", "token", 400, '{"error": "invalid_scope"}'),
    "token is a page": ("no-access-token", "token", 200, "<html>login"),
    "no token": ("no-access-token", "token", 200, "{}"),
    "token elsewhere": ("redirect", "token", 302, "", {"Location": ELSEWHERE}),
    "people refused": ("403", "members", 403),
    "people as a page": ("page", "members", 200, "<html>login"),
    "people without list": ("odd-answer", "members", 200, "[]"),
    "people of another course": (
        *("people-of-another", "members", 200),
        '{"context": {"id": "9"}, "members": []}',
    ),
    "more people elsewhere": (
        *("other-host", "members", 200, '{"members": []}'),
        {"Link": f'<{ELSEWHERE}>; rel="next"'},
    ),
    "nobody": ("nobody", "members", 200, '{"members": []}'),
    "course deleted": ("404", "columns", 404),
    "columns not a list": ("odd-answer", "columns", 200, "{}"),
    "column elsewhere": (
        *("other-host", "columns", 200),
        json.dumps([{"id": ELSEWHERE, "tag": ASSIGNMENT}]),
    ),
    "two columns": ("columns", "columns", 200, json.dumps([{"tag": ASSIGNMENT}] * 2)),
    "new column refused": ("403", "new column", 403),
    "new column elsewhere": ("other-host", "new column", 201, AWAY),
    "always busy": ("429", "columns", 429, "", {}, 9),
    "always broken": ("500", "columns", 502, "", {}, 9),
    "token never accepted": ("401", "columns", 401, "", {}, 9),
    "service elsewhere": ("redirect", "columns", 307, "", {"Location": ELSEWHERE}),
}


@pytest.fixture
def patient(monkeypatch):
    """Waiting takes no time; how long it would have taken."""
    slept = []
    monkeypatch.setattr(service.time, "sleep", slept.append)
    return slept


@pytest.mark.parametrize("case", drawn(BAD_ANSWERS, 5))
def test_a_bad_answer_is_explained_and_nothing_is_sent(
    linked, marked, patient, refused, case
):
    name, *answer = BAD_ANSWERS[case]
    fields = ("on", "status", "body", "headers", "times")
    trouble = dict(zip(fields, answer, strict=False))
    linked.control(members=people("ada"), trouble=[trouble])
    marked({"ada@x.org": 20.0})
    refused(name, *PUSH)
    assert linked.control()["posts"] == []
    linked.control(trouble=[])
    assert push() == 0  # and the next push is whole
    assert linked.control()["posts"] == [["u-ada", "FullyGraded", 20.0]]


UNREAD = ['[{"resultScore": 1}]', '[{"userId": "1", "resultScore": "A"}]']


@pytest.mark.parametrize("bad", UNREAD)
def test_grades_that_cannot_be_read_are_never_overwritten(linked, marked, refused, bad):
    linked.control(members=people("ada"))
    marked({"ada@x.org": 20.0})
    assert push() == 0
    marked({"ada@x.org": 21.0})
    linked.control(trouble=[{"on": "results", "status": 200, "body": bad}])
    refused("odd-answer", *PUSH)
    assert len(linked.control()["posts"]) == 1


def test_a_platform_that_asks_for_a_pause_gets_it(linked, marked, patient):
    pause = {"status": 429, "headers": {"Retry-After": "7"}, "times": 2}
    busy = [{"on": "scores", "skip": 1} | pause, {"on": "results", "status": 503}]
    linked.control(members=people("ada", "bob", "eve"), trouble=busy)
    marked({"ada@x.org": 1.0, "bob@x.org": 2.0, "eve@x.org": 3.0})
    assert push() == 0
    assert linked.scores == {"u-ada": 1.0, "u-bob": 2.0, "u-eve": 3.0}
    assert patient == [7.0, 7.0]
    assert push() == 0  # reads results: one more pause
    assert patient == [7.0, 7.0, 1.0]


def test_a_token_that_ends_in_the_middle_of_a_class_is_replaced(linked, marked):
    names = [f"s{n}" for n in range(9)]
    ended = {"on": "scores", "skip": 4, "status": 401}
    linked.control(members=people(*names), trouble=[ended])
    marked({f"{name}@x.org": 5.0 for name in names})
    assert push() == 0
    state = linked.control()
    assert len(state["posts"]) == 9
    assert state["tokens"] == 3  # people, scores, and the one in the middle


@pytest.mark.parametrize("status", drawn(["409", "422", "400", "404"]))
def test_one_refused_score_is_named_and_the_others_arrive(
    linked, marked, capsys, status
):
    refused = {"on": "scores", "skip": 1, "status": int(status)}
    linked.control(members=people("ada", "bob", "eve"), trouble=[refused])
    marked({"ada@x.org": 1.0, "bob@x.org": 2.0, "eve@x.org": 3.0})
    assert push() == 1
    out = capsys.readouterr().out
    assert said(status, out) and said("no-answer", out)
    assert "not sent: bob@x.org" in out
    assert set(linked.scores) == {"u-ada", "u-eve"}
    assert push() == 0
    assert linked.scores["u-bob"] == 2.0


def test_a_locked_cell_is_named_and_the_others_arrive(linked, marked, capsys):
    names = [f"s{n}" for n in range(6)]
    locked = {"on": "scores", "skip": 1, "status": 500, "times": 4}
    linked.control(members=people(*names), trouble=[locked])
    marked({f"{name}@x.org": 5.0 for name in names})
    assert push() == 1
    assert said("locked", capsys.readouterr().out)
    assert set(linked.scores) == {"u-s0", "u-s5"}


def test_points_of_an_earlier_push_at_somebody_else_are_listed(linked, marked, capsys):
    linked.control(members=people("ada", "bob"))
    marked({"ada@x.org": 20.0})
    assert push() == 0
    log = Folder(linked.folder).path / "pushed.log"
    log.write_text(log.read_text().replace("u-ada", "u-bob"))
    grades = linked.control()["grades"]
    grades["1"]["u-bob"] = grades["1"].pop("u-ada")
    linked.control(grades=grades)
    assert push("--dry-run") == 0
    out = capsys.readouterr().out
    assert said("stray", out) and "left there: Bob (user u-bob)" in out


@one
def test_a_score_that_arrived_before_the_platform_broke_is_not_sent_again(
    linked, marked, capsys
):
    late = {"on": "scores", "skip": 1, "status": 502, "after": True}
    linked.control(members=people("ada", "bob"), trouble=[late])
    marked({"ada@x.org": 1.0, "bob@x.org": 2.0})
    assert push() == 1
    assert push() == 0
    assert [user for user, *_ in linked.control()["posts"]] == ["u-ada", "u-bob"]


def test_a_platform_that_refuses_everything_is_left_alone(linked, marked, refused):
    names = [f"s{n}" for n in range(9)]
    refusing = {"on": "scores", "status": 403, "times": 99}
    linked.control(members=people(*names), trouble=[refusing])
    marked({f"{name}@x.org": 5.0 for name in names})
    refused("stopped", *PUSH)
    assert linked.control()["trouble"][0]["times"] == 96


def test_a_platform_that_is_gone_is_named(linked, marked, patient, refused, course):
    folder = Folder(course)
    gone = "http://127.0.0.1:9/token"
    folder.save("platform", replace(folder.platform(), token_url=gone))
    marked({"ada@x.org": 1.0})
    refused("unreachable", *PUSH)


# ------------------------------------------------------------------ the small things


def test_each_step_says_what_has_to_come_before_it(course, marked, refused):
    marked({"ada@x.org": 1.0})
    refused("no-platform", *PUSH)
    refused("no-platform", "link")
    refused("options", "register", "--client-id", "x")


def test_push_says_what_is_missing(linked, marked, course, refused):
    refused("ungraded", *PUSH)
    marked({"ada@x.org": 1.0})
    refused("no-work", *PUSH, "--replace", "adda")
    refused("no-students", "roster")
    Folder(course).key_file.rename("elsewhere.pem")
    refused("no-key", *PUSH)
    (Folder(course).path / "link.json").write_text("{")
    refused("damaged", *PUSH)
    (Folder(course).path / "link.json").unlink()
    refused("no-link", *PUSH)


def test_only_the_owner_can_read_key_link_and_journal(linked, marked, course, capsys):
    linked.control(members=people("ada"))
    marked({"ada@x.org": 1.0})
    assert push() == 0
    folder = course.root / "lti"
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert set(modes.values()) == {0o600}
    assert {"key.pem", "link.json", "platform.json", "pushed.log"} <= modes.keys()
    for name in ("key.pem", "link.json", "pushed.log"):
        (folder / name).chmod(0o644)
        assert push() == 2
        assert said("readable", capsys.readouterr().err)
        (folder / name).chmod(0o600)


def test_the_key_is_made_once_and_only_its_public_half_is_shown(
    key, monkeypatch, capsys
):
    monkeypatch.chdir(key.parents[1])
    before = key.read_bytes()
    assert main(["lti", "register"]) == 0
    shown = capsys.readouterr().out
    assert key.read_bytes() == before
    assert "PRIVATE" not in shown and "BEGIN PUBLIC KEY" in shown
    tool = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])
    assert tool["public_jwk"].keys() == {"kty", "n", "e", "kid", "alg", "use"}
    assert tool["oidc_initiation_url"] == "http://127.0.0.1:8765/login"


def test_canvas_in_the_cloud_has_its_addresses_elsewhere():
    found = usual("canvas", "https://school.instructure.com")
    assert {url.split("/")[2] for url in found[1:]} == {"sso.canvaslms.com"}


OPEN = [
    *("http://moodle.example.org", "ftp://x.org", "//x.org", "https://", "https://[x"),
    *("x", "https://ada@moodle.example.org", "http://127.0.0.1.example.org"),
]


@pytest.mark.parametrize("url", OPEN)
def test_addresses_where_others_could_listen_are_refused(url):
    with pytest.raises(CourseError) as error:
        origin(url, "--address")
    assert said("plain-http", str(error.value))


def test_every_sentence_has_a_case_in_these_files():
    files = Path(__file__).parent.glob("test_lti*.py")
    cases = "".join(file.read_text("utf-8") for file in files)
    assert [
        name for name in TEXTS if not re.search(f'"{name}"|[|] {name}\n', cases)
    ] == []
