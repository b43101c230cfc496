"""Checks of the students' answers, one package per assignment.

``autograder.checks.attention`` holds the visible checks of 01-attention, which
students install, with ``.probes``. ``.hidden`` and the folder ``catalog`` beside it
stay with the instructor.
"""
