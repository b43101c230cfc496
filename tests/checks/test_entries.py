"""A catalog is read from TOML, and what does not fit is reported with its place."""

from types import SimpleNamespace

import numpy as np
import pytest

from autograder.checks.assignment import Assignment
from autograder.checks.catalog import Catalog
from autograder.checks.entries import read, shared
from autograder.errors import CourseError

DOUBLE = """\
planted = ["same"]
reference = '''
def double(x):
    return x + x'''

[wrong]
squared.says = "It is squared."
squared.edit = [
    "+ x", "* x",
    "return", "return 1 *",
]

[wrong.same]
says = "It is not doubled."
code = "return x"
also = [
    ['return x', "return x + 0"], { unseen = "large", code = '''
    return 0.5 * x''' }]

[wrong.nothing]

[right.product]
differs = "It multiplies."
code = '''
    return 2 * x'''

[[equivalent]]
why = "The order of a sum does not matter."
changes = ["return x + x -> return x + x"]
"""

HUNT = """\
hunts = "double"
example = '''
def check_double(double):
    assert double(0) == 0'''
reference = '''
def check_double(double):
    assert double(2) == 4'''

[wrong.truth-value]
code = '''
    return double(2) == 4'''
"""


def entries(text=DOUBLE, question="double"):
    return read(text, question, "01-chapter#doubling", "double.toml")


@pytest.fixture
def catalog():
    """That of an assignment with two questions."""
    assignment = Assignment("json", "01-chapter")
    assignment.question("double", 2, "doubling")
    assignment.question("check_double", 1, "checking")
    found = {"double": entries(), "check_double": entries(HUNT, "check_double")}
    assignment.probes = SimpleNamespace(double=lambda answer: [answer(3)])
    assignment.catalog = Catalog(assignment, "import math", found)
    return assignment.catalog


def test_an_edit_is_the_reference_with_its_changes():
    entry, *_ = entries().mistakes
    assert entry.code == "def double(x):\n    return 1 * x * x\n"
    assert (entry.id, entry.read) == ("double-squared", "01-chapter#doubling")


def test_an_edit_may_change_every_place_and_another_entry_than_the_reference():
    third = '[wrong.third]\nsays = "No."\nof = "product"\nedit = ["x", "y"]\n'
    *_, entry = entries(DOUBLE.replace("[right", f"{third}[right")).mistakes
    assert entry.code == "def double(y):\n    return 2 * y\n"


def test_an_indented_entry_is_the_body_of_the_function(catalog):
    style = catalog.styles[0]
    assert catalog.answer(style)(4) == 8 and style.differs == "It multiplies."


def test_another_way_to_make_a_mistake_bears_its_name(catalog):
    assert catalog.diagnose("double", lambda x: 0.5 * x).id == "double-same"
    assert [entry.code for entry in catalog.every("double")][3:] == [
        "def double(x):\n    return x + 0\n",
        "def double(x):\n    return 0.5 * x\n",
    ]


def test_an_outcome_of_several_mistakes_names_none(catalog):
    catalog.assignment.probes.double = lambda answer: [answer(0)]
    assert catalog.named("double", [0]) is None


def test_sentences_that_questions_share_are_found_by_their_names(catalog):
    *_, nothing = catalog.of("double")
    assert nothing.code == "def double(x):\n    result = x + x\n"
    assert nothing.diagnosis == shared()["wrong"]["nothing"]["says"]
    *_, other = catalog.every("double")
    assert other.unseen == shared()["unseen"]["large"]


TWO = '"+ x", "* x",'
OF = ']\nsquared.of = "one"\nsquared.also = ['
BROKEN = [  # old text, new text, what is said
    (TWO, '"- x", "* x",', "line 7, double-squared: '- x' is not in the program"),
    (TWO, TWO + OF, "line 7, double-squared: `of` is one, but no entry above"),
    (TWO, '"+ x",', "line 7, double-squared: `edit` lists pairs of an old and a new"),
    (TWO, '"+ x", "* 3x",', "line 7, double-squared: not Python, invalid"),
    ("return 0.5 * x", "return 0.5 *", "line 13, double-same: not Python"),
    ('"return x"', "'''\ny = 1\n'''", "line 13, double-same: its code does not define"),
    ('"return x"', '"return 1 @"', "line 13, double-same: not Python"),
    ('squared.says = "It is squared."', "", "line 8, double-squared: no sentence says"),
    ('says = "It is s', 'sais = "It is s', "line 7, double-squared: sais is unknown"),
    ('unseen = "large"', "says = 1", "line 13, double-same: says is unknown here"),
    ("code = '''\n    return 2", "edit = '''\n", "line 22, double-product: "),
    ('["same"]', '["some"]', "line 2, reference: planted, but no mistake here: some"),
    ("return x + x'''", "return x +'''", "line 2, reference: not Python"),
    ('why = "The', 'wy = "The', "line 27, equivalent: wy is unknown here"),
    ("[right.product]", "[right.product", "double.toml is not TOML: "),
    ("[right.product]", "[wrong.same]", "double.toml is not TOML: "),
]


@pytest.mark.parametrize(("old", "new", "says"), BROKEN)
def test_what_does_not_fit_is_reported_with_its_line(old, new, says):
    assert DOUBLE.count(old) == 1
    with pytest.raises(CourseError, match=r"^double.toml") as error:
        entries(DOUBLE.replace(old, new))
    assert says in str(error.value)


def test_all_that_does_not_fit_is_reported_at_once():
    text = DOUBLE.replace('"+ x"', '"- x"').replace("return 2 * x", "return 2 *")
    with pytest.raises(CourseError) as error:
        entries(text)
    assert [line.split(",")[1] for line in str(error.value).splitlines()] == [
        " line 7",
        " line 22",
    ]


def test_checks_of_students_meet_no_mistake_that_is_not_planted(catalog):
    """Nor another way to make one: they would change what a check is worth."""
    assert [entry.id for entry in catalog.hunted("double")] == ["double-same"]

    def check_double(double):
        assert double(2) == 4

    tried = catalog.tried(check_double, "double", np.random.default_rng(0))
    said = {name: verdict.said for name, verdict in tried.items()}
    accepted = dict.fromkeys(["double-reference", "double-product"], "accepts")
    assert said == accepted | {"double-same": "rejects"}


def test_a_check_that_stops_is_not_taken_for_one_that_returns_something(catalog):
    def stops(double):
        assert [double(2)][1] == 4

    def returns(double):
        return [double(2)][0] == 4

    assert catalog.diagnose("check_double", stops) is None
    assert catalog.diagnose("check_double", returns).id == "check_double-truth-value"


def test_a_question_names_mistakes_by_its_catalog_and_none_without(catalog):
    """As on students' machines."""
    question = catalog.assignment.questions["double"]
    assert question.diagnose(lambda x: x).id == "double-same"
    assert question.diagnose(lambda x: 2 * x) is None
    catalog.assignment.catalog = None
    assert question.diagnose(lambda x: x) is None
