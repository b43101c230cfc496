"""Makes worksheets and archives on a live Moodle, and sends our answers back to it.

    python tests/platforms/moodle.py /var/www/moodle/config.php FOLDER \\
        --php "runuser -u www-data -- php"

Give the configuration of an empty Moodle that was installed for this (its own
admin/cli/install.php does it) and that answers at its address. Each case is a course:
FOLDER gets what a teacher downloads, and the last lines say for each case whose grades
and pages Moodle holds then. Files of a version are in the folder of its name.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import http.cookiejar
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.course import CONFIG, Course
from autograder.release.sample_class import reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook

PS, FILE = "01-attention", "attention.ipynb"
PASSWORD = "Teach.1234"
NAMES = {
    "bob": ('Bobby "Tables"', "& Söhne"),
    "con": ("O'Neil, Conor", "van der, Ü"),
    "zoe": ("Zoë \N{GRADUATION CAP}", "Ünal"),
    "und": ("a_b_c", "12_assignsubmission_file"),
    "li": ("李", "小龙"),
    "sum": ("=1+1", "50/50 %"),
    "kim1": ("Kim", "Lee"),
    "kim2": ("Kim", "Lee"),
}
STUDENTS = ("ada", "bob", "cy", "dora", "eva", "fox")
LETTERS = {who: (who.title(), "Test") for who in STUDENTS}
TEAMS = {
    'R&D, "Group" <1>': ["ada", "bob"],
    "Team 7_\N{ROCKET}": ["dora"],
    "A & B / C": ["cy"],
    "D": ["cy"],
}
ZONE = "Europe/Berlin"
COMMENT = "<p>See <b>me</b> &amp; read</p>"
SETTINGS: dict[str, object] = {"name": PS, "grade": 24, "submissiondrafts": 0}
SETTINGS |= {"assignsubmission_file_enabled": 1, "assignsubmission_file_maxfiles": 9}
SETTINGS |= {"assignsubmission_file_maxsizebytes": 10**7}
SETTINGS |= dict.fromkeys(
    (f"assignfeedback_{kind}_enabled" for kind in ("file", "comments", "offline")), 1
)


@dataclass(frozen=True)
class Case:
    """A course with one assignment, and who gets no points or no page from us."""

    people: dict[str, tuple[str, str]] = field(default_factory=lambda: LETTERS)
    settings: dict[str, object] = field(default_factory=dict)
    teams: dict[str, list[str]] = field(default_factory=dict)
    steps: tuple[dict, ...] = ()  # before the downloads
    again: tuple[dict, ...] = ()  # between the downloads and our answer
    zone: str = ZONE  # of the teacher
    without: tuple[str, ...] = ()
    pageless: tuple[str, ...] = ()
    spoken: str = ""  # who has a comment that stays

    def whose(self, who: str) -> str:
        """Who hands in: the first of a team, or of those who are in none."""
        mine = [members for members in self.teams.values() if who in members]
        if len(mine) == 1:
            return mine[0][0]
        return self.pageless[0] if self.teams else who


CASES = {
    "names": Case(NAMES),
    "blind": Case(NAMES, {"blindmarking": 1}, again=({"reveal": 0},)),
    # cy is in two groups, eva and fox in none: Moodle's default group
    "teams": Case(
        settings={"teamsubmission": 1},
        teams=TEAMS,
        pageless=("cy", "eva", "fox"),
    ),
    "drafts": Case(settings={"submissiondrafts": 1}),
    "reopened": Case(
        settings={"attemptreopenmethod": "manual", "maxattempts": -1},
        again=({"reopen": 0, "who": "ada"},),
        without=("ada",),
        pageless=("ada",),
    ),
    "reopened-teams": Case(
        settings={
            "teamsubmission": 1,
            "attemptreopenmethod": "manual",
            "maxattempts": -1,
        },
        teams={"West": ["ada", "bob"], "East": ["cy", "dora"], "North": ["eva", "fox"]},
        again=({"reopen": 0, "who": "ada"},),
        without=("ada", "bob"),
        pageless=("ada", "bob"),
    ),
    "locked": Case(
        steps=(
            {"lock": 0, "who": "ada", "how": "locked"},
            {"lock": 0, "who": "bob", "how": "overridden"},
        ),
        without=("ada", "bob"),
    ),
    "comments": Case(
        steps=({"comment": 0, "who": "ada", "text": COMMENT},), spoken="ada"
    ),
    "other-zone": Case(
        steps=tuple(
            {"aged": 0, "who": who, "hours": 5 * n} for n, who in enumerate(STUDENTS)
        ),
        zone="America/New_York",
    ),
}


class Moodle:
    """Steps through Moodle's classes, and a teacher's downloads over HTTP."""

    def __init__(self, config: Path, php: str) -> None:
        self.command = [*shlex.split(php), "-d", "max_input_vars=5000"]
        self.command += [str(Path(__file__).with_suffix(".php")), str(config)]
        found = re.search(r"wwwroot\s*=\s*'([^']+)'", config.read_text())
        assert found, f"{config} has no wwwroot"
        self.address = found[1]

    def do(self, *steps: dict) -> list:
        text = json.dumps(steps)
        run = subprocess.run(self.command, input=text, capture_output=True, text=True)
        _, sign, answer = run.stdout.rpartition("\nJSON ")
        assert sign, run.stdout + run.stderr
        return json.loads(answer.partition("\n")[0])  # a page's end may follow

    def log_in(self) -> None:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.browser = urllib.request.build_opener(jar)
        page = self.get("login/index.php").decode()
        token = re.search(r'name="logintoken" value="(\w+)"', page)
        assert token, page
        form = {"username": "teacher", "password": PASSWORD, "logintoken": token[1]}
        self.get("login/index.php", urllib.parse.urlencode(form).encode())

    def get(self, path: str, form: bytes | None = None) -> bytes:
        with self.browser.open(f"{self.address}/{path}", form, timeout=300) as answer:
            return answer.read()

    def archive(self, module: int) -> bytes:
        return self.get(f"mod/assign/view.php?id={module}&action=downloadall")

    def worksheet(self, module: int) -> bytes:
        return self.get(
            f"mod/assign/view.php?id={module}&action=viewpluginpage&plugin=offline"
            "&pluginsubtype=assignfeedback&pluginaction=downloadgrades"
        )


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def notebooks(course: Course, people: list[str]) -> dict[str, bytes]:
    """Work by student: the right answers to different questions, so other points."""
    (assignment,) = course.chosen([PS])
    untouched = notebook_text(students_notebook(course, assignment))
    answers = list(reference_answers(assignment).items())
    found = {}
    for number, who in enumerate(people, 1):
        mine = dict(pair for n, pair in enumerate(answers) if number >> n & 1)
        notebook = json.loads(solved(json.loads(untouched), mine))
        notebook["metadata"]["work of"] = who
        found[who] = json.dumps(notebook).encode()
    return found


def play(moodle: Moodle, name: str, case: Case, folder: Path, home: Course) -> str:
    """One case: files for the folder, our answer back, and what Moodle holds then."""
    short = f"{name}-{os.getpid()}"
    (course,) = moodle.do({"course": {"shortname": short, "fullname": short}})
    login = {who: f"{who}-{short}" for who in case.people}
    steps: list[dict] = [{"teacher": PASSWORD, "in": course}]
    for who, (first, last) in case.people.items():
        user = {"username": login[who], "email": f"{who}@example.org"}
        user |= {"firstname": first, "lastname": last}
        steps.append({"person": user, "in": course})
    for team, members in case.teams.items():
        logins = [login[who] for who in members]
        steps.append({"group": team, "in": course, "members": logins})
    settings = SETTINGS | {"course": course} | case.settings
    *_, module = moodle.do(*steps, {"assignment": settings})

    def told(step: dict) -> dict:
        who = {"who": login[step["who"]]} if "who" in step else {}
        return step | {next(iter(step)): module} | who

    work = notebooks(home, list(case.people))
    moodle.do(
        *(
            {"submit": module, "who": login[who], "files": {FILE: encoded(work[who])}}
            for who in case.people
            if case.whose(who) == who
        ),
        *map(told, case.steps),
        {"zone": case.zone},
    )
    moodle.log_in()

    def downloaded(stem: str) -> tuple[Path, Path]:
        archive, sheet = folder / f"{stem}.zip", folder / f"{stem}.csv"
        archive.write_bytes(moodle.archive(module))
        sheet.write_bytes(moodle.worksheet(module))
        return archive, sheet

    archive, sheet = downloaded(name)
    if case.zone != ZONE:
        return f"{name}: files written"
    moodle.do(*map(told, case.again))
    fresh = downloaded(f"{name}-again")[1]
    points, pages = answer(moodle, module, archive, sheet, fresh, home)
    held = moodle.do({"held": module})[0]
    wrong = []
    for who in case.people:
        there, number = held[login[who]], held[login[who]]["number"]
        mine = f"{who}@example.org"
        if mine not in pages:
            mine = f"participant-{number}"
        given = None if who in case.without else points[mine]
        sent = [] if who in case.pageless else [pages[mine]]
        if (there["points"], there["pages"]) != (given, sent):
            wrong.append(f"{who} has {there['points']} of {given}, {there['pages']}")
        if who == case.spoken and there["comment"] != COMMENT:
            wrong.append(f"{who} has the comment {there['comment']}")
    return f"{name}: {'; '.join(wrong) or 'as due'}"


def answer(
    moodle: Moodle, module: int, archive: Path, sheet: Path, fresh: Path, home: Course
) -> tuple[dict[str, float], dict[str, str]]:
    """Collect, grade, export, upload; our points and pages by student."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "course"
        shutil.copytree(home.solutions / PS, root / "solutions" / PS)
        text = (home.root / CONFIG).read_text() + f"\nc.Exchange.timezone = {ZONE!r}\n"
        (root / CONFIG).write_text(text)

        def run(*command: str) -> None:
            program = [sys.executable, "-m", "autograder", *command]
            environment = os.environ | {"PYTHONPATH": str(home.root)}
            subprocess.run(program, cwd=root, env=environment, check=True)

        run("collect", str(archive), "--roster", str(sheet))
        run("grade", PS)
        with Gradebook(f"sqlite:///{root}/gradebook.db") as book:
            for submission in book.assignment_submissions(PS):
                for grade in submission.notebooks[0].grades:
                    if grade.needs_manual_grade:
                        grade.manual_score, grade.needs_manual_grade = 0.25, False
            book.db.commit()
        run("export", PS)
        run("export", PS, "--format", "moodle", "--roster", str(fresh))
        run("feedback", PS, "--zip", "moodle")
        grades, zipped = f"moodle-{PS}.csv", f"feedback-moodle-{PS}.zip"
        moodle.do({"grades": module, "data": encoded((root / grades).read_bytes())})
        moodle.do({"pages": module, "data": encoded((root / zipped).read_bytes())})
        with (root / "scores.csv").open(encoding="utf-8-sig") as lines:
            points = {r["student"]: float(r["score"]) for r in csv.DictReader(lines)}
        pages = {
            path.parts[-3]: hashlib.md5(path.read_bytes()).hexdigest()
            for path in (root / "feedback").glob(f"*/{PS}/*.html")
        }
        return points, pages


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("config", type=Path)
    options.add_argument("folder", type=Path)
    options.add_argument("--php", default="php", help="how PHP is called")
    options.add_argument("--case", choices=CASES, action="append")
    given = options.parse_args()
    moodle, home = Moodle(given.config, given.php), Course.find(Path(__file__).parent)
    given.folder.mkdir(parents=True, exist_ok=True)
    print("Moodle", *moodle.do({"release": 0}))
    for name in given.case or CASES:
        print(play(moodle, name, CASES[name], given.folder.resolve(), home), flush=True)


if __name__ == "__main__":
    main()
