"""The built pages: complete, self-contained, and linked to what exists."""

import importlib
import pkgutil
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from autograder import checks
from autograder.tools.judging import catalog_of, packages

ROOT = Path(__file__).resolve().parents[2]
LOADED = {"script", "img", "iframe", "source", "video"}


class Page(HTMLParser):
    """What a page shows, loads and links to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.html = path, path.read_text(encoding="utf-8")
        self.loads, self.links, self.images = [], [], []
        self.ids, self.classes = set(), []
        self.feed(self.html)

    def handle_starttag(self, tag, attributes) -> None:
        values = dict(attributes)
        self.ids.add(values.get("id"))
        self.classes += (values.get("class") or "").split()
        if tag in LOADED and "src" in values:
            self.loads.append(values["src"])
        if tag == "link" and values.get("rel") not in {"next", "prev", "canonical"}:
            self.loads.append(values["href"])
        if tag == "img":
            self.images.append(values)
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])


@pytest.fixture(scope="module")
def pages(site):
    paths = sorted(site.folder.rglob("*.html"))
    return [Page(path) for path in paths if "_static" not in path.parts]


@pytest.fixture(scope="module")
def articles(pages):
    return [page for page in pages if "book" in page.path.parts]


def test_the_book_builds_without_a_warning(site):
    problems = re.findall(r".*(?:WARNING|ERROR).*", site.build.stderr)
    assert not problems and site.build.returncode == 0, site.build.stderr[-3000:]


def test_every_page_of_the_contents_is_built(articles):
    listed = re.findall(r"book/([\w/-]+)", (ROOT / "_toc.yml").read_text())
    built = {str(page.path).rpartition("/book/")[2] for page in articles}
    assert built == {f"{name}.html" for name in listed}


def test_every_figure_has_words_instead_of_a_file_name(articles):
    silent = [
        f"{page.path.name}: {image.get('src')} says {image.get('alt')!r}"
        for page in articles
        for image in page.images
        if len((image.get("alt") or "").split()) < 5
    ]
    assert not silent


def test_nothing_is_loaded_from_another_host(site, pages):
    outside = [
        f"{page.path.name}: {address}"
        for page in pages
        for address in page.loads
        if urlsplit(address).netloc
    ]
    for path in site.folder.rglob("*.css"):
        style = path.read_text(encoding="utf-8")
        urls = re.findall(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", style)
        outside += [f"{path.name}: {u}" for u in map("".join, urls) if "//" in u[:8]]
    assert not outside


def test_everything_loaded_exists(site, pages):
    missing = []
    for page in pages:
        for address in page.loads:
            path = urlsplit(address).path
            base = site.folder if path.startswith("/") else page.path.parent
            if not (base / unquote(path).lstrip("/")).is_file():
                missing.append(f"{page.path.name}: {address}")
    assert not missing


def test_no_page_is_read_in_quirks_mode(pages):
    assert all(page.html.lstrip()[:9].upper() == "<!DOCTYPE" for page in pages)


def test_formulas_are_mathml(articles):
    assert sum(page.html.count("<math ") for page in articles) > 50
    for page in articles:
        text = re.sub(r"<(code|pre)\b.*?</\1>", "", page.html, flags=re.DOTALL)
        assert not re.search(r"\\[([]|\\(frac|sqrt|operatorname|text)\b", text)
        assert "$$" not in text


def test_every_icon_shown_is_in_the_shrunken_font(site, pages):
    style = (site.folder / "_static/styles/pydata-sphinx-theme.css").read_text()
    drawn = set(re.findall(r"\.(fa-[\w-]+):before", style))
    helpers = {"fa-solid", "fa-regular", "fa-brands", "fa-lg", "fa-fw"}
    for page in pages:
        icons = {name for name in page.classes if name.startswith("fa-")}
        assert icons - helpers <= drawn, page.path.name
    fonts = (site.folder / "_static/vendor/fontawesome").rglob("*.*")
    assert 0 < sum(font.stat().st_size for font in fonts) < 10_000


def test_exercises_are_downloads_of_the_notebooks(site, articles):
    released = {path.read_bytes() for path in (ROOT / "exercises").rglob("*.ipynb")}
    for page in articles:
        found = [link for link in page.links if "_downloads/" in link]
        if "exercise-card" in page.classes:
            assert found, f"{page.path.name} has an exercise card without a download"
        for link in found:
            path = (page.path.parent / link).resolve()
            assert path.suffix != ".ipynb" or path.read_bytes() in released


def test_internal_links_lead_to_a_page_and_a_heading(site, pages):
    ids = {page.path: page.ids for page in pages}
    broken = []
    for page in pages:
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            base = site.folder if parts.path.startswith("/") else page.path.parent
            target = (base / unquote(parts.path).lstrip("/")).resolve()
            target = target if parts.path else page.path
            anchor = unquote(parts.fragment)
            known = ids.get(target, set())
            if not target.is_file() or (anchor and known and anchor not in known):
                broken.append(f"{page.path.name}: {link}")
    assert not broken


def test_the_checks_point_to_headings_that_exist(articles):
    chapters = [page for page in articles if page.path.parent.name == "book"]
    ids = {page.path.stem: page.ids for page in chapters}
    targets = set()
    for module in pkgutil.walk_packages(checks.__path__, "autograder.checks."):
        values = vars(importlib.import_module(module.name)).values()
        reads = (getattr(value, "read", None) for value in values)
        targets |= {read for read in reads if isinstance(read, str)}
    for package in packages():
        targets |= {entry.read for entry in catalog_of(package).misconceptions}
    lost = []
    for target in sorted(targets):
        chapter, _, heading = target.partition("#")
        if heading not in ids[chapter]:
            lost.append(target)
    assert targets and not lost
