"""Rules of the theme's styles that no element can match are left out of the site.

A rule stays if each class that it asks for is a word of some page or script. It is
looked for as a word, not as a class: too much stays, and nothing that is used goes.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import tinycss2
from tinycss2.ast import Node

OURS = (
    "site.css",
    "code-mirror",
    "course-",
)  # scripts put some of their names together
MADE_BY_SCRIPTS = {"bs-tooltip-auto"}  # the theme's, and in no file in one piece


def words(folder: Path) -> frozenset[str]:
    """All words of the site's pages and scripts, classes among them."""
    files = {*folder.rglob("*.html"), *folder.rglob("*.js")}
    texts = (path.read_text("utf-8") for path in files if path.stem != "searchindex")
    return frozenset(MADE_BY_SCRIPTS.union(*(re.findall(r"[\w-]+", t) for t in texts)))


def selectors(prelude: list[Node]) -> Iterator[list[Node]]:
    """The selectors of a rule, which commas separate."""
    one: list[Node] = []
    for node in prelude:
        if node == ",":
            yield one
            one = []
        else:
            one.append(node)
    yield one


def can_match(selector: list[Node], known: frozenset[str]) -> bool:
    """Its classes are known; those in brackets, such as :not(.dark), need not be."""
    pairs = itertools.pairwise(selector)
    return all(name.value in known for dot, name in pairs if dot == ".")


def used(rules: list[Node], known: frozenset[str]) -> Iterator[str]:
    """The rules that stay, each with those of its selectors that can match."""
    for rule in rules:
        if rule.type == "qualified-rule":
            stay = [one for one in selectors(rule.prelude) if can_match(one, known)]
            if stay:
                prelude = ",".join(tinycss2.serialize(one).strip() for one in stay)
                yield f"{prelude}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inner = tinycss2.parse_rule_list(rule.content, True, True)
            if stay := "".join(used(inner, known)):
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{stay}}}"
        else:
            yield rule.serialize()


def leave_out(folder: Path) -> None:
    """Rewrite the theme's style sheets in the built site."""
    known, static = words(folder), folder / "_static"
    for path in static.rglob("*.css"):
        if not str(path.relative_to(static)).startswith(OURS):
            sheet = tinycss2.parse_stylesheet(path.read_text("utf-8"), True, True)
            path.write_text("".join(used(sheet, known)), "utf-8")
