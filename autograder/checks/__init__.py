"""Checks of the students' answers, one package per assignment.

``autograder.checks.attention`` holds the visible checks of 01-attention, which
students install; ``.hidden`` and ``.catalog`` beside it stay with the instructor.
"""
