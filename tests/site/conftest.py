"""The site, built once for all test processes, into a folder that is thrown away."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import shared
import vendor
from exercise_page import PAGE
from looks import unreadable

ROOT = Path(__file__).resolve().parents[2]
ADDED = shutil.ignore_patterns("sample-class")  # by `make sample`


def built(source: Path, output: Path) -> None:
    """Build the site as `make book` does, in a folder of its own."""
    command = [Path(sys.executable).parent / "jupyter-book", "build", "."]
    strict = ["-W", "-n", "--keep-going", "--all", "--path-output", output]
    build = subprocess.run(
        [*command, *strict],
        cwd=source,
        capture_output=True,
        text=True,
    )
    said = {"returncode": build.returncode, "stderr": build.stderr}
    (output / "build.json").write_text(json.dumps(said), encoding="utf-8")


def taken(ready: Path, output: Path) -> None:
    """The site that make has built, strictly too; made of links, if it can be."""
    html = output / "_build/html"
    try:
        shutil.copytree(ready, html, copy_function=os.link, ignore=ADDED)
    except (OSError, shutil.Error):  # on another disk
        shutil.rmtree(html)
        shutil.copytree(ready, html, ignore=ADDED)
    said = {"returncode": 0, "stderr": ""}
    (output / "build.json").write_text(json.dumps(said), encoding="utf-8")


def site_in(output: Path) -> SimpleNamespace:
    build = json.loads((output / "build.json").read_text(encoding="utf-8"))
    folder = output / "_build" / "html"
    return SimpleNamespace(folder=folder, build=SimpleNamespace(**build))


@pytest.fixture(scope="session")
def vendored():
    """Why there is no Python or no editor for the pages, or None."""
    try:
        vendor.vendor(vendor.TARGET)
        vendor.editor.bundle(vendor.editor.target())
    except vendor.VendorError as error:
        return f"the exercise pages lack something: {error}"
    return None


@pytest.fixture(scope="session")
def python(vendored):
    """The folder of the Pyodide that exercise pages run."""
    if vendored:
        pytest.skip(vendored)
    return vendor.TARGET


@pytest.fixture(scope="session")
def site(tmp_path_factory, vendored):
    def make(output):
        output.mkdir()
        if ready := os.environ.get("BUILT_SITE"):
            taken(Path(ready), output)
        else:
            built(ROOT, output)

    return site_in(shared.once(tmp_path_factory, "site", make))


@pytest.fixture(scope="session")
def published(tmp_path_factory, site):
    """The folder of a site that has an address and a public repository."""
    sources = tmp_path_factory.mktemp("sources")
    for name in "_toc.yml", "book", "exercises":
        (sources / name).symlink_to(ROOT / name)
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    config = re.sub(r'(\n  baseurl:) ""', r"\1 https://example.org/attn", config)
    config = re.sub(r'(\n  url:) ""', r"\1 https://github.com/someone/attn", config)
    (sources / "_config.yml").write_text(config, encoding="utf-8")

    def make(output):
        figures = output / "_build/html/_images"
        figures.mkdir(parents=True)
        for twin in site.folder.glob("_images/*-dark.png"):
            shutil.copy(twin, figures)  # dark figures need not be made again
        built(sources, output)

    book = site_in(shared.once(tmp_path_factory, "published", make))
    assert book.build.returncode == 0, book.build.stderr[-3000:]
    return book.folder


@pytest.fixture(scope="session")
def address(site):
    pages = pytest.importorskip("benchmarks.pages")  # it needs Playwright
    with pages.served(site.folder) as address:
        yield address


@pytest.fixture
def bare(browser, address):
    """An open page that runs no scripts."""
    context = browser.new_context(base_url=address, java_script_enabled=False)
    yield context.new_page()
    context.close()


@pytest.fixture
def accessible(page, axe):
    """Ask axe about a part of the open page, in these color schemes."""

    def look(*parts, schemes=("light", "dark")):
        page.evaluate(axe)
        assert unreadable(page, {"include": [*parts]}, schemes) is None

    return look


UNSERVED = "delete Navigator.prototype.serviceWorker"


@pytest.fixture(scope="session")
def empty(browser, address):
    """A page with little on it, open for all tests that ask modules for numbers."""
    context = browser.new_context(base_url=address)
    context.add_init_script(UNSERVED)
    page = context.new_page()
    page.goto("404.html")
    yield page
    context.close()


@pytest.fixture(scope="session")
def compute(empty):
    """Call a function of a module of the site in the browser."""

    def call(module, function, *given):
        run = """async ([module, name, given]) =>
            (await import(`/_static/${module}.js`))[name](...given)"""
        return empty.evaluate(run, [module, function, list(given)])

    return call


@pytest.fixture
def page(kept_page):
    """An open page; ``page.troubles`` collects what it should not do."""
    # it would answer in the place of the server, whose answers are watched here
    kept_page.context.add_init_script(UNSERVED)
    return kept_page


@pytest.fixture
def kept_page(browser, address):
    """An open page whose service worker keeps what it needs without a network."""
    context = browser.new_context(base_url=address)
    page = context.new_page()
    page.troubles = []

    def asked(request):  # and no name is looked up, so nothing comes
        if not request.url.startswith((address, "data:", "blob:")):
            page.troubles.append(f"asked for {request.url}")

    def answered(response):
        if response.status >= 400:
            page.troubles.append(f"{response.status} for {response.url}")

    def said(message):
        if message.type in {"error", "warning"}:
            page.troubles.append(f"console: {message.text}")

    context.on("request", asked)
    page.on("response", answered)
    page.on("console", said)
    page.on("pageerror", lambda error: page.troubles.append(f"script: {error}"))
    yield page
    context.close()


@pytest.fixture
def asked(page):
    """The addresses that the page asks for."""
    urls = []
    page.on("request", lambda request: urls.append(request.url))
    return urls


@pytest.fixture
def thrifty(page):
    """A page that loads no Python before a press, as it saves data."""
    saving = "'connection', { value: { saveData: true } }"
    page.context.add_init_script(f"Object.defineProperty(navigator, {saving})")
    return page


@pytest.fixture
def quiet(thrifty):
    """An exercise page without Python."""
    thrifty.goto(PAGE)
    return thrifty
