"""The visible checks for exercises/attention_practice.py."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from autograder.checks.question import CheckFailed, told


def check_part(module: str, answers: list[Callable[..., Any]]) -> bool:
    """Print a line or a message for each answer; whether all of them hold.

    ``module`` names the assignment's checks, such as "attention".
    """
    checks = importlib.import_module(f"autograder.checks.{module}")
    holds = True
    for answer in answers:
        question = getattr(checks, answer.__name__)
        try:
            question(answer)
        except CheckFailed as failure:
            print(failure)
            holds = False
        except Exception as error:  # what the checks themselves did not expect
            failure = told(error)
            failure.title = question.name
            print(failure)
            holds = False
    return holds
