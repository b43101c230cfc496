"""Exceptions of the autograder that a caller may catch, as one class tree.

AutograderError
    CourseError   the course folder or the command is wrong; exit code 2
    Held          a submission cannot be graded; a person has to look at it
        TooLong       it takes too long to read something of a student's
    WallError     a process of the sandbox, or of the judge beside it, cannot go on
        NoSandbox     no process for student code could be started
        Closed        the other side of a channel is gone
        OverBudget    more came over a channel than it may carry
        Violation     a message between the processes breaks the protocol

``CheckFailed`` (``autograder.checks.failures``) is none of these: it tells students
about their answer, and is an AssertionError so that notebooks and nbgrader know it.
"""


class AutograderError(Exception):
    """The root of the tree."""


class CourseError(AutograderError):
    """What is wrong with the course folder or the command, in one clear sentence."""


class Held(AutograderError):
    """This submission needs a person; the sentence says why."""


class TooLong(Held):
    """It takes too long to read what a student wrote."""

    def __init__(self, why: str = "It takes too long to read this notebook.") -> None:
        super().__init__(why)


class WallError(AutograderError):
    """A process of the wall cannot go on."""


class NoSandbox(WallError):
    """No warm process could be started; the text says why."""


class Closed(WallError):
    """The other side of a channel is gone."""


class OverBudget(WallError):
    """More came over a channel than it may carry in all."""


class Violation(WallError):
    """The other side of the wire broke the protocol."""
