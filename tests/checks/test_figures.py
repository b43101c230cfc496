"""A plot is read by its artists, whichever correct way it was drawn."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import seaborn as sns

from autograder.checks.failures import CheckFailed
from autograder.checks.figures import describe_axes, labels_of

VALUES = np.arange(6.0).reshape(2, 3)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def value_at(description, x_label, y_label):
    (grid,) = description["grids"]
    column = labels_of(grid, description["xticks"], "x").index(x_label)
    row = labels_of(grid, description["yticks"], "y").index(y_label)
    return grid["values"][row, column]


def by_imshow(ax, origin):
    ax.imshow(VALUES, origin=origin)
    ax.set_xticks(range(3), list("abc"))
    ax.set_yticks(range(2), list("pq"))


def by_pcolormesh(ax):
    ax.pcolormesh(VALUES)
    ax.set_xticks([0.5, 1.5, 2.5], list("abc"))
    ax.set_yticks([0.5, 1.5], list("pq"))


DRAWINGS = {
    "imshow": lambda ax: by_imshow(ax, "upper"),
    "imshow from below": lambda ax: by_imshow(ax, "lower"),
    "pcolormesh": by_pcolormesh,
    "heatmap": lambda ax: sns.heatmap(
        VALUES, ax=ax, xticklabels=list("abc"), yticklabels=list("pq")
    ),
}


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
def test_a_grid_knows_which_label_belongs_to_which_value(draw):
    _, ax = plt.subplots()
    draw(ax)
    description = describe_axes(ax)
    assert value_at(description, "c", "p") == 2
    assert value_at(description, "a", "q") == 3


def test_a_colorbar_is_seen_on_the_grid_that_it_explains():
    figure, (left, right) = plt.subplots(1, 2)
    figure.colorbar(left.imshow(VALUES), ax=left)
    right.imshow(VALUES)
    assert [describe_axes(a)["grids"][0]["colorbar"] for a in (left, right)] == [
        True,
        False,
    ]


@pytest.mark.parametrize("way", ["plot", "step", "errorbar", "scatter", "legend list"])
def test_a_curve_is_read_with_its_label(way):
    _, ax = plt.subplots()
    x, y = [1, 2, 4], [3.0, 1.0, 2.0]
    if way == "legend list":
        ax.plot(x, y)
        ax.legend(["scaled"])
    elif way == "scatter":
        ax.scatter(x, y, label="scaled")
    else:
        getattr(ax, way)(x, y, label="scaled")
    (curve,) = describe_axes(ax)["curves"]
    assert curve["label"] == "scaled"
    assert curve["x"].tolist() == x
    assert curve["y"].tolist() == y


def test_seaborn_s_lines_have_the_names_of_its_legend():
    _, ax = plt.subplots()
    long = {"n": [1, 2, 1, 2], "w": [3.0, 1.0, 2.0, 4.0], "kind": list("aabb")}
    sns.lineplot(long, x="n", y="w", hue="kind", ax=ax)
    curves = describe_axes(ax)["curves"]
    assert [(c["label"], c["y"].tolist()) for c in curves] == [
        ("a", [3.0, 1.0]),
        ("b", [2.0, 4.0]),
    ]


def test_a_legend_of_the_whole_figure_counts():
    figure, ax = plt.subplots()
    ax.plot([1, 2], label="scaled")
    figure.legend()
    assert describe_axes(ax)["legend"] == ["scaled"]


def test_labels_do_not_depend_on_the_current_figure():
    _, ax = plt.subplots()
    ax.set(xlabel="position", ylabel="dimension", title="Waves")
    plt.figure()
    description = describe_axes(ax)
    labels = [description[key] for key in ("xlabel", "ylabel", "title")]
    assert labels == ["position", "dimension", "Waves"]


def test_what_is_no_axes_is_told_so():
    with pytest.raises(CheckFailed, match="returned a Figure"):
        describe_axes(plt.figure())
