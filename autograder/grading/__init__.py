"""Grading: from submitted notebooks to verdicts, gradebook and autograded notebooks."""
