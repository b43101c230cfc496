"""From submitted/ to points, messages and autograded notebooks."""

import json
import os
import subprocess
import sys
from pathlib import Path

from classroom import UNPROTECTED
from sqlalchemy import text

from autograder.cli import main
from autograder.grading.store import Store
from autograder.release.sample_class import delete_tests, with_cells, without_metadata
from autograder.wall.backend_choice import best

NAMES = ("softmax", "attention_scores", "scaled_dot_product_attention", "check_softmax")


def points(result) -> list[float]:
    return [question["score"] for question in result["questions"]]


def messages(result) -> list[str | None]:
    return [question["message"] for question in result["questions"]]


def test_the_json_has_exactly_the_promised_keys(classroom, wrong):
    classroom.hand_in("ada", wrong)
    classroom.grade()
    content = json.loads((classroom.root / "results.json").read_text())
    assert set(content) == {"assignment", "submissions"}
    (submission,) = content["submissions"]
    wall = "none" if UNPROTECTED else best()
    assert submission.pop("wall", "namespaces") == wall
    assert set(submission) == {
        *("student", "notebook", "status", "reason", "score", "max_score", "questions")
    }
    assert set(submission["questions"][0]) == {
        *("id", "score", "max_score", "message", "misconception")
    }


def test_an_untouched_notebook_gets_nothing_and_no_traceback(
    classroom, untouched, gradebook
):
    classroom.hand_in("ada", json.dumps(untouched))
    result = classroom.grade()["ada"]
    assert result["score"] == 0.0
    assert all("no answer yet" in message for message in messages(result))
    with gradebook() as book:
        comment = book.find_comment("softmax", "attention", "01-attention", "ada")
        assert comment.comment == "No response."


def test_one_broken_notebook_stops_nobody(classroom, right, capsys):
    classroom.hand_in("ada", right)
    classroom.hand_in("bela", right[:2000])
    classroom.hand_in("chen", without_metadata(right))
    classroom.hand_in("dana", with_cells(right, delete_tests))
    results = classroom.grade()
    assert [results[name]["score"] for name in ("ada", "chen", "dana")] == [20.0] * 3
    assert results["bela"]["status"] == "held"
    assert "cut off at line" in results["bela"]["reason"]
    assert results["bela"]["score"] is None
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "4 submissions: 3 graded, 1 held."


def test_a_held_file_takes_no_points_that_were_given_before(classroom, ada, gradebook):
    classroom.hand_in("ada", "")
    assert classroom.grade()["ada"]["status"] == "held"
    with gradebook() as book:
        assert book.find_submission("01-attention", "ada").score == 20.0


def test_the_autograded_notebook_has_outputs_and_no_hidden_test(classroom, wrong):
    shown = with_cells(
        wrong,
        lambda cells: [
            *cells,
            {"cell_type": "code", "source": "print('mine')", "metadata": {}},
        ],
    )
    classroom.hand_in("ada", shown)
    classroom.grade()
    notebook = classroom.autograded("ada")
    assert "hidden." not in json.dumps([cell["source"] for cell in notebook["cells"]])
    assert "".join(notebook["cells"][-1]["outputs"][0]["text"]) == "mine\n"
    tests = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["outputs"][0]
        for cell in notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id", "").startswith("test_")
    }
    assert "4 of 4 points" in tests["test_softmax"]["text"]
    assert any("√d_k" in x for x in tests["test_attention_scores"]["traceback"])


def test_a_second_run_grades_nothing_again(classroom, right, capsys):
    classroom.hand_in("ada", right)
    first = classroom.grade()
    page = classroom.root / "autograded" / "ada" / "01-attention" / "attention.ipynb"
    before = page.stat().st_mtime_ns
    assert classroom.grade() == first
    assert page.stat().st_mtime_ns == before
    assert "1 of them done before" in capsys.readouterr().out.splitlines()[-1]
    assert classroom.grade("--force") == first
    assert page.stat().st_mtime_ns != before


def test_what_people_gave_survives_a_regrade(classroom, ada, gradebook):
    where = ("attention", "01-attention", "ada")
    with gradebook() as book:
        grade = book.find_grade("explain_roles", *where)
        grade.manual_score, grade.needs_manual_grade = 3.0, False
        book.find_grade("test_softmax", *where).extra_credit = 0.5
        book.find_comment("explain_roles", *where).manual_comment = "Good."
        book.find_submission_notebook(*where).late_submission_penalty = 2.0
        book.db.commit()
    result = classroom.grade("--force")["ada"]
    assert points(result) == [4.5, 4.0, 8.0, 4.0, 3.0]
    assert result["score"] == 21.5
    assert messages(result)[-1] is None
    with gradebook() as book:
        comment = book.find_comment("explain_roles", *where)
        assert comment.comment == "Good."


def test_a_changed_answer_is_marked_for_another_look(classroom, ada, right, gradebook):
    where = ("explain_roles", "attention", "01-attention", "ada")
    with gradebook() as book:
        grade = book.find_grade(*where)
        grade.manual_score, grade.needs_manual_grade = 3.0, False
        book.db.commit()
    classroom.hand_in("ada", right.replace("A query says", "The query says"))
    classroom.grade()
    with gradebook() as book:
        grade = book.find_grade(*where)
        assert (grade.manual_score, grade.needs_manual_grade) == (3.0, True)


def test_points_in_place_of_the_checks_are_marked_when_the_answer_changes(
    classroom, ada, right, gradebook
):
    """A person gave more than the checks; for another answer that may be untrue."""
    where = ("test_softmax", "attention", "01-attention", "ada")
    with gradebook() as book:
        book.find_grade(*where).manual_score = 1.5
        book.db.commit()

    def marked():
        classroom.grade("--force")
        with gradebook() as book:
            grade = book.find_grade(*where)
            return grade.manual_score, grade.needs_manual_grade

    assert marked() == (1.5, False)
    classroom.hand_in("ada", right.replace("peak", "largest"))
    assert marked() == (1.5, True)


def test_a_new_question_finds_its_place_in_old_submissions(classroom, right, gradebook):
    notebook = json.loads(classroom.solution.read_text())
    whole = classroom.solution.read_text()
    notebook["cells"] = [
        cell
        for cell in notebook["cells"]
        if cell["metadata"]["nbgrader"]["grade_id"].removeprefix("test_") != "softmax"
    ]
    classroom.solution.write_text(json.dumps(notebook))
    classroom.hand_in("ada", right)
    assert classroom.grade()["ada"]["max_score"] == 20.0
    classroom.solution.write_text(whole)
    assert classroom.grade()["ada"]["score"] == 20.0
    classroom.solution.write_text(json.dumps(notebook))
    assert classroom.grade("--unproven")["ada"]["score"] == 16.0
    with gradebook() as book:
        assert book.find_submission("01-attention", "ada").max_score == 20.0


def test_a_question_that_people_graded_is_not_removed(
    classroom, ada, gradebook, capsys
):
    where = ("attention", "01-attention", "ada")
    with gradebook() as book:
        book.find_grade("explain_roles", *where).manual_score = 3.0
        book.db.commit()
    notebook = json.loads(classroom.solution.read_text())
    notebook["cells"] = [
        cell
        for cell in notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") != "explain_roles"
    ]
    classroom.solution.write_text(json.dumps(notebook))
    assert main(["grade", *UNPROTECTED]) == 2
    assert "no longer has the cell explain_roles" in capsys.readouterr().err
    with gradebook() as book:
        assert book.find_grade("explain_roles", *where).manual_score == 3.0


def test_a_locked_gradebook_is_told_in_a_sentence(
    classroom, ada, gradebook, capsys, monkeypatch
):
    monkeypatch.setattr("autograder.grading.gradebook.WAIT", 0.2)
    with gradebook() as book:
        book.db.connection().exec_driver_sql("BEGIN EXCLUSIVE")
        assert main(["grade", *UNPROTECTED, "--force"]) == 2
    assert "locked by another program" in capsys.readouterr().err
    assert classroom.grade("--force")["ada"]["score"] == 20.0


# ------------------------------------------------------------- files and names


def test_links_are_not_followed(classroom, right):
    elsewhere = classroom.root / "elsewhere.ipynb"
    elsewhere.write_text(right)
    folder = classroom.hand_in("ada", "")
    (folder / "attention.ipynb").unlink()
    (folder / "attention.ipynb").symlink_to(elsewhere)
    result = classroom.grade()["ada"]
    assert (result["status"], "link" in result["reason"]) == ("held", True)


def test_a_student_folder_that_is_a_link_is_passed_over(classroom, right):
    classroom.hand_in("ada", right)
    (classroom.root / "submitted" / "eve").symlink_to("ada")
    assert list(classroom.grade()) == ["ada"]


def test_pipes_and_devices_are_not_opened(classroom, right):
    folder = classroom.hand_in("ada", "")
    (folder / "attention.ipynb").unlink()
    os.mkfifo(folder / "attention.ipynb")
    assert classroom.grade()["ada"]["status"] == "held"


def test_a_folder_without_a_notebook_is_held(classroom, right):
    classroom.hand_in("ada", right, "answers.txt")
    assert "There is no notebook" in classroom.grade()["ada"]["reason"]


def test_a_gradebook_of_the_config_is_used(classroom, right):
    config = classroom.root / "nbgrader_config.py"
    url = f"sqlite:///{classroom.root}/elsewhere.db"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.db_url = {url!r}\n")
    classroom.hand_in("ada", right)
    classroom.grade()
    assert Path(classroom.root, "elsewhere.db").exists()
    assert not Path(classroom.root, "gradebook.db").exists()
    with Store(classroom.course) as store:
        assert store.verdict("ada", "01-attention").verdict.status == "graded"


def test_a_new_gradebook_notes_the_version_that_nbgrader_would(classroom, monkeypatch):
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", here)
    command = [sys.executable, "-c", "from nbgrader.api import *"]
    command[-1] += "; print(get_alembic_version())"
    theirs = subprocess.run(command, capture_output=True, text=True, check=True)
    monkeypatch.setenv("PATH", "/nowhere")
    with Store(classroom.course) as store:
        (version,) = store.gradebook.db.execute(
            text("SELECT version_num FROM alembic_version")
        ).one()
    assert version == theirs.stdout.strip()
