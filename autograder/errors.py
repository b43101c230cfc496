"""Exceptions of the autograder that a caller may catch, as one class tree.

``CheckFailed`` (``autograder.checks.failures``) is none of these: it tells students
about their answer, and is an AssertionError so that notebooks and nbgrader know it.
"""


class AutograderError(Exception):
    """The root of the tree."""


class CourseError(AutograderError):
    """The course folder or the command is wrong, as it says; exit code 2."""


class Held(AutograderError):
    """This submission needs a person; the sentence says why."""


class TooLong(Held):
    """It takes too long to read what a student wrote."""

    def __init__(self, why: str = "It takes too long to read this notebook.") -> None:
        super().__init__(why)


class WallError(AutograderError):
    """A process of the wall cannot go on."""


class PutOff(WallError):
    """A submission takes long, and its grader was told not to wait for it."""


class NoSandbox(WallError):
    """No warm process could be started; the text says why."""


class Closed(WallError):
    """The other side of a channel is gone."""


class OverBudget(WallError):
    """More came over a channel than it may carry in all."""


class Violation(WallError):
    """The other side of the wire broke the protocol."""
