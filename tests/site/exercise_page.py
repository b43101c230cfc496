"""How tests handle an exercise page."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "book/solve/01-attention.html"
IDLE = "!document.querySelector('.exercise-row.busy')"
SOFTMAX = """\
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""


def bar(page, cell):
    """What belongs to an answer: its button, and what came of it."""
    return page.locator(f'.exercise-bar[data-cell="{cell}"]')


WORKER = """
    onmessage = () => {
        postMessage({ state: "running" });
        setTimeout(() => postMessage({ outcomes: OUTCOMES }), 50);
    };
"""


def answering(page, *outcomes):
    """Let the page hear these outcomes of each run, without a Python."""
    body = WORKER.replace("OUTCOMES", json.dumps(outcomes))
    serve = {"body": body, "content_type": "text/javascript"}
    page.route("**/exercise-worker.js*", lambda route: route.fulfill(**serve))


class Editor:
    """Where code is written. It is used as a text area is, once CodeMirror is there."""

    def __init__(self, place):
        self.place = place

    @property
    def content(self):
        self.place.scroll_into_view_if_needed()  # it comes near the screen only
        return self.place.locator(".cm-content")

    def fill(self, code):
        self.content.wait_for()
        self.place.evaluate("({ editor }) => editor.select(0, editor.value.length)")
        self.press("Delete")  # Firefox inserts no text over several lines
        self.place.page.keyboard.insert_text(code)

    def press(self, key):
        self.content.press(key)

    def focus(self):
        self.content.focus()

    def input_value(self):
        return self.place.evaluate("place => place.editor.value")

    def is_editable(self):
        return self.content.is_editable()


def editor(page, cell):
    """Where an answer is written."""
    bar = f'.exercise-bar[data-cell="{cell}"]'
    return Editor(page.locator(f".code-editor:has(+ {bar})"))


def settled(page, place, timeout=30_000):
    """The text of a place when nothing runs any more."""
    page.wait_for_function(IDLE, timeout=timeout)
    return place.text_content()


def saved(page, button, folder):
    """What a button lets a reader save, in a folder."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def downloaded(page, folder):
    """The notebook that a student hands in."""
    return saved(page, "Download my notebook", folder)


def keep(page, key, value):
    """Put a value where the pages keep theirs."""
    store = "([key, value]) => localStorage.setItem(key, JSON.stringify(value))"
    page.evaluate(store, [key, value])


def released(name):
    """An assignment as students get it."""
    (path,) = (ROOT / "exercises" / name).glob("*.ipynb")
    return path
