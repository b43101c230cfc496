"""The pages in a real browser: quiet, self-contained, accessible, and narrow enough."""

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from looks import SIDEWAYS, STILL, unreadable, violations
from shared import drawn

from autograder.checks import attention
from autograder.course import Course
from autograder.grading.verdict import QuestionResult, Run, Verdict
from autograder.results import report

pages = pytest.importorskip("benchmarks.pages")  # it needs Playwright

ROOT = Path(__file__).resolve().parents[2]
# code without its thousands of elements, which axe would go through all the same
PLAIN = """document.querySelectorAll("div.highlight pre").forEach(code => {
    code.textContent = code.textContent;
})"""
# wide formulas that show their end first
END_FIRST = """[...document.querySelectorAll("div.math > math")].filter(formula =>
    formula.getBoundingClientRect().left <
        formula.parentElement.getBoundingClientRect().left
).map(formula => formula.textContent)"""
PAGES = ["404.html", "search.html"] + [
    f"book/{name}.html"
    for line in (ROOT / "_toc.yml").read_text(encoding="utf-8").splitlines()
    if (name := line.partition("book/")[2])
]

CHAPTERS = [path for path in PAGES if re.match(r"book/\d\d", path)]
DRAWN = [
    path
    for path in CHAPTERS
    if "](images/"
    in (ROOT / "book/text" / Path(path).name)
    .with_suffix(".md")
    .read_text(encoding="utf-8")
]


# a label belongs to the first field in it, also to an output before the field
NAMELESS = """[...document.querySelectorAll("input, select, textarea")].filter(
    field => field.type !== "hidden" && !field.hidden &&
        !(field.ariaLabel || field.labels?.[0]?.textContent || field.title)
).map(field => field.outerHTML)"""

# words of a drawing that the theme made larger, or that stick out of it
UNFIT = """[...document.querySelectorAll("svg.drawing")].flatMap(drawing => {
    const whole = drawing.getBoundingClientRect();
    return [...drawing.querySelectorAll("text")].filter(text => {
        const own = text.getBoundingClientRect();
        const size = parseFloat(getComputedStyle(text).fontSize);
        return size > 14 || own.left < whole.left || own.right > whole.right
            || own.top < whole.top || own.bottom > whole.bottom;
    }).map(text => text.textContent);
})"""


# the theme lets the keyboard reach what scrolls, a moment after the width changed
SCROLLS = ".pst-scrollable-table-container, .bd-article pre"
SETTLED = f"""() => [...document.querySelectorAll("{SCROLLS}")]
    .every(one => one.scrollWidth <= one.clientWidth || one.tabIndex === 0)"""


def inspect(page, path, axe, schemes=("light", "dark"), width=1280):
    """Open a page wide and narrow, and find nothing to complain of.

    axe looks at it in these schemes, and in this width.
    """
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(path, wait_until="networkidle")
    assert page.evaluate(UNFIT) == []
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(END_FIRST) == []
    if path in DRAWN:
        assert page.locator("svg.drawing").count()
        page.set_viewport_size({"width": 360, "height": 800})
        assert page.evaluate(UNFIT) == []
    assert page.evaluate(NAMELESS) == []
    if schemes:
        page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(SETTLED)
    if schemes:
        page.evaluate(axe)
        scope = {"exclude": []}
        if "warm-up" not in path:
            # a chapter holds thousands of colored words of code: one page for all
            scope = {"exclude": ["div.highlight"]}
            page.evaluate(PLAIN)
        assert unreadable(page, scope, schemes) is None
    assert not page.troubles


@pytest.mark.parametrize("path", drawn(PAGES, len(PAGES) // 3))
def test_a_page_is_quiet_and_fits_a_phone_and_so_do_the_words_of_its_drawings(
    page, path, axe
):
    inspect(page, path, axe, schemes=())


VIEWS = [
    f"{path} {scheme} {width}"
    for path in PAGES
    for scheme in ("light", "dark")
    for width in (1280, 375)
]


@pytest.mark.parametrize("view", drawn(VIEWS, 3))
def test_a_page_is_accessible(page, view, axe):
    path, scheme, width = view.split()
    inspect(page, path, axe, [scheme], int(width))


MISTAKE = attention.assignment.catalog.misconceptions[0].id


def verdict(score, **changes):
    """What the gradebook holds of a submission."""
    question = QuestionResult("test_attention_scores", score, 8.0, None, MISTAKE)
    run = Run(1_800_000_000, 2.0, 2)
    made = Verdict("graded", 8.0, questions=(question,), seconds=0.1, run=run)
    return replace(made, **changes)


def test_the_class_report_is_quiet_accessible_and_fits_a_phone(page, axe):
    (assignment,) = Course(ROOT).chosen(["01-attention"])
    verdicts = {
        "ada": verdict(8.0),
        "bob": verdict(3.0, notes=("It came late.",)),
        "cleo": verdict(0.0, status="held", reason="The file is not a notebook."),
    }
    section = report.Section(assignment, verdicts, "../book/")
    html = report.render("report.html", sections=[section])
    page.route(
        "**/sample-class/",
        lambda route: route.fulfill(body=html, content_type="text/html"),
    )
    inspect(page, "sample-class/", axe)
    assert page.locator("table").count() == 2
    assert page.locator(".students details").count() == 3
    assert page.get_by_role("link").count() == 1  # into the book


# the sum of all shifts while somebody scrolls to the end
SHIFTS = """
    window.shifted = 0;
    // the list of contents opens the part that is read
    const contents = ({ node }) => node?.closest?.(".bd-sidebar-secondary");
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (!entry.hadRecentInput && !entry.sources.every(contents))
          window.shifted += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
"""
SCROLL = """async () => {
    for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
      window.scrollTo({ top: y, behavior: "instant" });
      await new Promise((done) => setTimeout(done, 25));
    }
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)));
    return window.shifted;
}"""


WIDTHS = [f"{path} {width}" for path in PAGES for width in (1280, 375)]


@pytest.mark.parametrize("view", drawn(WIDTHS, 2))
def test_nothing_jumps_while_a_page_is_read(page, view):
    path, width = view.split()
    page.set_viewport_size({"width": int(width), "height": 800})
    page.add_init_script(SHIFTS)
    page.goto(path, wait_until="load")
    assert page.evaluate(SCROLL) < 0.02


LIVELY = ["index", "01-queries-keys-values", "02-scaling", "07-reading-attention"]
LIVELY += ["solve/02-scaling"]


@pytest.mark.parametrize("name", drawn(LIVELY))
def test_scripts_that_come_late_move_nothing(page, site, monkeypatch, name):
    def wait(server):
        if server.path.partition("?")[0].endswith(".js"):
            time.sleep(0.5)
        return get(server)

    get = pages.Quiet.do_GET
    monkeypatch.setattr(pages.Quiet, "do_GET", wait)
    with pages.served(site.folder) as slow:
        page.context.unroute_all()
        page.add_init_script(SHIFTS)
        page.goto(f"{slow}/book/{name}.html", wait_until="load")
        assert page.evaluate(SCROLL) < 0.02


def test_the_search_works_from_the_keyboard(page):
    page.goto("book/glossary.html")
    page.keyboard.press("Control+K")
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=softmax")
    page.locator("ul.search a").first.wait_for(timeout=10_000)
    page.set_viewport_size({"width": 375, "height": 667})
    page.locator("ul.search .context").first.wait_for()
    assert page.evaluate(SIDEWAYS) <= 0  # names in code are long
    assert not page.troubles


# the element that has the focus, and whether a reader can tell
FOCUS = """() => {
    const element = document.activeElement;
    // the theme marks the sign in it that opens the subsections of a chapter
    const style = getComputedStyle(element.querySelector(".toctree-toggle") ?? element);
    const { top, bottom, width } = element.getBoundingClientRect();
    const { outlineStyle, outlineWidth, boxShadow } = style;
    const outlined = outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
    return {
      words: element.innerText || element.ariaLabel || "",
      marked: outlined || boxShadow !== "none",
      seen: width > 0 && bottom > 0 && top < innerHeight,
    };
}"""


def test_the_keyboard_leads_past_the_contents_and_through_them(page):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("book/01-queries-keys-values.html")
    page.add_style_tag(content=STILL)
    page.keyboard.press("Tab")
    first = page.evaluate(FOCUS)
    assert first["words"] == "Skip to main content" and first["seen"]
    page.keyboard.press("Enter")
    page.wait_for_url("**#main-content")
    page.reload()
    page.add_style_tag(content=STILL)
    for _ in range(40):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        assert focus["marked"] and focus["seen"], focus
        if "Scaling" in focus["words"]:
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/book/02-scaling.html")


MOVES = """() => [...document.querySelectorAll("*")].filter((element) => {
    const style = getComputedStyle(element);
    const durations = style.transitionDuration + style.animationDuration;
    return /[1-9]/.test(durations) || style.scrollBehavior === "smooth";
}).length"""


def test_nothing_moves_for_readers_who_asked_for_that(page):
    page.goto("book/index.html")
    assert page.evaluate(MOVES) > 0
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(MOVES) == 0


def test_on_paper_a_dark_page_is_light_and_a_quiz_has_its_answers(page, axe):
    page.emulate_media(color_scheme="dark", media="print")
    page.goto("book/01-queries-keys-values.html", wait_until="networkidle")
    page.add_style_tag(content=STILL)
    page.evaluate(axe)
    scope = {"exclude": ["div.highlight"]}
    assert not violations(page, scope, runOnly=["color-contrast"])
    behind = "all => all.map((e) => getComputedStyle(e).backgroundColor)"
    cells = page.locator("div.cell_input").evaluate_all(behind)
    assert set(cells) == {"rgba(0, 0, 0, 0)"}
    page.locator("attention-start").scroll_into_view_if_needed()
    maps = page.locator(".pair-matrix i").first
    maps.wait_for(state="attached")
    assert maps.evaluate("e => getComputedStyle(e).printColorAdjust") == "exact"
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    ink = "getComputedStyle(document.querySelector('div.highlight span.kn')).color"
    assert page.evaluate(ink) == "rgb(34, 40, 50)"
    assert page.locator(".quiz details > p").first.bounding_box()["height"] > 10


# the page of puzzles is the one that asks for most
HEAVY = ["book/puzzles.html", *drawn([p for p in PAGES if "puzzles" not in p], 2)]


@pytest.mark.parametrize("path", HEAVY)
def test_a_page_brings_little_along(browser, address, site, path):
    weight = pages.weigh(browser, address, path, site.folder)
    assert 0 < weight.bytes <= 310_000
    assert 0 < weight.requests <= 15
