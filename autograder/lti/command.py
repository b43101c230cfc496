"""``autograder lti``: options of its four steps, register, link, roster and push."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.course import Course
from autograder.options import (
    add_columns,
    add_file,
    add_flag,
    add_several,
    describe,
)

PORT = 8765
STEPS = {
    "register": "Make a key pair and print what the platform asks for. To store the "
    "ids that the platform gives in return, pass them as options.",
    "link": "Wait on this machine for one click on the tool in the course, check the "
    "launch, and store which course it came from.",
    "roster": "Write the students of the linked course as a table for "
    "`collect --roster`.",
    "push": "Send final points as final, and mark points as pending while a person "
    "still has to grade an answer. Grades that somebody typed into the platform are "
    "kept.",
}
REGISTER = {
    "address": "where you open the platform, such as https://moodle.example.org",
    "client-id": "the client ID that the platform gave",
    "deployment-id": "the deployment ID that it gave",
    "issuer": "the platform's issuer or platform ID, if it is unusual",
    "login-url": "its authentication request URL, if it is unusual",
    "token-url": "its access token URL, if it is unusual",
    "keys-url": "its public keyset URL, if it is unusual",
}


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder lti`."""
    describe(
        verb,
        "Register the tool once, link the course folder to a course of the platform "
        "once, and then push scores as often as you like. Each step has its own "
        "--help.",
        "autograder lti push 01-means --dry-run",
    )
    steps = verb.add_subparsers(metavar="STEP", dest="step", required=True)
    made = {}
    for name, words in STEPS.items():
        made[name] = steps.add_parser(name, help=words, description=words)
        log = {"type": Path, "metavar": "FILE", "default": argparse.SUPPRESS}
        made[name].add_argument("--log", help="append a log to FILE", **log)  # type: ignore[arg-type]
    made["register"].add_argument("--platform", choices=("moodle", "canvas"))
    for name, words in REGISTER.items():
        made["register"].add_argument(f"--{name}", metavar="TEXT", help=words)
    for name in ("register", "link"):
        words = f"port of the page on this machine (default: {PORT})"
        made[name].add_argument("--port", type=int, default=PORT, help=words)
    table = Path("students.csv")
    add_file(made["roster"], "--to", f"the table (default: {table})", table)
    push = made["push"]
    push.add_argument("assignments", nargs="+", metavar="ASSIGNMENT")
    words = "show what would be sent, and send nothing"
    add_flag(push, "--dry-run", words)
    add_file(push, "--roster", "ids and names, if your ids differ from the platform's")
    add_columns(push)
    words = "overwrite this student's grade in the column; may be repeated"
    add_several(push, "--replace", "ID", words)


def run(options: argparse.Namespace) -> int:
    """Do one of the four steps."""
    from autograder.lti import page, people, push, register

    course = Course.find()
    steps = {
        "register": lambda: register.register(course, options),
        "link": lambda: page.link_course(course, options.port),
        "roster": lambda: people.write_roster(course, options.to),
        "push": lambda: push.push(course, options),
    }
    return steps[options.step]() or 0
