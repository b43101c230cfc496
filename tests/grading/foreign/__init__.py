"""Assignments as other courses write them: plain asserts, task cells, several files."""
