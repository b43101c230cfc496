"""Links to chapters in an exercise: "chapter 3" becomes a link to the book's site."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from autograder.course import Course

CHAPTER = re.compile(r"\bchapter (\d{1,2})\b(?!\])")


def link_chapters(notebook: NotebookNode, course: Course) -> None:
    """Make links of the chapters that a notebook's text names.

    Only where `_config.yml` says where the site is served; lines of HTML stay.
    """
    address = course.site()
    if not address:
        return
    pages = {
        int(p.stem[:2]): p.stem for p in course.root.glob("book/[0-9][0-9]-*.ipynb")
    }

    def link(match: re.Match[str]) -> str:
        page = pages.get(int(match[1]))
        return f"[{match[0]}]({address}book/{page}.html)" if page else match[0]

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines = cell.source.split("\n")
            cell.source = "\n".join(
                line if line.startswith("<") else CHAPTER.sub(link, line)
                for line in lines
            )
