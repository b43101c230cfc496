"""How tests handle an exercise page."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IDLE = "!document.querySelector('.exercise-row.busy')"
SOFTMAX = """\
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""


def bar(page, cell):
    """What belongs to an answer: its button, and what came of it."""
    return page.locator(f'.exercise-bar[data-cell="{cell}"]')


def editor(page, cell):
    """Where an answer is written."""
    return page.locator(
        f'.code-editor:has(+ .exercise-bar[data-cell="{cell}"]) textarea'
    )


def settled(page, place, timeout=30_000):
    """The text of a place when nothing runs any more."""
    page.wait_for_function(IDLE, timeout=timeout)
    return place.text_content()


def downloaded(page, folder):
    """The notebook that a student hands in."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download my notebook").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def released(name):
    """An assignment as students get it."""
    (path,) = (ROOT / "exercises" / name).glob("*.ipynb")
    return path
