"""The theme's styles and scripts, of which each page loads one file of each kind.

Sphinx and its extensions give every page nine style sheets and twelve scripts, and the
whole index of the search besides, which only the search's own page needs. Pages that
ask for the same files share a bundle, named after its content.
"""

import hashlib
import os
import re
from pathlib import Path

from rewriting import Rewriting

BUNDLE = "course-"  # the names of bundles start with it
STYLE = r'\s*<link\b(?=[^>]*rel="stylesheet")[^>]*href="(?P<file>[^"?]+)[^>]*>'
PRELOAD = r'\s*<link rel="preload" as="(?:style|script)"[^>]*>'
SEARCH = (
    r'\s*<script (src="[^"]*(?:searchtools|language_data|searchindex)\.js")></script>'
)
# classic scripts: from a file, or a line of settings that a later script reads
SCRIPT = (
    r'\s*<script(?![^>]*type=)(?:[^>]*src="(?P<file>[^"?]+)[^>]*)?>'
    r"(?P<text>[^<]*)</script>"
)
IMPORT = r'@import\s+"(?P<file>[^"]+)";'
ADDRESS = r"url\(\s*(?P<quote>[\"']?)(?!data:|#)(?P<file>[^\"')]+)(?P=quote)\s*\)"


def style(path: Path, home: Path, rewriting: Rewriting) -> str:
    """A style sheet as it reads from the folder ``home``, its imports included."""

    def move(address: re.Match) -> str:
        return f'url("{os.path.relpath(path.parent / address["file"], home)}")'

    def include(line: re.Match) -> str:
        return style(path.parent / line["file"], home, rewriting)

    text = rewriting.sub(ADDRESS, move, path.read_text(encoding="utf-8"))
    return rewriting.sub(IMPORT, include, text)


def script(path: Path, rewriting: Rewriting) -> str:
    """A script without the pointer to its source map, which would no longer fit."""
    text = path.read_text(encoding="utf-8")
    return rewriting.sub(r"//# sourceMappingURL=\S*", "", text)


def write(texts: list[str], home: Path, suffix: str) -> str:
    """Write the bundle, if no page has done so before; return its name."""
    whole = "\n".join(texts)
    name = f"{BUNDLE}{hashlib.sha256(whole.encode()).hexdigest()[:10]}{suffix}"
    (home / name).write_text(whole, encoding="utf-8")
    return name


def bundle_page(path: Path, home: Path, rewriting: Rewriting) -> None:
    """Rewrite one page so that it loads a single style sheet and a single script."""
    html = path.read_text(encoding="utf-8")
    search = re.findall(SEARCH, html) if path.name == "search.html" else []
    html = rewriting.sub(SEARCH, "", html)
    styles = [
        style(path.parent / link["file"], home, rewriting)
        for link in re.finditer(STYLE, html)
    ]
    scripts = [
        script(path.parent / tag["file"], rewriting) if tag["file"] else tag["text"]
        for tag in re.finditer(SCRIPT, html)
    ]
    if not styles or not scripts:
        return  # a page of its own, such as 404.html
    root = os.path.relpath(home, path.parent)
    css = write(styles, home, ".css")
    js = write([f"{text};" for text in scripts], home, ".js")
    tags = f'\n<link rel="stylesheet" href="{root}/{css}">'
    # deferred: they run in order, when the page is there, before DOMContentLoaded
    for source in f'src="{root}/{js}"', *search:
        tags += f"\n<script defer {source}></script>"
    for loaded in STYLE, PRELOAD, SCRIPT:
        html = rewriting.sub(loaded, "", html)
    html = html.replace("</title>", f"</title>{tags}", 1)
    path.write_text(html, encoding="utf-8")


def bundle_pages(folder: Path, rewriting: Rewriting) -> None:
    for path in folder.rglob("*.html"):
        if "_static" not in path.parts:
            bundle_page(path, folder / "_static", rewriting)


def bundled(folder: Path) -> bool:
    """A page has its bundle already: it is of an earlier build."""
    pages = folder.glob("book/**/*.html")
    return any(
        f"_static/{BUNDLE}" in path.read_text(encoding="utf-8") for path in pages
    )
