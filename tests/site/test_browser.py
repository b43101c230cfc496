"""The pages in a real browser: quiet, self-contained, accessible, and narrow enough."""

from pathlib import Path

import pytest

pages = pytest.importorskip("benchmarks.pages")  # it needs Playwright

ROOT = Path(__file__).resolve().parents[2]
# colors are measured when they have arrived, not on their way
STILL = "*, ::before, ::after { transition: none !important }"
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
PAGES = ["404.html", "search.html"] + [
    f"book/{name}.html"
    for line in (ROOT / "_toc.yml").read_text(encoding="utf-8").splitlines()
    if (name := line.partition("book/")[2])
]

CHAPTERS = [path for path in PAGES if path.startswith("book/0")]


def violations(page, scope, **options):
    """What axe finds: the rule and the first element that breaks it."""
    options |= {"resultTypes": ["violations"], "preload": False}
    run = "([scope, options]) => axe.run(scope, options)"
    found = page.evaluate(run, [scope, options])["violations"]
    return [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_quiet_accessible_and_fits_a_phone(page, path, axe):
    # a chapter holds thousands of colored words of code: one page stands for all
    scope = {"exclude": [] if "warm-up" in path else ["div.highlight"]}
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(path, wait_until="networkidle")
    page.add_style_tag(content=STILL)
    page.evaluate(axe)
    assert not violations(page, scope)
    page.emulate_media(color_scheme="dark")
    assert not violations(page, scope, runOnly=["color-contrast"])
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate(SIDEWAYS) <= 0
    assert not page.troubles


# the sum of all shifts while somebody scrolls to the end
SHIFTS = """
    window.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (!entry.hadRecentInput) window.shifted += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
"""
SCROLL = """async () => {
    for (let y = 0; y < document.body.scrollHeight; y += innerHeight / 2) {
      window.scrollTo({ top: y, behavior: "instant" });
      await new Promise((done) => setTimeout(done, 25));
    }
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)));
    return window.shifted;
}"""


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("path", PAGES)
def test_nothing_jumps_while_a_page_is_read(page, path, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.add_init_script(SHIFTS)
    page.goto(path, wait_until="load")
    assert page.evaluate(SCROLL) < 0.02


def test_the_search_finds_a_chapter(page):
    page.goto("search.html?q=softmax")
    result = page.locator("ul.search a").first
    result.wait_for(timeout=10_000)
    assert ".html" in result.get_attribute("href")


def test_a_quiz_explains_a_choice_without_scripts(browser, address):
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("book/01-queries-keys-values.html")
    choice = page.locator(".quiz details").first
    assert not choice.locator("p").is_visible()
    choice.locator("summary").focus()
    page.keyboard.press("Enter")
    assert choice.locator("p").is_visible()
    context.close()


def test_the_switch_changes_the_color_scheme(page):
    page.goto("book/index.html")
    background = "getComputedStyle(document.body).backgroundColor"
    seen = {page.evaluate(background)}
    for _ in range(2):
        page.locator(".theme-switch-button").first.click()
        seen.add(page.evaluate(background))
    assert len(seen) == 2


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_chapter_brings_little_along(browser, address, site, path):
    weight = pages.weigh(browser, address, path, site.folder)
    assert 0 < weight.bytes <= 300_000
    assert 0 < weight.requests <= 15
