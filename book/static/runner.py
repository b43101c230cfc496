"""Runs an exercise's cells in the page, by the engine of `autograder check`.

The page's worker loads this file into Pyodide; tests run it as it is.
"""

import base64
import json
import os
import sys
from importlib.util import find_spec

os.environ["MPLBACKEND"] = "agg"

from autograder.notebook.running import Run, seed
from autograder.notebook.test_cells import CHECKED, NotOffered, profile_of


def run(job):
    """Run a notebook from the top, and tell what came of some of its cells.

    job: JSON with "sources", the code cells, and "wanted", numbers of cells. Checks
    that are not wanted are left out. Every call begins anew, as Restart & Run All
    does, so nothing depends on what was run before. "ask": so many questions about the
    answers that are wanted are made, and nothing is checked.
    Returns JSON: outcomes of the wanted cells, and of others that went wrong, with
    "number", "question" (a name or null), "said", "problem" (null: none), "drawing"
    (the fields of a Drawing, or null), "figures" (PNG in base64) and "asked".
    """
    sources, wanted = (json.loads(job)[key] for key in ("sources", "wanted"))
    ask = json.loads(job).get("ask", 0)
    prepare(sources)
    notebook = Run()
    outcomes = []
    for number, source in enumerate(sources[: max(wanted) + 1]):
        checked = CHECKED.search(source)
        if checked and number not in wanted:
            continue
        if checked:
            about = number + 1, source, checked[1]
            outputs = []
            outcome = notebook.asked(*about, ask) if ask else notebook.question(*about)
            said = outcome.said
        else:
            outputs, outcome = notebook.cell(number + 1, source)
            said = "".join(map(text_of, outputs))
        if number in wanted or outcome.problem:
            outcomes.append(
                {
                    "number": number,
                    "question": outcome.question,
                    "said": said,
                    "problem": outcome.problem,
                    "drawing": outcome.drawing,
                    "figures": [picture(o) for o in outputs if o[0] == "figure"],
                    "asked": outcome.asked,
                }
            )
    return json.dumps(outcomes)


def prepare(sources):
    """The libraries of the exercise, and a start that is the same each time."""
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, NotOffered)]
    here = find_spec("torch")  # no page has it, whatever a student imports
    sys.meta_path.insert(0, NotOffered(profile_of(sources) if here else "numpy"))
    if any("matplotlib" in source for source in sources):
        import matplotlib.pyplot as plt

        plt.close("all")
    seed()


def text_of(output):
    """What an output shows as text."""
    match output:
        case ("stream", _, text) | ("result", text) | ("display", text):
            return text if text.endswith("\n") else text + "\n"
        case ("note", text):
            return f"{text}\n"
    return ""


def picture(output):
    """A figure's PNG in base64."""
    return base64.b64encode(output[2]).decode()
