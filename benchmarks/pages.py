"""How much does a page bring along? First load in a browser, figures left out.

    python -m benchmarks.pages

Opens every page of the built site (`make book`) in headless Chromium with an empty
cache, and prints requests and kilobytes as a server that compresses text would send
them. What a page asks of other hosts is counted as a request; its bytes are not known.
"""

from __future__ import annotations

import functools
import gzip
import http.server
import shutil
import sys
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
    with sync_playwright() as engine:
        browser = engine.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        print(f"{time.strftime('%Y-%m-%d')}: kB gzipped and requests, without figures")
        print("| page | kB | requests | of them outside |\n|---|---|---|---|")
        for path, weight in weigh_all(browser, ROOT / "_build/html").items():
            kilobytes = f"{weight.bytes / 1000:.0f}"
            print(f"| {path} | {kilobytes} | {weight.requests} | {weight.outside} |")
        browser.close()


if __name__ == "__main__":
    main()
