"""Broken but honest submissions. Every one must be explained, not only scored."""
# ruff: noqa: E501 - one case a line, as a table

from corpus import SQUARE, Case

Q = (0.0, 3.0)  # that question is lost, the other is not
ALL = (2.0, 3.0)


def body(*lines: str) -> str:
    """square with these lines."""
    return "def square(x):\n" + "\n".join(f"    {line}" for line in lines)


MISTAKES = [
    # ------------------------------------------------ names and old state
    Case(
        "name-of-a-later-cell",
        square=body("return x * x * scale"),
        last="scale = 1",
        points=Q,
        says="`scale`, which no cell before this one defines",
    ),
    Case(
        "name-of-a-cell-that-failed",
        first="1 / 0\ndef times(a, b): return a * b",
        square=body("return times(x, x)"),
        points=Q,
        says="which is missing because cell 2 failed: ZeroDivisionError: division by zero",
    ),
    Case("renamed", square=SQUARE.replace("square", "Square"), points=Q, says="Square"),
    Case("misspelled", SQUARE.replace("square", "sqaure"), points=Q, says="did you m"),
    Case("deleted", square="", points=Q, says="no cell defines `square`"),
    Case("answer-in-a-new-cell-below", square="# see below", first=SQUARE),
    Case("written-twice", square=body("return 0") + "\n\n" + SQUARE),
    Case("overwritten-by-a-number", square=SQUARE + "\nsquare = 4", points=Q),
    Case("overwritten-later", last="del square, total"),
    Case("helper-in-an-extra-cell", first="def h(x): return x", square=body("return h(x) * x")),
    Case("global-counter", square="n = 0\n" + body("global n", "n += 1", "return x * x")),
    Case("test-name-as-variable", first="x = 3; value = 'mine'; expect = None"),
    # ------------------------------------------------ no answer
    Case("left-open", square=body("raise NotImplementedError"), points=Q, says="no answer yet"),
    Case(
        "calls-an-open-one",
        square=body("raise NotImplementedError"),
        total="def total(x):\n    return square(x).sum()",
        points=(0.0, 0.0),
        says="calls `square`, which has no answer yet",
    ),
    Case("left-open-in-the-cell", square="raise NotImplementedError", points=Q),
    Case("left-open-with-pass", square=body("pass"), points=Q, says="did you forget `return`?"),
    Case("prints-instead-of-returning", body("print(x * x)"), points=Q, says="`return`"),
    Case("empty-notebook", square="", total="", points=(0.0, 0.0)),
    # ------------------------------------------------ cells that stop
    Case(
        "syntax-error",
        square="def square(x)\n    return x * x",
        points=Q,
        says="because cell 2 failed: SyntaxError",
    ),
    Case("indentation-error", "def square(x):\nreturn x", points=Q, says="Indentation"),
    Case("tabs-and-spaces", "def square(x):\n\ty = x\n        return y", points=Q, says="Tab"),
    Case("smart-quotes", first="print(“hello”)", says="invalid character"),
    Case("error-after-the-definition", square=SQUARE + "\nsquare('a')", says="TypeError"),
    Case("error-before-the-definition", "1 / 0\n" + SQUARE, points=Q, says="ZeroDivision"),
    Case("missing-module", first="import tensorflow", says="No module named 'tensorflow'"),
    Case("torch-in-a-numpy-assignment", first="import torch", says="torch is not available"),
    Case("missing-file", first="open('/Users/me/data.csv')", says="/Users/me/data.csv"),
    Case("exit-at-the-end", last="import sys; sys.exit(0)"),
    Case("exit-in-the-first-cell", first="exit()"),
    Case("quit-in-the-answer", square=SQUARE + "\nquit()"),
    Case("null-byte", first="y = 1\0", says="null"),
    Case("lone-surrogate", first="y = '\ud800'", says="surrogate"),
    Case("own-assertion-fails", last="assert square(2) == 5"),
    Case("interrupted-once", first="raise KeyboardInterrupt"),
    Case("deep-recursion", body("return square(x)"), points=Q, says="RecursionError"),
    # ------------------------------------------------ wrong kinds of results
    Case("returns-a-list", body("return list(x * x)"), points=Q, says="is a list"),
    Case("returns-a-tuple", body("return x * x,"), points=Q, says="is a tuple"),
    Case("returns-a-string", body("return str(x * x)"), points=Q, says="is a str"),
    Case("returns-a-set", body("return set(x)"), points=Q, says="is a set"),
    Case("returns-a-generator", body("return (y for y in x)"), points=Q, says="is a gen"),
    Case("returns-a-function", body("return lambda: x"), points=Q, says="is a function"),
    Case("returns-integers", body("return (x * x).astype(int)"), points=Q, says="int64"),
    Case("returns-objects", body("return (x * x).astype(object)"), points=Q, says="object"),
    Case("returns-a-column", body("return (x * x)[:, None]"), points=Q, says="(5, 1)"),
    Case("returns-a-number", body("return x[0] ** 2"), points=Q, says="shape ()"),
    Case("returns-a-matrix", body("return np.matrix(x * x)"), points=Q, says="shape (1, 5)"),
    Case("returns-nan", body("return x * np.nan"), points=Q, says="NaN"),
    Case("returns-the-wrong-numbers", body("return x + x"), points=Q, says="the square"),
    Case("returns-an-array-for-a-number", total="def total(x):\n    return x", points=(2.0, 0.0), says="has shape (5,)"),
    Case("changes-its-input", body("x *= x", "return x"), points=Q, says="changed the array"),
    Case("takes-no-argument", "def square():\n    return 1", points=Q, says="TypeError"),
    Case("raises", body("raise ValueError('too hard')"), points=Q, says="ValueError"),
    # ------------------------------------------------ right in another style
    Case("lambda", square="square = lambda x: x * x"),
    Case("single-precision", square=body("return (x * x).astype(np.float32)")),
    Case("big-endian", square=body("return (x * x).astype('>f8')")),
    Case("vectorized-class", "class S:\n    def __call__(self, x): return x * x\nsquare = S()"),
    Case("partial", "from functools import partial\nsquare = partial(pow, exp=2)"),
    Case("method", "class S:\n    def f(self, x): return x * x\nsquare = S().f"),
    Case("ufunc", square="square = np.square"),
    Case("star-import", square="from numpy import *\n" + SQUARE),
    Case("type-hints", square="def square(x: np.ndarray) -> np.ndarray:\n    return x * x"),
    Case("windows-lines", square=SQUARE.replace("\n", "\r\n")),
    Case("unicode-names", square=body("größe = x", "return größe * größe")),
    Case("returns-a-view", square=body("return (x * x)[::-1][::-1]")),
    Case("returns-a-read-only-array", square=body("y = x * x", "y.flags.writeable = False", "return y")),
    Case("slow-but-in-time", square="import time\n" + body("time.sleep(0.05)", "return x * x")),
    # ------------------------------------------------ notebook habits
    Case("magics", first="%pip install numpy\n!wget example.org\n%matplotlib inline", says="left out: %pip"),
    Case("bare-pip", first="pip install numpy", says="left out: %pip install"),
    Case("help", first="np.exp?\nprint('after')", says="after"),
    Case("timed-cell", square="%%time\n" + SQUARE),
    Case("timed-line", square="%time " + "f = lambda x: x * x\nsquare = f"),
    Case("shell-to-variable", first="files = !ls\nfiles", says="left out: = !ls"),
    Case("other-language", first="%%bash\nrm -rf /", says="left out: a cell that starts"),
    Case("percent-in-a-text", first="s = '''\n%pip\n'''\nprint(len(s))", says="6"),
    Case("reset", last="%reset -f"),
    Case("asks-where-it-runs", first="if 'colab' in str(get_ipython()): 1 / 0"),
    Case("input", first="name = input('who? ')", says="input() is not available"),
    Case("input-in-the-answer", body("return float(input()) * x"), points=Q, says="input()"),
    Case("show", last="import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()", says="<Figure"),
    Case("figure-left-open", last="import matplotlib.pyplot as plt\nplt.imshow([[1]])", says="AxesImage"),
    Case("display", last="display(np.arange(3))", says="array([0, 1, 2])"),
    Case("check-in-a-cell", last="from autograder.checks import attention as check\ncheck"),
    Case("hidden-check-in-a-cell", last="from autograder.checks import attention as c\nc.hidden", says="run when your work is graded"),
    # ------------------------------------------------ noise
    Case("warns", body("import warnings", "warnings.warn('old', DeprecationWarning)", "return x * x")),
    Case("logs", first="import logging; logging.warning('careful')", says="careful"),
    Case("stderr", square="import sys\n" + body("print('!', file=sys.stderr)", "return x * x")),
    Case("progress-bar", last="import sys\nfor i in range(3): sys.stderr.write(f'\\r{i}/3')", says="2/3", never="0/3"),
    Case("divides-by-zero", last="np.array([1.0]) / 0", says="RuntimeWarning"),
    Case("prints-a-lot-in-a-call", body("print('x' * 10**6)", "return x * x")),
    Case("own-random-py", files={"random.py": b"1 / 0"}, last="import random; random.random()"),
    Case("reads-its-file", files={"data/a.txt": b"seven"}, last="print(open('data/a.txt').read())", says="seven"),
    Case("thread-left-running", first="import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()"),
    Case("process-left-running", first="import subprocess\nsubprocess.Popen(['sleep', '99'])"),
]  # fmt: skip
