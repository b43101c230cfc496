"""The figures of the chapters: scales that can be compared, lines that differ."""

import matplotlib.pyplot as plt
import numpy as np
import plots
import pytest
from attention import positional_encoding


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_maps_have_one_color_scale_from_0_to_1():
    even = np.full((3, 3), 1 / 3)
    axes = plots.plot_maps({"even": even, "own": np.eye(3)})
    assert {ax.images[0].get_clim() for ax in axes} == {(0, 1)}
    assert [ax.get_title() for ax in axes] == ["even", "own"]


def test_maps_with_tokens_show_every_number():
    (ax,) = plots.plot_maps({"own": np.eye(2)}, tokens=["a", "b"])
    assert [text.get_text() for text in ax.texts] == ["1.00", "0.00", "0.00", "1.00"]


def test_curves_differ_without_their_colors():
    x = np.arange(4)
    lines = {name: x + i for i, name in enumerate("abcde")}
    drawn = plots.plot_curves(x, lines, "title", "x", "y").lines
    assert len({(line.get_linestyle(), line.get_marker()) for line in drawn}) == 5


def test_a_curve_may_have_an_x_of_its_own_and_a_level_a_name():
    curves = {"short": ([0, 2], [5, 6]), "long": [1, 2, 3]}
    ax = plots.plot_curves([0, 1, 2], curves, "t", "x", "y", level=("floor", 4))
    assert list(ax.lines[0].get_xdata()) == [0, 2]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["short", "long", "floor"]


def test_bars_of_two_rows_stand_side_by_side():
    ax = plots.plot_bars(["a", "b"], {"one": [1, 2], "two": [3, 4]}, "t", "x", "y")
    edges = sorted((bar.get_x(), bar.get_height()) for bar in ax.patches)
    assert [height for _, height in edges] == [1, 3, 2, 4]


def test_the_waves_go_through_the_encoding():
    encoding = positional_encoding(50, 128)
    axes = plots.plot_waves(encoding, [((0, 1, 4), 25), ((64, 126), 50)], "t")
    for ax in axes:
        for wave, dots in zip(ax.lines[::2], ax.lines[1::2], strict=True):
            at = np.interp(dots.get_xdata(), *wave.get_data())
            np.testing.assert_allclose(at, dots.get_ydata(), atol=0.01)
