"""Links to the book in an exercise: "page 3" becomes a link to the book's site."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from autograder.course import Course


def link_pages(notebook: NotebookNode, course: Course) -> None:
    """Make links of the pages that a notebook's text names by their number.

    Only where `_config.yml` says where the site is served; lines of HTML stay.
    """
    address, about = course.site(), course.about()
    if not address or about is None:
        return
    pages = {int(path.stem[:2]): path.stem for path in about.pages()}
    named = re.compile(rf"\b{re.escape(about.unit)} (\d{{1,2}})\b(?!\])")

    def link(match: re.Match[str]) -> str:
        page = pages.get(int(match[1]))
        return f"[{match[0]}]({address}book/{page}.html)" if page else match[0]

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines = cell.source.split("\n")
            cell.source = "\n".join(
                line if line.startswith("<") else named.sub(link, line)
                for line in lines
            )
