"""A variant per student: the same in check, page and grade, and it costs no points."""

import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course import CONFIG
from autograder.grading.job import FOREIGN
from autograder.notebook.variants import vary
from autograder.release.sample_class import delete_tests, solved, with_cells
from autograder.release.variants import code_of

SECRET = "a secret of this course"
ROSTER = "student_id,name\nada,Ada\nbob,Bob\nzoë@x.org,Zoë\n"
CALL = re.compile(r'check\.softmax\(softmax, variant="([0-9a-f]{12})"\)')
# right for the inputs that everybody has, wrong for the four scores of a card
UNEVEN = """\
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True) * (np.shape(x) != (4,))
"""


def switch_on(classroom, secret=SECRET):
    path = classroom.root / CONFIG
    path.write_text(f"{path.read_text()}\nc.Autograder.variants = {secret!r}\n")


@pytest.fixture
def varied(classroom):
    """A course with variants, and a roster."""
    switch_on(classroom)
    (classroom.root / "roster.csv").write_text(ROSTER)
    return classroom


def notebook_of(classroom, student):
    path = classroom.root / "variants" / student / "01-attention" / "attention.ipynb"
    return json.loads(path.read_text("utf-8"))


def text_of(notebook):
    return "\n".join("".join(cell["source"]) for cell in notebook["cells"])


def variant(untouched, student, answers):
    """A student's own notebook with answers, as text."""
    notebook = json.loads(json.dumps(untouched))
    vary(notebook, "attention", code_of(SECRET, student))
    return solved(notebook, answers)


# ----------------------------------------------------------------- what is written


def test_students_get_notebooks_that_differ_on_their_cards_alone(varied, untouched):
    assert main(["variants", "roster.csv", "01-attention"]) == 0
    codes = (varied.root / "variants/codes.csv").read_text("utf-8").splitlines()
    assert codes[0] == "student_id,name,code"
    names = [line.split(",")[0] for line in codes[1:]]
    assert names[:2] == ["ada", "bob"] and names[2].startswith("zoë@x.org")
    notebooks = [notebook_of(varied, name) for name in names]
    assert len({text_of(notebook) for notebook in notebooks}) == 3
    for line, notebook in zip(codes[1:], notebooks, strict=True):
        assert CALL.findall(text_of(notebook)) == [line.split(",")[2]]
        for mine, common in zip(notebook["cells"], untouched["cells"], strict=True):
            changed = mine["source"] != common["source"]
            id = common["metadata"]["nbgrader"]["grade_id"]
            assert changed == (id in CHANGED)
            assert {**mine, "source": ""} == {**common, "source": ""}


CHANGED = {"card_softmax", "card_scores", "card_attention", "test_softmax"}
CHANGED |= {"test_attention_scores", "test_scaled_dot_product_attention"}


def test_the_same_secret_gives_the_same_and_another_one_does_not(varied):
    main(["variants", "roster.csv"])
    before = notebook_of(varied, "ada")
    main(["variants", "roster.csv"])
    assert notebook_of(varied, "ada") == before
    switch_on(varied, "quite another secret")
    main(["variants", "roster.csv"])
    assert text_of(notebook_of(varied, "ada")) != text_of(before)


def test_a_table_of_codes_that_a_spreadsheet_has_saved_loses_nobody(varied, capsys):
    main(["variants", "roster.csv", "01-attention"])
    table = varied.root / "variants/codes.csv"
    before = table.read_text("utf-8")
    table.write_text(before.replace(",", ";").replace("\n", "\r\n"), "utf-8-sig")
    (varied.root / "late.csv").write_text("student_id,name\nkim,Kim\n")
    assert main(["variants", "late.csv", "01-attention"]) == 0
    after = table.read_text("utf-8").splitlines()
    assert set(before.splitlines()) < set(after) and len(after) == 5
    for spoiled, words in (
        (before.encode("latin-1"), "is not in UTF-8; save it as CSV in UTF-8"),
        (b"Name\nAda\n", "has no column 'student_id'"),
    ):
        table.write_bytes(spoiled)
        assert main(["variants", "late.csv", "01-attention"]) == 2
        assert words in capsys.readouterr().err
        assert table.read_bytes() == spoiled


def test_a_release_is_the_same_to_the_byte_with_variants_and_without(classroom):
    main(["release", "--unproven"])
    path = classroom.root / "exercises/01-attention/attention.ipynb"
    before = path.read_bytes()
    switch_on(classroom)
    main(["release", "--unproven"])
    assert path.read_bytes() == before and b"variant" not in before


def test_variants_are_off_until_there_is_a_secret_that_nobody_guesses(
    classroom, capsys
):
    (classroom.root / "roster.csv").write_text(ROSTER)
    assert main(["variants", "roster.csv"]) == 2
    assert "Variants are off" in capsys.readouterr().err
    for bad in (True, "short"):
        switch_on(classroom, bad)
        assert main(["variants", "roster.csv"]) == 2
        assert "a secret text of 16 characters or more" in capsys.readouterr().err
    assert not (classroom.root / "variants").exists()


def test_a_card_that_was_rewritten_is_named(varied, capsys):
    text = varied.solution.read_text().replace("[0, 0, log 2]", "[0, 0, log 3]")
    varied.solution.write_text(text)
    assert main(["variants", "roster.csv"]) == 2
    said = capsys.readouterr().err
    assert "the card of softmax has to say once, word for word: the scores" in said


# ------------------------------------------------------------- the same everywhere


def said_by_check(text, tmp_path, capsys):
    path = tmp_path / "mine.ipynb"
    path.write_text(text)
    capsys.readouterr()
    main(["check", str(path)])
    return capsys.readouterr().out


def said_in_the_page(text):
    """What the exercise page's own Python says of softmax."""
    path = Path(__file__).resolve().parents[2] / "book/static/runner.py"
    page = runpy.run_path(str(path))
    code = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    number = [c["metadata"]["nbgrader"]["grade_id"] for c in code].index("test_softmax")
    sources = ["".join(cell["source"]) for cell in code]
    job = {"sources": sources, "wanted": [number]}
    return json.loads(page["run"](json.dumps(job)))[-1]["problem"]


def test_check_page_and_grade_say_the_same_of_a_card(
    varied, untouched, answers, tmp_path, capsys, monkeypatch
):
    text = variant(untouched, "ada", answers | {"softmax": UNEVEN})
    varied.hand_in("ada", text)
    graded = varied.grade()["ada"]["questions"][0]
    assert graded["score"] == 0
    message = graded["message"]
    assert "visible check 5 of 5: Your card's example: the scores `[log " in message
    assert message in said_by_check(text, tmp_path, capsys)
    monkeypatch.setenv("MPLBACKEND", "agg")  # the page's program sets it for good
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    assert said_in_the_page(text) == message


def test_right_work_holds_in_a_variant(untouched, answers, tmp_path, capsys):
    said = said_by_check(variant(untouched, "ada", answers), tmp_path, capsys)
    assert "softmax: visible checks 5 of 5 hold" in said
    assert said.endswith("The visible checks of 4 of 4 questions hold.\n")
    assert "had been changed" not in said


# --------------------------------------------------------- what students may change


CODED = re.compile(r', variant="[0-9a-f]{12}"')


def rewritten(change):
    """Another text in place of the code of a variant."""

    def cells_with(cells):
        texts = (CODED.sub(change, "".join(cell["source"])) for cell in cells)
        return [{**c, "source": t} for c, t in zip(cells, texts, strict=True)]

    return lambda text: with_cells(text, cells_with)


def bare(cells):
    """As some platforms leave a notebook: without metadata."""
    return [{**cell, "metadata": {}} for cell in cells]


CHANGES = {
    "none": lambda text: text,
    "no-code": rewritten(""),
    "forged": rewritten(', variant="ffffffffffff"'),
    "invalid": rewritten(', variant="mine, please"'),
    "program": rewritten(", variant=exit()"),
    "bare": lambda text: with_cells(text, bare),
    "no-tests": lambda text: with_cells(text, delete_tests),
}


def test_what_a_notebook_says_of_its_variant_changes_no_points(
    varied, untouched, answers
):
    for name, change in CHANGES.items():
        right = variant(untouched, name, answers)
        assert (change(right) == right) == (name == "none")
        varied.hand_in(name, change(right))
    wrong = variant(untouched, "eve", answers | {"softmax": UNEVEN})
    varied.hand_in("eve", CHANGES["forged"](wrong))
    graded = varied.grade()
    assert "Your card's example" in graded["eve"]["questions"][0]["message"]
    for name in CHANGES:
        assert graded[name]["score"] == 20.0
        code = CALL.findall(text_of(varied.autograded(name)))
        assert code == [code_of(SECRET, name)]


def test_another_student_s_notebook_is_pointed_out_and_costs_nothing(
    varied, untouched, answers, capsys
):
    varied.hand_in("ada", variant(untouched, "ada", answers))
    varied.hand_in("bob", variant(untouched, "ada", answers))
    graded = varied.grade()
    assert [graded[name]["score"] for name in ("ada", "bob")] == [20.0, 20.0]
    assert FOREIGN in text_of(varied.autograded("bob"))
    assert FOREIGN not in text_of(varied.autograded("ada"))
    assert "had been changed" not in text_of(varied.autograded("bob"))
    capsys.readouterr()
    assert main(["similarity", "01-attention"]) == 0
    said = capsys.readouterr().out
    assert "bob has the numbers of ada: the checks of the notebook" in said
    assert "ada has the numbers" not in said
    page = (varied.root / "similarity-01-attention.html").read_text()
    assert "bob has the numbers of ada" in page
    main(["report"])
    assert FOREIGN in (varied.root / "report.html").read_text()


def test_of_several_notebooks_the_one_with_foreign_examples_is_named(
    varied, repository, capsys
):
    second = repository.solutions / "04-masking/masking.ipynb"
    shutil.copy(second, varied.solution.parent)
    (varied.root / "one.csv").write_text("student_id,name\nada,Ada\n")
    assert main(["variants", "one.csv", "01-attention"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [
        "01-attention, attention.ipynb: 1 notebook in variants/",
        "01-attention, masking.ipynb: 1 notebook in variants/",
    ]
    folder = varied.root / "variants/ada/01-attention"
    for student, name in (("ada", "attention"), ("bob", "masking")):
        text = (folder / f"{name}.ipynb").read_text("utf-8")
        varied.hand_in(student, text, f"{name}.ipynb")
    assert main(["similarity", "01-attention"]) == 0
    said = [x for x in capsys.readouterr().out.splitlines() if "numbers of" in x]
    assert said == [
        "bob has the numbers of ada: masking.ipynb, the checks of the notebook"
    ]


def test_numbers_of_another_card_are_known_again_in_code(
    varied, untouched, answers, capsys
):
    main(["variants", "roster.csv"])
    ada = text_of(notebook_of(varied, "ada"))
    shapes = re.search(
        r"`Q` of shape (.*?), `K` of shape (.*?) and `V`.*?(\(.*?\))", ada
    )
    note = f"    # tried with {shapes[1]}, {shapes[2]}, {shapes[3]}\n"
    scores = re.search(r"the scores `\[log (\d+), log (\d+), log (\d+), log (\d+)", ada)
    tried = f"print(softmax(np.log([{', '.join(scores.groups())}])))"
    name = "scaled_dot_product_attention"
    copied = answers | {name: answers[name] + note}
    cell = {"cell_type": "code", "source": tried, "metadata": {}, "outputs": []}

    def text(student):
        own = variant(untouched, student, copied)
        return with_cells(own, lambda cells: [*cells, cell])

    for student in ("ada", "bob"):
        varied.hand_in(student, text(student))
    capsys.readouterr()
    assert main(["similarity", "01-attention"]) == 0
    said = [x for x in capsys.readouterr().out.splitlines() if "numbers of" in x]
    assert sorted(said) == [
        "bob has the numbers of ada: a cell that was added",
        f"bob has the numbers of ada: {name}",
    ]


def test_nothing_is_foreign_in_a_course_without_variants(
    classroom, untouched, answers, capsys
):
    classroom.hand_in("ada", variant(untouched, "ada", answers))
    graded = classroom.grade()
    assert graded["ada"]["score"] == 20.0
    assert FOREIGN not in text_of(classroom.autograded("ada"))
    assert "variant=" not in text_of(classroom.autograded("ada"))
    assert main(["similarity", "01-attention"]) == 0
    assert capsys.readouterr().out.endswith("Alike: nobody. No points were changed.\n")


def test_verdicts_are_judged_anew_when_variants_are_switched_on(
    classroom, untouched, answers
):
    classroom.hand_in("ada", variant(untouched, "ada", answers | {"softmax": UNEVEN}))
    before = classroom.grade()["ada"]["questions"][0]
    assert "Your card's example" not in (before["message"] or "")
    switch_on(classroom)
    after = classroom.grade()["ada"]["questions"][0]
    assert "Your card's example" in after["message"]
