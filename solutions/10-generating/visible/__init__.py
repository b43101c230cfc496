"""Visible checks of 10-generating, for students at work and for grading."""

from . import reading, writing
from .questions import (
    KVCache,
    assignment,
    check_rotate,
    decode_step,
    grouped_query_attention,
    rotate,
    window_mask,
)

__all__ = [
    "KVCache",
    "assignment",
    "check_rotate",
    "decode_step",
    "grouped_query_attention",
    "reading",
    "rotate",
    "window_mask",
    "writing",
]
__getattr__ = assignment.hidden_half
