"""Exercises solved in the page, by the Pyodide that the site brings along.

One visit for each page goes through all that a student may meet: one start of Python is
enough for it. What needs no Python is tested in test_exercise_work.py.
"""

import importlib
import json
import re
import time
from pathlib import Path

import pytest
from exercise_page import bar, downloaded, editor, released, settled
from shared import drawn

from autograder.checks.failures import CheckFailed
from autograder.cli import main
from autograder.course import Course
from autograder.release.sample_class import reference_answers, solved

ROOT = Path(__file__).resolve().parents[2]
IN_THE_PAGE = sorted(path.stem for path in (ROOT / "book/solve").glob("*.md"))
START = 120_000  # milliseconds in which Python has to be there, on a busy machine
ERROR = "    nothing = 0\n    return 1 / nothing\n"
FIGURE = "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])\n"


def check(page, cell):
    """Press a cell's button, and wait for what comes of it."""
    bar(page, cell).locator("button").first.click()
    return settled(page, bar(page, cell).locator(".exercise-output"), START)


def check_all(page):
    page.get_by_role("button", name="Check everything").click()
    return settled(page, page.locator("#exercise-tools .exercise-status"), START)


READY = """new Promise((done) => {
  const look = () => self.ready ? done() : setTimeout(look, 50);
  look();
})"""


def console(text):
    """What a message says, line by line, the likely cause among it."""
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.fixture
def solution(tmp_path, request):
    """The reference solution of an assignment, as a file."""
    name = request.param
    notebook = json.loads(released(name).read_text(encoding="utf-8"))
    answers = reference_answers(Course.find(ROOT).chosen([name])[0])
    path = tmp_path / released(name).name
    path.write_text(solved(notebook, answers), encoding="utf-8")
    return name, path


@pytest.mark.long  # by itself; test_a_visit begins with it
@pytest.mark.parametrize("solution", IN_THE_PAGE[:1], indirect=True)
def test_the_solution_holds(python, page, solution):
    name, path = solution
    page.goto(f"book/solve/{name}.html")
    page.locator("#exercise-tools input[type=file]").set_input_files(path)
    page.get_by_text(f"{path.name} is open.").wait_for()
    found = re.fullmatch(r"(\d+) of (\d+) questions .*", check_all(page))
    assert found[1] == found[2] != "0"
    assert page.locator(".exercise-said.right").count() == int(found[1])
    assert page.locator(".exercise-said.wrong").count() == 0


@pytest.mark.parametrize("solution", drawn(IN_THE_PAGE), indirect=True)
def test_a_visit(python, page, accessible, solution, tmp_path, capsys):
    name, path = solution
    test_the_solution_holds(python, page, solution)

    # of the code that passes two questions are asked; one that is missed is kept
    page.get_by_role("button", name="Two questions about your code").first.click()
    own = page.locator(".exercise-own .own-code")
    own.nth(1).wait_for(timeout=START)
    own.first.locator("details:not(.correct) > summary").first.click()
    own.nth(1).locator("details.correct > summary").click()
    page.wait_for_function("localStorage.getItem('missed') !== null")
    kept = json.loads(page.evaluate("localStorage.getItem('missed')"))
    ((about, missed),) = kept.items()
    assert about.startswith(f"own:{name}:") and len(missed["asked"]["choices"]) > 2
    page.evaluate("localStorage.removeItem('missed')")

    # the file that is handed in is the one that was opened
    mine = downloaded(page, tmp_path / "download")
    assert json.loads(mine.read_text()) == json.loads(path.read_text())

    # an exception is told with its line, and a figure is shown
    mistake, message, drawn = known_mistake(name, path, tmp_path, capsys)
    question = mistake.question
    output = bar(page, question).locator(".exercise-output")
    editor(page, question).fill(f"def {question}(*args, **kwargs):\n{ERROR}")
    check(page, question)
    place = rf"ZeroDivisionError(.|\n)*at: +{question}, line 3"
    assert re.search(place, output.text_content())
    editor(page, question).fill(f"{FIGURE}\ndef {question}(*args):\n    pass")
    check(page, question)
    figure = output.locator("img").first
    loaded = "image => image.decode().then(() => image.naturalWidth)"
    assert figure.evaluate(loaded) > 200
    assert figure.get_attribute("alt") == "The figure that your code drew"

    # a known mistake is told as `autograder check` tells it, with a link to the book
    editor(page, question).fill(mistake.code)
    said = check(page, question)
    told = bar(page, question).locator(".exercise-said.wrong")
    assert console(told.locator("pre").text_content()) == console(message)
    assert told.locator(".exercise-drawn").count() == drawn
    link = told.get_by_role("link").first
    there = link.get_attribute("href").removeprefix("../")
    assert there.partition("#")[0] in {p.name for p in pages_of_the_book()}

    # what never ends is stopped at the button that was pressed; meanwhile another
    # Python starts, so that the next check need not wait for one
    *_, last = answer_cells(path)
    endless = "while True:\n    pass"
    editor(page, last).fill(endless)
    page.clock.install()
    bar(page, last).locator("button").first.click()
    bar(page, last).get_by_text("Running").wait_for(timeout=START)
    assert page.get_by_role("button", name="Check everything").is_disabled()
    page.clock.fast_forward(8_000)
    bar(page, last).get_by_text("Still running").wait_for(timeout=START)
    end = time.monotonic() + START / 1000
    while len(page.workers) < 2 and time.monotonic() < end:
        page.wait_for_timeout(50)
    worker, spare = page.workers
    spare.evaluate(READY)
    bar(page, last).get_by_role("button", name="Stop").click()
    status = bar(page, last).locator(".exercise-status")
    assert status.text_content() == "Stopped. It is kept in this browser."
    ended(page, worker)
    assert page.workers == [spare]
    before, said = said, check(page, question)
    verdicts = {text.partition("Checked at")[0] for text in (before, said)}
    assert len(verdicts) == 1  # the minute may be another one
    assert page.workers[0] == spare  # a slow machine has begun one more by now

    # the result and its age are still there after a reload, and grow old
    page.reload()
    assert output.text_content() == said and not grey(output)
    editor(page, question).fill(f"{mistake.code}\n# a change")
    assert grey(output) and "before you changed the code" in output.text_content()

    # a reload stops what never ends, too
    bar(page, last).locator("button").first.click()
    page.reload()
    assert editor(page, last).input_value() == endless
    assert grey(output)
    accessible("article")
    assert not page.troubles


def answer_cells(path):
    """The names of the answers in code, in the order of the notebook."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        about = cell["metadata"]["nbgrader"]
        if cell["cell_type"] == "code" and about["solution"] and not about["grade"]:
            yield about["grade_id"]


def ended(page, worker):
    """Wait until a worker is no more."""
    patience = time.monotonic() + START / 1000
    while worker in page.workers:
        assert time.monotonic() < patience, "it still runs"
        page.wait_for_timeout(50)


def grey(output):
    return "stale" in output.get_attribute("class")


def pages_of_the_book():
    for path in (ROOT / "book").glob("*.ipynb"):
        yield path.with_suffix(".html")


def known_mistake(name, path, folder, capsys):
    """A mistake that a visible check notices, what it says, whether it draws."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    checks = importlib.import_module(f"autograder.checks.{path.stem}")
    catalog = checks.assignment.catalog
    mistake = next(
        each
        for each in catalog.misconceptions
        if noticed(getattr(checks, each.question), catalog.answer(each))
    )
    for cell in notebook["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == mistake.question:
            cell["source"] = mistake.code
    wrong = folder / path.name
    wrong.write_text(json.dumps(notebook), encoding="utf-8")
    capsys.readouterr()
    main(["check", "--all", str(wrong)])
    lines = capsys.readouterr().out.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(mistake.question))
    message = [lines[first]]
    for line in lines[first + 1 :]:
        if not line.startswith(" "):
            break
        message.append(line)
    after = lines[first + len(message) :][:2]
    drawn = any(line.startswith("  yours") for line in after)
    return mistake, "\n".join(message), drawn


def noticed(visible, answer):
    """Whether a visible check says that an answer is wrong."""
    try:
        visible(answer)
    except CheckFailed:
        return True
    return False
