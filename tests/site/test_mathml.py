"""Formulas of the book's kind, turned into MathML while the site is built."""

from xml.etree import ElementTree

import pytest
from mathml import to_mathml

MATHML = "{http://www.w3.org/1998/Math/MathML}"


def render(tex, display=True):
    return ElementTree.fromstring(to_mathml(tex, display))


def tags(math):
    return [element.tag.removeprefix(MATHML) for element in math.iter()]


def test_the_formula_of_attention_keeps_its_structure():
    math = render(r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V")
    assert math.get("display") == "block"
    assert {"mfrac", "msup", "msqrt", "msub"} <= set(tags(math))
    assert "".join(math.itertext()) == "softmax(QK⊤dk)V"


def test_a_function_name_stands_apart_from_a_letter_but_not_from_a_bracket():
    spaces = [
        next(o for o in render(tex).iter(MATHML + "mo") if o.text == "log").get(
            "rspace"
        )
        for tex in (r"\log x", r"\log(x)")
    ]
    assert spaces == ["0.167em", "0"]


def test_limits_stand_below_in_a_display_and_beside_in_a_line():
    assert "munder" in tags(render(r"\max_j s_j"))
    assert "munder" not in tags(render(r"\max_j s_j", display=False))


def test_aligned_lines_become_rows():
    rows = render(r"\begin{aligned} a &= b \\ &= c \end{aligned}").iter(MATHML + "mtr")
    assert ["".join(row.itertext()) for row in rows] == ["a=b", "=c"]


def test_a_transposed_matrix_has_one_base_and_one_exponent():
    math = render(r"\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}^\top")
    power = next(math.iter(MATHML + "msup"))
    assert [child.tag for child in power] == [MATHML + "mrow", MATHML + "mo"]


def test_norm_bars_do_not_grow_with_their_neighbors():
    bars = render(r"\lVert q \rVert \sum_i x_i").iter(MATHML + "mo")
    assert [o.get("stretchy") for o in bars if o.text == "‖"] == ["false"] * 2


def test_what_stands_over_a_letter_is_an_accent():
    assert render(r"\tilde{s}").find(f".//{MATHML}mover").get("accent") == "true"


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"x \in \mathbb{R}^{n \times d}", "x∈ℝn×d"),
        (r"x \sim \mathcal N(0, 1)", "x∼𝒩(0,1)"),
        (r"d_{\text{model}}", "dmodel"),
        (r"\operatorname*{arg\,max}_i s_i", "argmaxisi"),
    ],
)
def test_letters_and_words_come_through(tex, text):
    assert "".join(render(tex).itertext()) == text


@pytest.mark.parametrize("tex", [r"a & b", r"\undefinedcommand x"])
def test_what_cannot_be_translated_is_refused(tex):
    with pytest.raises(ValueError, match="MathML"):
        to_mathml(tex)
