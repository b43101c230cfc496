"""One palette: queries, keys and values in formulas, code, drawings and labs."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
import roles
from mathml import to_mathml

CSS = (Path(__file__).resolve().parents[2] / "book/static/site.css").read_text("utf-8")
# what eyes without one kind of cone see (Machado, Oliveira and Fernandes 2009)
EYES = {
    "all cones": np.eye(3),
    "no long": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no middle": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


def palette(scheme):
    """The variables of a scheme, by name."""
    block = re.search(rf'html\[data-theme="{scheme}"\] \{{(.*?)\}}', CSS, re.DOTALL)[1]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


def linear(color):
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def perceived(color, eye):
    """Hue and lightness as numbers of one scale (CIELAB)."""
    seen = np.clip(np.array(EYES[eye]) @ linear(color), 0, 1)
    to_xyz = [
        [0.4124, 0.3576, 0.1805],
        [0.2126, 0.7152, 0.0722],
        [0.0193, 0.1192, 0.9505],
    ]
    x, y, z = np.cbrt(np.array(to_xyz) @ seen / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_queries_keys_and_values_are_told_apart(scheme, eye):
    colors = palette(scheme)
    for one, other in itertools.combinations("qkv", 2):
        pair = (perceived(colors[f"drawn-{role}"], eye) for role in (one, other))
        assert np.linalg.norm(np.subtract(*pair)) > 15, (one, other)


def test_a_dark_page_is_printed_in_the_light_palette():
    printed = re.search(r"@media print \{(.*?)\n\}\n", CSS, re.DOTALL)[1]
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", printed))
    for name, color in palette("light").items():
        if name not in {"course-press", "course-over", "drawn-paper"}:
            assert found[name] == color, name


def marked(formula):
    return re.findall(r'class="role-(\w)"', to_mathml(formula))


def test_letters_of_a_formula_have_their_role():
    formula = r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V"
    assert marked(formula) == ["q", "k", "v"]
    assert marked(r"q \cdot k_j") == ["q", "k"]
    assert marked(r"Q = X W_q") == ["q"]
    assert marked(r"x W_Q^\top") == ["q"]


@pytest.mark.parametrize("formula", ["n/k", "k n d^2", r"q / p < q' / p'", "d_k", "V"])
def test_other_letters_have_none(formula):
    assert marked(formula) == []


def code(*lines):
    block = re.match(r".*", "<pre>" + "".join(lines) + "</pre>", re.DOTALL)
    return re.findall(r'role-(\w)">(\w+)<', roles.color_code(block))


def test_names_in_code_have_their_role_beside_others_of_their_kind():
    q, k, v, keys = (
        f'<span class="n">{name}</span>' for name in ("q", "k", "v", "keys")
    )
    assert code(q, k) == [("q", "q"), ("k", "k")]
    assert code(k, v) == []  # of a dictionary
    assert code(keys) == []
    assert code('<span class="c1"># Q, and a key</span>') == [("q", "Q"), ("k", "key")]


def test_chapters_show_the_roles(page):
    page.goto("book/01-queries-keys-values.html")
    colors = "e => getComputedStyle(e).color"
    drawn = page.locator("svg.drawing text.q").first.evaluate(
        "e => getComputedStyle(e).fill"
    )
    for place in "math", "div.highlight", "code":
        assert (
            page.locator(f"{place} .role-q, {place}.role-q").first.evaluate(colors)
            == drawn
        )
