"""The honest cases, as a table."""
# ruff: noqa: E501 - one case a line where it fits

from honest import (
    NAMES,
    WRITTEN,
    Case,
    Cells,
    after,
    answer,
    answers,
    both,
    cell_of,
    code,
    edited,
    first,
    last,
    picture,
    place,
    source_of,
    stub,
    text,
    without,
)

TESTS = [f"test_{name}" for name in NAMES]
SOFTMAX = "e = np.exp(x - x.max(axis=axis, keepdims=True))"


def merged_into_first(cells: Cells) -> Cells:
    """Shift+M over three answers, which lie beside each other then."""
    cell_of(cells, NAMES[0])["source"] = "\n\n".join(answers(cells))
    return without(cells, *NAMES[1:])


def merged_into_last_stub(cells: Cells) -> Cells:
    *two, _ = given = answers(cells)
    cell_of(cells, NAMES[2])["source"] = "\n\n".join([stub(NAMES[2]), *two, given[2]])
    return without(cells, *NAMES[:2])


def merged_with_test(cells: Cells) -> Cells:
    """Each answer merged with the test cell below it; the answer's metadata stays."""
    for name in NAMES:
        merged = (
            source_of(cell_of(cells, name))
            + "\n\n"
            + source_of(cell_of(cells, f"test_{name}"))
        )
        cell_of(cells, name)["source"] = merged
    return without(cells, *TESTS)


def all_in_one(cells: Cells) -> Cells:
    """The whole notebook's code merged into one cell, tests and all."""
    whole = "\n\n".join(source_of(c) for c in cells if c["cell_type"] == "code")
    kept = [c for c in cells if c["cell_type"] != "code"]
    return [*kept[:1], code(whole), *kept[1:]]


def in_own_cell(where: int, leave_stubs: bool):
    def change(cells: Cells) -> Cells:
        own = code("\n\n".join(answers(cells)))
        for name in NAMES:
            cell_of(cells, name)["source"] = stub(name)
        if not leave_stubs:
            cells = without(cells, *NAMES)
        cells.insert(where if where >= 0 else len(cells), own)
        return cells

    return change


def typed_into_tests(cells: Cells) -> Cells:
    """Answers above the check in the test cells; the answer cells are still empty."""
    for name in NAMES:
        test = cell_of(cells, f"test_{name}")
        test["source"] = source_of(cell_of(cells, name)) + "\n\n" + source_of(test)
        cell_of(cells, name)["source"] = stub(name)
    return cells


def moved(name: str, where: int):
    def change(cells: Cells) -> Cells:
        cell = cells.pop(place(cells, name))
        cells.insert(where if where >= 0 else len(cells), cell)
        return cells

    return change


def tests_at_the_end(cells: Cells) -> Cells:
    tests = [cell_of(cells, name) for name in TESTS]
    return without(cells, *TESTS) + tests


def without_metadata(cells: Cells) -> Cells:
    return [dict(cell, metadata={}) for cell in cells]


def retyped(name: str, kind: str):
    def change(cells: Cells) -> Cells:
        cell_of(cells, name)["cell_type"] = kind
        return cells

    return change


def split(cells: Cells) -> Cells:
    """The cursor was in the middle of the answer."""
    where = place(cells, NAMES[1])
    whole = source_of(cells[where])
    cells[where]["source"] = "scale = 0.5"
    second = dict(code(whole), metadata=dict(cells[where]["metadata"]))
    return [*cells[: where + 1], second, *cells[where + 1 :]]


def pasted_twice(cells: Cells) -> Cells:
    where = place(cells, NAMES[0])
    return [*cells[:where], dict(cells[where], source=stub(NAMES[0])), *cells[where:]]


def windows_lines(cells: Cells) -> Cells:
    return [dict(cell, source=source_of(cell).replace("\n", "\r\n")) for cell in cells]


def lines_as_list(cells: Cells) -> Cells:
    return [dict(c, source=source_of(c).splitlines(keepends=True)) for c in cells]


def open_written(cells: Cells) -> Cells:
    cell_of(cells, WRITTEN)["source"] = "Your answer here."
    return cells


def written_elsewhere(*changes):
    return both(open_written, *changes)


def with_picture(data: str, name: str = "image.png", kind: str = "image/png"):
    def change(cells: Cells) -> Cells:
        cell = cell_of(cells, WRITTEN)
        cell["source"] = f"See ![sketch](attachment:{name}) for the three roles."
        cell["attachments"] = {name: {kind: data}}
        return cells

    return change


WORDS = "A query asks, a key is found, a value is handed over: three tasks."

CUT_AND_MERGED = [
    Case("answers-merged-into-the-first", merged_into_first),
    Case("answers-merged-into-the-last-stub", merged_into_last_stub),
    Case("answers-merged-with-their-tests", merged_with_test),
    Case("all-code-in-one-cell", all_in_one),
    Case("answers-in-an-own-cell-on-top", in_own_cell(2, leave_stubs=True)),
    Case("answers-in-an-own-cell-below-the-tests", in_own_cell(-1, leave_stubs=True)),
    Case(
        "answers-in-an-own-cell-and-no-answer-cells", in_own_cell(2, leave_stubs=False)
    ),
    Case("answers-typed-into-the-test-cells", typed_into_tests),
    Case("an-answer-split-in-two", split),
    Case("an-answer-cell-pasted-twice", pasted_twice),
    Case("all-metadata-lost", without_metadata),
    Case(
        "metadata-lost-and-a-lambda",
        both(
            answer(
                "softmax",
                "softmax = lambda x, axis=-1: (lambda e: e / e.sum(axis=axis, keepdims=True))(np.exp(x - x.max(axis=axis, keepdims=True)))",
            ),
            without_metadata,
        ),
    ),
    Case("test-cells-deleted", lambda cells: without(cells, *TESTS)),
    Case(
        "cards-deleted",
        lambda cells: without(cells, "card_softmax", "card_scores", "card_attention"),
    ),
    Case(
        "imports-deleted-and-written-again",
        lambda cells: [
            *without(cells, "imports")[:1],
            code("import numpy as np"),
            *without(cells, "imports")[1:],
        ],
    ),
    Case("answers-became-text", both(*(retyped(name, "markdown") for name in NAMES))),
    Case("answers-became-raw", both(*(retyped(name, "raw") for name in NAMES))),
    Case("a-test-became-text", retyped("test_softmax", "markdown")),
    Case("windows-line-ends", windows_lines),
    Case("sources-as-lists", lines_as_list),
]
MOVED = [
    Case("an-answer-moved-to-the-top", moved("scaled_dot_product_attention", 2)),
    Case("an-answer-moved-to-the-end", moved("scaled_dot_product_attention", -1)),
    Case(
        "the-first-answer-moved-to-the-end-alone",
        both(moved("softmax", -1), moved("test_softmax", -1)),
        points=(4.0, 4.0, 0.0),
        says="softmax",
    ),
    Case("tests-moved-to-the-end", tests_at_the_end),
    Case("a-test-moved-before-its-answer", moved("test_softmax", 2)),
    Case("cells-in-reverse", lambda cells: cells[::-1], points=(4.0, 4.0, 0.0)),
    Case("imports-moved-to-the-end", moved("imports", -1)),
    Case("the-written-answer-moved-to-the-top", moved(WRITTEN, 1)),
]
ADDED = [
    Case(
        "an-import-added-to-the-imports",
        both(
            edited("imports", lambda s: s + "\nfrom numpy import exp"),
            answer(
                "softmax",
                "def softmax(x, axis=-1):\n    e = exp(x - x.max(axis=axis, keepdims=True))\n    return e / e.sum(axis=axis, keepdims=True)",
            ),
        ),
    ),
    Case(
        "a-helper-above-the-imports",
        both(
            edited(
                "imports",
                lambda s: (
                    "import math\n\ndef root(x):\n    return math.sqrt(x)\n\n" + s
                ),
            ),
            answer(
                "attention_scores",
                "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2) / root(Q.shape[-1])",
            ),
        ),
    ),
    Case(
        "a-helper-in-a-test-cell",
        both(
            edited(
                "test_softmax", lambda s: "def dot(a, b):\n    return a @ b\n\n" + s
            ),
            answer(
                "attention_scores",
                "def attention_scores(Q, K):\n    return dot(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1])",
            ),
        ),
    ),
    Case(
        "a-print-below-a-check",
        edited("test_softmax", lambda s: s + "\nprint(softmax(np.zeros(2)))"),
        says="0.5 0.5",
    ),
    Case(
        "a-trial-between-answer-and-test",
        after(
            "softmax",
            code("softmax(np.arange(3.0))"),
            code("assert softmax(np.zeros(4)).sum() == 1"),
        ),
    ),
    Case(
        "a-helper-cell-after-the-answer",
        both(
            after(
                "softmax",
                code("def top(x, axis):\n    return x.max(axis=axis, keepdims=True)"),
            ),
            answer(
                "softmax",
                "def softmax(x, axis=-1):\n    e = np.exp(x - top(x, axis))\n    return e / e.sum(axis=axis, keepdims=True)",
            ),
        ),
    ),
    Case(
        "comments-and-blank-lines-in-a-test",
        edited("test_softmax", lambda s: "# I hope this holds\n\n" + s + "\n\n"),
    ),
    Case(
        "a-check-commented-out",
        edited(
            "test_softmax", lambda s: "\n".join(f"# {line}" for line in s.splitlines())
        ),
    ),
    Case(
        "five-thousand-names",
        first("for i in range(6000):\n    globals()[f'n{i}'] = i"),
    ),
    Case(
        "a-name-of-the-course-reused", first("check = 'mine'; expect = 3; value = None")
    ),
    Case(
        "the-course-s-checks-imported",
        first("from autograder.checks import attention as check, expect"),
    ),
]
WRITTEN_CASES = [
    Case("written-in-its-cell", lambda cells: cells),
    Case("written-below", written_elsewhere(after(WRITTEN, text(WORDS)))),
    Case("written-above", written_elsewhere(after("card_roles", text(WORDS)))),
    Case(
        "written-into-the-card",
        written_elsewhere(edited("card_roles", lambda s: f"{s}\n\n{WORDS}")),
    ),
    Case(
        "written-above-the-card",
        written_elsewhere(after("test_scaled_dot_product_attention", text(WORDS))),
    ),
    Case(
        "written-as-a-comment-below",
        written_elsewhere(after(WRITTEN, code(f"# {WORDS}"))),
    ),
    Case(
        "written-as-a-string-below",
        written_elsewhere(after(WRITTEN, code(f'"""{WORDS}"""'))),
    ),
    Case(
        "written-as-a-comment-in-the-last-test",
        written_elsewhere(edited("test_check_softmax", lambda s: f"{s}\n# {WORDS}")),
    ),
    Case(
        "written-in-raw-text",
        written_elsewhere(after(WRITTEN, dict(text(WORDS), cell_type="raw"))),
    ),
    Case("written-at-the-top", written_elsewhere(lambda cells: [text(WORDS), *cells])),
    Case(
        "written-below-and-its-cell-deleted",
        both(lambda cells: without(cells, WRITTEN), after("card_roles", text(WORDS))),
    ),
    Case("not-written", open_written, waits=False),
    Case("a-picture-in-the-answer", with_picture(picture()), says=picture()),
    Case("a-broken-picture-in-the-answer", with_picture("aGVsbG8="), says="image.png"),
    Case(
        "a-huge-picture-in-the-answer",
        with_picture(picture(60_000, 2)),
        says="image.png",
    ),
    Case(
        "a-vector-picture-in-the-answer",
        with_picture("PHN2Zy8+", "s.svg", "image/svg+xml"),
        says="s.svg",
    ),
    Case(
        "a-picture-that-is-not-there",
        edited(WRITTEN, lambda _: "![](attachment:gone.png)"),
        says="gone.png",
    ),
]
PRINTED = [
    Case("three-thousand-lines", first("for i in range(3000):\n    print(i)")),
    Case(
        "three-thousand-displays",
        first("for i in range(3000):\n    display(i)"),
        says="the rest is left out",
    ),
    Case(
        "both-streams-in-turn",
        first(
            "import sys\nfor i in range(1500):\n    print(i)\n    print(i, file=sys.stderr)"
        ),
        says="the rest is left out",
    ),
    Case(
        "half-a-million-dots", first("for i in range(500_000):\n    print('.', end='')")
    ),
    Case(
        "ten-megabytes-at-once",
        first("print('x' * 10_000_000)"),
        says="the rest is left out",
    ),
    Case("a-long-error", first("raise ValueError('x' * 5_000_000)")),
    Case(
        "a-long-assertion", first("big = list(range(400_000))\nassert big == [], big")
    ),
    Case(
        "a-hundred-figures",
        first(
            "import matplotlib.pyplot as plt\nfor i in range(12):\n    plt.figure(figsize=(1, 1)); plt.plot([i]); plt.show()"
        ),
    ),
    Case(
        "a-print-in-every-call",
        answer(
            "softmax",
            "def softmax(x, axis=-1):\n    print(x)\n    "
            + SOFTMAX
            + "\n    return e / e.sum(axis=axis, keepdims=True)",
        ),
    ),
]
MAGICS = [
    Case(
        "matplotlib-inline",
        first(
            "%matplotlib inline\n%config InlineBackend.figure_format = 'svg'\n%load_ext autoreload\n%autoreload 2"
        ),
    ),
    Case(
        "pip-with-and-without-a-sign",
        first("%pip install numpy", "!pip install numpy", "pip install numpy"),
        says="left out",
    ),
    Case("help-on-a-name", first("np.exp?", "?np.exp", "np.exp??", "x = 1\nx?")),
    Case("shell-to-a-name", first("files = !ls\nprint(len(files))")),
    Case("bash", first("%%bash\necho hello"), says="left out"),
    Case("a-timed-answer", edited("softmax", lambda s: "%%time\n" + s)),
    Case("a-captured-answer", edited("softmax", lambda s: "%%capture\n" + s)),
    Case(
        "a-timed-trial",
        after(
            "softmax",
            code(
                "%timeit softmax(np.zeros(3))\nbest = %time softmax(np.zeros(3))\nprint(best.shape)"
            ),
        ),
        says="(3,)",
    ),
    Case(
        "a-file-written-and-run",
        both(
            first(
                "%%writefile helper.py\ndef root(x):\n    return x ** 0.5",
                "%run helper.py",
            ),
            answer(
                "attention_scores",
                "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2) / root(Q.shape[-1])",
            ),
        ),
    ),
    Case(
        "a-file-written-and-imported",
        both(
            first("%%writefile mine.py\nSCALE = 0.5", "from mine import SCALE"),
            answer(
                "attention_scores",
                "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** SCALE",
            ),
        ),
    ),
    Case(
        "a-magic-by-its-method",
        edited(
            "softmax",
            lambda s: "get_ipython().run_line_magic('matplotlib', 'inline')\n" + s,
        ),
    ),
    Case(
        "a-percent-in-a-text",
        edited(
            "softmax",
            lambda s: (
                "NOTE = '''\n%pip install x\n!ls\n'''\n%matplotlib inline\n"
                + s
                + "\nassert len(NOTE) == 20"
            ),
        ),
    ),
    Case(
        "await-at-the-top",
        both(
            first(
                "import asyncio\nawait asyncio.sleep(0.01)\nhalf = await asyncio.sleep(0, 0.5)"
            ),
            answer(
                "attention_scores",
                "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** half",
            ),
        ),
    ),
    Case(
        "the-last-result",
        both(
            first("0.5", "half = _\nassert Out[1] == 0.5 and In[1] == '0.5'"),
            answer(
                "attention_scores",
                "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** half",
            ),
        ),
    ),
    Case(
        "future-annotations",
        both(
            first("from __future__ import annotations"),
            edited(
                "softmax",
                lambda s: s.replace(
                    "(x, axis=-1):", "(x: Array, axis: Axis = -1) -> Array:"
                ),
            ),
        ),
    ),
    Case(
        "ipython-s-display",
        first(
            "from IPython.display import display, HTML, Markdown, clear_output\ndisplay(HTML('<b>x</b>'))\nclear_output()\nimport IPython\nIPython.get_ipython()"
        ),
    ),
    Case(
        "every-expression-shown",
        first(
            "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'"
        ),
    ),
    Case(
        "asks-for-colab",
        first(
            "import sys\nif 'google.colab' in sys.modules or 'colab' in str(get_ipython()):\n    1 / 0"
        ),
    ),
    Case("a-bare-command", first("ls", "pwd")),
]
PROCESS = [
    Case(
        "threads-set",
        first(
            "import os\nos.environ['OMP_NUM_THREADS'] = '4'\nnp = __import__('numpy')\nnp.ones((300, 300)) @ np.ones((300, 300))"
        ),
    ),
    Case("errors-of-numpy-raised", first("import numpy as np\nnp.seterr(all='raise')")),
    Case(
        "warnings-as-errors", first("import warnings\nwarnings.simplefilter('error')")
    ),
    Case(
        "warnings-hidden", first("import warnings\nwarnings.filterwarnings('ignore')")
    ),
    Case(
        "a-seed-set",
        first("import numpy as np, random\nnp.random.seed(1); random.seed(2)"),
    ),
    Case(
        "print-options",
        first("import numpy as np\nnp.set_printoptions(precision=3, suppress=True)"),
    ),
    Case("exit-at-the-end", last("import sys\nsys.exit()")),
    Case("exit-in-the-middle", after("softmax", code("exit()"))),
    Case("input-asked-for", first("name = input('Your name? ')"), says="input()"),
    Case("an-error-in-an-own-cell", after("softmax", code("softmax('text')"))),
    Case("an-own-cell-that-is-no-python", after("softmax", code("softmax of x is"))),
    Case("recursion-limit-raised", first("import sys\nsys.setrecursionlimit(100_000)")),
    Case("a-closed-stdout", last("import sys\nsys.stdout.close()")),
    Case(
        "a-map-without-a-file",
        first(
            "import mmap\nroom = mmap.mmap(-1, 4096)\nroom[:2] = b'ok'\nprint(room[:2])"
        ),
        says="b'ok'",
    ),
]
STYLES = [
    Case(
        "long-doubles",
        edited(
            "softmax",
            lambda _: (
                "def softmax(x, axis=-1):\n    x = np.asarray(x, dtype=np.longdouble)\n    "
                + SOFTMAX
                + "\n    return e / e.sum(axis=axis, keepdims=True)"
            ),
        ),
    ),
    Case(
        "a-mapped-array",
        edited(
            "softmax",
            lambda _: (
                "import tempfile\ndef softmax(x, axis=-1):\n    "
                + SOFTMAX
                + "\n    e = e / e.sum(axis=axis, keepdims=True)\n    m = np.memmap(tempfile.TemporaryFile(), dtype=e.dtype, shape=e.shape)\n    m[...] = e\n    return m"
            ),
        ),
    ),
    Case(
        "an-own-kind-of-array",
        edited(
            "softmax",
            lambda _: (
                "class Mine(np.ndarray): pass\ndef softmax(x, axis=-1):\n    "
                + SOFTMAX
                + "\n    return (e / e.sum(axis=axis, keepdims=True)).view(Mine)"
            ),
        ),
    ),
    Case(
        "an-object-with-a-call",
        edited(
            "softmax",
            lambda s: (
                s.replace("def softmax(", "def _softmax(")
                + "\n\nclass Softmax:\n    def __call__(self, x, axis=-1):\n        return _softmax(x, axis)\nsoftmax = Softmax()"
            ),
        ),
    ),
    Case(
        "a-partial",
        edited(
            "softmax",
            lambda s: (
                s.replace("def softmax(", "def _softmax(")
                + "\n\nimport functools\nsoftmax = functools.partial(_softmax)"
            ),
        ),
    ),
    Case(
        "a-decorator",
        edited(
            "softmax",
            lambda s: (
                "import functools\ndef loud(f):\n    @functools.wraps(f)\n    def g(*a, **k):\n        return f(*a, **k)\n    return g\n\n@loud\n"
                + s
            ),
        ),
    ),
    Case(
        "typed-and-documented",
        edited(
            "softmax",
            lambda s: s.replace(
                "(x, axis=-1):", "(x: 'np.ndarray', axis: int = -1) -> 'np.ndarray':"
            ),
        ),
    ),
    Case(
        "names-in-greek",
        edited(
            "attention_scores",
            lambda _: (
                "def attention_scores(Q, K):\n    δ = Q.shape[-1]\n    return Q @ np.swapaxes(K, -1, -2) / δ ** 0.5"
            ),
        ),
    ),
]


def wrapped(name: str, own: str):
    """The stub is left as it was, and an own cell below it builds on its name."""

    def change(cells: Cells) -> Cells:
        source = source_of(cell_of(cells, name))
        cell_of(cells, name)["source"] = stub(name)
        where = place(cells, name) + 1
        return [*cells[:where], code(own.replace("ANSWER", source)), *cells[where:]]

    return change


def only_one_cell(cells: Cells) -> Cells:
    """All code in one cell, and nothing else is left but the written answer."""
    whole = "\n\n".join(source_of(c) for c in cells if c["cell_type"] == "code")
    return [code(whole), cell_of(cells, WRITTEN)]


TINY = "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2) / math.sqrt(K.shape[-1])"
# found by somebody who had read the guide and the cards, and none of the code
HUNTED = [
    Case(
        "an-import-below-the-given-ones",
        both(
            edited(
                "imports",
                lambda s: (
                    f"{s}\nnp.random.seed(0)\nnp.set_printoptions(precision=3)\nimport math"
                ),
            ),
            answer("attention_scores", TINY),
        ),
        never="had failed",
    ),
    Case(
        "a-constant-below-the-given-imports",
        both(
            edited("imports", lambda s: f"{s}\nTINY = np.finfo(float).tiny"),
            answer(
                "attention_scores",
                TINY.replace("return Q", "assert TINY > 0; return Q").replace(
                    "math.sqrt(K.shape[-1])", "K.shape[-1] ** 0.5"
                ),
            ),
        ),
    ),
    Case(
        "an-import-below-a-check",
        both(
            edited(
                "test_softmax", lambda s: f"{s}\ncheck.softmax(softmax)\nimport math"
            ),
            answer("attention_scores", TINY),
        ),
    ),
    Case(
        "the-open-one-kept-under-another-name",
        wrapped("softmax", "old_softmax = softmax\nANSWER"),
    ),
    Case(
        "the-open-one-wrapped",
        wrapped(
            "softmax",
            "import functools\nstub = softmax\nANSWER\nsoftmax = functools.wraps(stub)(softmax)",
        ),
    ),
    Case(
        "the-open-one-tried-first",
        wrapped(
            "softmax",
            "try:\n    softmax(np.zeros(3))\nexcept NotImplementedError:\n    print('todo')\nANSWER",
        ),
    ),
    Case("all-code-in-one-cell-and-no-other", only_one_cell),
    Case(
        "the-books-module-tried",
        first("import attention"),
        says="this assignment comes without the book's module `attention`",
    ),
    Case(
        "written-as-a-print",
        written_elsewhere(after(WRITTEN, code(f'print("{WORDS}")'))),
    ),
    Case(
        "written-as-a-named-text",
        written_elsewhere(after(WRITTEN, code(f"q4 = ('{WORDS}')"))),
    ),
    Case(
        "written-by-a-cell-magic",
        written_elsewhere(after(WRITTEN, code(f"%%markdown\n{WORDS}"))),
    ),
    Case(
        "written-as-a-comment-below-an-answer",
        written_elsewhere(
            edited(
                "scaled_dot_product_attention", lambda s: f"{s}\n# Question 4: {WORDS}"
            )
        ),
    ),
]
CASES = [
    *HUNTED,
    *CUT_AND_MERGED,
    *MOVED,
    *ADDED,
    *WRITTEN_CASES,
    *PRINTED,
    *MAGICS,
    *PROCESS,
    *STYLES,
]
