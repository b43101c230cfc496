"""Hostile submissions: none earns a point its answers do not, or harms others."""
# ruff: noqa: E501 - one case a line, as a table

from corpus import SQUARE, WRONG, Case

Q = (0.0, 3.0)  # that question is lost, the other is not
ALL = (2.0, 3.0)


def body(*lines: str) -> str:
    """square with these lines."""
    return "def square(x):\n" + "\n".join(f"    {line}" for line in lines)


# what a submission may be greedy for: of each kind every run has a case
GREEDY = {
    "time": [
        Case("loop", body("while True: pass"), points=Q, says="ran longer than 0.5 s"),
        Case("sleep", "import time\n" + body("time.sleep(99)"), points=Q, says="did not finish in"),
        Case(
            "loop-that-catches",
            body("while True:", "    try:", "        while True: pass", "    except BaseException: pass"),
            points=Q,
            says="ran longer than 0.5 s",
        ),
        Case("loop-in-a-cell", first="while True: pass", says="the cell ran longer than 0.5 s"),
        Case(
            "loop-in-a-cell-that-catches",
            first="import time\nwhile True:\n    try: time.sleep(9)\n    except BaseException: pass",
            says="did not stop",
        ),
        Case(
            "deaf-to-the-clock",
            first="import signal\n[signal.signal(n, signal.SIG_IGN) for n in (14, 27)]\nwhile True: pass",
            says="did not stop",
        ),
        Case(
            "signals-blocked",
            body("import signal", "signal.pthread_sigmask(0, range(1, 65))", "while True: pass"),
            points=Q,
            says="ran longer than 0.5 s",
        ),
        Case("stops-itself", body("import os, signal", "os.kill(os.getpid(), signal.SIGSTOP)", "return 1"), points=Q, says="did not finish in"),
    ],
    "memory": [
        Case("memory", body("return bytearray(10**12)"), points=Q, says="more than 400 MB"),
        Case("growing-list", body("y = np.ones(2 * 10**7)", "while True: y = np.concatenate([y, y])"), points=Q, says="more than 400 MB"),
        Case("memory-in-a-cell", first="bytearray(10**12)", says="MemoryError"),
    ],
    "processes": [
        Case("fork-bomb", body("import os", "while True: os.fork()"), points=Q),
        Case("fork-bomb-that-replies", body("import os", "while True:", "    try: os.fork()", "    except OSError: return x + x"), points=Q),
        Case("fork-bomb-in-a-cell", first="import os, time\nwhile os.fork() == 0: pass\nos.wait()"),
        Case("threads", body("import threading, time", "while True: threading.Thread(target=time.sleep, args=(9,)).start()"), points=Q),
        Case("subprocess-flood", first="import subprocess\nfor _ in range(200): subprocess.Popen(['sleep', '99'])", says="Resource temporarily unavailable"),
    ],
    "output": [
        Case("long-lines", first="for _ in range(100): print('x' * 10**6)", says="the rest is left out"),
        Case("many-lines", first="for i in range(10**5): print(i)", says="the rest is left out"),
        Case("output-past-python", first="import os\nfor _ in range(500): os.write(1, b'y' * 4000)", says="the rest is left out"),
        Case("long-repr", first="list(range(10**6))", says="the rest is left out"),
        Case("endless-repr", first="class R:\n    def __repr__(self):\n        while True: pass\nR()", says="ran longer"),
        Case("endless-error-text", first="class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E"),
        Case("long-traceback", first="def f(n): return f(n - 1) if n else 1 / 0\nf(900)", says="ZeroDivisionError"),
    ],
    "files": [
        Case("full-disk", first="f = open('big', 'wb')\nfor _ in range(99): f.write(b'0' * 10**6)", says="Error"),
        Case("full-tmp", first="for i in range(9): open(f'/tmp/{i}', 'wb').write(b'0' * 10**6)", says="No space left", landlock="Permission denied"),
        Case("many-files", first="for i in range(10**4): open(f'{i}', 'w').close()", says="No space left", landlock=""),
        Case("open-files", first="import os\nwhile True: os.dup(1)", says="Too many open files"),
    ],
    "crashes": [
        Case("segfault", body("import ctypes", "ctypes.string_at(1)"), points=Q, says="crashed (signal 11, SIGSEGV)"),
        Case("segfault-in-a-cell", first="import ctypes; ctypes.string_at(1)", says="the cell crashed (signal 11"),
        Case("abort", body("import os", "os.abort()"), points=Q, says="crashed (signal 6, SIGABRT)"),
        Case("stack-overflow", "import sys\nsys.setrecursionlimit(10**9)\n" + body("return eval('(' * 10**5)"), points=Q),
        Case("crashes-again-and-again", first="import os; os._exit(1)", square="import os; os._exit(1)", total="import os; os._exit(1)", points=(0.0, 0.0), says="crashed too often"),
    ],
    "sizes": [
        Case("huge-figure", first="import matplotlib.pyplot as plt\nplt.figure(figsize=(2000, 2000))", says="Error"),
        Case("huge-view", body("return np.broadcast_to(0.0, (10**6, 10**6))"), points=Q, says="too large"),
        Case("huge-number", body("return 10**10000"), points=Q, says="too large"),
    ],
    "kills": [
        Case("kills-everyone", body("import os", "os.kill(-1, 9)", "return x"), points=Q),
        Case("kills-everyone-in-a-cell", first="import os\ntry: os.kill(-1, 9)\nexcept OSError: pass"),
    ],
}  # fmt: skip

# What square returns is wrong; the tricks are meant to make it count.
TAMPERING = [
    Case("always-equal", body("class Yes:", "    __eq__ = __le__ = __lt__ = lambda *a: True", "    __sub__ = __rsub__ = __abs__ = lambda *a: Yes()", "return Yes()"), points=Q, says="is an object", plain=True),
    Case("array-subclass", "class A(np.ndarray):\n    def __array_ufunc__(self, *a, **k): return np.zeros(5)\n" + body("return (x + x).view(A)"), points=Q, plain=True),
    Case("array-that-agrees", "class A(np.ndarray):\n    def __sub__(self, o): return np.zeros(5)\n" + body("return (x + x).view(A)"), points=Q, plain=True),
    Case("float-subclass", total="class F(float):\n    __sub__ = lambda *a: 0.0\ndef total(x): return F(7)", points=(2.0, 0.0), says="is a F"),
    Case("lies-about-its-class", body("class L:", "    __class__ = np.ndarray", "return L()"), points=Q),
    Case("patches-allclose", "np.allclose = np.array_equal = lambda *a, **k: True\nnp.abs = lambda v: np.zeros(1)\n" + WRONG, points=Q, naive=2.0),
    Case("patches-builtins", "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.max = lambda *a: float('inf')\n" + WRONG, points=Q),
    Case("patches-expect", "from autograder.checks import expect\nexpect.close = lambda *a, **k: None\n" + WRONG, points=Q, naive=2.0),
    Case("patches-the-module-table", "import sys, types\nm = types.ModuleType('e')\nm.call = m.array = m.close = lambda *a, **k: None\nsys.modules['autograder.checks.expect'] = m\nimport autograder.checks\nautograder.checks.expect = m\n" + WRONG, points=Q, naive=2.0),
    Case("defuses-the-failure", "from autograder.checks import question\nquestion.CheckFailed.__init__ = lambda *a, **k: None\nimport autograder.checks.expect as e\ne.finite = lambda *a: None\nimport types\ne.np = types.SimpleNamespace(**{**vars(np), 'abs': lambda v: np.zeros(1)})\n" + WRONG, points=Q, naive=2.0),
    Case("known-random-numbers", "np.random.default_rng = lambda *a: type('R', (), {'normal': lambda s, size: np.full(size, 2.0)})()\n" + WRONG, points=Q, naive=2.0),
    Case("looks-at-the-caller", body("import sys", "f = sys._getframe(1)", "while f and 'value' not in f.f_globals and 'expect' not in f.f_globals: f = f.f_back", "f.f_globals['expect'].close = lambda *a, **k: None", "return x + x"), points=Q, naive=2.0),
    Case("changes-the-question", body("x[:] = 2.0", "return x + x"), points=Q, says="changed what it was given", plain=True),
    Case("trace-function", "import sys\n" + body("sys.settrace(lambda *a: None)", "return x + x"), points=Q),
    Case("exit-as-success", body("raise SystemExit(0)"), points=Q, says="ended the program"),
    Case("hard-exit-as-success", body("import os", "os._exit(0)"), points=Q, says="ended the program (exit code 0)"),
    Case("hard-exit-in-the-last-cell", last="import os; os._exit(0)", says="the cell ended the program"),
    Case("hard-exit-in-the-first-cell", first="import os; os._exit(0)", says="the cell ended the program"),
    Case("closes-the-day", first="import atexit, os\natexit.register(lambda: os._exit(0))"),
    Case("returns-a-score", "from autograder.checks.question import Score\n" + body("return Score(2.0)"), points=Q),
    Case("returns-true", body("return True"), points=Q, says="is a bool"),
    Case("raises-a-failed-check", "from autograder.checks.failures import CheckFailed\n" + body("raise CheckFailed('all fine')"), points=Q),
    Case("raises-stop-iteration", body("raise StopIteration"), points=Q, says="StopIteration"),
    Case("own-np", first="np2 = np\nclass np:\n    ndarray = object", square=WRONG, points=Q),
    Case("own-judge-names", first="expect = check = value = x = 5\ndef print(*a): 1 / 0\nlen = abs = isinstance = None", square=WRONG, points=Q),
    Case("verdict-on-stdout", first="print('{\"score\": 2.0}')", square=WRONG, points=Q),
    Case("verdict-by-the-protocol", "import autograder.wall.sandbox.request_handler as a\na.operate = lambda *p: 2.0\n" + WRONG, points=(0.0, 0.0)),
    Case("different-each-time", "class L(list):\n    def __iter__(self): return iter([1.0])\n" + body("return L([1, 2])"), points=Q),
    Case("property-that-changes", total="class T(tuple):\n    def __getitem__(s, i): return 1.0\ndef total(x): return T((1, 2))", points=(2.0, 0.0), says="is a tuple"),
    Case("remembers-the-visible", "known = {1.0: 1.0, 2.0: 4.0}\n" + body("return np.array([known.get(v, 0.0) for v in x])"), points=Q),
    Case("copies-the-input-back", body("x[:] = 0", "return np.zeros(5)"), points=Q, plain=True),
    Case("silences-warnings", first="import warnings\nwarnings.filterwarnings('error')"),
    Case("threads-that-write", "import threading\n" + body("def w():", "    while True: x[:] = 0", "threading.Thread(target=w, daemon=True).start()", "return x + x"), points=Q),
]  # fmt: skip

_SOCKETS = """
import os, socket, stat
def channels():
    for fd in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(fd).st_mode): yield fd
        except OSError: pass
"""
# replies to the cells before they come, and never reads again: what is sent piles up
_DEAF = (
    _SOCKETS
    + """
import signal, struct, time
from autograder.wall.wire import encode
reply = encode(([], None, None), None)
for fd in channels(): os.write(fd, 2 * (struct.pack("<I", len(reply)) + bytes(reply)))
signal.signal(signal.SIGALRM, signal.SIG_IGN)
time.sleep(10**6)"""
)
_FORGER = r"""
import struct
import autograder.wall.sandbox.request_handler as c
import autograder.wall.wire.encoding as w
class Forged: pass
def mark(kind, *parts): return w.Packer().pack([w.MARKS[kind], *parts])
parts, real = w.Writer.parts, c.encode
w.Writer.parts = lambda self, v: b"FORGED" if type(v) is Forged else parts(self, v)
c.encode = lambda v, r: real(v, r).replace(b"\xc4\x06FORGED", content)
"""


def forged(content: str) -> str:
    """square, with a wire on which these bytes are sent for its result."""
    return f"{_FORGER}\ncontent = {content}\n" + body("return Forged()")


WIRE = [
    Case("garbage-from-a-cell", first=_SOCKETS + "for fd in channels(): os.write(fd, b'\\xff' * 64)", points=None, says="frame"),
    Case("garbage-from-the-answer", _SOCKETS + body("for fd in channels(): os.write(fd, b'\\xff' * 64)", "return x"), points=None, says="frame"),
    Case("half-a-frame", _SOCKETS + body("for fd in channels(): os.write(fd, b'\\x09\\0\\0\\0abc')", "os._exit(0)"), points=Q, says="ended the program"),
    Case("claims-4-gigabytes", _SOCKETS + body("for fd in channels(): os.write(fd, b'\\xff\\xff\\xff\\xff')", "return x"), points=None, says="too long"),
    Case("hangs-up", _SOCKETS + body("for fd in channels(): os.close(fd)", "return x"), points=Q),
    Case("hangs-up-in-a-cell", first="import os; os.closerange(3, 256)", says="the cell ended"),
    Case("reads-the-requests", _SOCKETS + body("for fd in channels(): os.read(fd, 99)", "return x"), points=Q, says="did not finish in"),
    Case("reads-nothing-any-more", first=_DEAF, square=SQUARE + "\n#" + "x" * 212_500, points=(0.0, 0.0), says="crashed too often"),
    Case("two-replies", _SOCKETS + body("import autograder.wall.channel as c", "from autograder.wall.wire import encode", "reply = encode(('ok', x * 0, None, []), None)", "import struct", "for fd in channels(): os.write(fd, struct.pack('<I', len(reply)) + bytes(reply))", "return x"), points=Q),
    Case("unknown-tag", forged('b"\\xc1"'), points=None, says="malformed"),
    Case("unknown-mark", forged('b"\\xc7\\0\\x63"'), points=None, says="malformed"),
    Case("mark-alone", forged('b"\\xc7\\0\\1"'), points=None, says="mark"),
    Case("moment", forged('b"\\xd6\\xff\\0\\0\\0\\0"'), points=None, says="mark"),
    Case("too-deep", forged('b"\\x91" * 1000 + b"\\xc0"'), points=None, says="TooLarge"),
    Case("too-many", forged('b"\\xdd" + struct.pack(">I", 10**9)'), points=None, says="malformed"),
    Case("bad-utf8", forged('b"\\xa1\\xff"'), points=None, says="malformed"),
    Case("huge-shape", forged('mark("array", "float64", struct.pack("<2Q", 2**40, 2**40), None, True, b"")'), points=None, says="its shape"),
    Case("shape-that-lies", forged('mark("array", "float64", struct.pack("<Q", 5), None, True, bytes(8))'), points=None, says="its shape"),
    Case("empty-and-absurd", forged('mark("array", "float64", struct.pack("<2Q", 0, 2**62), None, True, b"")'), points=None, says="TooLarge"),
    Case("axes-twice", forged('mark("array", "float64", struct.pack("<2Q", 1, 1), bytes(2), True, bytes(8))'), points=None, says="order of axes"),
    Case("unknown-dtype", forged('mark("scalar", "object", bytes(8))'), points=None, says="malformed"),
    Case("unhashable-key", forged('b"\\x81\\x90\\xc0"'), points=None, says="malformed"),
    Case("odd-generator", forged('mark("generator", 0, 0, 0, 2**32)'), points=None, says="random"),
    Case("bytes-after-the-end", "import autograder.wall.channel as c\nreal = c.encode\nc.encode = lambda v, r: real(v, r) + b'NN'\n" + SQUARE, points=None, says="malformed"),
    Case("reply-of-another-shape", "import autograder.wall.sandbox.request_handler as a\na.answer = lambda *p: ('ok', 1)\n" + SQUARE, points=None, says="reply"),
    Case("reply-of-another-kind", "import autograder.wall.sandbox.request_handler as a\na.answer = lambda *p: ('points', 2.0, None, [])\n" + SQUARE, points=None, says="unknown kind"),
    Case("names-that-are-none", "import autograder.wall.sandbox.request_handler as a\na.serve = lambda c, *p, **k: c.send(([1, 2], False))\n" + SQUARE, points=None, says="a name was expected"),
    Case("forged-ending", "from autograder.wall.sandbox.runner import Runner\nRunner._end = lambda self: 'fine'\n" + SQUARE, points=None, says="the exit status of a process"),
    Case("forged-outputs", first="from autograder.notebook.cells import Notebook\nNotebook.run = lambda *a: ([('html', '<script>')], None)", points=None, says="unknown kind"),
    Case("forged-picture", first="from autograder.notebook.cells import Notebook\nNotebook.run = lambda *a: ([('figure', '', b'<svg>')], None)", points=None, says="a picture that is not too large was expected"),
    Case("forged-flood", first="from autograder.notebook.cells import Notebook\nNotebook.run = lambda *a: ([('result', 'x' * 10**7)], None)", points=None, says="not too long"),
    Case("forged-array-for-a-kind", first="from autograder.notebook.cells import Notebook\nNotebook.run = lambda *a: ([(np.zeros(2), '')], None)", points=None, says="an output was expected"),
    Case("forged-array-for-a-status", "import autograder.wall.sandbox.request_handler as a\na.answer = lambda *p: (np.zeros(2), None, None, [])\n" + SQUARE, points=None, says="a status was expected"),
    Case("endless-iterator", body("return iter(int, 1)"), points=Q),
    Case("endless-list", body("y = []", "y.append(y)", "return y"), points=Q, says="nested more than 24 deep"),
    Case("deep-list", body("y = []", "for _ in range(10**5): y = [y]", "return y"), points=Q, says="nested more than 24 deep"),
    Case("million-keys", body("return dict.fromkeys(range(10**6))"), points=Q, says="too large"),
    Case("error-with-escapes", body("raise ValueError('\\x1b[2J\\u202egnp.exe')"), points=Q, says="\\x1b[2J\\u202e", never="\x1b"),
    Case("error-without-end", body("raise ValueError('x' * 10**8)"), points=Q, never="x" * 1000),
    Case("error-that-bites", body("class E(Exception):", "    def __str__(self): raise SystemExit", "raise E"), points=Q),
    Case("error-of-a-known-name", body("raise type('NotImplementedError\\n', (Exception,), {})('<b>')"), points=Q, says="raised Exception"),
    Case("evil-type-name", body("return type('\\x1b]0;owned', (), {})()"), points=Q, says="is an object", never="owned"),
    Case("type-name-carries-inputs", body("return type(repr(list(x)), (), {})()"), points=Q, says="is an object"),
    Case("dtype-carries-inputs", body("return np.zeros(5, [(f'H{x[0]}', float)])"), points=Q, says="is an ndarray of dtype void", never="dtype [("),
    Case("evil-metaclass", body("class M(type):", "    @property", "    def __name__(c): raise SystemExit", "return M('X', (), {})()"), points=Q),
    Case("output-with-escapes", first="print('\\x1b]8;;http://evil\\x07click')", says="\\x1b]8", never="\x1b"),
    Case("output-backwards", first="print('\\u202egnp.exe')", says="\\u202e", never="\u202e"),
    Case("output-of-surrogates", first="print('\\ud800')", says="ud800"),
    Case("html-result", first="class H:\n    def _repr_html_(self): return '<script>'\n    def __repr__(self): return 'plain'\nH()", says="plain", never="<script>"),
    Case("stdout-replaced", first="import sys\nsys.stdout = sys.stderr = None", last="print('back')", says="back"),
    Case("stdout-closed", first="import os\nos.close(1); os.close(2)", last="print('back')", says="back"),
    Case("error-that-bites-in-a-cell", first="class E(BaseException):\n    def __str__(self): raise SystemExit\nraise E"),
]  # fmt: skip
