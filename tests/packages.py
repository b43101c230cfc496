"""The diagram of the packages in CONTRIBUTING.md, from what their modules import.

    python tests/packages.py [--write]

prints it; an arrow that follows from others is left out.
"""

import sys

from test_imports import MODULES, ROOT, imports, order, room

from autograder.cli import VERBS

TOGETHER = {"tools": "command line", "lti": "results"}
TOGETHER |= {"code_questions": "notebook"}
BEGIN, END = "<!-- begin packages -->\n", "<!-- end packages -->\n"


def box(module: str) -> str:
    """The box that a module is in: a package, or several of one kind."""
    return TOGETHER.get(room(module), room(module))


def diagram() -> str:
    """The boxes with an arrow to what each imports, as Mermaid's text."""
    boxes = [name for name in order() if name not in TOGETHER]
    below = {
        name: {box(to) for m in MODULES if box(m) == name for to in imports(m)}
        & set(boxes[place + 1 : -1])
        for place, name in enumerate(boxes[:-1])
    }
    below[boxes[0]] |= {box(module) for module, _ in VERBS.values()} - {boxes[0]}
    below[boxes[0]] &= set(boxes)
    reached: dict[str, set[str]] = {}
    for name in reversed(below):
        reached[name] = below[name].union(*(reached[to] for to in below[name]))
    lines = ["```mermaid", "graph TD"]
    for name, targets in below.items():
        parts = [part for part, into in TOGETHER.items() if into == name]
        far = set().union(*(reached[to] for to in targets))
        near = [to for to in boxes if to in targets - far]
        arrow = f" --> {' & '.join(near)}" if near else ""
        node = name.replace(" ", "_")
        lines.append(f'  {node}["{", ".join([name, *parts])}"]{arrow}')
    return "\n".join([*lines, "```", ""])


def main() -> None:
    path = ROOT / "CONTRIBUTING.md"
    before, _, rest = path.read_text("utf-8").partition(BEGIN)
    text = f"{before}{BEGIN}{diagram()}{END}{rest.partition(END)[2]}"
    if "--write" in sys.argv:
        path.write_text(text, "utf-8")
    print(diagram(), end="")


if __name__ == "__main__":
    main()
