"""What is particular to 10-generating: layouts, and a step that needs a cache."""

import pytest

from autograder.checks import generating
from autograder.checks.library import library
from autograder.tools.judging import judge

UNANSWERED = """\
class KVCache:
    def __init__(self, window=None):
        raise NotImplementedError

"""


def answer_of(code, name):
    names = {}
    exec(code, names)
    return names[name]


@pytest.mark.parametrize(
    "decorator", ["", "@np.errstate(all='ignore')", "@torch.no_grad()"]
)
def test_a_check_may_ask_for_what_the_notebook_defines(decorator):
    """A wrapper has the globals of the library that it is from."""
    code = f"""\
import numpy as np
import torch

class KVCache: pass

{decorator}
{decorator}
def decode_step(q, k, v, cache): pass
"""
    answer = answer_of(code, "decode_step")
    assert library(answer, "", "KVCache").__name__ == "KVCache"
    with pytest.raises(AttributeError):
        library(answer, "", "rotate")


@pytest.mark.parametrize("cache", ["", UNANSWERED], ids=["none", "unanswered"])
def test_a_step_without_a_cache_is_told_what_is_missing(cache):
    code = "def decode_step(q, k, v, cache):\n    return cache.append(k, v)\n"
    answer = answer_of(cache + code, "decode_step")
    points, message, named = judge(generating, "decode_step", answer)
    assert (points, named) == (0, None)
    assert "there is no KVCache yet" in message


def test_two_unanswered_questions_are_both_unanswered():
    stub = "def decode_step(q, k, v, cache):\n    raise NotImplementedError\n"
    answer = answer_of(UNANSWERED + stub, "decode_step")
    assert judge(generating, "decode_step", answer)[1] == "decode_step: no answer yet"
