"""Cells of a chapter, run and changed in the page, by the Pyodide of the site."""

import re

import cells
import notebooks
import pytest
from cells_in_page import agree, compare
from exercise_page import IDLE, Editor
from looks import SIDEWAYS, unreadable

# The page's Matplotlib is an older one, with an older FreeType: letters are a little
# wider, and the layout makes room for them. Two maps beside each other have two stable
# layouts, and come out 2 % smaller. With one Matplotlib 0.5 is allowed, in place.
FIGURES = {"off": 3, "reach": 2}
# NumPy uses the memory of a sum's parts again where it can look at the stack: not here
PEAKS = "megabytes at the peak: {}\n"
ELSEWHERE = {
    ("08-cost", 13): (PEAKS.format("1.3 2.7 5.3"), PEAKS.format("1.6 3.2 6.4")),
}
START = 120_000  # milliseconds in which Python has to be there, on a busy machine
FIRST = "01-queries-keys-values"
CODE = """[...document.querySelectorAll(".cell_input pre")].map(
    (code) => code.textContent.replace(/\\n$/, ""))"""


class Cell:
    """A cell of the page, by a line of its code."""

    def __init__(self, page, sources, line, nth=0):
        found = [number for number, source in enumerate(sources) if line in source]
        self.page, self.number = page, found[nth]
        self.place = f"#cell-{self.number + 1}"
        self.bar = page.locator(self.place)
        self.all = page.locator(".cell").filter(has=self.bar)
        self.output = self.bar.locator(".exercise-output")
        self.recorded = self.all.locator(".cell_output")
        self.editor = Editor(self.all.locator(".code-editor"))

    def press(self, name):
        self.bar.get_by_role("button", name=name, exact=True).click()

    def run(self):
        empty = "all => all.forEach(each => each.replaceChildren())"
        self.output.evaluate_all(empty)  # what was there is not what comes
        self.press("Run")
        return self.came()

    def came(self):
        self.output.locator(".exercise-said").wait_for(timeout=START)
        self.page.wait_for_function(IDLE, timeout=START)
        return self.output.inner_text()


@pytest.mark.usefixtures("python")
def test_a_visit_to_the_first_chapter(page, axe, asked):
    page.goto(f"book/{FIRST}.html", wait_until="networkidle")
    assert not [url for url in asked if "chapter" in url or "pyodide" in url]
    sources = cells.chapter(FIRST).sources
    assert page.evaluate(CODE) == sources

    # a run prints what is recorded, after a bar; there is a way back
    match = Cell(page, sources, "match = menu @ wish")
    recorded = match.recorded.inner_text()
    match.press("Run")
    page.get_by_role("progressbar", name="Loading Python").wait_for(timeout=START)
    assert agree(match.came(), recorded) and not match.recorded.is_visible()
    match.press("Show the recorded output")
    assert match.recorded.is_visible() and not match.output.inner_text()
    match.bar.get_by_role("button", name="Run").press("Enter")
    match.came()
    page.wait_for_function("document.activeElement.textContent === 'Run'")

    # by keyboard alone: another wish; what depends on it says so, and runs with it
    menu = Cell(page, sources, "wish = np.array")
    menu.bar.get_by_role("button", name="Change").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.matches('.cm-content')")
    page.keyboard.press("Control+End")
    page.keyboard.type("\nwish = np.zeros(3); wish[2] = 2.0")
    old = match.bar.get_by_text("A cell above has changed: run this one again.")
    old.wait_for()
    # said once, however many cells it is true of
    (said,) = page.locator("[role=status]:has-text('to be run again')").all()
    assert re.fullmatch(r"\d+ cells have to be run again.", said.inner_text())
    page.keyboard.press("Shift+Enter")
    assert "printed nothing" in menu.came()
    assert "match: [1. 2. 2. 0.]" in match.run()
    assert not old.is_visible()
    page.evaluate(axe)
    changed = [f".cell:has({place})" for place in (menu.place, match.place)]
    assert unreadable(page, {"include": changed, "exclude": ["pre span"]}) is None
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate(SIDEWAYS) <= 0
    page.set_viewport_size({"width": 1280, "height": 900})

    # an error is shown at its cell, and at the cells below that need it
    menu.editor.fill("menu = 1 / 0")
    said = menu.run()
    assert "line 1" in said and "ZeroDivisionError: division by zero" in said
    said = match.run()
    assert said.startswith("A cell above, which this one needs, failed:")
    assert "ZeroDivisionError" in said

    # what never ends is stopped
    menu.editor.fill("while True:\n    pass")
    menu.press("Run")
    menu.bar.get_by_text("Running").wait_for()
    menu.press("Stop")
    menu.bar.get_by_text("Stopped.").wait_for()

    # a change is there after a reload, and what depends on it says so
    menu.editor.fill("menu = 1 / 0")
    page.reload()
    menu.editor.content.wait_for()
    assert menu.editor.input_value() == "menu = 1 / 0"
    old.wait_for()

    # all as it was: the recorded numbers again, in a new Python
    menu.press("Undo my changes")
    assert page.evaluate("localStorage.getItem('cells:" + FIRST + ".html')") == "{}"
    assert agree(match.run(), recorded)

    # a figure takes the place of the recorded one
    figure = Cell(page, sources, "fig, (left, right) = plt.subplots")
    alt = figure.recorded.locator("img").first.get_attribute("alt")
    figure.run()
    image = figure.output.locator("img")
    image.evaluate("image => image.decode()")
    assert image.get_attribute("alt") == alt and image.bounding_box()["width"] > 300
    assert not figure.recorded.is_visible()

    # what needs PyTorch and would print says so, and the notebook can be had
    assert Cell(page, sources, "theirs =").bar.text_content() == "Needs PyTorch"
    assert Cell(page, sources, "from_numpy").bar.text_content() == ""
    head = page.locator("p", has_text="Level: beginner")
    total, runs = re.search(rf"{FIRST} \| (\d+) \| (\d+)", cells.table()).groups()
    said = f"{runs} of its {total} cells that print or draw run in this page"
    assert said in head.inner_text()
    link = head.get_by_role("link", name="the notebook")
    assert page.request.get(link.evaluate("link => link.href")).ok
    assert not page.troubles


@pytest.mark.usefixtures("python")
def test_a_whole_model_writes_in_its_page(page):
    page.goto("book/whole.html")
    shown = page.locator(".highlight-text pre").inner_text()
    assert (
        Cell(page, cells.chapter("whole").sources, "def write(").run() == shown.strip()
    )
    assert not page.troubles


@pytest.mark.long
@pytest.mark.usefixtures("python")
@pytest.mark.parametrize("stem", [path.stem for path in notebooks.TEXT.glob("*.md")])
def test_every_cell_prints_in_the_page_what_is_recorded(page, stem):
    page.goto(f"book/{stem}.html", wait_until="networkidle")
    page.locator("details:is(.hide, .deeper)").evaluate_all(
        "all => all.forEach(f => (f.open = true))"
    )
    found = cells.chapter(stem)
    assert page.evaluate(CODE) == found.sources
    others = []
    for number in range(len(found.sources)):
        if found.why_not(number) is None:
            page.locator(f"#cell-{number + 1} [data-does=run]").click()
            done = page.locator(f"#cell-{number + 1} .exercise-said")
            done.wait_for(timeout=START)
            try:
                came = {"outputs": told(done)}
                compare(stem, number, came, **FIGURES, elsewhere=ELSEWHERE)
            except AssertionError as error:
                others.append(str(error).partition("\n")[0][:500])
    assert not others
    assert not page.troubles


def told(box):
    """The outputs of a run, as the runner told them."""
    errors = "wrong" in box.get_attribute("class")
    texts = box.locator("pre").all_inner_texts()
    figures = box.locator("img").evaluate_all("all => all.map(one => one.srcset)")
    found = [{"error" if errors else "text": text} for text in texts]
    if texts == ["Done; it printed nothing."]:
        found = []
    return found + [{"figure": f.split(",")[1].split()[0]} for f in figures]
