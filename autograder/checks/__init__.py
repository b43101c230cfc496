"""Checks of students' answers: what the checks of all assignments share.

The checks themselves belong to a course; :mod:`autograder.registry` finds them
by name, so that a notebook can write ``from autograder.checks import roots``.
"""

from autograder import registry

registry.install()
