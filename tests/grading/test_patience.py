"""What a terminal shows of a text that somebody else wrote."""

import pytest

from autograder.text import printable


@pytest.mark.parametrize("last", ["\n", "é", "\x1b"])
def test_a_long_line_is_made_printable(last):
    assert printable("x" * 2_000_000 + last).startswith("x" * 2_000_000)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1/3\r2/3\r3/3\n", "3/3\n"),
        ("kept\r", "kept"),
        ("kept\r\r\nnext\r\n", "kept\nnext\n"),
        ("gone\rkept\r\r\n", "kept\n"),
        ("\r\r", ""),
    ],
)
def test_what_carriage_returns_overwrite_is_left_out(text, shown):
    assert printable(text) == shown
