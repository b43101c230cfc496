"""The wall: verdicts are decided where student code never runs.

A student's cells run in a sandbox, the instructor's in a judge; between them crosses
data only. Read in this order: ``records`` (what goes in and out), ``wire`` and
``channel`` (what crosses), ``runner``, ``cells`` and ``answers`` (the sandbox),
``remote`` and ``judge`` (the judge), ``namespaces``, ``parent`` and ``grader`` (the
processes).
"""

from autograder.wall.grader import Grader, NoSandbox, available
from autograder.wall.records import Cell, Limits, Result, Transcript

__all__ = [
    "Cell",
    "Grader",
    "Limits",
    "NoSandbox",
    "Result",
    "Transcript",
    "available",
]
