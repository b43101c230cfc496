"""Queries, keys and values in their colors, in formulas and code as in drawings.

The colors are in static/site.css, of the classes role-q, role-k and role-v. A letter
alone says little: K may be a key or a count. A short name has its role only beside
another one of its kind.
"""

import re
from xml.etree.ElementTree import Element

from sphinx.application import Sphinx

KINDS = [
    ("Q", "K", "V"),
    ("W_q", "W_k", "W_v"),
    ("query", "key", "value"),
    ("queries", "keys", "values"),
    ("q", "k", "v"),
]
ROLES = {
    name: f"role-{role}"
    for kind in KINDS
    for name, role in zip(kind, "qkv", strict=True)
}
NAME = r'<span class="n">({})</span>'.format("|".join(ROLES))
WORD = re.compile(r"\b({})\b".format("|".join(set(ROLES) - {"q", "k", "v"})))
BLOCK = re.compile(r"<pre>.*?</pre>", re.DOTALL)
COMMENT = re.compile(r'(?<=<span class="c1">)[^<]*')
INLINE = re.compile(r'(<code [^>]*><span class="pre)(">(Q|K|V|W_[qkv])</span></code>)')


def roles_among(names: set[str]) -> dict[str, str]:
    """The classes of the names that stand beside another one of their kind."""
    kinds = [names.intersection(kind) for kind in KINDS]
    return {name: ROLES[name] for kind in kinds if len(kind) > 1 for name in kind}


def color_formula(math: Element) -> None:
    """Mark the letters of a formula; indices stay as they are."""
    indices = {id(child) for part in math.iter() for child in scripts(part)}
    letters = [e for e in math.iter("mi") if e.text in ROLES and id(e) not in indices]
    roles = roles_among({letter.text for letter in letters})
    if "q" not in roles:  # k and v alone are numbers
        roles = {name: role for name, role in roles.items() if name.isupper()}
    for letter in letters:
        if letter.text in roles:
            letter.set("class", roles[letter.text])
    for part in math.iter():
        if part.tag in {"msub", "msubsup"}:  # such as a projection, W_q
            base, index = ("".join(child.itertext()) for child in part[:2])
            if role := ROLES.get(f"{base}_{index.lower()}"):
                part.set("class", role)


def scripts(part: Element) -> list[Element]:
    """What stands above or below something else."""
    return list(part)[1:] if part.tag in {"msub", "msup", "msubsup"} else []


def color_code(block: re.Match) -> str:
    """Mark names in the code of one cell, and words in its comments."""
    roles = roles_among(set(re.findall(NAME, block[0])))
    if "q" not in roles:  # often the key and the value of a dictionary
        roles = {name: role for name, role in roles.items() if name not in ("k", "v")}

    def name(found: re.Match) -> str:
        role = roles.get(found[1])
        return f'<span class="n {role}">{found[1]}</span>' if role else found[0]

    def words(comment: re.Match) -> str:
        return WORD.sub(lambda word: marked(word[0]), comment[0])

    return COMMENT.sub(words, re.sub(NAME, name, block[0]))


def marked(word: str) -> str:
    return f'<span class="{ROLES[word]}">{word}</span>'


def color_page(app, pagename, templatename, context, doctree) -> None:
    """Mark the code of a page, in cells and in its text."""
    if "body" in context:
        body = BLOCK.sub(color_code, context["body"])
        context["body"] = INLINE.sub(
            lambda code: f"{code[1]} {ROLES[code[3]]}{code[2]}", body
        )


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", color_page, priority=907)
