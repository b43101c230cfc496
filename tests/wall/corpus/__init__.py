"""Hostile and broken submissions: a few lines each, with the outcome that is due.

They answer the same small assignment. ``square`` is worth 2 points and ``total`` 3.
"""

from dataclasses import dataclass, field

from autograder.wall import Cell

IMPORTS = "import numpy as np"
SQUARE = "def square(x):\n    return x * x"
TOTAL = "def total(x):\n    return x.sum()"
WRONG = "def square(x):\n    return x + x"

TEST = """\
import numpy as np
from autograder.checks import expect
from autograder.checks.question import Question

question = Question("{name}", {points}, "chapter#{name}")

@question.visible
def numbers(answer):
    '''Five random numbers give the right result.'''
    x = np.random.default_rng().normal(size=5)
    value = expect.array(expect.call(answer, x), {shape})
    expect.close(value, {right}, "other numbers", "the {name}")

question({name})
"""
TEST_SQUARE = TEST.format(name="square", points=2, shape=(5,), right="x * x")
PLAIN_SQUARE = """\
x = np.random.default_rng().normal(size=5)
assert np.all(abs(square(x) - x * x) < 1e-9)
"""
TEST_TOTAL = TEST.format(name="total", points=3, shape=(), right="x.sum()")


@dataclass(frozen=True)
class Case:
    """One submission. ``points`` are due for square and total; None: held.

    ``says`` has to be somewhere in the messages, notes or outputs, ``never`` nowhere.
    ``naive``: the points for square where tests run in the student's process.
    ``landlock`` is what is said instead behind the second wall, if that differs.
    ``plain``: there it fools a plain assert, if not the course's own checks.
    """

    id: str
    square: str = SQUARE
    total: str = TOTAL
    first: str = ""
    last: str = ""
    points: tuple[float, float] | None = (2.0, 3.0)
    says: str = ""
    never: str = ""
    landlock: str | None = None
    naive: float | None = None
    plain: bool = False
    files: dict[str, bytes] = field(default_factory=dict)

    def cells(self) -> list[Cell]:
        """The submission's cells, and the instructor's, in the order of the release."""
        cells = [
            Cell("imports", IMPORTS),
            Cell("first", self.first),
            Cell("square", self.square),
            Cell("test_square", TEST_SQUARE, "test_square", 2.0),
            Cell("total", self.total),
            Cell("test_total", TEST_TOTAL, "test_total", 3.0),
            Cell("last", self.last),
        ]
        return [cell for cell in cells if cell.source]


def text_of(transcript, key=None):
    """All text in the outputs of one cell; or of all cells, and of the results."""
    keys = [key] if key else transcript.outputs
    pieces = [] if key else [r.message or "" for r in transcript.results.values()]
    for output in (o for k in keys for o in transcript.outputs[k]):
        pieces.append(output.get("text", ""))
        pieces.append(output.get("evalue", ""))
        pieces += output.get("traceback", [])
        pieces.append(output.get("data", {}).get("text/plain", ""))
    return "\n".join(pieces)
