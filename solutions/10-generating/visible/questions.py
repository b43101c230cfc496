"""Definitions of the questions of 10-generating: names, points, headings to read."""

from __future__ import annotations

from autograder.checks.assignment import Assignment

assignment = Assignment(__package__, page="10-generating")

rotate = assignment.question("rotate", 6, "turning-by-the-position")
grouped_query_attention = assignment.question(
    "grouped_query_attention", 6, "sharing-keys-and-values"
)
window_mask = assignment.question("window_mask", 4, "windows-and-sinks")
KVCache = assignment.question("KVCache", 5, "the-cache")
decode_step = assignment.question(
    "decode_step",
    5,
    "turning-by-the-position",
    uses=("rotate", "grouped_query_attention", "window_mask", "KVCache"),
)
check_rotate = assignment.hunt("check_rotate", 4, "turning-by-the-position", "rotate")
