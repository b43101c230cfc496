"""Intake of submissions: downloads of learning platforms, class lists, archives."""
