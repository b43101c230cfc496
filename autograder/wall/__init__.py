"""The sandbox for student code, and the judge: the process that decides about points.

A student's cells run in the sandbox, the instructor's tests in the judge; between them
crosses data only, which is what *the wall* means. Read in this order: ``records`` (what
goes in and out), ``wire`` and ``channel`` (messages), ``sandbox`` (student code runs
there), ``judge`` (it never runs there), ``fork_server`` and ``grader`` (the processes).
"""

from autograder.errors import NoSandbox
from autograder.wall.backend_choice import available, best
from autograder.wall.grader import Grader
from autograder.wall.records import Cell, Limits, QuestionResult, Transcript, Wall
from autograder.wall.sandbox.cgroups import claim
from autograder.wall.sandbox.readable_paths import holds

__all__ = [
    "Cell",
    "Grader",
    "Limits",
    "NoSandbox",
    "QuestionResult",
    "Transcript",
    "Wall",
    "available",
    "best",
    "claim",
    "holds",
]
