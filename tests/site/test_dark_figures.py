"""Figures on dark pages: light ink on dark paper, and the same hues."""

import colorsys
import io

import figures
import matplotlib
import numpy as np
import pytest
from looks import SIDEWAYS
from PIL import Image

matplotlib.use("agg")
from matplotlib import pyplot as plt

BLUE, ORANGE = (31, 119, 180), (255, 127, 14)


def drawn(figure):
    """A figure as the chapters' kernel writes it, 200 dots an inch."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=200)
    plt.close(figure)
    return Image.open(file).convert("RGB")


def lightness(color):
    """Relative luminance, as WCAG has it."""
    parts = np.array(color) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    dark, light = sorted([lightness(one), lightness(other)])
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture(scope="module")
def lines():
    figure, ax = plt.subplots(figsize=(4, 3), layout="constrained")
    ax.plot([0, 1], [0, 1], color=np.array(BLUE) / 255, linewidth=6)
    ax.fill_between([0, 1], [0, 0], [0, 1], color=np.array(ORANGE) / 255)
    ax.set(title="Two things", xlabel="x")
    return drawn(figure)


def test_paper_becomes_dark_ink_light_and_hues_stay(lines):
    before = np.asarray(lines)
    after = np.asarray(figures.dark_twin(lines).convert("RGB"))
    paper = tuple(after[2, 2])
    assert lightness(paper) < 0.01
    black = after[(before == 0).all(axis=2)]
    assert contrast(tuple(black[0]), paper) > 10
    for color in BLUE, ORANGE:
        turned = after[(before == color).all(axis=2)].mean(axis=0)
        assert contrast(turned, paper) > 3  # what WCAG asks of a line
        hues = [colorsys.rgb_to_hls(*np.array(c) / 255)[0] for c in (color, turned)]
        assert abs(hues[0] - hues[1]) < 0.02


def test_more_weight_is_further_from_the_paper_on_either_page():
    weights = plt.get_cmap("Purples")(np.linspace(0, 1, 9))[None, :, :3]
    light = Image.fromarray((255 * weights).astype(np.uint8))
    for picture in light, figures.dark_twin(light).convert("RGB"):
        seen = [lightness(color) for color in np.asarray(picture)[0]]
        away = np.abs(np.array(seen) - seen[0])
        assert (np.diff(away) > 0).all() and away[-1] > 0.25
    assert seen[0] < 0.01  # no weight is the dark paper


SHOWN = """image => image.decode().then(() => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    canvas.getContext("2d").drawImage(image, 2, 2, 1, 1, 0, 0, 1, 1);
    return [...canvas.getContext("2d").getImageData(0, 0, 1, 1).data].slice(0, 3);
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_shows_and_loads_the_figures_of_its_scheme(page, asked, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto("book/05-positional-encoding.html")
    for right in page.locator(".predict .correct > summary").all():
        right.click()  # a figure that answers a prediction is hidden until then
    for aside in page.locator("details.deeper > summary").all():
        aside.click()
    shown = page.locator(".cell_output img:visible")
    first = shown.first
    first.scroll_into_view_if_needed()
    assert shown.count() == page.locator(".cell_output img").count() / 2
    assert (lightness(first.evaluate(SHOWN)) > 0.5) == (scheme == "light")
    loaded = [url for url in asked if "_images" in url]
    assert loaded
    assert all(url.endswith("-dark.png") == (scheme == "dark") for url in loaded)


def test_a_dark_figure_has_no_frame_and_a_tap_shows_it_in_its_own_size(page):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 375, "height": 700})
    page.goto("book/01-queries-keys-values.html")
    figure = page.locator(".cell_output img:visible").first
    assert figure.evaluate("image => getComputedStyle(image).padding") == "0px"
    assert figure.bounding_box()["width"] < 375
    figure.click()
    assert figure.bounding_box()["width"] == int(figure.get_attribute("width"))
    assert page.evaluate(SIDEWAYS) <= 0
    figure.click()
    assert figure.bounding_box()["width"] < 375


def test_a_dark_page_is_printed_with_light_figures(page):
    page.emulate_media(color_scheme="dark", media="print")
    page.goto("book/05-positional-encoding.html")
    shown = page.locator(".cell_output img:visible")
    assert shown.count() > 0
    for image in shown.all():
        assert not image.get_attribute("src").endswith("-dark.png")


def test_every_figure_has_a_twin(site):
    found = 0
    for path in (site.folder / "book").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        found += text.count('class="only-dark"')
        assert text.count('class="only-dark"') == text.count('class="only-light"')
        assert not figures.FIGURE.search(text)
    assert found > 30
