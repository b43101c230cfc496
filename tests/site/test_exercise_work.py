"""Work on an exercise page is never lost: editors, tabs, releases, files.

None of this needs Python, so the page is told to save data and loads none.
"""

import json
import re

import pytest
import solving
import vendor
from exercise_page import (
    PAGE,
    SOFTMAX,
    answering,
    bar,
    downloaded,
    editor,
    keep,
    released,
)
from shared import drawn

EMBEDDED = re.compile(
    r'(<script type="application/json" id="exercise-notebook".*?>)(.*?)</script>',
    re.DOTALL,
)


def stub(page, cell):
    return editor(page, cell).input_value()


REFUSING = """async () => {
    let asked = 0;
    const request = async () => { asked += 1; throw new Error("the page is left"); };
    Object.defineProperty(navigator, "locks", { value: { request } });
    const { Keeper } = await import("/_static/keeping.js");
    new Keeper("nobody", { changed() {}, writing() {} });
    await new Promise((done) => setTimeout(done, 350));
    return asked;
}"""


def test_a_lock_that_is_refused_is_not_asked_for_without_end(empty):
    assert 1 < empty.evaluate(REFUSING) < 6


# ---------------------------------------------------------------- what is kept


def test_answers_are_kept_and_starting_over_can_be_undone(quiet):
    given = stub(quiet, "softmax")
    editor(quiet, "softmax").fill(SOFTMAX)
    bar(quiet, "explain_roles").locator("textarea").fill("Because <b>.")
    quiet.reload()
    assert stub(quiet, "softmax") == SOFTMAX
    written = bar(quiet, "explain_roles").locator("textarea")
    assert written.input_value() == "Because <b>."
    quiet.get_by_role("button", name="Start over").click()
    assert stub(quiet, "softmax") == given
    quiet.reload()
    assert stub(quiet, "softmax") == given
    quiet.get_by_role("button", name="Start over").click()  # twice loses nothing
    quiet.get_by_role("button", name="Bring back my answers").click()
    assert stub(quiet, "softmax") == SOFTMAX
    assert written.input_value() == "Because <b>."
    quiet.reload()
    assert stub(quiet, "softmax") == SOFTMAX
    assert not quiet.troubles


def test_one_question_is_reset_and_the_others_stay(quiet):
    given = stub(quiet, "softmax")
    reset = bar(quiet, "softmax").get_by_role("button", name="Reset this one")
    assert not reset.is_visible()  # nothing is written
    editor(quiet, "softmax").fill(SOFTMAX)
    editor(quiet, "attention_scores").fill("mine = 1")
    reset.click()
    quiet.reload()
    assert stub(quiet, "softmax") == given and not reset.is_visible()
    assert stub(quiet, "attention_scores") == "mine = 1"
    quiet.get_by_role("button", name="Bring back my answers").click()
    assert stub(quiet, "softmax") == SOFTMAX
    assert not quiet.troubles


def test_the_later_of_two_tabs_is_told_and_overwrites_nothing(quiet):
    first, second = quiet, quiet.context.new_page()
    editor(first, "softmax").fill("first = 1")
    second.goto(PAGE)
    second.get_by_text("open in another tab").wait_for()
    area = editor(second, "softmax")
    assert area.input_value() == "first = 1" and not area.is_editable()
    for name in ("Start over", "Open a notebook", "Check everything"):
        assert second.get_by_role("button", name=name).is_disabled()
    assert second.get_by_role("button", name="Download my notebook").is_enabled()
    editor(first, "attention_scores").fill("more = 2")
    second.wait_for_function(
        "[...document.querySelectorAll('.code-editor')].some("
        "    ({ editor }) => editor.value === 'more = 2')"
    )
    # work goes on in the second tab, and the first one is told
    second.get_by_role("button", name="Work here instead").click()
    first.get_by_text("open in another tab").wait_for()
    assert not editor(first, "softmax").is_editable()
    area.fill("second = 3")
    first.wait_for_function(
        "document.querySelector('.code-editor').editor.value === 'second = 3'"
    )
    # and back in the first when the second is closed
    second.close()
    first.get_by_text("open in another tab").wait_for(state="hidden")
    assert editor(first, "softmax").is_editable()
    assert stub(first, "softmax") == "second = 3"
    assert stub(first, "attention_scores") == "more = 2"


def corrected(page, change):
    """Serve the page with another release of its exercise."""

    def serve(route):
        html = route.fetch().text()
        notebook = json.loads(EMBEDDED.search(html)[2])
        for cell in notebook["cells"]:
            change(cell["metadata"]["nbgrader"]["grade_id"], cell)
        text = json.dumps(notebook).replace("</", "<\\/")
        html = EMBEDDED.sub(lambda found: f"{found[1]}{text}</script>", html)
        route.fulfill(body=html, content_type="text/html")

    page.context.route(f"**/{PAGE}", serve)


def test_after_a_corrected_release_answers_stay_and_checks_are_new(quiet, tmp_path):
    editor(quiet, "softmax").fill(SOFTMAX)

    def change(name, cell):
        if name == "test_softmax":
            cell["source"] = "check.softmax_anew(softmax)"
        if name in {"softmax", "attention_scores"}:
            cell["source"] = "# a new text"

    corrected(quiet, change)
    quiet.reload()
    assert stub(quiet, "softmax") == SOFTMAX
    assert stub(quiet, "attention_scores") == "# a new text"  # nobody had answered it
    quiet.get_by_text("The exercise has been corrected since.").wait_for()
    cells = json.loads(downloaded(quiet, tmp_path).read_text())["cells"]
    sources = {
        cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
        for cell in cells
    }
    assert sources["test_softmax"] == "check.softmax_anew(softmax)"
    assert sources["softmax"] == SOFTMAX
    editor(quiet, "softmax").fill(f"{SOFTMAX}\n")
    quiet.reload()
    assert stub(quiet, "softmax") == f"{SOFTMAX}\n"


def test_work_that_an_earlier_version_of_the_page_kept_is_still_there(quiet):
    notebook = json.loads(released("01-attention").read_text(encoding="utf-8"))
    notebook["cells"][3]["source"] = SOFTMAX
    keep(quiet, "exercise:01-attention", notebook)
    quiet.reload()
    assert stub(quiet, "softmax") == SOFTMAX


BROKEN = ["", "{", "null", "[]", '{"notebook": {"cells": 1}}']


@pytest.mark.parametrize("kept", drawn(BROKEN, 2))
def test_what_cannot_be_read_does_not_stop_the_page(quiet, kept):
    quiet.evaluate("text => localStorage.setItem('exercise:01-attention', text)", kept)
    quiet.reload()
    assert "raise NotImplementedError" in stub(quiet, "softmax")
    assert not quiet.troubles


# ---------------------------------------------------------------- files


def opened(page, path):
    page.locator("#exercise-tools input[type=file]").set_input_files(path)
    return page.locator("#exercise-tools .exercise-status")


def test_a_file_that_is_no_answer_is_refused_and_nothing_changes(quiet, tmp_path):
    editor(quiet, "softmax").fill(SOFTMAX)
    broken = tmp_path / "attention.ipynb"
    broken.write_text("<html>", encoding="utf-8")
    opened(quiet, broken)
    quiet.get_by_text("attention.ipynb was not opened. This file is not a").wait_for()
    opened(quiet, released("02-scaling"))
    quiet.get_by_text("This notebook is not 01-attention").wait_for()
    assert stub(quiet, "softmax") == SOFTMAX


def code_cell(source):
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "mine",
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def test_what_somebody_added_to_a_notebook_is_kept_in_its_place(quiet, tmp_path):
    """Cells of one's own, and lines in a given cell; other text is the release's."""
    editor(quiet, "softmax").fill("# before")
    notebook = json.loads(released("01-attention").read_text(encoding="utf-8"))
    cells = notebook["cells"]
    cells[1]["source"] = "import numpy as np\nimport math"
    cells[5]["source"] = "# the card, changed"
    cells.insert(4, code_cell("helper = 1"))
    path = tmp_path / "attention.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    opened(quiet, path).get_by_text("2 cells of your own").wait_for()
    mine = json.loads(downloaded(quiet, tmp_path / "out").read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in mine]
    assert sources[1:3] == ["import math", "import numpy as np"]
    assert sources[5] == "helper = 1" and sources[6].startswith("from autograder")
    assert "# the card, changed" not in sources
    quiet.get_by_role("button", name="Bring back my answers").click()
    assert stub(quiet, "softmax") == "# before"


# ---------------------------------------------------------------- without Python


def test_without_a_python_of_its_own_a_site_names_another_host(tmp_path, monkeypatch):
    monkeypatch.setattr(solving, "VENDORED", tmp_path / "nothing")
    cells = [{"cell_type": "markdown", "metadata": {}, "source": "# Title"}]
    page = solving.page_of({"cells": cells}, "12-x", "x.ipynb", "https://x.org/v1/")
    assert 'data-home="https://x.org/v1/"' in page
    (tmp_path / "nothing").mkdir()
    page = solving.page_of({"cells": cells}, "12-x", "x.ipynb", "https://x.org/v1/")
    assert 'data-home="../../_static/pyodide/"' in page


def test_a_strange_host_is_asked_only_after_a_press_and_a_failure_is_told(page):
    home = vendor.host()

    def serve(route):
        html = re.sub('data-home=".*?"', f'data-home="{home}"', route.fetch().text())
        route.fulfill(body=html, content_type="text/html")

    page.context.route(f"**/{PAGE}", serve)
    page.goto(PAGE)
    page.mouse.move(300, 300)
    page.wait_for_timeout(1000)
    assert not page.troubles
    bar(page, "softmax").get_by_role("button", name="Check").click()
    bar(page, "softmax").get_by_text("Python could not be loaded here.").wait_for()
    asked = [trouble for trouble in page.troubles if trouble.startswith("asked")]
    assert asked == [f"asked for {home}pyodide.mjs"]


def test_without_scripts_the_exercise_can_be_read(bare):
    bare.goto(PAGE)
    assert bare.get_by_text("NotImplementedError  # your answer").first.is_visible()
    bare.locator(".exercise-about summary").click()
    assert bare.get_by_role("link", name="attention.ipynb").is_visible()


def test_the_first_editor_is_on_the_first_screen(quiet):
    quiet.set_viewport_size({"width": 1280, "height": 900})
    assert quiet.locator(".code-editor").first.bounding_box()["y"] < 850


def test_a_cell_without_nbgrader_s_metadata_is_shown_as_it_is():
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Title"},
        {"cell_type": "markdown", "metadata": {}, "source": "A remark."},
        {"cell_type": "code", "metadata": {}, "source": "x = 1"},
    ]
    page = solving.page_of({"cells": cells}, "12-x", "x.ipynb", "")
    assert "A remark." in page and "```{code-block} python\nx = 1\n```" in page
    assert "exercise-bar" not in page


def test_the_page_says_what_is_open_when_all_visible_checks_pass(quiet):
    """An empty answer in words is open: under the questions, and in what is noted."""
    names = "softmax", "attention_scores", "scaled_dot_product_attention"
    passed = {"number": 3, "said": "", "problem": None, "figures": []}
    results = {
        name: {"outcomes": [passed | {"question": name}], "at": 0, "mark": ""}
        for name in (*names, "check_softmax")
    }
    keep(quiet, "exercise:01-attention:results", results)
    quiet.reload()
    told = bar(quiet, "softmax").locator(".exercise-next")
    open_one = "All visible checks pass. Still open, in your own words: explain_roles."
    assert told.text_content() == open_one
    written = bar(quiet, "explain_roles").locator("textarea")
    written.fill("A query asks, and a key answers.")
    assert "Hidden checks run after you hand it in" in told.text_content()
    noted = "JSON.parse(localStorage.getItem('progress'))['exercise:01-attention']"
    assert {"done": 5, "of": 5}.items() <= quiet.evaluate(noted).items()
    written.fill(" ")
    assert told.text_content() == open_one
    assert quiet.evaluate(noted)["done"] == 4
    assert not quiet.troubles


def test_after_the_second_run_nothing_is_said_to_be_still_running(quiet):
    """A worker that is ready says that it runs, and so does the page."""
    answering(quiet)
    quiet.clock.install()
    press = bar(quiet, "softmax").get_by_role("button", name="Check")
    for _ in range(2):
        press.click()
        quiet.clock.run_for(2_000)
        quiet.wait_for_function("!document.querySelector('.exercise-row.busy')")
    quiet.clock.run_for(20_000)
    assert "Still running" not in quiet.locator("main").text_content()
