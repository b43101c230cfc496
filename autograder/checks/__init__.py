"""Checks of the students' answers, one package per assignment.

``autograder.checks.attention`` holds the visible checks of 01-attention, which
students install. ``.hidden``, ``.probes`` and the folder ``catalog`` beside it stay
with the instructor.
"""
