"""Explains exceptions in student code: where, with what shapes, and likely why."""
