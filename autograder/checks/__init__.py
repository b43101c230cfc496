"""Checks of students' answers: one package for each assignment, and what all share.

``autograder.checks.attention`` has the visible checks of 01-attention, which students
install, and in ``.probes`` inputs that tell its known mistakes apart. Hidden checks
(``.hidden``) and known wrong answers (``catalog``) stay with the instructor.
"""
