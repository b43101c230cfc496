"""The wall: verdicts are decided where student code never runs.

A student's cells run in a sandbox, the instructor's in a judge; between them crosses
data only. Read in this order: ``records`` (what goes in and out), ``wire`` and
``channel`` (what crosses), ``sandbox`` (student code runs there), ``judge`` (it never
runs there), ``zygote`` and ``grader`` (the processes).
"""

from autograder.errors import NoSandbox
from autograder.wall.choosing import available, best
from autograder.wall.grader import Grader
from autograder.wall.records import Cell, Limits, QuestionResult, Transcript, Wall
from autograder.wall.sandbox.cgroups import claim
from autograder.wall.sandbox.shown import holds

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
