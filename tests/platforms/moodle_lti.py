"""Registers the tool in a live Moodle, launches it, pushes scores, prints the column.

Called as moodle.py is. A student and a teacher click; then the maximum of the column
changes, a grade is typed, and a comment is written beside one of ours.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from moodle import (
    FILE,
    LETTERS,
    PASSWORD,
    PS,
    SETTINGS,
    Moodle,
    encoded,
    give_points,
    graded,
    notebooks,
)

from autograder.course import Course
from autograder.lti.register import public_of

PORT = 8767
PAGE = f"http://127.0.0.1:{PORT}"
COMMENT = "<p>See <b>me</b> &amp; read:</p><ul><li>axis</li><li>mask</li></ul>"
TOOL = {
    "lti_typename": "Scores",
    "lti_toolurl": f"{PAGE}/launch",
    "lti_ltiversion": "1.3.0",
    "lti_keytype": "RSA_KEY",
    "lti_initiatelogin": f"{PAGE}/login",
    "lti_redirectionuris": f"{PAGE}/launch",
    "lti_launchcontainer": 4,
    "ltiservice_gradesynchronization": 2,
    "ltiservice_memberships": 1,
}


def fields(page: str) -> bytes:
    """What the form of a page sends."""
    pairs = re.findall(r'<input[^>]*name="([^"]*)"[^>]*value="([^"]*)"', page)
    return urllib.parse.urlencode([(n, html.unescape(v)) for n, v in pairs]).encode()


def click(moodle: Moodle, who: str, activity: int) -> str:
    """What a browser does from the click to the answer of our page."""
    moodle.log_in(who)
    form = fields(moodle.get(f"mod/lti/launch.php?id={activity}").decode())
    try:
        with moodle.browser.open(f"{PAGE}/login", form) as asked:
            launch = fields(asked.read().decode())
        with urllib.request.urlopen(f"{PAGE}/launch", launch) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.read().decode()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("config", type=Path)
    options.add_argument("--php", default="php", help="how PHP is called")
    given = options.parse_args()
    moodle, home = Moodle(given.config, given.php), Course.find(Path(__file__).parent)
    short = f"lti-{os.getpid()}"
    (course,) = moodle.do({"course": {"shortname": short, "fullname": short}})
    people = [{"teacher": PASSWORD, "in": course}]
    for who, (first, last) in LETTERS.items():
        user = {"username": f"{who}-{short}", "email": f"{who}@example.org"}
        user |= {"firstname": first, "lastname": last, "password": PASSWORD}
        people.append({"person": user, "in": course})
    *_, module = moodle.do(*people, {"assignment": SETTINGS | {"course": course}})
    work = notebooks(home, list(LETTERS))
    moodle.do(
        *(
            {"submit": module, "who": f"{w}-{short}", "files": {FILE: encoded(work[w])}}
            for w in LETTERS
        )
    )
    moodle.log_in()
    with tempfile.TemporaryDirectory() as place:
        archive, sheet = Path(place, "all.zip"), Path(place, "worksheet.csv")
        archive.write_bytes(moodle.archive(module))
        sheet.write_bytes(moodle.worksheet(module))
        root = Path(place) / "course"
        # without addresses: each student is known by name, or by Moodle's numbers
        run = graded(root, home, archive)
        run("lti", "register", "--port", str(PORT))
        key = public_of((root / "lti" / "key.pem").read_text())
        ((client, tool),) = moodle.do({"tool": TOOL | {"lti_publickey": key}})
        about = ["--platform", "moodle", "--address", moodle.address]
        run(
            "lti",
            "register",
            *about,
            "--client-id",
            client,
            "--deployment-id",
            str(tool),
        )
        activity = {"course": course, "typeid": tool, "toolurl": f"{PAGE}/launch"}
        (activity,) = moodle.do(
            {"activity": activity | {"name": "Scores", "resourcekey": ""}}
        )
        program = [sys.executable, "-m", "autograder", "lti", "link"]
        environment = os.environ | {"PYTHONPATH": str(home.root)}
        page = subprocess.Popen(
            [*program, "--port", str(PORT)],
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert page.stdout and page.stdout.readline()
        for who in (f"ada-{short}", "teacher"):
            print(who, "sees:", re.sub("<[^>]*>", " ", click(moodle, who, activity)))
        try:
            assert page.wait(60) == 0
        finally:
            page.kill()
        run("lti", "roster")

        def shown(what: str) -> None:
            ((most, cells),) = moodle.do({"column": PS, "in": course})
            print(f"== {what}: a column of {most:g}")
            for login, (points, comment) in sorted(cells.items()):
                print(f"   {login.partition('-')[0]}: {points:g} {comment or ''}")

        def push(what: str, *more: str) -> None:
            run("lti", "push", PS, "--roster", str(sheet), *more)
            if "--dry-run" not in more:
                shown(what)

        push("", "--dry-run")
        push("pushed")
        push("pushed again")
        moodle.do({"maximum": 48, "column": PS, "in": course})
        shown("the maximum changed")
        push("pushed")
        typed = {"typed": 5, "text": "", "who": f"bob-{short}", "column": PS}
        spoken = {"typed": None, "text": COMMENT, "who": f"cy-{short}", "column": PS}
        ((_, cells),) = moodle.do({"column": PS, "in": course})
        spoken["typed"] = cells[f"cy-{short}"][0]
        moodle.do(typed | {"in": course}, spoken | {"in": course})
        give_points(root, 1.25)
        push("bob typed, cy has a comment, all have one point more")


if __name__ == "__main__":
    main()
