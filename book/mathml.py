"""TeX becomes MathML while the site is built, so pages need no math script.

latex2mathml does the translation. Here is what it leaves undone for browsers that
follow MathML Core: the spaces around function names, the alignment of columns, and a
few commands that it reads wrongly.
"""

import re
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from roles import color_formula
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
THIN = "0.167em"
LIMITS = {"max", "min", "argmax", "argmin", "lim", "sup", "inf"}
ROWS = {"math", "mrow", "mtd", "mstyle", "msqrt", "mpadded"}
SCRIPTS = {"msub", "msup", "msubsup", "munder", "mover", "munderover"}

ElementTree.register_namespace("", NAMESPACE)


def rewrite_tex(tex: str) -> str:
    """Say the same in the words that latex2mathml understands."""
    tex = re.sub(
        r"\\operatorname\s*\*?\s*\{([^}]*)\}",
        lambda name: rf"\operatorname{{{re.sub(r'[^A-Za-z]|quad', '', name[1])}}}",
        tex,
    )
    tex = re.sub(r"\{(aligned|align\*?|gathered)\}", "{split}", tex)
    tex = re.sub(r"\\(mathcal|mathbb|mathbf|mathrm)\s+(\w)", r"\\\1{\2}", tex)
    # a matrix in braces can carry an exponent
    matrix = r"\\begin\{\w?matrix\}.*?\\end\{\w?matrix\}"
    tex = re.sub(matrix, r"{\g<0>}", tex, flags=re.DOTALL)
    return tex.replace(r"\sim", "∼").replace(r"\tilde", r"\widetilde")


def to_mathml(tex: str, display: bool = False) -> str:
    """One formula as a <math> element. Raises ValueError when it cannot be read."""
    markup = convert(rewrite_tex(tex), display="block" if display else "inline")
    try:
        math = ElementTree.fromstring(markup)
    except ElementTree.ParseError as error:  # such as an "&" outside a table
        raise ValueError(f"cannot be turned into MathML ({error}): {tex}") from None
    for element in math.iter():
        element.tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
        if (element.text or "").startswith("\\"):
            raise ValueError(f"holds {element.text}, which has no MathML yet: {tex}")
    polish(math, display)
    color_formula(math)
    math.set("xmlns", NAMESPACE)
    return ElementTree.tostring(math, encoding="unicode")


def polish(row: ElementTree.Element, display: bool) -> None:
    """Space function names, place limits, and use lengths that browsers know."""
    for child in row:
        polish(child, display and child.tag not in {"mfrac", *SCRIPTS})
    if row.tag == "mspace" and row.get("width") == "negativethinmathspace":
        row.set("width", f"-{THIN}")
    if row.tag == "mover" and row[1].text == "~":
        row.set("accent", "true")  # browsers stop inferring it
    if row.text == "∼":
        row.tag = "mo"
    if row.text in {"‖", "|"} and row.tag == "mo" and not row.get("stretchy"):
        row.set("stretchy", "false")  # only \left and \right make them grow
    if row.tag not in ROWS:
        return
    for before, child, after in zip([None, *row], row, [*row[1:], None], strict=False):
        core = child[0] if child.tag in SCRIPTS else child
        if not is_function(core):
            continue
        core.tag = "mo"
        core.set("lspace", "0" if before is None or is_operator(before) else THIN)
        core.set("rspace", "0" if after is None or opens(after) else THIN)
        if display and child.tag == "msub" and core.text in LIMITS:
            child.tag = "munder"


def is_function(element: ElementTree.Element) -> bool:
    name = element.text or ""
    return element.tag in {"mi", "mo"} and len(name) > 1 and name.isascii()


def is_operator(element: ElementTree.Element) -> bool:
    return element.tag == "mo" and not is_function(element)


def opens(element: ElementTree.Element) -> bool:
    """Whether the element is, or starts with, an opening bracket."""
    while element.tag in {"mrow", *SCRIPTS} and len(element):
        element = element[0]
    return element.text in {"(", "[", "{", "‖", "|"}


def translate(node: nodes.math | nodes.math_block, display: bool) -> str:
    try:
        return to_mathml(node.astext(), display)
    except Exception as error:  # latex2mathml raises many kinds: say where, go on
        logger.warning("formula: %s", error, location=node)
        return f"<code>{node.astext()}</code>"


def visit_math(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(translate(node, display=False))
    raise nodes.SkipNode


def visit_math_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    # in reach of the keyboard, because a narrow screen scrolls it sideways
    attributes = {"CLASS": "math notranslate", "tabindex": "0"}
    translator.body.append(translator.starttag(node, "div", "", **attributes))
    translator.body.append(translate(node, display=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
