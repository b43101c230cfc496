"""Questions about one's own code in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograder.notebook.running import Outcome

LETTERS = "abcd"


def dialog(outcomes: Iterator[Outcome]) -> None:
    """Ask what was found, one by one; Ctrl-D or an empty answer ends it."""
    asked = right = 0
    for outcome in outcomes:
        for number, question in enumerate(outcome.asked, 1):
            print(f"\n{outcome.question}, question {number} of {len(outcome.asked)}")
            answer = answered(question)
            if answer is None:
                print()
                return
            key = LETTERS[question["key"]]
            asked, right = asked + 1, right + (answer == key)
            print("Right." if answer == key else f"It is {key}.", question["why"])
    if asked:
        print(f"\n{right} of {asked} right. No points: they are for you.")
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
        print("One of the letters, or nothing to stop.")
