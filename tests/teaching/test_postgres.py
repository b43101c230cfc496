"""The gradebook in PostgreSQL: a real server, and the same rows as in SQLite."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from shared import GRADE, UNPROTECTED, some

from autograder.cli import main
from autograder.course import Course
from autograder.release.sample_class import submissions


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
            comments = [(each.name, each.comment or "") for each in notebook.comments]
            score = submission.score, notebook.late_submission_penalty
            found.append(
                (submission.student.id, score, sorted(grades), sorted(comments))
            )
    return sorted(found)


def give_points(url):
    with Gradebook(url, "paying-attention") as book:
        where = "attention", "01-attention", "ada"
        grade = book.find_grade("explain_roles", *where)
        grade.manual_score, grade.needs_manual_grade = 3.5, False
        book.find_comment("explain_roles", *where).manual_comment = "Übung ✓"
        book.db.commit()


def everything(folder, url, *how):
    """Grade, give points, grade all again, and write what instructors write.

    How is for the second time, from which everything that is compared comes.
    """
    command = ["grade", "--json", "results.json", *UNPROTECTED]
    assert main([*command, "--workers", "1"]) == 0
    give_points(url)
    assert main([*command, *how, "--force"]) == 0
    for verb in ("export", "feedback", "report"):
        assert main([verb]) == 0
    results = json.loads((folder / "results.json").read_text())
    tables = [(folder / name).read_bytes() for name in ("scores.csv", "questions.csv")]
    pages = sorted(
        str(page.relative_to(folder)) for page in folder.glob("feedback/**/*")
    )
    for made in ("autograded", "feedback"):
        shutil.rmtree(folder / made)
    return results, tables, pages


def use(course, url):
    config = course.root / "nbgrader_config.py"
    setting = f"c.CourseDirectory.db_url = {url!r}\n"
    config.write_text(f"{config.read_text()}\n{setting}")


@pytest.mark.parametrize("places", some(range(2, 20, 3), 1))
def test_gradebooks_are_equal_wherever_they_are_kept_and_made(
    course, attention, repository, postgres, cluster, capsys, places, hand_in
):
    """SQLite and PostgreSQL; one worker, then two workers or a cluster."""
    class_of = list(submissions(repository, attention))
    for student, text in [class_of[place] for place in places]:
        hand_in(student, text)
    ada = hand_in("ada", class_of[0][1])

    hostile = course.submitted / '=Ada, "x" \u202e<b>' / "01-attention"
    shutil.copytree(ada, hostile)

    first = f"sqlite:///{course.root}/gradebook.db"
    here = everything(course.root, first, "--workers", "2")
    assert len(here[0]["submissions"]) == len(places) + 2
    before = Path(course.root, "gradebook.db").read_bytes()

    use(course, postgres)
    there = everything(course.root, postgres, "--scheduler", cluster[0])
    assert there == here
    assert rows(postgres) == rows(first)
    assert Path(course.root, "gradebook.db").read_bytes() == before

    # resumed: nothing is judged twice, and the notebooks are made again
    assert main(GRADE) == 0
    assert main(GRADE) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert f"{len(places) + 2} of them done before" in last
    assert rows(postgres) == rows(first)

    # nbgrader's column for names is shorter than what a folder's name may be
    shutil.copytree(ada, course.submitted / ("x" * 129) / "01-attention")
    assert main(GRADE) == 1  # all others are graded
    assert "more than 128 characters" in capsys.readouterr().err


@pytest.mark.long
def test_two_graders_at_once_lose_nothing(
    course, attention, repository, postgres, tmp_path, hand_in
):
    """Two machines with their own folders and one gradebook: as one alone would do."""
    texts = list(islice(submissions(repository, attention), 0, 12, 3))
    places = [tmp_path / "one", tmp_path / "two"]
    for number, (student, text) in enumerate(texts):
        folder = hand_in(student, text)
        own = places[number % 2] / folder.relative_to(course.root)
        shutil.copytree(folder, own)
    assert main(GRADE) == 0
    alone = rows(f"sqlite:///{course.root}/gradebook.db")

    for place in places:
        shutil.copytree(course.solutions, place / "solutions")
        shutil.copy(course.root / "nbgrader_config.py", place)
        use(Course(place), postgres)
    command = [sys.executable, "-m", "autograder", "grade", "--workers", "1"]
    graders = [
        subprocess.Popen(
            [*command, *UNPROTECTED], cwd=place, stderr=subprocess.PIPE, text=True
        )
        for place in places
    ]
    said = [grader.communicate()[1] for grader in graders]
    assert [grader.returncode for grader in graders] == [0, 0], said
    assert rows(postgres) == alone
    assert len(alone) == len(texts)


def test_a_database_that_is_not_there_is_told(course, right, capsys, hand_in):
    hand_in("ada", right)
    use(course, f"postgresql+psycopg2://grader@/grades?host={course.root}")
    assert main(["grade", *UNPROTECTED]) == 2
    assert "The gradebook cannot be used" in capsys.readouterr().err
