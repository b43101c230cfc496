"""Places where a student's check could keep a number from one function to the next.

Each is code for the first cell of a notebook: ``put(number)`` keeps a number below 500
there, ``get()`` gives it back, or None.
"""

# an expression that keeps ``number``, and one that gives it back or fails
KEPT = {
    "a-global": ("", "globals().update(kept=number)", "kept"),
    "an-argument": (
        "def box(kept=[]): return kept",
        "box().append(number)",
        "box()[0]",
    ),
    "a-function": ("", "vars(put).update(kept=number)", "put.kept"),
    "a-closure": (
        "def boxed():\n    kept = []\n    return kept.append, kept.__getitem__\n"
        "add, item = boxed()",
        "add(number)",
        "item(0)",
    ),
    "a-class": ("class Box: pass", "setattr(Box, 'kept', number)", "Box.kept"),
    "a-module": ("import types, sys", "vars(np).update(kept=number)", "np.kept"),
    "a-module-of-its-own": (
        "import types, sys",
        "sys.modules.setdefault('own', types.SimpleNamespace(kept=number))",
        "sys.modules['own'].kept",
    ),
    "a-module-of-the-course": (
        "from autograder.checks import planted",
        "vars(planted).update(kept=number)",
        "planted.kept",
    ),
    "the-names-of-python": (
        "import builtins",
        "setattr(builtins, 'kept', number)",
        "kept",
    ),
    "the-environment": (
        "import os",
        "os.environ.update(KEPT=str(number))",
        "int(os.environ['KEPT'])",
    ),
    "the-cache-of-lines": (
        "import linecache",
        "linecache.cache.update(kept=number)",
        "linecache.cache['kept']",
    ),
    "a-cache-of-results": (
        "from functools import lru_cache\n"
        "@lru_cache\ndef first(_, box=[]): return box[0]",
        "(first.__wrapped__.__defaults__[0].append(number), first(1))",
        "first(1)",
    ),
    "the-registry-of-copies": (
        "import copyreg",
        "copyreg.dispatch_table.update(kept=number)",
        "copyreg.dispatch_table['kept']",
    ),
    "a-logger": (
        "import logging",
        "vars(logging.getLogger('kept')).update(kept=number)",
        "logging.getLogger('kept').kept",
    ),
    "a-context-variable": (
        "import contextvars\nkept = contextvars.ContextVar('kept')",
        "kept.set(number)",
        "kept.get()",
    ),
    "the-garbage-collector": (
        "import gc\nclass Box: pass",
        "(lambda box: vars(box).update(kept=number, box=box))(Box())",
        "next(o.kept for o in gc.get_objects() if type(o) is Box)",
    ),
    "decimals": (
        "import decimal",
        "setattr(decimal.getcontext(), 'prec', number)",
        "{28: None}.get(decimal.getcontext().prec, decimal.getcontext().prec)",
    ),
    "the-limit-of-recursion": (
        "import sys\nbefore = sys.getrecursionlimit()",
        "sys.setrecursionlimit(5000 + number)",
        "{before: None}.get(sys.getrecursionlimit(), sys.getrecursionlimit() - 5000)",
    ),
    "the-random-state": (
        "import random\nbefore = random.getstate()",
        "random.setstate((3, (number,) * 625, None))",
        "None if random.getstate() == before else random.getstate()[1][0]",
    ),
    "the-last-error": (
        "import sys",
        "setattr(sys, 'last_value', number)",
        "sys.last_value",
    ),
    "the-mask-of-files": (
        "import os\nbefore = os.umask(0o22)\nos.umask(before)",
        "os.umask(number)",
        "(lambda now: (os.umask(now), None if now == before else now)[1])(os.umask(0))",
    ),
    "the-folder-one-is-in": (
        "import os",
        "(os.makedirs(str(number)), os.chdir(str(number)))",
        "int(os.path.basename(os.getcwd()))",
    ),
    "a-file": (
        "from pathlib import Path",
        "Path('kept').write_text(str(number))",
        "int(Path('kept').read_text())",
    ),
    "a-temporary-file": (
        "from pathlib import Path\nimport tempfile",
        "Path(tempfile.gettempdir(), 'kept').write_text(str(number))",
        "int(Path(tempfile.gettempdir(), 'kept').read_text())",
    ),
    "the-name-of-a-file": (
        "from pathlib import Path",
        "Path(f'kept-{number}').touch()",
        "int(next(Path().glob('kept-*')).name[5:])",
    ),
    "the-time-of-a-file": (
        "import os",
        "(open('kept', 'w').close(), os.utime('kept', (number, number)))",
        "int(os.path.getmtime('kept'))",
    ),
    "the-size-of-a-file": (
        "import os",
        "(open('kept', 'w').close(), os.truncate('kept', number))",
        "os.path.getsize('kept')",
    ),
    "where-a-link-leads": (
        "import os",
        "os.symlink(str(number), 'kept')",
        "int(os.readlink('kept'))",
    ),
    "a-module-that-is-written": (
        "import importlib, sys\nsys.path.insert(0, '.')\nfrom pathlib import Path",
        "Path('own.py').write_text(f'kept = {number}')",
        "(importlib.invalidate_caches(), importlib.import_module('own').kept)[1]",
    ),
    "shared-memory": (
        "import mmap, struct\nroom = mmap.mmap(-1, 8)",
        "struct.pack_into('q', room, 0, number)",
        "struct.unpack_from('q', room)[0] or None",
    ),
    "where-a-file-is-read": (
        "import os\nwith open('long', 'w') as f: f.truncate(10**6)\n"
        "place = os.open('long', os.O_RDONLY)",
        "os.lseek(place, number, 0)",
        "os.lseek(place, 0, 1) or None",
    ),
    "a-pipe": (
        "import os\nout, into = os.pipe()\nos.set_blocking(out, False)",
        "os.write(into, str(number).encode())",
        "(lambda text: (os.write(into, text), int(text))[1])(os.read(out, 99))",
    ),
}


def code(place: str) -> str:
    """The first cell that keeps a number at a place."""
    setup, put, get = KEPT[place]
    return f"""import numpy as np
{setup}
def put(number):
    {put}
def get():
    try:
        return {get}
    except Exception:
        return None
"""


PLACES = {place: code(place) for place in KEPT}
PLACES["a-thread"] = """import queue, threading
kept, asked = queue.Queue(), queue.Queue()
def hold(number):
    while True:
        asked.get()
        kept.put(number)
def put(number):
    threading.Thread(target=hold, args=(number,), daemon=True).start()
def get():
    if threading.active_count() < 2:
        return None
    asked.put(1)
    try:
        return kept.get(timeout=1)
    except queue.Empty:
        return None
"""
PLACES["a-process-that-stays"] = """import os, time
def put(number):
    if os.fork():
        time.sleep(0.05)
        return
    os.setsid()
    with open("number", "w") as file:
        file.write(str(number))
    os.rename("number", "kept")
    time.sleep(60)
def get():
    try:
        return int(open("kept").read())
    except OSError:
        return None
"""
