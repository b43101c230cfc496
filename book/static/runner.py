"""Runs an exercise's cells in the page, in the words of `autograder check`.

The page's worker loads this file into Pyodide; tests run it as it is.
"""

import ast
import base64
import contextlib
import io
import json
import os
import sys

os.environ["MPLBACKEND"] = "agg"

from autograder.check import CHECKED, problem_of


def run(job):
    """Run a notebook from the top, and tell what came of some of its cells.

    job: JSON with "sources", the code cells, and "wanted", numbers of cells. Checks
    that are not wanted are left out. Every call begins anew, as Restart & Run All
    does, so nothing depends on what was run before.
    Returns JSON: outcomes of the wanted cells, and of others that went wrong, with
    "number", "question" (a name or null), "said", "problem" (null: none) and
    "figures" (PNG in base64).
    """
    sources, wanted = (json.loads(job)[key] for key in ("sources", "wanted"))
    names = {"__name__": "__main__", "display": print, "_shown_": shown}
    outcomes = []
    for number, source in enumerate(sources[: max(wanted) + 1]):
        checked = CHECKED.search(source)
        if checked and number not in wanted:
            continue
        question = checked[1] if checked else None
        cell = {"source": showing_its_value(source), "question": question}
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            problem = problem_of(cell, names)
        figures = take_figures()
        if number in wanted or problem:
            text = said.getvalue()[:10_000]
            outcome = {"number": number, "question": question, "said": text}
            outcomes.append(outcome | {"problem": problem, "figures": figures})
    return json.dumps(outcomes)


def shown(value):
    if value is not None:
        print(repr(value))


def showing_its_value(source):
    """The same code, but the value of a last expression is printed, as in Jupyter."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # the message is for problem_of to make
        return source
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return source
    last = tree.body[-1]
    call = ast.Call(ast.Name("_shown_", ast.Load()), [last.value], [])
    tree.body[-1] = ast.Expr(call)
    return ast.unparse(ast.fix_missing_locations(tree))


def take_figures():
    """The open figures as PNG, which are then closed."""
    if "matplotlib.pyplot" not in sys.modules:
        return []
    pyplot = sys.modules["matplotlib.pyplot"]
    figures = []
    for number in pyplot.get_fignums():
        image = io.BytesIO()
        pyplot.figure(number).savefig(image, format="png", bbox_inches="tight")
        figures.append(base64.b64encode(image.getvalue()).decode())
    pyplot.close("all")
    return figures
