"""Exercises solved in the page: typed, checked, stopped, kept, handed in.

Pyodide's NumPy cannot be had everywhere, so most tests let the page's worker ask a
process of CPython, with the same runner.py, the same wheel and the same NumPy. The
real Pyodide from npm then shows that it starts, prints, and can be stopped.
"""

import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import urllib.error
import zipfile
from pathlib import Path

import numpy as np
import pytest
import solving
import vendor

from autograder import wall
from autograder.cli import main
from autograder.course import CONFIG, Course
from autograder.release.sample_class import reference_answers, solved

ROOT = Path(__file__).resolve().parents[2]
NUMPY_ONLY = sorted(path.stem for path in (ROOT / "book/solve").glob("*.md"))
PAGE = "book/solve/01-attention.html"
SOFTMAX = """\
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
NAIVE = """\
def softmax(x, axis=-1):
    return np.exp(x) / np.exp(x).sum()
"""
# the page's worker, with CPython instead of Pyodide behind it
STAND_IN = """
onmessage = async ({ data: { job } }) => {
  postMessage({ state: "running" });
  const answer = await fetch("/cpython", { method: "POST", body: JSON.stringify(job) });
  postMessage({ outcomes: await answer.json() });
};
"""
RUN = """
import sys
sys.path[:0] = [sys.argv[1]]
exec(open(sys.argv[2]).read())
print(run(sys.stdin.read()))
"""


@pytest.fixture(scope="module")
def wheel(site, tmp_path_factory):
    """The students' wheel, as it lies beside the pages, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    (path,) = site.folder.glob("*.whl")
    zipfile.ZipFile(path).extractall(folder)
    return folder


@pytest.fixture
def cpython(page, site, wheel):
    """The page with CPython for Pyodide."""
    runner = site.folder / "_static/runner.py"

    def answer(route):
        command = [sys.executable, "-I", "-c", RUN, str(wheel), str(runner)]
        job = route.request.post_data
        done = subprocess.run(command, input=job, capture_output=True, text=True)
        route.fulfill(body=done.stdout, content_type="application/json")

    page.context.route("**/cpython", answer)
    page.context.route(
        "**/exercise-worker.js",
        lambda route: route.fulfill(body=STAND_IN, content_type="text/javascript"),
    )
    return page


def bar(page, cell):
    return page.locator(f'.exercise-bar[data-cell="{cell}"]')


def editor(page, cell):
    return page.locator(
        f'.code-editor:has(+ .exercise-bar[data-cell="{cell}"]) textarea'
    )


def press(page, cell, label):
    """Press a cell's button, and wait for what comes of it."""
    bar(page, cell).get_by_role("button", name=label).click()
    return settled(page, bar(page, cell).locator(".exercise-output"))


def settled(page, place):
    page.wait_for_function("document.querySelector('#exercise-tools button[hidden]')")
    return place.text_content()


def status(page):
    return page.locator(".exercise-status").text_content()


def downloaded(page, folder):
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download my notebook").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def released(name):
    (path,) = (ROOT / "exercises" / name).glob("*.ipynb")
    return path


def test_an_answer_is_checked_and_a_mistake_is_explained(cpython):
    cpython.goto(PAGE)
    assert "no answer yet" in press(cpython, "test_softmax", "Check")
    editor(cpython, "softmax").fill(NAIVE)
    said = press(cpython, "test_softmax", "Check")
    assert "softmax, visible check" in said and "expected:" in said
    editor(cpython, "softmax").fill(SOFTMAX)
    said = press(cpython, "test_softmax", "Check")
    assert said.startswith("softmax: visible checks 4 of 4 hold; hidden checks run")
    editor(cpython, "softmax").fill("def softmax(x:\n    return x")
    assert (
        "SyntaxError"
        in press(cpython, "test_softmax", "Check")
        + bar(cpython, "softmax").text_content()
    )
    assert not cpython.troubles


def test_a_value_and_a_figure_are_shown(cpython):
    cpython.goto(PAGE)
    editor(cpython, "softmax").fill(
        SOFTMAX
        + "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])\nsoftmax(np.zeros(2))"
    )
    assert press(cpython, "softmax", "Run").strip() == "array([0.5, 0.5])"
    figure = bar(cpython, "softmax").locator("img")
    assert (
        figure.evaluate("image => image.decode().then(() => image.naturalWidth)") > 200
    )
    assert figure.get_attribute("alt") == "The figure that your code drew"


def test_answers_are_kept_until_one_starts_over(cpython):
    cpython.goto(PAGE)
    editor(cpython, "softmax").fill(SOFTMAX)
    bar(cpython, "explain_roles").locator("textarea").fill("Because <b>.")
    cpython.reload()
    assert editor(cpython, "softmax").input_value() == SOFTMAX
    written = bar(cpython, "explain_roles").locator("textarea")
    assert written.input_value() == "Because <b>."
    cpython.once("dialog", lambda dialog: dialog.accept())
    cpython.get_by_role("button", name="Start over").click()
    cpython.reload()
    assert "raise NotImplementedError" in editor(cpython, "softmax").input_value()


@pytest.mark.parametrize("name", NUMPY_ONLY)
def test_a_solved_notebook_opens_and_all_its_checks_hold(cpython, tmp_path, name):
    assignment = Course.find(ROOT).chosen([name])[0]
    notebook = json.loads(released(name).read_text(encoding="utf-8"))
    path = tmp_path / released(name).name
    path.write_text(solved(notebook, reference_answers(assignment)), encoding="utf-8")
    cpython.goto(f"book/solve/{name}.html")
    cpython.locator("#exercise-tools input[type=file]").set_input_files(path)
    cpython.get_by_text(f"{path.name} is open.").wait_for()
    cpython.get_by_role("button", name="Check everything").click()
    settled(cpython, cpython.locator(".exercise-status"))
    found = re.fullmatch(r"The visible checks of (\d+) of (\d+) .*", status(cpython))
    assert found[1] == found[2] != "0"
    assert json.loads(downloaded(cpython, tmp_path).read_text()) == json.loads(
        path.read_text()
    )
    assert not cpython.troubles


def test_the_downloaded_notebook_is_graded_as_the_page_said(
    cpython, tmp_path, monkeypatch, capsys
):
    cpython.goto(PAGE)
    editor(cpython, "softmax").fill(SOFTMAX)
    editor(cpython, "attention_scores").fill(
        "def attention_scores(Q, K):\n    return Q @ K"
    )
    cpython.get_by_role("button", name="Check everything").click()
    settled(cpython, cpython.locator(".exercise-status"))
    outputs = cpython.locator(".exercise-output").all_text_contents()
    verdict = status(cpython)

    (tmp_path / "solutions").mkdir()
    shutil.copy(ROOT / CONFIG, tmp_path)
    shutil.copytree(
        ROOT / "solutions/01-attention", tmp_path / "solutions/01-attention"
    )
    folder = tmp_path / "submitted/ada/01-attention"
    folder.mkdir(parents=True)
    path = downloaded(cpython, folder)

    notebook = json.loads(path.read_text(encoding="utf-8"))
    given = json.loads(released("01-attention").read_text(encoding="utf-8"))
    for cell, mine in zip(given["cells"], notebook["cells"], strict=True):
        assert cell | {"source": None} == mine | {"source": None}
    assert "".join(notebook["cells"][3]["source"]) == SOFTMAX

    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert main(["check", str(path)]) == 1
    said = capsys.readouterr().out
    lines = [*filter(None, outputs), "explain_roles: no answer yet; a person reads it"]
    assert "\n".join([*lines, verdict]) == said.strip()
    unprotected = ["--no-sandbox"] if wall.available() else []
    command = ["grade", "--workers", "1", "--json", "results.json", *unprotected]
    assert main(command) == 0
    (graded,) = json.loads(Path("results.json").read_text())["submissions"]
    points = {
        each["id"].removeprefix("test_"): each["score"] for each in graded["questions"]
    }
    assert points["softmax"] == 4 and points["attention_scores"] < 4


def test_a_file_that_is_no_answer_is_refused_and_nothing_changes(cpython, tmp_path):
    cpython.goto(PAGE)
    editor(cpython, "softmax").fill(SOFTMAX)
    picker = cpython.locator("#exercise-tools input[type=file]")
    broken = tmp_path / "attention.ipynb"
    broken.write_text("<html>", encoding="utf-8")
    picker.set_input_files(broken)
    cpython.get_by_text("attention.ipynb was not opened. This file is not a").wait_for()
    picker.set_input_files(released("02-scaling"))
    cpython.get_by_text("This notebook is not 01-attention").wait_for()
    assert editor(cpython, "softmax").input_value() == SOFTMAX


def test_the_editor_by_keyboard(cpython):
    cpython.goto(PAGE)
    # the colored letters lie exactly under those of the text area
    styles = """element => { const s = getComputedStyle(element);
        return [s.fontFamily, s.fontSize, s.lineHeight, s.padding, s.letterSpacing] }"""
    behind, above = (
        cpython.locator(f".code-editor > {tag}").first.evaluate(styles)
        for tag in ("pre", "textarea")
    )
    assert behind == above
    area = editor(cpython, "softmax")
    area.fill("")
    area.focus()
    cpython.keyboard.type("def f():")
    cpython.keyboard.press("Enter")
    cpython.keyboard.type("return 1")
    assert area.input_value() == "def f():\n    return 1"
    cpython.keyboard.press("Home")
    cpython.keyboard.press("Tab")
    assert area.input_value() == "def f():\n        return 1"
    cpython.keyboard.press("Shift+Tab")
    assert area.input_value() == "def f():\n    return 1"
    cpython.keyboard.press("End")
    cpython.keyboard.press("Enter")
    cpython.keyboard.type("f()")
    cpython.keyboard.press("Shift+Tab")
    cpython.keyboard.press("Shift+Enter")
    place = bar(cpython, "softmax").locator(".exercise-output")
    assert settled(cpython, place) == "1"
    area.focus()
    cpython.keyboard.press("Escape")
    cpython.keyboard.press("Tab")
    label = cpython.evaluate("document.activeElement.textContent")
    assert label == "Run"


def test_nothing_is_loaded_before_a_press_and_a_failure_is_told(page):
    page.goto(PAGE, wait_until="networkidle")
    assert not page.troubles
    bar(page, "test_softmax").get_by_role("button", name="Check").click()
    page.get_by_text("Python could not be loaded here.").wait_for()
    asked = [trouble for trouble in page.troubles if trouble.startswith("asked")]
    assert asked == [f"asked for {vendor.host()}pyodide.mjs"]


def test_without_scripts_the_exercise_can_be_read(browser, address):
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto(PAGE)
    assert page.get_by_text(
        "raise NotImplementedError  # your answer"
    ).first.is_visible()
    assert page.get_by_role("link", name="attention.ipynb").is_visible()
    context.close()


# ---------------------------------------------------------------- the real Pyodide


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    """Pyodide's npm package, and its lock file."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("pyodide")
    return folder, vendor.fetch_runtime(folder)


def empty_wheel():
    """A package `numpy` with next to nothing in it: enough to load the runner."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        stub = "class random:\n    seed = staticmethod(lambda number: None)\n"
        archive.writestr("numpy/__init__.py", stub)
        archive.writestr("numpy-0.dist-info/METADATA", "Name: numpy\nVersion: 0\n")
        archive.writestr("numpy-0.dist-info/RECORD", "")
        archive.writestr("numpy-0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    return content.getvalue()


@pytest.fixture
def pyodide(page, runtime):
    """The page with the real engine, served at the address in _config.yml."""
    folder, lock = runtime
    wheel = empty_wheel()
    numpy = lock["packages"]["numpy"] | {"sha256": hashlib.sha256(wheel).hexdigest()}
    short = json.dumps(lock | {"packages": {"numpy": numpy}})

    def serve(route):
        name = route.request.url.removeprefix(vendor.host())
        kinds = {".mjs": "text/javascript", ".wasm": "application/wasm"}
        body = short if name == "pyodide-lock.json" else None
        body = wheel if name == numpy["file_name"] else body
        route.fulfill(
            body=(folder / name).read_bytes() if body is None else body,
            content_type=kinds.get(Path(name).suffix, "application/octet-stream"),
            headers={"Access-Control-Allow-Origin": "*"},
        )

    page.context.route(f"{vendor.host()}**", serve)
    return page


def test_pyodide_starts_prints_stops_and_starts_again(pyodide):
    pyodide.goto(PAGE)
    editor(pyodide, "softmax").fill("import sys\nprint(sys.platform)\n1 + 1")
    place = bar(pyodide, "softmax").locator(".exercise-output")
    bar(pyodide, "softmax").get_by_role("button", name="Run").click()
    place.get_by_text("emscripten").wait_for(timeout=60_000)
    assert place.text_content() == "emscripten\n2"
    editor(pyodide, "softmax").fill("while True:\n    pass")
    bar(pyodide, "softmax").get_by_role("button", name="Run").click()
    pyodide.get_by_text("Running").wait_for()
    pyodide.get_by_role("button", name="Stop").click()
    pyodide.get_by_text("Stopped. The next run starts Python again.").wait_for()
    editor(pyodide, "softmax").fill("6 * 7")
    bar(pyodide, "softmax").get_by_role("button", name="Run").click()
    place.get_by_text("42").wait_for(timeout=60_000)
    assert not pyodide.troubles


def test_pyodide_brings_the_numpy_of_the_course(runtime):
    _, lock = runtime
    assert lock["packages"]["numpy"]["version"] == np.__version__


def test_vendoring_asks_for_what_the_lock_names_and_compares_it(
    runtime, tmp_path, monkeypatch
):
    _, lock = runtime
    names = [entry["file_name"] for entry in vendor.needed(lock)]
    kinds = {name.split("-")[0] for name in names}
    assert {"numpy", "matplotlib", "pillow", "contourpy", "kiwisolver"} <= kinds
    wheels = {name: name.encode() for name in names}
    entries = lock["packages"].values()
    small = {"packages": {entry["name"].lower(): dict(entry) for entry in entries}}
    for entry in small["packages"].values():
        content = wheels.get(entry["file_name"], b"")
        entry["sha256"] = hashlib.sha256(content).hexdigest()
    asked = []

    def answer(address, timeout):
        asked.append(address)
        name = address.removeprefix("https://example.org/")
        if name not in wheels:
            raise urllib.error.URLError("not there")
        return io.BytesIO(wheels[name])

    monkeypatch.setattr(vendor.urllib.request, "urlopen", answer)
    vendor.fetch_wheels(small, tmp_path, "https://example.org/")
    assert asked == [f"https://example.org/{name}" for name in names]
    assert {path.name for path in tmp_path.iterdir()} == set(names)
    wheels[names[0]] = b"another file"
    with pytest.raises(vendor.VendorError, match="is not the file of the lock"):
        vendor.fetch_wheels(small, tmp_path, "https://example.org/")
    del wheels[names[0]]
    with pytest.raises(vendor.VendorError, match="cannot be had"):
        vendor.fetch_wheels(small, tmp_path, "https://example.org/")


def test_a_cell_without_nbgrader_s_metadata_is_shown_as_it_is():
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Title"},
        {"cell_type": "markdown", "metadata": {}, "source": "A remark."},
        {"cell_type": "code", "metadata": {}, "source": "x = 1"},
    ]
    page = solving.page_of({"cells": cells}, "12-x", "x.ipynb", "")
    assert "A remark." in page and "```{code-block} python\nx = 1\n```" in page
    assert "exercise-bar" not in page
