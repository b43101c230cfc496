"""The theme's styles: what can match stays, word by word, and what cannot goes."""

import re

import pytest
import unused_styles

PAGE = '<p class="box dark-only">fa-copy</p>'


@pytest.fixture
def left(tmp_path):
    """What is left of a style sheet beside PAGE, without spaces."""
    (tmp_path / "a.html").write_text(PAGE, "utf-8")
    (static := tmp_path / "_static").mkdir()

    def left(css, name="theme.css"):
        (static / name).write_text(css, "utf-8")
        unused_styles.leave_out(tmp_path)
        return re.sub(r"\s", "", (static / name).read_text("utf-8"))

    return left


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("p{color:red}", None),
        (".box>p:not(.gone){color:red}", None),
        (".gone{color:red}", ""),
        (".box.gone{color:red}", ""),
        (".gone p,.box,:is(.gone,p){a:b}", ".box,:is(.gone,p){a:b}"),
        ("@media print{.gone{a:b}.dark-only{a:b}}", "@mediaprint{.dark-only{a:b}}"),
        ("@media print{.gone{a:b}}", ""),
        ("@font-face{src:url(a)}", None),
    ],
)
def test_a_rule_stays_if_each_of_its_classes_is_a_word_of_the_site(left, css, expected):
    assert left(css) == (css if expected is None else expected)


def test_our_own_styles_stay_whole(left):
    assert left(".gone{a:b}", "site.css") == ".gone{a:b}"


def test_icons_that_no_page_shows_are_left_out(left):
    rules = (f'.fa-{name}:before{{content:"\\f0c5"}}' for name in ("copy", "bomb"))
    assert left("".join(rules)) == '.fa-copy:before{content:"\uf0c5"}'
