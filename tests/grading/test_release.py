"""The students' notebooks follow from the instructors', and give nothing away."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.cli import main
from autograder.course import Course
from autograder.grading.gradebook import OpenGradebook
from autograder.release.grading_plan import plan
from autograder.release.leaks import find_leaks
from autograder.release.solutions import notebook_text, students_notebook

ALL = Course.find(Path(__file__).parent).assignments()


def released(classroom) -> Path:
    return classroom.root / "exercises" / "01-attention" / "attention.ipynb"


@pytest.mark.parametrize("assignment", ALL, ids=lambda a: a.name)
def test_committed_exercises_are_what_the_solutions_give(repository, assignment):
    path = repository.exercises / assignment.name / assignment.source.name
    text = notebook_text(students_notebook(repository, assignment))
    assert path.read_text("utf-8") == text, f"run: autograder release {assignment.name}"


def test_nbgrader_itself_makes_the_same_bytes(classroom):
    assert main(["release"]) == 0
    ours = released(classroom).read_bytes()
    released(classroom).unlink()
    command = [Path(sys.executable).with_name("nbgrader"), "generate_assignment"]
    with OpenGradebook(classroom.course):
        pass  # for a new one nbgrader starts `alembic`
    subprocess.run(
        [*command, "01-attention", "--force"],
        check=True,
        capture_output=True,
        env=os.environ | {"HOME": str(classroom.root)},
    )
    assert released(classroom).read_bytes() == ours


def test_a_second_release_changes_no_byte_and_makes_no_gradebook(classroom):
    main(["release"])
    before = released(classroom).read_bytes()
    main(["release", "01-attention"])
    assert released(classroom).read_bytes() == before
    assert not (classroom.root / "gradebook.db").exists()


def test_what_agents_are_asked_to_do_goes_out_with_every_assignment(classroom):
    copy = released(classroom).with_name("AGENTS.md")
    main(["release"])
    assert not copy.exists()  # a course without one
    (classroom.root / "exercises" / "AGENTS.md").write_text("Coach.\n")
    main(["release", "01-attention"])
    assert copy.read_text() == "Coach.\n"


def leaky(classroom, name: str, source: str) -> None:
    """Put ``source`` into the locked cell ``name`` of the solution."""
    notebook = json.loads(classroom.solution.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == name:
            cell["source"] = source
    classroom.solution.write_text(json.dumps(notebook))


def test_a_marker_inside_another_is_refused_with_its_cell(classroom, capsys):
    leaky(classroom, "imports", "### BEGIN HIDDEN TESTS\n" * 2)
    assert main(["release", "01-attention", "--unproven"]) == 2
    assert re.search(r"nested begin .*\(cell \d+, imports\)", capsys.readouterr().err)


@pytest.mark.parametrize(
    "source",
    [
        "Hint: powers = np.exp(x - peak)\npowers = np.exp(x - peak)",
        "Run check.hidden.softmax(softmax) to be sure",
        "### begin\n# HIDDEN TESTS come later",
    ],
)
def test_a_leak_is_refused_and_nothing_is_written(classroom, capsys, source):
    leaky(classroom, "introduction", source)
    assert main(["release"]) == 2
    assert "it would leak" in capsys.readouterr().err
    assert not released(classroom).exists()


def test_outputs_of_the_solution_are_a_leak(repository, attention):
    notebook = students_notebook(repository, attention)
    solution = nbformat.read(attention.source, as_version=4)
    assert find_leaks(notebook_text(notebook), solution) == []
    code = next(cell for cell in notebook.cells if cell.cell_type == "code")
    code.outputs = [nbformat.v4.new_output("stream", text="4")]
    assert find_leaks(notebook_text(notebook), solution) == [
        "the outputs of the solution"
    ]


def test_the_plan_s_hash_changes_with_the_solution(classroom):
    assignment = classroom.course.chosen([])[0]
    before = plan(classroom.course, assignment).hash
    assert plan(classroom.course, assignment).hash == before
    leaky(classroom, "introduction", "Other words.")
    assert plan(classroom.course, assignment).hash != before


def test_pages_are_links_where_the_sites_address_is_known(classroom, repository):
    main(["release"])
    assert "](" not in words(released(classroom))
    config = 'html:\n  baseurl: "https://course.example/attention"\n'
    (classroom.root / "_config.yml").write_text(config)
    about = 'package = "paying_attention"\nbook = {texts = "book", unit = "chapter"}\n'
    (classroom.root / "course.toml").write_text(about)
    (classroom.root / "book").mkdir()
    (classroom.root / "book/01-queries-keys-values.md").touch()
    assert main(["release"]) == 0
    page = "https://course.example/attention/book/01-queries-keys-values.html"
    assert f"after [chapter 1]({page}), " in words(released(classroom))


def words(path: Path) -> str:
    """The text cells of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(c.source for c in cells if c.cell_type == "markdown")
