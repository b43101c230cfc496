"""Feedback, export and report: what people read."""

import base64
import csv
import hashlib
import io
import json
import re
import signal
from html.parser import HTMLParser
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.grading.autograded import autograded
from autograder.notebook.records import MatchedCell
from autograder.release.sample_class import solved, with_cells, write_class
from autograder.results import feedback as pages
from autograder.results import page_size, templates
from autograder.results.export import table
from autograder.results.feedback import safe_markdown
from autograder.results.templates import CHARSET, render
from autograder.wall import Transcript

SCRIPT = """<script>alert(1)</script> <img src=x onerror=alert(2)>
<svg onload=alert(3)></svg> <a href="javascript:alert(4)">here</a>
<style>body { display: none }</style> [there](javascript:alert(5)) <b>bold</b>
`a < b` and **strong**"""


class Page(HTMLParser):
    """What a browser would see: elements with attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


def dangers(page: Page) -> list:
    """Elements that could run something or ask another host for something."""
    return [
        (tag, attributes)
        for tag, attributes in page.elements
        if tag in ("script", "iframe", "object", "embed", "svg", "link", "form", "base")
        or any(name.startswith("on") for name in attributes)
        or str(attributes.get("href", "")).lower().startswith(("javascript", "data"))
        or re.match("https?:|//", str(attributes.get("src", "")))
    ]


@pytest.fixture
def hostile(right):
    """Right work, with markup in an answer, in an own cell and in an output."""

    def change(cells):
        for cell in cells:
            if cell["metadata"]["nbgrader"]["grade_id"] == "explain_roles":
                cell["source"] = SCRIPT
        return [
            *cells,
            {"cell_type": "markdown", "source": SCRIPT, "metadata": {}},
            {"cell_type": "raw", "source": SCRIPT, "metadata": {}},
            {"cell_type": "code", "source": f"print({SCRIPT!r})", "metadata": {}},
            {"cell_type": "code", "source": f"1 / {SCRIPT!r}", "metadata": {}},
        ]

    return with_cells(right, change)


def feedback(classroom, student: str) -> str:
    assert main(["feedback"]) == 0
    folder = classroom.root / "feedback" / student / "01-attention"
    return (folder / "attention.html").read_text()


def test_feedback_shows_message_and_diagnosis_and_no_hidden_test(classroom, wrong):
    classroom.hand_in("ada", wrong)
    classroom.grade()
    page = Page(feedback(classroom, "ada"))
    assert "attention_scores, visible check 2 of 3" in page.text
    assert "not divided by √d_k" in page.text
    assert "check.hidden" not in page.text
    assert "HIDDEN" not in page.text


def test_of_a_long_message_eight_lines_are_shown_and_the_rest_opens(
    classroom, untouched, answers
):
    careless = "def check_softmax(softmax):\n    w = softmax(np.log([[1.0, 3.0]]))\n"
    careless += "    assert np.allclose(w, [[0.25, 0.75]])"
    classroom.hand_in("ada", solved(untouched, answers | {"check_softmax": careless}))
    classroom.grade()
    html = feedback(classroom, "ada")
    shown, rest = html.split("<details><summary>The rest</summary><pre>")
    shown = shown.rpartition("<pre>\n")[2]
    assert shown.startswith("test_check_softmax: ") and "  read:" in shown
    assert shown.count("\n") == 8 and "  caught: " not in shown
    assert "  caught: " in rest.partition("</pre>")[0]


def links(page):
    return [a["href"] for tag, a in page.elements if tag == "a" and "href" in a]


def test_feedback_links_to_the_paragraphs_of_the_published_book(classroom, wrong):
    classroom.hand_in("ada", wrong)
    classroom.grade()
    text = feedback(classroom, "ada")
    assert "  read:     01-queries-keys-values#" in text
    assert "book/" not in text  # where nothing is published, no link leads nowhere

    config = classroom.root / "_config.yml"
    config.write_text("html:\n  baseurl: https://course.example/attn/\n")
    page = Page(feedback(classroom, "ada"))
    chapter = "https://course.example/attn/book/01-queries-keys-values.html"
    assert f"{chapter}#the-dot-product" in links(page)
    assert main(["feedback", "--book", "../book"]) == 0
    (path,) = (classroom.root / "feedback").glob("ada/**/*.html")
    paragraph = "../book/01-queries-keys-values.html#the-dot-product"
    assert paragraph in links(Page(path.read_text()))


def test_nothing_that_a_student_wrote_runs_on_a_feedback_page(classroom, hostile):
    classroom.hand_in("eve", hostile)
    classroom.grade()
    text = feedback(classroom, "eve")
    page = Page(text)
    assert dangers(page) == []
    assert "default-src 'none'" in text
    assert page.text.count("<script>alert(1)</script>") >= 4  # told, not run


def test_nbgrader_s_own_feedback_is_clean_too(classroom, hostile, repository):
    from nbgrader.apps.generatefeedbackapp import GenerateFeedbackApp

    classroom.hand_in("eve", hostile)
    classroom.grade()
    app = GenerateFeedbackApp()
    app.initialize(["01-attention"])
    app.start()
    folder = classroom.root / "feedback" / "eve" / "01-attention"
    page = Page((folder / "attention.html").read_text())
    mine = [danger for danger in dangers(page) if danger[0] not in ("script", "link")]
    assert mine == []
    assert not any(t == "script" and not a.get("src") for t, a in page.elements[20:])


def test_markdown_keeps_its_meaning():
    page = safe_markdown({}, SCRIPT + "\n\n<details><summary>Hint</summary>x</details>")
    assert "<strong>strong</strong>" in page
    assert "<b>bold</b>" in page
    assert "<code>a &lt; b</code>" in page
    assert "<details><summary>Hint</summary>" in page


def test_a_comment_of_the_teacher_is_on_the_page(classroom, ada):
    with Gradebook(f"sqlite:///{classroom.root}/gradebook.db") as book:
        comment = book.find_comment("explain_roles", "attention", "01-attention", "ada")
        comment.manual_comment = "Which weight is large?"
        book.db.commit()
    assert "Which weight is large?" in Page(feedback(classroom, "ada")).text


PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
DRAWN = {"drawn.png": {"image/png": PNG}}


def pictures(html: str) -> list:
    return [a.get("src") for tag, a in Page(html).elements if tag == "img"]


def test_a_picture_in_an_answer_is_on_the_page_and_a_lost_one_is_named(
    classroom, ada, capsys
):
    path = classroom.root / "autograded/ada/01-attention/attention.ipynb"
    notebook = json.loads(path.read_text())
    cell = next(c for c in notebook["cells"] if c["id"] == "explain-roles")
    cell["attachments"] = DRAWN
    cell["source"] = (
        "![mine](attachment:drawn.png) ![lost](attachment:lost.png)\n\n"
        '<img src="attachment:lost.png"> ![a](<attachment:lost too.png>)\n\n'
        "![far](https://example.org/a.png)"
    )
    path.write_text(json.dumps(notebook))
    html = feedback(classroom, "ada")
    assert [src for src in pictures(html) if src] == [f"data:image/png;base64,{PNG}"]
    assert "the picture lost.png is not in the notebook" in Page(html).text


@pytest.mark.parametrize(
    "source",
    [
        "[x](data:text/html,y)",
        '<a href="d\nata:text/html,y">x</a>',
        '<a href="&#100;ata:text/html,y">x</a>',
        "<img src='data:image/svg+xml;base64,AAAA'>",
        '<img src="attached-0">',
        '<img src="https://example.org/a.png">',
        '<img src="data:image/png;base64,AA" onerror="x()">',
    ],
)
def test_no_other_address_with_data_is_on_a_page(source):
    page = Page(safe_markdown({}, source))
    for _, attributes in page.elements:
        assert set(attributes) <= {"src", "class", "href", "title"}
        assert "data:" not in attributes.get("href", "").replace("\n", "")
        src = attributes.get("src") or ""
        assert not src or src == "data:image/png;base64,AA"


def test_attached_pictures_go_into_the_autograded_notebook(release):
    text = "![a](attachment:drawn.png) and ![b](attachment:lost.png)"
    cell = MatchedCell(
        "written", "explain_roles", "markdown", "", text, attachments=DRAWN
    )
    notebook = json.loads(autograded(release, [cell], Transcript(), ()))
    (shown,) = notebook["cells"]
    assert shown["attachments"] == DRAWN
    assert shown["source"] == (
        "![a](attachment:drawn.png) and (the picture lost.png is not in the notebook)"
    )


def test_feedback_of_one_student_does_not_stop_the_others(classroom, right, capsys):
    for student in ("ada", "bela", "chen"):
        classroom.hand_in(student, right)
    classroom.grade()
    broken = classroom.root / "autograded/bela/01-attention/attention.ipynb"
    broken.write_text("{")
    assert main(["feedback", "--log", "feedback.log"]) == 1
    assert "no feedback: bela, 01-attention: " in capsys.readouterr().err
    written = (classroom.root / "feedback").iterdir()
    assert sorted(path.name for path in written) == ["ada", "chen"]
    log = (classroom.root / "feedback.log").read_text()
    assert "no feedback for bela" in log and "Traceback" in log


def test_a_page_that_takes_too_long_does_not_stop_the_others(
    classroom, right, capsys, monkeypatch
):
    """The time of each page is limited; here, that of one is over at once."""
    for student in ("ada", "bela"):
        classroom.hand_in(student, right)
    classroom.grade()
    made = pages.render

    def slow(exporter, course, url, place, ways):
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 50
        if place.parts[0] == "bela":
            signal.setitimer(signal.ITIMER_PROF, 0.01)
            while True:
                pass
        return made(exporter, course, url, place, ways)

    monkeypatch.setattr(pages, "render", slow)
    assert main(["feedback"]) == 1
    assert (
        "bela, 01-attention: It takes longer than 60 s to make"
        in capsys.readouterr().err
    )
    assert (classroom.root / "feedback/ada/01-attention/attention.html").is_file()
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_a_page_of_too_many_letters_shows_the_answers_and_cuts_the_rest(
    classroom, right, monkeypatch
):
    """nbconvert reads a page once more: what it reads is bounded."""
    monkeypatch.setattr(page_size, "LETTERS", 30_000)
    own = {"cell_type": "code", "source": "print('z' * 60_000)", "metadata": {}}
    classroom.hand_in("eve", with_cells(right, lambda cells: [own, *cells, own]))
    classroom.grade()
    text = Page(feedback(classroom, "eve")).text
    assert text.count(page_size.CUT) == 3  # an output; a code and its output
    assert 10_000 < text.count("z") < 30_000
    assert "def softmax(" in text and "test_softmax: 4 of 4 points" in text


@pytest.mark.parametrize(
    "output",
    [
        new_output("stream", text="z" * 70),
        new_output("error", traceback=["z" * 35, "z" * 35]),
        new_output("display_data", {"text/plain": "z" * 70}),
    ],
)
def test_each_kind_of_output_is_cut(output, monkeypatch):
    monkeypatch.setattr(page_size, "LETTERS", 160)
    cells = [new_code_cell("a" * 20, outputs=[output] * 2), new_code_cell("a" * 20)]
    notebook, _ = page_size.CutTexts().preprocess(new_notebook(cells=cells), {})
    shown = json.dumps(notebook)
    assert 39 <= shown.count("z") <= 40 and shown.count("a" * 20) == 1
    assert shown.count(page_size.CUT) == 3  # two outputs, and the second cell
    twice, _ = page_size.CutTexts().preprocess(notebook, {})
    assert json.dumps(twice) == shown  # formgrader's settings and feedback both cut


def test_a_text_that_is_far_too_long_is_shown_as_it_is():
    html = safe_markdown({}, "<b>*a* " * 10_000)
    assert html.startswith("<pre>&lt;b&gt;*a* ") and "<em>" not in html


# ------------------------------------------------------------ export and report


def test_tables_keep_commas_quotes_and_lines_apart(tmp_path):
    rows = [["a,b", 'say "x"', "two\nlines", 1.5, None], ["é"] * 5]
    path = tmp_path / "table.csv"
    path.write_text(table(rows), newline="")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        read = list(csv.reader(file))
    assert read == [["a,b", 'say "x"', "two\nlines", "1.5", ""], ["é"] * 5]


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@x",
    "\t=1",
    " =1",
    "\r=1",
    '"=1',
    "\uff1d1",
    "\uff0d1",
]


@pytest.mark.parametrize("before", ["", "a;", "a\t", "a\n", "a; b|"])
def test_a_formula_is_text(before):
    """Wherever a program ends a field."""
    for formula in FORMULAS:
        written = table([[before + formula]]).removeprefix("\ufeff")
        ((cell,),) = csv.reader(io.StringIO(written))
        assert cell.startswith(f"{before}'")
        assert cell.replace("'", "") == before + formula


def test_a_sign_inside_a_field_stays():
    text = "x = 1, y=-2 (a-b), c@d"
    assert text in table([[text]])


def test_export_writes_students_and_questions(classroom, right, wrong):
    classroom.hand_in("=cmd", right)
    classroom.hand_in("bela, the second", wrong)
    classroom.hand_in("chen", "")
    classroom.grade()
    assert main(["export", "--folder", "grades"]) == 0
    with open("grades/scores.csv", encoding="utf-8-sig", newline="") as file:
        scores = {row["student"]: row for row in csv.DictReader(file)}
    assert scores["'=cmd"]["score"] == "20.0"
    assert scores["bela, the second"]["status"] == "graded"
    assert (scores["chen"]["status"], scores["chen"]["score"]) == ("held", "")
    with open("grades/questions.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10
    assert rows[-1]["by hand"] == "waiting"


def test_the_sample_class_is_the_same_every_time_and_shows_everything(
    repository, attention, tmp_path, monkeypatch
):
    for name in ("one", "two"):
        assert write_class(repository, [attention], tmp_path / name) >= 24
    first = sorted((tmp_path / "one").rglob("*"))
    for path in first:
        other = tmp_path / "two" / path.relative_to(tmp_path / "one")
        assert path.is_dir() or path.read_bytes() == other.read_bytes()
    assert any(path.name == "nbgrader_config.py" for path in first)


def test_a_formula_is_drawn_without_a_script():
    html = safe_markdown({}, r"the weights $\frac{a}{b}$, and" "\n\n$$QK^\\top$$")
    assert "<mfrac>" in html and 'display="block"' in html
    assert "$" not in html and "MathJax" not in html


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{<script>alert(1)</script>}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\href{javascript:alert(1)}{x}",
        r"\nosuch{<b onclick=alert(1)>",
    ],
)
def test_html_in_a_formula_is_shown_and_never_a_part_of_the_page(tex):
    html = safe_markdown({}, f"a ${tex}$ b")
    assert not re.search(r"<(script|img|b|a)\b|href=|<[^>]*\bon\w+=", html), html


@pytest.mark.parametrize("text", ["![$a_1$](attachment:p.png)", "# title $a_1$"])
def test_a_formula_in_an_attribute_is_text(text):
    html = safe_markdown(
        {"cell": {"attachments": {"p.png": {"image/png": "aGk="}}}}, text
    )
    for tag in re.findall(r"<(?:img|a|h1)\b[^>]*>", html):
        assert "<" not in tag[1:] and "math" not in tag
    assert "$a_1$" in html


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200f"])
def test_code_on_a_page_shows_what_reorders_it(classroom, right, mark):
    code = f"x = 1  # {mark}a\x0c"
    classroom.hand_in(
        "ada",
        with_cells(
            right,
            lambda cells: [
                *cells,
                {"cell_type": "code", "source": code, "metadata": {}},
            ],
        ),
    )
    classroom.grade()
    page = feedback(classroom, "ada")
    assert mark not in page and f"\\u{ord(mark):04x}a" in page
    question = {"name": "f", "code": f"a{mark}b", "text": f"    {mark}", "choices": []}
    sheet = {"student": "ada", "note": "", "questions": [question | ANSWER]}
    page = render("interview.html", sheets=[sheet], title="x", people={})
    assert mark not in page and f"a\\u{ord(mark):04x}b" in page


ANSWER = {"key": 0, "why": "so"}


def test_every_page_has_a_policy_and_runs_its_own_script_alone():
    sheet = {"student": "<script>alert(1)</script>", "note": "", "questions": []}
    page = render("interview.html", sheets=[sheet], title="x", people={})
    (rule,) = re.findall(r'Security-Policy" content="([^"]+)"', page)
    (code,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert rule.endswith(f"; script-src 'sha256-{digest}'")
    for path in Path(templates.__file__).parent.glob("*.html"):
        text = path.read_text("utf-8")
        whole = "<!doctype" in text
        assert (CHARSET in text) == whole, path


def test_the_page_starts_with_each_question_its_points_and_the_diagnosis(
    classroom, wrong
):
    classroom.hand_in("ada", wrong)
    classroom.grade()
    text = feedback(classroom, "ada")
    page = Page(text)
    head = text[text.index('<header class="summary">') : text.index("</header>")]
    told = " ".join(Page(head).text.split())
    assert "softmax 4 of 4 All checks pass." in told
    assert "attention_scores" in told and "not divided by √d_k" in told
    assert "explain_roles not graded yet, of 4 A person will read this answer." in told
    assert "Test cell" not in page.text and "Score so far" in told
    anchors = {a.get("name") for tag, a in page.elements if tag == "a"}
    assert {link[1:] for link in links(Page(head)) if link[0] == "#"} <= anchors
    folds = [tag for tag, a in page.elements if tag == "details"]
    assert len(folds) >= 5  # the cards


def test_names_are_beside_the_ids_but_not_where_work_is_graded_by_hand(
    classroom, right
):
    """On everything that people read, after `autograder names`."""
    for student in ("ada@x.org", "bob@x.org"):
        classroom.hand_in(student, right)
    folder = classroom.root
    commands = [["similarity", "01-attention"], ["interview", "01-attention"]]
    for command in commands:  # before there is a gradebook, ids alone
        assert main(command) == 0
        assert not (folder / "gradebook.db").exists()
    classroom.grade()
    (folder / "roster.csv").write_text(
        "student_id,name\nada@x.org,Ada Lovelace\nzoe@x.org,Zoe <b>\n"
    )
    commands += [["report"], ["feedback"], ["export"], ["report", "--term"]]
    for command in [["names", "roster.csv"], *commands]:
        assert main(command) == 0, command
    both = "Ada Lovelace (ada@x.org)"
    for page in ("report", "similarity-01-attention", "interview/01-attention"):
        text = Page((folder / f"{page}.html").read_text()).text
        assert both in text and "bob@x.org" in text, page
    assert both in Page(feedback(classroom, "ada@x.org")).text
    assert "(bob" not in feedback(classroom, "bob@x.org")
    for name in ("scores", "questions"):
        with open(f"{name}.csv", encoding="utf-8-sig", newline="") as file:
            names = {row["student"]: row["name"] for row in csv.DictReader(file)}
        assert names == {"ada@x.org": "Ada Lovelace", "bob@x.org": ""}
    (shown,) = (folder / "autograded/ada@x.org/01-attention").glob("*.ipynb")
    assert "Lovelace" not in shown.read_text()
