"""LTI 1.3: sends scores to Moodle or Canvas, from the instructor's machine."""
