"""Explains exceptions in student code: the line, its shapes, the likely reason."""
