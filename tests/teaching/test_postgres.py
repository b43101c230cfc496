"""The gradebook in PostgreSQL: a real server, and the same rows as in SQLite."""

import json
import os
import shutil
import subprocess
import tempfile
from itertools import islice
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder import wall
from autograder.cli import main
from autograder.sample_class import submissions

UNPROTECTED = ["--no-sandbox"] if wall.available() else []


@pytest.fixture
def postgres():
    """The address of a database of a server that lives as long as the test."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    as_user = []
    if os.getuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]

    def run(program, *options):
        command = [*as_user, str(programs[-1] / program), *options]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)

    data, socket = str(folder / "data"), f"-k {folder} -c listen_addresses=''"
    run("initdb", "-D", data, "-U", "grader", "-A", "trust", "--no-sync")
    run("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", socket, "start")
    run("createdb", "-h", str(folder), "-U", "grader", "grades")
    yield f"postgresql+psycopg2://grader@/grades?host={folder}"
    run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    shutil.rmtree(folder)


def rows(url):
    """All that people see of a gradebook."""
    found = []
    with Gradebook(url, "paying-attention") as book:
        for submission in book.assignment_submissions("01-attention"):
            (notebook,) = submission.notebooks
            grades = [
                (
                    grade.name,
                    grade.auto_score,
                    grade.manual_score,
                    grade.extra_credit,
                    grade.max_score,
                    grade.needs_manual_grade,
                )
                for grade in notebook.grades
            ]
            comments = [(each.name, each.comment) for each in notebook.comments]
            score = submission.score, notebook.late_submission_penalty
            found.append((submission.student.id, score, sorted(grades), comments))
    return sorted(found)


def give_points(url):
    with Gradebook(url, "paying-attention") as book:
        where = "attention", "01-attention", "ada"
        grade = book.find_grade("explain_roles", *where)
        grade.manual_score, grade.needs_manual_grade = 3.5, False
        book.find_comment("explain_roles", *where).manual_comment = "Übung ✓"
        book.db.commit()


def everything(folder, url):
    """Grade, give points, grade again, and write what instructors write."""
    command = ["grade", "--workers", "1", "--json", "results.json", *UNPROTECTED]
    assert main(command) == 0
    give_points(url)
    assert main([*command, "--force"]) == 0
    for verb in ("export", "feedback", "report"):
        assert main([verb]) == 0
    results = json.loads((folder / "results.json").read_text())
    tables = [(folder / name).read_bytes() for name in ("scores.csv", "questions.csv")]
    pages = sorted(
        str(page.relative_to(folder)) for page in folder.glob("feedback/**/*")
    )
    return results, tables, pages


def test_postgresql_and_sqlite_hold_the_same(course, attention, repository, postgres):
    for student, text in islice(submissions(repository, attention), 2, 20, 3):
        folder = course.submitted / student / "01-attention"
        folder.mkdir(parents=True)
        (folder / "attention.ipynb").write_text(text)
    ada = course.submitted / "ada" / "01-attention"
    ada.mkdir(parents=True, exist_ok=True)
    _, text = next(submissions(repository, attention))
    (ada / "attention.ipynb").write_text(text)

    file = f"sqlite:///{course.root}/gradebook.db"
    here = everything(course.root, file)
    for made in ("autograded", "feedback"):
        shutil.rmtree(course.root / made)

    config = course.root / "nbgrader_config.py"
    setting = f"c.CourseDirectory.db_url = {postgres!r}\n"
    config.write_text(f"{config.read_text()}\n{setting}")
    before = Path(course.root, "gradebook.db").read_bytes()
    there = everything(course.root, postgres)
    assert Path(course.root, "gradebook.db").read_bytes() == before
    assert there == here and len(here[0]["submissions"]) == 7
    assert rows(postgres) == rows(file)


def test_a_database_that_is_not_there_is_told(course, right, capsys):
    folder = course.submitted / "ada" / "01-attention"
    folder.mkdir(parents=True)
    (folder / "attention.ipynb").write_text(right)
    config = course.root / "nbgrader_config.py"
    url = f"postgresql+psycopg2://grader@/grades?host={course.root}"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.db_url = {url!r}\n")
    assert main(["grade", *UNPROTECTED]) == 2
    assert "The gradebook cannot be used" in capsys.readouterr().err
