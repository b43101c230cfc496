"""How much does a page bring along? First load in a browser, figures left out.

    python -m benchmarks.pages [BUILT_SITE]

Builds the course's site and, from the same sources, a Jupyter Book with default
settings, opens every page of both in headless Chromium with an empty cache, and prints
requests and kilobytes as a server that compresses text would send them. What a page
asks of other hosts is counted as a request; its bytes are not known here. With
_build/html, the pages of `make book` are weighed alone.
"""

from __future__ import annotations

import functools
import gzip
import http.server
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Route, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
TEXT = {".html", ".css", ".js", ".mjs", ".json", ".svg"}
DEFAULT_BOOK = """
title: Paying Attention
execute: {execute_notebooks: "off"}
bibtex_bibfiles: [book/references.bib]
parse: {myst_enable_extensions: [colon_fence, deflist, dollarmath, substitution]}
"""


class Weight(NamedTuple):
    """What the first load of a page costs."""

    bytes: int
    requests: int
    outside: int


def weigh(browser: Browser, address: str, path: str, folder: Path) -> Weight:
    """Load ``address/path`` with an empty cache and add up what it asks for.

    ``folder`` is what the address serves. Figures (what Sphinx puts into _images) are
    left out. Requests to other hosts are blocked, and counted.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    asked: list[str] = []
    page.route("**/*", functools.partial(stay_here, address))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/{path}", wait_until="networkidle")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")  # what loads late
    page.wait_for_load_state("networkidle")
    context.close()
    asked = [url for url in asked if not url.startswith("data:")]
    asked = [url for url in asked if "/_images/" not in url]
    mine = [urlsplit(url) for url in asked if url.startswith(address)]
    total = sum(sent(folder / unquote(url.path).lstrip("/")) for url in mine)
    return Weight(total, len(asked), len(asked) - len(mine))


def stay_here(address: str, route: Route) -> None:
    """Let through what the site itself serves."""
    if route.request.url.startswith((address, "data:")):
        route.continue_()
    else:
        route.abort()


def sent(path: Path) -> int:
    """Bytes of a file on its way, text compressed; 0 when there is no such file."""
    if not path.is_file():
        return 0
    body = path.read_bytes()
    return len(gzip.compress(body, 6) if path.suffix in TEXT else body)


def build(source: Path, folder: Path) -> Path:
    """Build a book into ``folder`` and return where its pages are."""
    program = str(Path(sys.executable).parent / "jupyter-book")
    command = [program, "build", ".", "--all", "--quiet", "--path-output", str(folder)]
    run = subprocess.run(command, cwd=source, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{run.stderr[-3000:]}")
    return folder / "_build" / "html"


def default_book(folder: Path) -> Path:
    """The same sources with a configuration that says as little as possible."""
    for name in "book", "exercises":
        shutil.copytree(ROOT / name, folder / name)
    shutil.rmtree(folder / "book" / "text")
    shutil.copy(ROOT / "_toc.yml", folder)
    (folder / "_config.yml").write_text(DEFAULT_BOOK)
    return folder


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, format: str, *arguments: object) -> None:
        """Write no line for each request."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address under which a folder is served meanwhile."""
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def weigh_all(browser: Browser, folder: Path) -> dict[str, Weight]:
    """Every page of a built book, by its path."""
    pages = [*folder.glob("book/**/*.html"), folder / "search.html"]
    paths = sorted(str(page.relative_to(folder)) for page in pages)
    with served(folder) as address:
        return {path: weigh(browser, address, path, folder) for path in paths}


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium is not installed; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as engine:
        home = Path(scratch)
        browser = engine.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        if sys.argv[1:]:
            ours, theirs = Path(sys.argv[1]), {}
        else:
            print("Building the course's site and a default book …", flush=True)
            ours = build(ROOT, home / "ours")
            default = build(default_book(home / "sources"), home / "default")
            theirs = weigh_all(browser, default)
        print(f"{time.strftime('%Y-%m-%d')}: kB gzipped and requests, without figures")
        print("| page | ours | default Jupyter Book |\n|---|---|---|")
        for path, weight in weigh_all(browser, ours).items():
            print(f"| {path} | {told(weight)} | {told(theirs.get(path))} |", flush=True)
        browser.close()


def told(weight: Weight | None) -> str:
    """A weight for people: ``212 kB in 9``."""
    if weight is None:
        return "none"
    outside = f", {weight.outside} of them outside" if weight.outside else ""
    return f"{weight.bytes / 1000:.0f} kB in {weight.requests}{outside}"


if __name__ == "__main__":
    main()
