"""Notebook engine: reads, matches and runs notebooks, for students and in grading."""
