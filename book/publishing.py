"""What the site needs beyond Jupyter Book. _config.yml loads this extension.

- Formulas become MathML (mathml.py); queries, keys and values have their colors in
  them, and in code (roles.py).
- A link from a chapter to an exercise becomes a download of that notebook.
- Drawings become part of the page, so that their colors follow its scheme; figures of
  the chapters get a twin for dark pages (figures.py).
- Pages load no Thebe and no icon script; of icon fonts and of the theme's styles
  (unused_styles.py) only what is used.
- Of the theme's styles and scripts a page loads one file of each kind (bundle.py),
  and the modules of the interactive elements that it shows.
- A few marks that the theme sets wrongly are corrected for screen readers.
- What depends on where the site is served: address.py.
- Exercises can be solved in the page (solving.py, editor.py), cells of chapters run
  (cells.py).
- The students' wheel, the encoder of chapter 7 and the first layers of the decoder of
  chapter 11 lie beside the pages.
"""

import html
import logging
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import address
import bundle
import cells
import cut_picture
import decoder_file
import editor
import encoder_file
import figures
import mathml
import roles
import solving
import unused_styles
from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from rewriting import Rewriting
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class ExerciseDownloads(SphinxTransform):
    """MyST takes every link to a notebook for a link to a page of the book."""

    default_priority = 400

    def apply(self, **kwargs) -> None:
        for link in list(self.document.findall(addnodes.pending_xref)):
            target = str(link.get("reftarget", ""))
            if link.get("refdomain") == "doc" and target.startswith("exercises/"):
                download = addnodes.download_reference(
                    "", "", *link.children, reftarget=f"/{target}.ipynb"
                )
                link.replace_self(download)


def drop_thebe(app: Sphinx) -> None:
    """The theme asks for Thebe even where it is off, and adds its script twice."""
    for listeners in app.events.listeners.values():
        for listener in list(listeners):
            if listener.handler.__module__.startswith("sphinx_thebe"):
                listeners.remove(listener)


def plain_math(formula: str) -> str:
    """A short formula for places that show text only."""
    words = re.sub(r"\\sqrt\{?([^{}]*)\}?", r"√\1", formula)
    return re.sub(r"[\\{}$]", "", words)


ICONS = "vendor/fontawesome/webfonts/fa-solid-900.woff"
FORMULAS = "fonts/stix-two-math.woff2"
# what one plays with in the first half of a chapter
TOYS = [
    "score-scale",
    "head-split",
    "position-hands",
    "layer-stack",
    "map-scale",
    "cost-counter",
    "guess-price",
    "cache-steps",
    "norm-compare",
    "pairs-kept",
]
# what was recorded (recording.py); each has a page of its own as well
PICTURES = ["head-born", "one-token"]
ELEMENTS = {  # what a page shows, and the module in book/static that brings it to life
    '<div class="quiz"': "quiz.js",
    "<cut-a-line": "cut-a-line.js",
    "<attention-start": "attention-start.js",
    "<attention-lab": "attention-lab.js",
    "<head-viewer": "head-viewer.js",
    **{f"<{toy}": f"{toy}.js" for toy in TOYS + PICTURES},
    'class="puzzle-board"': "puzzles.js",  # it listens to the next one
    'id="exercise-tools"': "exercise.js",
    'id="my-progress"': "where-was-i.js",
    "": "marks.js",  # every page
}


def load_early(app, pagename, templatename, context, doctree) -> None:
    """Ask at once for what a page needs: fonts that come late would move its text.

    Modules run after the page is there; without them its plain HTML stays.
    """
    body = context.get("body", "")

    def add(tag: str, file: str) -> None:
        url = context["pathto"](f"_static/{file}", resource=True)
        context["metatags"] = f"{context.get('metatags', '')}\n{tag.format(url)}"

    for font in [ICONS, FORMULAS] if "<math" in body else [ICONS]:
        add('<link rel="preload" as="font" crossorigin href="{}">', font)
    for mark, module in ELEMENTS.items():
        if mark in body:
            add('<script type="module" src="{}"></script>', module)


def lighten_page(app, pagename, templatename, context, doctree) -> None:
    """Each script and style once; a description for search engines."""
    for kind in "script_files", "css_files":
        files = {str(file.filename) or repr(file): file for file in context[kind]}
        context[kind] = [f for name, f in files.items() if "thebe" not in name]
    if doctree is None or "body" not in context:
        return
    paragraph = doctree.next_node(nodes.paragraph)
    if paragraph is not None:
        for formula in list((paragraph := paragraph.deepcopy()).findall(nodes.math)):
            formula.replace_self(nodes.Text(plain_math(formula.astext())))
        words = textwrap.shorten(paragraph.astext(), 200, placeholder=" …")
        title = html.unescape(re.sub(r"<[^>]*>", "", context["title"]))
        context["metatags"] += (
            f'\n<meta name="description" content="{html.escape(words)}">'
            + address.preview(app, pagename, title, words)
        )


DRAWING = re.compile(r'<img alt="([^"]*)" src="[^"]*_images/([\w-]+\.svg)"[^>]*>')


def inline_drawings(app, pagename, templatename, context, doctree) -> None:
    """An image of its own would see the system's scheme and not the page's."""

    def drawing(image: re.Match) -> str:
        alt, name = image.groups()
        source = (Path(app.srcdir) / "book/images" / name).read_text(encoding="utf-8")
        source = re.sub(r"<style>.*?</style>\n", "", source, flags=re.DOTALL)
        return source.replace("<svg", f'<svg role="img" aria-label="{alt}"', 1)

    if "body" in context:
        context["body"] = DRAWING.sub(drawing, context["body"])


def mark() -> str:
    """The book's mark as part of a page, which then asks for no file."""
    source = Path(__file__).with_name("static") / "favicon.svg"
    drawing = re.sub(r"\s*(<!--.*?-->)?\s*\n\s*", "", source.read_text("utf-8"))
    named = r'<svg class="logo__image" role="img" aria-label=\1'
    return drawing.replace("<svg", named, 1)


# Parts of the list of pages that are open on their own pages alone
FOLDED = (
    r'(<p aria-level="2" class="caption" [^>]*><span class="caption-text">'
    r"(?:Exercises in the page|Beside the chapters|How to use the course)</span></p>)\n"
    r'(<ul class="(current )?nav bd-sidenav">.*?</ul>)(?=\n<p aria-level|\s*</div>)'
)


def fold(part: re.Match) -> str:
    opened = " open" if part[3] else ""
    return f"<details{opened}><summary>{part[1]}</summary>{part[2]}</details>"


# What the theme writes, and what a screen reader needs instead.
CORRECTIONS = [
    (r'<link rel="(index|search)"[^>]*href="#"[^>]*>', ""),  # a page's link to itself
    (r'\s*<script defer src="[^"]*fontawesome\.js[^"]*"></script>', ""),
    # the second and third of the theme's viewport tags
    (r'<meta name="viewport" content="width=device-width, initial-scale=1" ?/>', ""),
    # its text, "Search Ctrl+K", is a better name than a label that differs from it
    (r'(search-button-field[^>]*?) title="Search" aria-label="Search"', r"\1"),
    # before the first paint: the theme would wait for its script, and repaint
    (
        r'localStorage.getItem\("theme"\) \|\| "auto"',
        '{light: "light", dark: "dark"}[localStorage.getItem("mode")] || '
        '(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")',
    ),
    (r'(<html[^>]*) data-theme="auto"', r'\1 data-theme="light"'),  # without scripts
    # the mark, once for each scheme
    (
        r'<img [^>]*logo__image only-light" alt=("[^"]*")/>\s*'
        r"(?:<script>.*?</script>\s*)?<img [^>]*logo__image only-dark[^>]*>",
        mark(),
    ),
    (r'(<div id="pst-primary-sidebar")', r'\1 role="complementary" aria-label="Book"'),
    (r'role="doc-biblioentry"', 'role="listitem"'),
    # Markdown has no table without a head; an empty one says nothing
    (r'<thead>\s*<tr[^>]*>(\s*<th class="head"><p></p></th>)+\s*</tr>\s*</thead>', ""),
    (r'<div id="ethical-ad-placement".*?</div>', ""),
    # notebooks are for saving, not for a tab of their own; other sources for nobody
    (r'<li><a href="[^"]*\.md"[^>]*download-source-button.*?</a>\s*</li>', ""),
    (
        r'(<a href="[^"]*\.ipynb") target="_blank"(\s+class="[^"]*download)',
        r"\1 download\2",
    ),
    (FOLDED, fold),
    # a list of the sidebar has the name that stands above it
    (
        r'(<span class="caption-text">([^<]*)</span></p>(?:</summary>)?\s*<ul)',
        r'\1 aria-label="\2"',
    ),
]
# what it writes in some books only: pages below pages, and cells that are hidden
SOMETIMES = [
    (
        r"<summary>(<span class=\"toctree-toggle)",
        r'<summary aria-label="Subsections">\1',
    ),
    (r' aria-label="Toggle hidden content"', ""),
]


def correct_pages(folder: Path, rewriting: Rewriting) -> None:
    for path in folder.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        for pattern, replacement in CORRECTIONS:
            page = rewriting.sub(pattern, replacement, page, re.DOTALL)
        for pattern, replacement in SOMETIMES:
            page = re.sub(pattern, replacement, page)
        path.write_text(page, encoding="utf-8")


def shrink_icons(folder: Path, rewriting: Rewriting) -> None:
    """Keep only the icons that pages show: 3 kB instead of 110 kB of fonts."""
    css = folder / "_static/styles/pydata-sphinx-theme.css"
    style = css.read_text(encoding="utf-8")
    font_url = r"url\(([^)]*/fa-[\w-]+)\.woff2\) format\(\"woff2\"\),url\([^)]*\)[^;}]*"
    style = rewriting.sub(font_url, r'url(\1.woff) format("woff")', style)
    css.write_text(style, encoding="utf-8")

    book_style = (css.parent / "sphinx-book-theme.css").read_text(encoding="utf-8")
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    icons = {ord(sign) for sign in style + book_style if "\ue000" <= sign <= "\uf8ff"}
    for path in (folder / "_static/vendor/fontawesome/webfonts").glob("*.ttf"):
        font = TTFont(path)
        choice = subset.Subsetter()
        choice.populate(unicodes=icons)
        choice.subset(font)
        font.flavor = "woff"
        font.save(path.with_suffix(".woff"))
        path.with_suffix(".woff2").unlink(missing_ok=True)
        path.unlink()


def add_wheel(folder: Path) -> None:
    """What students install lies beside the pages: the engine, and the course."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--no-build-isolation"]
    root = Path(__file__).parents[1]
    engine, course = str(root / "autograder"), str(root)
    subprocess.run([*command, "--wheel-dir", str(folder), engine, course], check=True)


def correct_start(folder: Path) -> None:
    """The root only leads to the first page, but it is a page, too."""
    start = folder / "index.html"
    text = start.read_text(encoding="utf-8")
    if not text.startswith("<!DOCTYPE"):
        head = '<!DOCTYPE html>\n<html lang="en">\n<title>Paying Attention</title>'
        start.write_text(f"{head}{text}", encoding="utf-8")


def finish(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        folder = Path(app.outdir)
        rewriting, whole = Rewriting(), not bundle.bundled(folder)
        correct_start(folder)
        correct_pages(folder, rewriting)
        figures.add_twins(folder)
        unused_styles.leave_out(folder)
        shrink_icons(folder, rewriting)
        bundle.bundle_pages(folder, rewriting)
        if whole:  # pages of an earlier build are corrected already
            rewriting.require()
        add_wheel(folder)
        solving.add_python(folder)
        editor.add_editor(folder)
        encoder_file.add_encoder(folder)
        decoder_file.add_decoder(folder)


def setup(app: Sphinx) -> dict:
    address.setup(app)
    mathml.setup(app)
    roles.setup(app)
    solving.setup(app)
    cells.setup(app)
    cut_picture.setup(app)
    encoder_file.setup(app)
    decoder_file.setup(app)
    app.add_transform(ExerciseDownloads)
    app.connect("builder-inited", drop_thebe)
    app.connect("html-page-context", lighten_page, priority=900)
    app.connect("html-page-context", inline_drawings, priority=905)
    app.connect("html-page-context", load_early, priority=910)
    # last: the theme, too, waits for the end to write the colors of code
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
