"""`autograder check`: what students run before they hand in."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from shared import drawn

from autograder.check import watch
from autograder.checks.published import books_of
from autograder.cli import main
from autograder.notebook.release import release_in
from autograder.notebook.test_cells import Failed, binds, failure_behind
from autograder.notebook.time_limit import at_most
from autograder.release.sample_class import delete_tests, solved, with_cells

# the first line with a newer Python than the one that grades
OTHER_PYTHON = (
    "You are using Python {}.{}, but grading may use 3.11, "
    "which lacks newer features.\n"
).format(*sys.version_info)


@pytest.fixture
def check(tmp_path, capsys):
    """Check a notebook's text: exit code and printed text."""

    def run(text: str, *options: str) -> tuple[int, str]:
        path = tmp_path / "attention.ipynb"
        path.write_text(text)
        code = main(["check", str(path), "--all", *options])
        return code, capsys.readouterr().out

    return run


FIRST = {
    "softmax": "def softmax(x, axis=-1):\n    return np.exp(x) / np.sum(np.exp(x))"
}
FIRST |= {"attention_scores": "def attention_scores(Q, K):\n    return Q @ K"}


def test_a_wrong_answer_is_told_in_eight_lines_and_the_others_by_name(
    check, tmp_path, capsys, untouched
):
    _, whole = check(solved(untouched, FIRST))
    code = main(["check", str(tmp_path / "attention.ipynb")])
    lines = capsys.readouterr().out.removeprefix(OTHER_PYTHON).splitlines()
    assert code == 1 and len(lines) <= 8 < len(whole.splitlines())
    assert lines[0].startswith("softmax, visible check 2 of 5: ")
    assert lines[1].startswith("  likely:   There are two mistakes. First: ")
    assert "wrong, too: attention_scores" in lines
    assert "no answer yet: scaled_dot_product_attention, check_softmax" in lines
    assert lines[-1] == (
        "0 of 4 questions pass all visible checks; look at softmax first "
        "(--all tells everything)."
    )


CALLS = """def scaled_dot_product_attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2))
    return weights @ V, weights"""


def test_what_calls_a_missing_answer_is_not_called_unanswered(
    check, tmp_path, capsys, untouched
):
    wrong = FIRST | {"scaled_dot_product_attention": CALLS}
    check(solved(untouched, {name: wrong[name] for name in list(wrong)[1:]}))
    main(["check", str(tmp_path / "attention.ipynb")])
    text = capsys.readouterr().out
    assert "no answer yet: softmax, check_softmax" in text
    assert "calls an answer that is missing: scaled_dot_product_attention" in text


def with_code(text: str, source: str) -> str:
    """The notebook with one more code cell in front."""
    cell = {"cell_type": "code", "source": source, "metadata": {}}
    return with_cells(text, lambda cells: [cell, *cells])


def test_questions_about_the_code_follow_when_they_are_asked_for(
    check, right, monkeypatch
):
    typed = iter(["a", "x", "b", "c", "a", ""])
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    code, plain = check(right)
    _, text = check(right, "--ask")
    assert code == 0 and text.startswith(plain)
    asked = text.removeprefix(plain)
    assert asked.count("question 1 of 2") >= 2 and "one of the letters" in asked
    assert len(re.findall(r"^(?:Right|It is [a-d])\.", asked, re.M)) == 4


def test_nothing_is_asked_about_an_answer_that_does_not_pass(check, wrong, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda prompt: "")
    code, text = check(wrong, "--ask")
    assert code == 1 and "attention_scores, question" not in text


def test_modules_that_grading_does_not_have_are_named(check, right, tmp_path):
    (tmp_path / "my_helper.py").write_text("")
    source = "import my_helper, math\nfrom scipy.special import softmax as other\n"
    written = "%%writefile tools.py\nx = 1"
    text = with_code(with_code(right, source + "import tools"), written)
    _, said = check(text)
    assert "`my_helper` is next to the notebook" in said
    assert (
        "`scipy` is imported here, but may be missing in grading, which has NumPy"
        in said
    )
    assert "`math`" not in said and "`tools`" not in said and "`numpy`" not in said


BODY = """def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    weights = e / e.sum(axis=axis, keepdims=True)
"""
SLIPS = {  # how the right function ends: what the message says has been seen
    "return weigths": "which no cell before this one defines; did you mean `weights`?",
    "return finish(weights)": "your code uses `finish`, which no cell before this one",
    "weights": "your function returned None; did you forget `return`?",
    "print(weights)": "your function returned None; did you forget `return`?",
    "return weights.tolist()": "the result is a list",
    "return weights > 0.5": "the result has dtype bool",
    "return str(weights)": "the result is a str",
    "return weights * np.nan": "the result contains NaN",
    "x[:] = weights; return x": "your function changed what it was given",
    "raise NotImplementedError": "is still there, in your code: delete it when",
}


@pytest.mark.parametrize("slip", drawn(SLIPS, 4))
def test_an_honest_slip_gets_a_sentence(check, untouched, slip):
    answer = f"{BODY}    {slip}\n"
    later = "def finish(weights):\n    return weights\n"
    text = solved(untouched, {"softmax": answer, "attention_scores": later})
    _, said = check(text)
    assert SLIPS[slip] in said
    assert "Traceback" not in said


STUB_LEFT = "the line `raise NotImplementedError` is still there, above your code"
STILL_THERE = "`raise NotImplementedError` is still there, in your code: delete it when"
OPEN = "def softmax(x, axis=-1):\n    raise NotImplementedError"
HALF = """class softmax:
    def __call__(self, x, axis=-1):
        return self.made(x)

    def made(self, x):
        raise NotImplementedError

softmax = softmax()
"""
UNFINISHED = {  # the cell of an answer, and how its message begins
    "": "softmax: no answer yet",
    "# on Sunday, perhaps, I write this": "softmax: no answer yet",
    "def softmax(x, axis=-1):\n    pass": "softmax: no answer yet",
    "def softmax(x, axis=-1):\n    ...": "softmax: no answer yet",
    "def softmax(x, axis=-1):\n    'Later.'": "softmax: no answer yet",
    BODY.replace(":\n", ":\n    raise NotImplementedError\n", 1): STUB_LEFT,
    HALF: "softmax: the method `made` has no answer yet",
    HALF.replace("        raise", "        y = x - 1\n        raise"): STILL_THERE,
    "def softmax(x, axis=-1):\n    if axis == -1:\n        raise NotImplementedError\n"
    "    return x": STILL_THERE,
    OPEN.replace("raise", "'Weights.'\n    print(x)\n    raise"): "no answer yet",
}


@pytest.mark.parametrize("cell", drawn(UNFINISHED, 3))
def test_a_half_written_answer_is_told_what_is_open(check, untouched, answers, cell):
    said = check(solved(untouched, answers | {"softmax": cell}))[1]
    assert UNFINISHED[cell] in said
    assert "text near it" not in said


def test_a_syntax_error_is_told_once(check, untouched, answers):
    _, said = check(solved(untouched, answers | {"softmax": f"{BODY}    return (e"}))
    assert said.count("return (e\n") == 1
    assert said.count("failed: SyntaxError") == 2


def test_an_open_method_is_listed_as_no_answer_yet(check, tmp_path, capsys, untouched):
    scores = "def attention_scores(Q, K):\n    return Q"
    check(solved(untouched, {"softmax": HALF, "attention_scores": scores}))
    main(["check", str(tmp_path / "attention.ipynb")])
    text = capsys.readouterr().out
    assert "no answer yet: softmax, " in text and "calls an answer" not in text


def test_a_misspelled_answer_is_corrected_in_one_direction(check, untouched, answers):
    wrong = answers["softmax"].replace("softmax", "soft_max")
    _, said = check(solved(untouched, answers | {"softmax": wrong}))
    assert "did you mean `softmax` where you wrote `soft_max`" in said
    assert "did you mean `soft_max`" not in said


def test_a_question_that_calls_an_open_one_says_which(check, untouched, answers):
    _, said = check(solved(untouched, answers | {"softmax": OPEN}))
    assert said.removeprefix(OTHER_PYTHON).startswith("softmax: no answer yet\n")
    calls = "scaled_dot_product_attention: calls `softmax`, which has no answer yet"
    assert calls in said


DEFINED = {
    "def": "1 / 0\ndef helper(x): return x",
    "beside": "1 / 0\n(n, helper) = 3, abs",
    "import": "from scipy_of_mine import sums, abs as helper  # mine",
}


@pytest.mark.parametrize("how", DEFINED)
def test_a_name_whose_cell_failed_is_told_with_that_cell(check, untouched, how):
    answer = {"softmax": f"{BODY}    return helper(weights)\n"}
    _, said = check(with_code(solved(untouched, answer), DEFINED[how]))
    failed = "ModuleNotFoundError: No module" if how == "import" else "ZeroDivision"
    because = f"which is missing because cell 1 failed: {failed}"
    assert f"seen:     your code uses `helper`, {because}" in said
    assert "no cell before this one" not in said


def test_what_a_notebook_says_reaches_no_terminal(check, untouched):
    answer = {"softmax": "def softmax(x, axis=-1):\n    raise ValueError('\x1b[2Ja')\n"}
    assert "\\x1b[2Ja" in check(solved(untouched, answer))[1]
    assert (
        "\\x1b[2Jb"
        in check(with_code(json.dumps(untouched), "raise OSError('\x1b[2Jb')"))[1]
    )


def test_of_two_words_that_look_the_same_the_letters_are_told(check, untouched):
    answer = {"softmax": "def s\u043eftmax(x, axis=-1):\n    return x\n"}
    said = check(solved(untouched, answer))[1]
    assert "`s\u043eftmax`, where `\u043e` is cyrillic small letter o?" in said


@pytest.mark.parametrize(
    ("line", "due"),
    [
        ("(n, helper) = 3, abs", True),
        ("    helper += 1", False),
        ("helper, rest = 1, 2", True),
        ("from a.b import c as helper", True),
        ("import helper.parts", True),
        ("other = helper", False),
        ("helper == 3", False),
        ("print(helper(x), end='')", False),
        ("from a import b  # helper", False),
        ("helpers = 1", False),
    ],
)
def test_a_line_that_binds_a_name_is_known(line, due):
    assert binds(line, "helper") == due


@pytest.mark.parametrize("part", ["f ", "f, ", "import f ", " ", "(f "])
def test_a_long_line_of_a_failed_cell_is_read_in_one_go(part):
    """From each of its words to the end, it would take hours of the judge."""
    with at_most(30):
        cell = Failed(1, part * 500_000 + "?", "SyntaxError")
        assert bool(failure_behind("g", [cell])) is False


def test_a_name_in_another_failed_cell_is_not_taken_for_its_definition(
    check, untouched
):
    answer = {"softmax": f"{BODY}    return helper(weights)\n"}
    used = "1 / 0\nprint(helper == 3, helpers)  # import helper"
    _, said = check(with_code(solved(untouched, answer), used))
    assert "your code uses `helper`, which no cell before this one defines" in said


def test_code_that_was_typed_into_a_text_cell_is_pointed_out(
    untouched, answers, tmp_path, capsys
):
    def typed(cells):
        return [*cells, {"cell_type": "markdown", "source": code, "metadata": {}}]

    code = answers["softmax"]
    text = with_cells(solved(untouched, {**answers, "softmax": OPEN}), typed)
    path = tmp_path / "attention.ipynb"
    path.write_text(text)
    assert main(["check", str(path)]) == 2
    said = capsys.readouterr().err
    assert "attention.ipynb: The code of `softmax` is only in a text cell" in said


def test_libraries_that_are_missing_are_named_once_with_the_command(
    monkeypatch, capsys
):
    without = {"torch", "matplotlib"}
    monkeypatch.setattr(
        "autograder.check.find_spec", lambda name: None if name in without else name
    )
    path = next(Path("exercises/03-multi-head").glob("*.ipynb"))
    assert main(["check", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("torch") == 1
    assert printed.err.endswith("check again: pip install matplotlib torch\n")


def test_what_a_module_of_the_book_needs_is_named_where_it_is_missing(
    monkeypatch, capsys, right, tmp_path
):
    monkeypatch.setattr(
        "autograder.check.find_spec", lambda name: None if name == "torch" else name
    )
    cells = ["import attention", "check.nothing(attention)"]
    cells = [{"cell_type": "code", "source": c, "metadata": {}} for c in cells]
    path = tmp_path / "attempt.ipynb"
    path.write_text(with_cells(right, lambda _: cells))
    assert main(["check", str(path)]) == 2
    assert capsys.readouterr().err.endswith("check again: pip install torch\n")


def test_a_module_of_the_book_is_there_where_the_given_cells_import_it(check, right):
    _, said = check(with_code(right, "import attention"))
    without = "this assignment comes without the book's module `attention`"
    assert f"Code cell 1: ModuleNotFoundError: {without}" in said
    cells = ["import payoff as p\nprint(p.__file__)", "check.nothing(p)"]
    cells = [{"cell_type": "code", "source": c, "metadata": {}} for c in cells]
    _, said = check(with_cells(right, lambda _: cells))
    assert "ModuleNotFoundError" not in said and "`p`" not in said


def test_assignments_come_with_the_modules_that_their_given_cells_import():
    found = {}
    for path in Path("exercises").glob("*/*.ipynb"):
        sources = [cell.released for cell in release_in(path).cells]
        found[path.parent.name] = books_of(sources)
    both = "07-real-model", "11-a-real-llm"  # payoff imports all others
    assert {name: books for name, books in found.items() if books} == dict.fromkeys(
        both, ("attention", "minilm", "payoff", "smollm2")
    )


def test_the_notebook_runs_from_a_fresh_start(check, right):
    moved = with_cells(right, lambda cells: [*cells[4:], *cells[:4]])
    code, text = check(moved)
    assert code == 1
    assert "uses `softmax`" in text


def test_a_name_that_only_an_annotation_uses_is_missing_too(check, right):
    _, text = check(with_code(right, "def f(x: Tensor): return x"))
    assert "Code cell 1: NameError: name 'Tensor' is not defined" in text


def test_a_loop_costs_its_own_cell_alone(check, right):
    code, text = check(with_code(right, "while True: pass"), "--seconds", "2")
    assert code == 0
    assert "Code cell 1: did not finish in 2 s" in text
    assert "4 of 4 questions pass all visible checks." in text


def test_a_loop_is_waited_for_once_and_not_again_in_what_is_built_on_it(
    check, untouched, answers
):
    loop = "def softmax(x, axis=-1):\n    while True:\n        pass\n"
    text = solved(untouched, answers | {"softmax": loop})
    code, said = check(text, "--seconds", "3")
    assert code == 1
    assert "softmax: did not finish in 3 s; is there a loop that never ends?" in said
    used = "it is built on softmax, which did not finish"
    assert f"scaled_dot_product_attention: did not finish in 2 s; {used}" in said
    assert "attention_scores: 3 of 3" in said


CRASH = "import ctypes; ctypes.string_at(0)"


@pytest.mark.parametrize(
    ("line", "how"),
    [(CRASH, "crashed (signal 11, SIGSEGV)"), ("os._exit(3)", "(exit code 3)")],
    ids=["signal", "exit"],
)
def test_an_answer_that_ends_the_process_is_told_and_the_others_are_judged(
    check, untouched, answers, line, how
):
    """Where a library is written in C, wrong arrays may do that."""
    loses = f"import os\ndef attention_scores(Q, K):\n    {line}\n"
    text = solved(untouched, answers | {"attention_scores": loses})
    code, said = check(with_code(text, f"import os; {line}"))
    assert code == 1 and "did not finish" not in said
    assert re.search(rf"^attention_scores: your code .*{re.escape(how)}$", said, re.M)
    assert re.search(rf"^Code cell 1: .*{re.escape(how)}; the cells after", said, re.M)
    assert "softmax: 5 of 5 visible checks pass" in said


def test_it_needs_the_visible_checks_and_numpy_only(tmp_path, right, wheels):
    for path in wheels:
        zipfile.ZipFile(path).extractall(tmp_path)
    blocked = "open(__file__ + '.read', 'w'); raise ImportError('not on a laptop')"
    for name in ("nbgrader", "nbformat", "nbconvert", "traitlets", "IPython", "torch"):
        (tmp_path / f"{name}.py").write_text(blocked)
    (tmp_path / "mine.ipynb").write_text(right)
    run = subprocess.run(
        [sys.executable, "-m", "autograder", "check", "mine.ipynb"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "4 of 4 questions pass" in run.stdout
    assert not [*tmp_path.glob("*.read")]


def test_watching_tells_the_next_open_question_at_each_save(
    tmp_path, capsys, monkeypatch, untouched, answers
):
    path = tmp_path / "attention.ipynb"
    first = {"softmax": answers["softmax"]}
    second = first | {"attention_scores": "def attention_scores(Q, K):\n    return Q"}
    saved = iter([first, second, answers])
    told = []

    def save(path, before):
        told.append(capsys.readouterr().out)
        path.write_text(solved(untouched, next(saved)))
        return len(told)

    monkeypatch.setattr("autograder.check.wait_for_change", save)
    assert watch(path, 30) == 0
    told.append(capsys.readouterr().out)
    first_line = told[1].removeprefix(OTHER_PYTHON).splitlines()[0]
    assert first_line == "attention_scores: no answer yet"
    assert "attention_scores, visible check 1 of 3" in told[2]
    assert "scaled_dot_product_attention" not in told[2]
    assert "4 of 4 questions pass all visible checks." in told[3]


def test_a_deleted_test_cell_and_an_open_question_in_words_are_named(check, right):
    def change(cells):
        cells = delete_tests(cells)
        (words,) = (c for c in cells if 'grade_id": "explain_' in json.dumps(c))
        words["source"] = "Your answer here."
        return cells

    code, text = check(with_cells(right, change))
    assert code == 0
    assert "The cell test_softmax was missing; the course's own cell was used." in text
    assert "explain_roles: not answered yet (graded by hand)" in text


def test_an_exception_is_told_with_its_line_and_a_caret(check, untouched, answers):
    wrong = "def softmax(x, axis=-1):\n    e = np.exp(x)\n    return e / np.zeros(7)\n"
    _, text = check(solved(untouched, answers | {"softmax": wrong}))
    assert "  at:       cell 2, line 3\n      return e / np.zeros(7)" in text
    assert "\n             ^^^^^^^^^^^^^^^\n" in text
