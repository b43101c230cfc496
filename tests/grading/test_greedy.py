"""What reads a submission outside of the sandbox ends, whatever a student wrote."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import nullcontext

import pytest
from shared import drawn

from autograder.checks.fingerprints import rounded
from autograder.checks.memory import peak
from autograder.checks.outcomes import close_to
from autograder.errors import TooLong
from autograder.explain.locations import Location, definition
from autograder.libraries import is_tensor
from autograder.notebook.matching import match
from autograder.notebook.reading import read_cells
from autograder.notebook.time_limit import at_most
from autograder.results.feedback import safe_code, safe_markdown
from autograder.text import lines_of
from benchmarks import greedy

KINDS = [*greedy.FILES, *greedy.TEXTS, *greedy.CELLS, *greedy.LOCKED]
SIZE = 400_000


@pytest.fixture(scope="module")
def prepared():
    untouched, release = greedy.prepared()
    return dict(greedy.submissions(untouched, SIZE)), release


@pytest.mark.parametrize("kind", drawn(KINDS, 8))
def test_a_greedy_text_is_read_or_held(prepared, kind):
    files, release = prepared
    with at_most(60):
        _, said = greedy.seconds(release, files[kind])
    assert said == "read" or kind in greedy.FILES


@pytest.mark.parametrize("main", [True, False])
def test_one_clock_stops_what_takes_too_long(main):
    """In a worker's thread, too; and again where the first time went unheard."""
    heard = []

    def work():
        try:
            with at_most(0.1, "this page"):
                while not heard:
                    try:
                        while True:
                            time.sleep(0.001 if not main else 0)
                    except Exception:
                        heard.append(1)
                # a `while` that is interrupted here passes its `except` in Python 3.13
                for _ in iter(lambda: main, False):
                    pass
        except TooLong:
            heard.append(2)

    if main:
        work()
    else:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert heard == ([1, 2] if main else [1])


def test_the_inner_clock_leaves_the_outer_one_running():
    with pytest.raises(TooLong, match="this page"), at_most(0.3, "this page"):
        for _ in range(3):
            with pytest.raises(TooLong, match="this text"), at_most(0.05, "this text"):
                while True:
                    pass
        while True:
            pass


@pytest.mark.parametrize("late", [False, True])
def test_a_clock_that_rings_while_it_is_set_or_stopped_is_put_back(monkeypatch, late):
    """Such a one would ring on, in whatever comes after."""
    set_timer, before = signal.setitimer, signal.getsignal(signal.SIGPROF)

    def rings(which, seconds, again=0):
        set_timer(which, seconds, again)
        if late == (seconds == 0):
            signal.raise_signal(signal.SIGPROF)

    monkeypatch.setattr(signal, "setitimer", rings)
    with nullcontext() if late else pytest.raises(TooLong), at_most(60):
        pass
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
    assert signal.getsignal(signal.SIGPROF) is before


def test_a_clock_does_not_ring_inside_logging():
    """Its lock would never be released, and all other threads wait for it."""
    inside = {"__name__": "logging", "ring": signal.raise_signal}
    exec(f"def log():\n    ring({signal.SIGPROF:d})\n    return 1", inside)
    with at_most(60):
        assert inside["log"]() == 1
    with pytest.raises(TooLong), at_most(60):
        signal.raise_signal(signal.SIGPROF)


def test_what_runs_out_of_time_is_held_or_shown_as_it_is(prepared, monkeypatch):
    files, release = prepared
    text = "# <b>\n" * 7_000
    shown = f"<pre>{text.replace('<b>', '&lt;b&gt;')}</pre>"
    monkeypatch.setattr("autograder.results.feedback.TEXTS_SECONDS", 0.1)
    page = {"resources": {}}
    assert safe_markdown(page, text) == shown  # and no time is left for the others
    assert safe_markdown(page, "*a*") == "<pre>*a*</pre>"
    assert "<em>a</em>" in safe_markdown({"resources": {}}, "*a*")
    with pytest.raises(TooLong, match="takes longer than"), at_most(0.01):
        match(release, read_cells(files["its own lines"]))


ENDS = ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("sign", ENDS)
def test_a_line_ends_where_python_ends_it(sign):
    assert lines_of(f"a{sign}b\r\nc\rd\n\n") == [f"a{sign}b", "c", "d", ""]
    assert lines_of(f"a{sign}\r\nc", ends=True) == [f"a{sign}\r\n", "c"]
    assert Location(1, 2).described(f"x  # {sign}\ny = z").endswith("\n      y = z")
    assert definition(f"def f():\n    'a{sign}b'\n    1 / 0", 3) == "f"


class Mock:
    """Has whatever is asked of it."""

    def __getattr__(self, name):
        return self

    def __call__(self, *_, **__):
        return self


def test_what_looks_like_a_tensor_is_none():
    says = type("Says", (Mock,), {"__class__": list})
    assert rounded(Mock()) == rounded(says()) == ("object", "object")
    assert not close_to(Mock(), 1.0, 1e-6) and not is_tensor(Mock())
    assert type(peak(Mock())[0]) is Mock  # it was called, and asked for no hook


def test_code_has_its_colors_while_the_page_has_time():
    page = {"resources": {"seconds_for_texts": 5.0}}
    assert "<span" in safe_code(page, "x = '<b>'")
    assert page["resources"]["seconds_for_texts"] < 5
    long = "x = 1\n" * 10_000
    page["resources"]["seconds_for_texts"] = 0
    for plain in safe_code({"resources": {}}, long), safe_code(page, "x = '<b>'"):
        assert "<span" not in plain and "<b>" not in plain and "x = " in plain


def test_a_page_has_a_limit_of_letters_for_all_its_texts(monkeypatch):
    """A clock is not enough: a regular expression may run on when its time is over."""
    monkeypatch.setattr("autograder.results.feedback.TOGETHER", 8)
    page = {"resources": {}}
    assert "<em>" in safe_markdown(page, "*a*") and "<span" in safe_code(page, "b = 1")
    assert safe_markdown(page, "*a*") == "<pre>*a*</pre>"
    assert "<span" not in safe_code(page, "b = 1")
