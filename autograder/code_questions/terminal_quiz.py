"""Terminal dialog of `autograder check --ask`: quiz questions about one's own code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LETTERS = "abcd"


def dialog(found: Iterable[tuple[str | None, list[dict[str, Any]]]]) -> None:
    """Ask the questions about each answer; Ctrl-D or an empty answer ends it."""
    asked = right = 0
    for name, questions in found:
        for number, question in enumerate(questions, 1):
            print(f"\n{name}, question {number} of {len(questions)}")
            answer = answered(question)
            if answer is None:
                print()
                return
            key = LETTERS[question["key"]]
            asked, right = asked + 1, right + (answer == key)
            print("Right." if answer == key else f"It is {key}.", question["why"])
    if asked:
        print(
            f"\n{right} of {asked} right. There are no points for these questions; "
            "they are for you."
        )
    else:
        print("There are no questions about this code.")


def answered(question: dict[str, Any]) -> str | None:
    """The letter that was chosen; None where somebody stops."""
    print(f"{question['text']}\n")
    letters = LETTERS[: len(question["choices"])]
    for letter, choice in zip(letters, question["choices"], strict=True):
        print(f"  {letter}) {choice}")
    while True:
        try:
            answer = input(f"Your answer ({', '.join(letters)}): ").strip().lower()
        except EOFError:
            return None
        if not answer or answer in letters:
            return answer or None
        print("Type one of the letters, or press Enter to stop.")
