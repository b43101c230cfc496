"""Scores sent to Moodle or Canvas by LTI 1.3, from the instructor's machine."""
