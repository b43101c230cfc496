"""Runs a reader's own attention in the page, for a layer of the encoder of chapter 7.

The page's worker loads this file into Pyodide; tests run it as it is.
"""

import json
from functools import cache

import numpy as np

from autograder.notebook.cells import Notebook

NEAR = 1e-4
FROM_PUZZLES = """
def scaled_dot_product_attention(Q, K, V):
    weights = [[softmax_row(row) for row in scores(q, k)] for q, k in zip(Q, K)]
    heard = [[weighted_average(r, v) for r in rows] for rows, v in zip(weights, V)]
    return np.array(heard), np.array(weights)
"""


def run(job):
    """Attend with the functions of somebody's cells, and compare with our own.

    job: JSON with "sources", the cells, "needs", the names of the functions, and
    "numbers", queries, keys and values (n, heads * d_k) in a row each.
    Returns JSON: "weights" (heads, n, n) and "heard" (n, heads * d_k), in a row each,
    and how far they are "off"; or the "problem", in words.
    """
    job = json.loads(job)
    n, heads = job["n"], job["heads"]
    q, k, v = (
        np.array(part, np.float32).reshape(n, heads, -1).swapaxes(0, 1)
        for part in job["numbers"]
    )
    try:
        answer = function_of(tuple(job["sources"]), len(job["needs"]))
        pair = answer(q.copy(), k.copy(), v.copy())
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            return problem("it did not return the pair of output and weights")
        heard, weights = (np.asarray(part, np.float32) for part in pair)
    except Exception as error:
        return problem(f"it stopped with {type(error).__name__}: {error}".strip(": "))
    worst = 0.0
    for name, mine, right in zip(
        ("outputs", "weights"), (heard, weights), attention(q, k, v), strict=True
    ):
        if mine.shape != right.shape:
            return problem(f"the {name} have the shape {mine.shape}, not {right.shape}")
        off = np.abs(mine - right).max(axis=(1, 2))
        if not np.all(off < NEAR):  # nan is not near, either
            head = int(np.argmin(off < NEAR))
            return problem(f"the {name} of head {head} differ by {off[head]:.2g}")
        worst = max(worst, float(off.max()))
    heard = heard.swapaxes(0, 1).ravel().tolist()
    found = {"weights": weights.ravel().tolist(), "heard": heard, "off": worst}
    return json.dumps(found)


def problem(words):
    """What went wrong, for the page."""
    return json.dumps({"problem": words})


def attention(q, k, v):
    """Output and weights of all heads, in float64."""
    scores = q.astype(float) @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ v, weights


@cache  # of all layers, and of the next sentence
def function_of(sources, n_functions):
    """The attention that some cells define, or that is made of their functions."""
    notebook = Notebook()
    cells = sources if n_functions == 1 else [*sources, FROM_PUZZLES]
    for number, source in enumerate(cells):
        _, failed = notebook.run(number + 1, source)
        if failed:
            raise RuntimeError(f"code cell {number + 1}: {failed}")
    return notebook.names["scaled_dot_product_attention"]
