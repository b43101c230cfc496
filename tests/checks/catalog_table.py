"""Print, for every graded name, how well its misconceptions are caught and named.

    python tests/checks/catalog_table.py [--seeds 200]

Exit code 1 when, for any seed, an entry gets all points or goes without its name, or
a correct style loses a point.
"""

import argparse
import contextlib
import io
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from test_catalog import QUESTIONS, catalog_of, judge


def runs_of(package, name, answer, seeds) -> list:
    """What the whole question says, for each seed; figures are closed in between."""
    runs = []
    for seed in range(seeds):
        runs.append(judge(package, name, answer, seed))
        plt.close("all")
    return runs


def hidden_alone(package, name, answer, seed) -> float:
    """Points that the hidden half gives when it is not told of the visible one."""
    plt.close("all")
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return getattr(package.hidden, name)(answer, seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    print(
        f"{'name':32}{'entries':>8}{'visible':>8}{'hidden':>8}{'named':>7}{'styles':>8}"
    )
    wrong = []
    for package, name in (question.values for question in QUESTIONS):
        catalog, points = catalog_of(package), getattr(package, name).points
        visible = hidden = named = 0
        entries = catalog.of(name)
        for entry in entries:
            answer = catalog.answer(entry)
            runs = runs_of(package, name, answer, options.seeds)
            visible += runs[0][0] == 0
            hidden += all(
                hidden_alone(package, name, answer, s) < points
                for s in range(options.seeds)
            )
            named += all(run[2] == entry.id for run in runs)
            wrong += [entry.id] * any(earned >= points for earned, *_ in runs)
            wrong += [entry.id] * any(run[2] != entry.id for run in runs)
        styles = [style for style in catalog.styles if style.question == name]
        for style in styles:
            answer = catalog.answer(style)
            runs = runs_of(package, name, answer, options.seeds)
            wrong += [style.id] * any(earned != points for earned, *_ in runs)
        print(
            f"{name:32}{len(entries):8}{visible:8}{hidden:8}{named:7}{len(styles):8}",
            flush=True,
        )
    if wrong:
        print(f"Not as they should be: {', '.join(sorted(set(wrong)))}")
        return 1
    print(f"All {len(QUESTIONS)} names hold over {options.seeds} seeds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
