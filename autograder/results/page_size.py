"""A limit for the texts of a page: of a huge notebook, its beginning is shown.

nbconvert reads the page that it made once more, and some letters take it long: a page
of twenty million quotes takes minutes.
"""

from __future__ import annotations

from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_output

from autograder.text import directed

LETTERS = 1_000_000  # of all texts of a page
OUTPUT = 100  # what an output counts, however short it is
CUT = (
    f"[Cut here: a page shows {LETTERS:,} letters. The whole text is in the graded "
    "notebook, which your instructor has.]"
)


class CutTexts(Preprocessor):  # type: ignore[misc]
    """Shows texts until they are LETTERS; of the others, a sentence that says so.

    Cells that a student added come last: they cannot push the answers off the page.
    What would change the order of letters in code is spelled out.
    """

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook with cut texts; pictures that are shown stay whole."""
        left = LETTERS

        def cut(text: str) -> str:
            nonlocal left
            room, own = max(left, 0), text.removesuffix(f"\n{CUT}")
            left -= len(own)
            return text if len(own) <= room else f"{own[:room]}\n{CUT}"

        for cell in sorted(notebook.cells, key=rank):
            code = cell.cell_type == "code"
            cell.source = cut(directed(cell.source) if code else cell.source)
            for place, output in enumerate(cell.get("outputs", [])):
                if left <= 0:
                    cell.outputs[place:] = [new_output("stream", text=CUT)]
                    break
                left -= OUTPUT
                data = output.get("data", {})
                if "text" in output:
                    output.text = cut(output.text)
                if "traceback" in output:
                    output.traceback = cut("\n".join(output.traceback)).split("\n")
                if "text/plain" in data:
                    data["text/plain"] = cut(data["text/plain"])
        return notebook, resources


def rank(cell: Any) -> int:
    """0 for a test or a graded answer, 1 for another cell of the course, 2 for others.

    The judge gave a cell its metadata; a student's own have none.
    """
    about = cell.metadata.get("nbgrader")
    return 2 if not about else 0 if about.get("grade") else 1
