"""Autograder for the notebooks of a course: checks, a sandbox, grading and commands."""
