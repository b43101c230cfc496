"""The pages in a real browser: quiet, self-contained, accessible, and narrow enough."""

import functools
import http.server
import shutil
import threading
from importlib.resources import files
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# colors are measured when they have arrived, not on their way
STILL = "*, ::before, ::after { transition: none !important }"
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
PAGES = ["404.html", "search.html"] + [
    f"book/{name}.html"
    for line in (ROOT / "_toc.yml").read_text(encoding="utf-8").splitlines()
    if (name := line.partition("book/")[2])
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *arguments):
        pass


@pytest.fixture(scope="module")
def address(site):
    handler = functools.partial(Quiet, directory=str(site.folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, address):
    """An open page; ``page.troubles`` collects what it should not do."""
    context = browser.new_context(base_url=address)
    page = context.new_page()
    page.troubles = []

    def guard(route):
        if route.request.url.startswith((address, "data:")):
            return route.continue_()
        page.troubles.append(f"asked for {route.request.url}")
        return route.abort()

    def answered(response):
        if response.status >= 400:
            page.troubles.append(f"{response.status} for {response.url}")

    def said(message):
        if message.type in {"error", "warning"}:
            page.troubles.append(f"console: {message.text}")

    context.route("**/*", guard)
    page.on("response", answered)
    page.on("console", said)
    page.on("pageerror", lambda error: page.troubles.append(f"script: {error}"))
    yield page
    context.close()


@pytest.fixture(scope="module")
def axe():
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


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
