"""The pages for instructors: what they say, on a phone, in the dark, to everyone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from shared import drawn

from autograder.cli import main
from autograder.grading.verdict import QuestionResult, Run, Verdict
from autograder.results.assignment_statistics import Section
from autograder.results.similarity import Group, Pair, shape, side_by_side
from autograder.results.templates import render
from autograder.results.term import row, to_do

SIGMOID = "softmax-sigmoid"
RUN = Run(1_800_000_000, 42.0, 2)


def verdict(softmax, scores, written=None, **changes):
    """A verdict with two checked questions and one that a person reads."""
    questions = (
        QuestionResult("softmax", softmax, 4.0, "seen:  <b>rows</b>", SIGMOID),
        QuestionResult("scores", scores, 4.0),
        QuestionResult("roles", written, 2.0, waiting=written is None),
    )
    made = Verdict("graded", 10.0, None, questions, seconds=1.5, run=RUN)
    return replace(made, **changes)


CLASS = {
    "ada": verdict(4.0, 4.0, 2.0),
    "bob": verdict(0.0, 1.0, 1.0, late=90_000.0, penalty=1.0),
    "a-very-long-name.of-somebody@a-university.example": verdict(4.0, 3.0),
    "dana": verdict(2.0, 2.0, 0.0, notes=("It was handed in as `hw.ipynb`.",)),
    "held": replace(verdict(0.0, 0.0), status="held", reason="It is cut off."),
}


@pytest.fixture
def section(attention):
    remarks = ["no work for 01-attention: yves", "`autograder grade` helps"]
    return Section(attention, CLASS, "https://course.example/book/", remarks)


def test_means_leave_out_what_is_not_final(section):
    assert section.average == (
        "So far, 3 of 4 scores are final: mean 5.0, median 4.0 of 10."
    )
    bars = {bar.label: bar[1:] for bar in section.scores() if bar.whole}
    assert bars == {"1": (1, 0), "4": (1, 0), "7": (0, 1), "9": (1, 0)}
    waiting = Section(section.assignment, {"cy": verdict(1.0, 1.0)}, "")
    assert waiting.average == "No score is final yet."


def test_bars_begin_at_round_numbers(attention):
    most = replace(verdict(4.0, 4.0, 2.0), max_score=48.0)
    labels = [bar.label for bar in Section(attention, {"ada": most}, "").scores()]
    assert labels == [f"{5 * n}" for n in range(10)]


def test_what_a_person_should_do_comes_first(section):
    assert section.todo == [
        "Repair 1 file, or ask for resubmission: held.",
        "Grade 1 answer by hand.",
    ]
    upside_down = {
        f"s{n}": verdict(4.0 if n < 6 else 0.0, 0.0 if n < 6 else 4.0, 2.0)
        for n in range(12)
    }
    told = Section(section.assignment, upside_down, "").todo
    assert [line.split(":")[0] for line in told] == [
        "Look at `softmax`",
        "Look at `scores`",
    ]
    few = dict(list(upside_down.items())[3:9])
    assert Section(section.assignment, few, "").todo == []


def test_a_hard_question_and_one_that_tells_are_told(section):
    softmax, _, roles = section.questions()
    assert (softmax.share, softmax.full, softmax.answers) == (10 / 16, 2, 4)
    assert softmax.discrimination == pytest.approx(0.69, abs=0.01)
    assert (roles.answers, roles.share) == (3, 0.5)
    alone = Section(section.assignment, {"cy": verdict(1.0, 1.0)}, "").questions()
    assert alone[0].discrimination is None and alone[2].mean is None


@pytest.fixture
def shown(browser, axe, tmp_path):
    """Open a page at this width; what is wrong with it for anybody."""

    def show(html, width, scheme):
        path = tmp_path / "page.html"
        path.write_text(html)
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme
        )
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.add_script_tag(content=axe)
        found = page.evaluate("axe.run().then(r => r.violations.map(v => v.id))")
        assert found == []
        return page

    yield show
    for context in browser.contexts:
        context.close()


LOOKS = [(1280, "light"), (375, "light"), (1280, "dark"), (375, "dark")]


@pytest.mark.parametrize("look", drawn(LOOKS, 2))
def test_the_report_can_be_read_everywhere_and_a_row_opens(section, shown, look):
    html = render("report.html", sections=[section], unused=["submitted/x is empty"])
    assert "script-src" not in html and "<script" not in html
    page = shown(without_policy(html), *look)
    charts = page.locator("svg.chart")
    assert [chart.get_attribute("role") for chart in charts.all()] == ["img"]
    assert (
        "1 from 9. So far, 3 of 4 scores are final: mean 5.0"
        in charts.first.get_attribute("aria-label")
    )
    message = page.get_by_text("seen: <b>rows</b>").nth(1)
    assert not message.is_visible()
    page.get_by_text("bob").click()
    assert message.is_visible()
    assert page.get_by_text("1 d 1 h late, −1").is_visible()
    assert page.get_by_text("2 points not graded yet").is_visible()
    assert page.locator("code", has_text="autograder grade").is_visible()
    heading = page.get_by_role("columnheader", name="discrimination")
    assert (heading.bounding_box()["width"] > 2) == (look[0] > 600)


@pytest.mark.parametrize("look", drawn(LOOKS))
def test_two_answers_stand_side_by_side(shown, look):
    one = "def f(x):\n    y = x + 1\n    return y\n"
    other = "def g(a):\n    b = a + 1\n    print(b)\n    return b\n"
    common = frozenset([shape("def f(x):")])
    sides = side_by_side(one, other, common)
    pair = Pair(0.93, "ada", "bob", [("softmax", *sides)])
    groups = [Group(0.93, ("ada", "bob"), [pair])]
    about = {"name": "01-attention", "groups": groups}
    html = render("similarity.html", **about)
    page = shown(without_policy(html), *look)
    left, right = page.locator("pre").all()
    assert left.locator("mark").count() == right.locator("mark").count() == 2
    assert left.locator("i").inner_text() == "def f(x):"
    assert right.locator("span").inner_text() == "    print(b)"
    assert right.inner_text().splitlines() == other.splitlines()
    beside = left.bounding_box()["y"] == right.bounding_box()["y"]
    assert beside == (look[0] > 800)


def without_policy(html):
    """For axe, which comes as a script; the pages themselves forbid all scripts."""
    assert html.count("default-src 'none'") == 1
    return html.replace("default-src 'none'; style-src 'unsafe-inline'", "")


@pytest.fixture
def term():
    """Three assignments: bob has stopped, gus never began, one answer is open."""
    late = verdict(1.0, 1.0, 1.0, late=90_000.0, penalty=1.0)
    held = replace(verdict(0.0, 0.0), status="held", reason="It is cut off.")
    results = {
        "01": {"ada": verdict(4.0, 4.0, 2.0), "bob": late, "eve": held},
        "02": {"ada": verdict(4.0, 3.0), "eve": verdict(1.0, 0.0, 0.0)},
        "03": {"ada": verdict(2.0, 2.0, 1.0), "eve": verdict(0.0, 0.0, 0.0)},
    }
    names = {"ada": "Ada Lovelace", "bob": "", "eve": "", "gus": "<b>Gus</b>"}
    return results, [row(*who, results, list(results)) for who in names.items()]


def test_the_term_says_who_is_silent_and_what_is_open(term):
    results, rows = term
    assert [line.silent for line in rows] == [
        "",
        "silent since 02",
        "",
        "no work at all",
    ]
    assert [line.total for line in rows] == [
        "15 of 20",
        "2 of 30",
        "1 of 20",
        "0 of 30",
    ]
    assert list(to_do(results, rows)) == [
        "Stopped submitting: bob.",
        "No work at all: gus.",
        "01: 1 submission held.",
        "02: 1 answer to grade by hand.",
    ]
    again = {"01": results["01"], "02": results["02"]}
    begun = row("bob", "", again, ["01"])  # 02 is not due yet
    assert (begun.silent, begun.total) == ("", "2 of 10")
    assert row("bob", "", again, ["01", "02"]).silent == ""  # one is no silence


@pytest.mark.parametrize("look", drawn(LOOKS))
def test_the_term_can_be_read_everywhere(term, shown, look):
    results, rows = term
    names = list(results)
    about = {"rows": rows, "names": names, "todo": list(to_do(results, rows))}
    html = render("term.html", **about)
    assert "<script" not in html and "http" not in html.replace("http-equiv", "")
    page = shown(without_policy(html), *look)
    assert page.get_by_text("Ada Lovelace").is_visible()
    assert page.get_by_text("<b>Gus</b>").is_visible()
    assert page.get_by_text("silent since 02").is_visible()
    assert page.locator("tbody tr").nth(0).locator("td").all_inner_texts()[1:] == [
        "10",
        "7",
        "5",
    ]
    assert page.locator(".so-far").count() == 1


def test_the_verb_term_writes_the_page(course, marked, capsys):
    marked({"ada": None, "bob": 16.0})
    (course.submitted / "cy").mkdir(parents=True)
    assert main(["report", "--term"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [
        "No work at all: cy.",
        "01-attention: 1 answer to grade by hand.",
    ]
    page = (course.root / "term.html").read_text()
    assert page.count('<th scope="row"') == 3 and "16 of 24" in page
    assert "0 of 24" in page  # what cy did not do
    table = "student_id,assignment,due\ncy,*,2099-01-01\n"
    (course.root / "extensions.csv").write_text(table)
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write('c.Autograder.due = {"01-attention": "2026-01-01"}\n')
    assert main(["report", "--term"]) == 0
    assert "No work at all" not in capsys.readouterr().out
    assert "0 of 24" not in (course.root / "term.html").read_text()
