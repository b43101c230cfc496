"""What test cells of nbgrader courses do, one idiom after the other.

Each has a right answer, a wrong one, and a test cell worth a point. ``remote`` tells
whether a judge behind the wall can run the test; those of the others need
``tests = "inside"``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


@dataclass(frozen=True)
class Idiom:
    """An answer and how a course tests it."""

    name: str
    right: str
    wrong: str
    test: str
    remote: bool = True
    points: float = 1.0


IDIOMS = [
    Idiom(
        "number",
        "def square(x):\n    return x**2",
        "def square(x):\n    return 2 * x",
        "assert square(3) == 9\nassert abs(square(0.5) - 0.25) < 1e-9",
    ),
    Idiom(
        "text",
        "def shout(word):\n    return word.upper() + '!'",
        "def shout(word):\n    return word",
        "assert shout('ä') == 'Ä!'\nassert shout('a').endswith('!')",
    ),
    Idiom(
        "list",
        "def evens(n):\n    return [i for i in range(n) if i % 2 == 0]",
        "def evens(n):\n    return [i for i in range(n)]",
        "assert evens(5) == [0, 2, 4]\nassert len(evens(0)) == 0",
    ),
    Idiom(
        "dict",
        "def count(text):\n    return {c: text.count(c) for c in text}",
        "def count(text):\n    return {}",
        "assert count('aba') == {'a': 2, 'b': 1}\nassert 'z' not in count('a')",
    ),
    Idiom(
        "type of a result",
        "def half(x):\n    return x / 2",
        "def half(x):\n    return str(x / 2)",
        "assert type(half(3)) is float\nassert isinstance(half(4), float)",
    ),
    Idiom(
        "nested tuples and sets",
        "def pairs():\n    return {(1, frozenset({2, 3})), (4, frozenset())}",
        "def pairs():\n    return {(1, 2)}",
        "assert pairs() == {(1, frozenset({2, 3})), (4, frozenset())}",
        remote=False,
    ),
    Idiom(
        "variable",
        "answer = 6 * 7",
        "answer = 6 * 9",
        "assert answer == 42",
    ),
    Idiom(
        "hash of an answer",
        "secret_word = 'attention'",
        "secret_word = 'recurrence'",
        "import hashlib\n"
        "digest = hashlib.md5(str(secret_word).encode()).hexdigest()\n"
        "assert digest == "
        "hashlib.md5(b'attention').hexdigest()",
    ),
    Idiom(
        "array",
        "import numpy as np\ndef scaled(x):\n    return np.asarray(x) / 2",
        "import numpy as np\ndef scaled(x):\n    return np.asarray(x)",
        "assert np.allclose(scaled(np.array([2.0, 4.0])), [1, 2])\n"
        "assert scaled(np.ones((2, 3))).shape == (2, 3)",
    ),
    Idiom(
        "numpy.testing",
        "def rows(x):\n    return x.sum(axis=1)",
        "def rows(x):\n    return x.sum(axis=0)",
        "import numpy as np\n"
        "np.testing.assert_allclose(rows(np.eye(2) * 3), [3, 3])\n"
        "np.testing.assert_array_equal(rows(np.ones((2, 3))), [3, 3])",
    ),
    Idiom(
        "generator",
        "def upto(n):\n    yield from range(n)",
        "def upto(n):\n    yield n",
        "assert list(upto(3)) == [0, 1, 2]\nassert next(iter(upto(1))) == 0",
    ),
    Idiom(
        "closure",
        "def adder(n):\n    def add(x):\n        return x + n\n    return add",
        "def adder(n):\n    return lambda x: x",
        "assert adder(2)(3) == 5",
    ),
    Idiom(
        "exception that is due",
        "def positive(x):\n    if x < 0:\n        raise ValueError('negative')\n"
        "    return x",
        "def positive(x):\n    return x",
        "try:\n    positive(-1)\nexcept ValueError:\n    pass\nelse:\n"
        "    raise AssertionError('no ValueError for -1')",
    ),
    Idiom(
        "pytest.raises",
        "def parsed(text):\n    return int(text)",
        "def parsed(text):\n    return 0",
        "import pytest\nwith pytest.raises(ValueError):\n    parsed('one')",
    ),
    Idiom(
        "argument that is changed",
        "def doubled(items):\n    items += items",
        "def doubled(items):\n    return items + items",
        "mine = [1, 2]\ndoubled(mine)\nassert mine == [1, 2, 1, 2]",
    ),
    Idiom(
        "partial credit",
        "def primes():\n    return [2, 3, 5, 7]",
        "def primes():\n    return [2, 3, 5, 9]",
        "sum(0.5 for p in primes() if p in (2, 3, 5, 7))",
        points=2.0,
    ),
    Idiom(
        "help of the course",
        "def cost(basket):\n    return sum(price_of(x) for x in basket)",
        "def cost(basket):\n    return len(basket)",
        "assert cost(['tea', 'milk']) == price_of('tea') + price_of('milk') == 5",
    ),
    Idiom(
        "help of an earlier test",
        "def first(items):\n    return items[0]",
        "def first(items):\n    return items[-1]",
        "def check_first(f, *items):\n    assert f(list(items)) == items[0]\n\n"
        "check_first(first, 3, 1)",
    ),
    Idiom(
        "help of an earlier test, used",
        "def primary(items):\n    return items[0]",
        "def primary(items):\n    return None",
        "check_first(primary, 'a', 'b')",
    ),
    Idiom(
        "file that is read",
        "def total():\n    return sum(int(n) for n in open('numbers.txt'))",
        "def total():\n    return 0",
        "assert total() == 60",
    ),
    Idiom(
        "file that is written",
        "with open('out.txt', 'w') as file:\n    file.write('done')",
        "with open('out.txt', 'w') as file:\n    file.write('')",
        "with open('out.txt') as file:\n    assert file.read() == 'done'",
        remote=False,
    ),
    Idiom(
        "axes of a figure",
        "import matplotlib.pyplot as plt\ndef plot():\n    _, ax = plt.subplots()\n"
        "    ax.plot([1, 2])\n    ax.set_title('up')\n    return ax",
        "def plot():\n    _, ax = plt.subplots()\n    return ax",
        "ax = plot()\nassert ax.get_title() == 'up'\nassert len(ax.lines) == 1",
    ),
    Idiom(
        "current figure",
        "import matplotlib.pyplot as plt\ndef draw():\n    plt.figure()\n"
        "    plt.plot([3, 4])",
        "def draw():\n    plt.figure()",
        "import matplotlib.pyplot as plt\ndraw()\n"
        "assert len(plt.gca().lines) == 1\nplt.close('all')",
        remote=False,
    ),
    Idiom(
        "table of pandas",
        "import pandas as pd\ndef table():\n    return pd.DataFrame({'a': [1, 2]})",
        "import pandas as pd\ndef table():\n    return pd.DataFrame({'b': [1, 2]})",
        "assert list(table().columns) == ['a']\nassert table()['a'].sum() == 3",
    ),
    Idiom(
        "pandas.testing",
        "import pandas as pd\ndef frame():\n    return pd.DataFrame({'a': [1, 2]})",
        "import pandas as pd\ndef frame():\n    return pd.DataFrame({'a': [2, 1]})",
        "import pandas as pd\n"
        "pd.testing.assert_frame_equal(frame(), pd.DataFrame({'a': [1, 2]}))",
        remote=False,
    ),
    Idiom(
        "object with methods",
        "class Account:\n    def __init__(self):\n        self.balance = 0\n"
        "    def pay(self, x):\n        self.balance += x",
        "class Account:\n    balance = 0\n    def pay(self, x):\n        pass",
        "mine = Account()\nmine.pay(3)\nassert mine.balance == 3",
    ),
    Idiom(
        "isinstance",
        "class Shape:\n    pass",
        "class Shape2:\n    pass\nShape = 3",
        "assert isinstance(Shape(), Shape)",
        remote=False,
    ),
    Idiom(
        "subclass",
        "class Base:\n    pass\nclass Derived(Base):\n    pass",
        "class Base:\n    pass\nclass Derived:\n    pass",
        "assert issubclass(Derived, Base)",
        remote=False,
    ),
    Idiom(
        "test that makes a subclass",
        "class Animal:\n    def speak(self):\n        return self.sound + '!'",
        "class Animal:\n    def speak(self):\n        return ''",
        "class Cat(Animal):\n    sound = 'meow'\n\nassert Cat().speak() == 'meow!'",
        remote=False,
    ),
    Idiom(
        "__eq__",
        "class Point:\n    def __init__(self, x):\n        self.x = x\n"
        "    def __eq__(self, other):\n        return self.x == other.x",
        "class Point:\n    def __init__(self, x):\n        self.x = x",
        "assert Point(1) == Point(1)\nassert Point(1) != Point(2)",
        remote=False,
    ),
    Idiom(
        "repr",
        "class Named:\n    def __repr__(self):\n        return 'Named()'",
        "class Named:\n    pass",
        "assert repr(Named()) == 'Named()'",
        remote=False,
    ),
    Idiom(
        "str",
        "class Told:\n    def __str__(self):\n        return 'told'",
        "class Told:\n    pass",
        "assert str(Told()) == 'told'\nassert f'{Told()}' == 'told'",
        remote=False,
    ),
    Idiom(
        "operator",
        "class Money:\n    def __init__(self, n):\n        self.n = n\n"
        "    def __add__(self, other):\n        return Money(self.n + other.n)",
        "class Money:\n    def __init__(self, n):\n        self.n = n\n"
        "    def __add__(self, other):\n        return self",
        "assert (Money(1) + Money(2)).n == 3",
        remote=False,
    ),
    Idiom(
        "order",
        "from functools import total_ordering\n@total_ordering\nclass Size:\n"
        "    def __init__(self, n):\n        self.n = n\n"
        "    def __lt__(self, other):\n        return self.n < other.n",
        "class Size:\n    def __init__(self, n):\n        self.n = n\n"
        "    def __lt__(self, other):\n        return False",
        "assert Size(1) < Size(2)\nassert sorted([Size(3), Size(1)])[0].n == 1",
        remote=False,
    ),
    Idiom(
        "length and items",
        "class Bag:\n    def __len__(self):\n        return 2\n"
        "    def __getitem__(self, i):\n        return i * 10",
        "class Bag:\n    def __len__(self):\n        return 0\n"
        "    def __getitem__(self, i):\n        return i",
        "assert len(Bag()) == 2\nassert Bag()[3] == 30",
    ),
    Idiom(
        "membership",
        "class Even:\n    def __contains__(self, n):\n        return n % 2 == 0",
        "class Even:\n    def __contains__(self, n):\n        return True",
        "assert 4 in Even()\nassert 5 not in Even()",
        remote=False,
    ),
    Idiom(
        "context manager",
        "class Door:\n    is_open = False\n    def __enter__(self):\n"
        "        self.is_open = True\n        return self\n"
        "    def __exit__(self, *_):\n        self.is_open = False",
        "class Door:\n    is_open = False\n    def __enter__(self):\n"
        "        return self\n    def __exit__(self, *_):\n        pass",
        "with Door() as door:\n    assert door.is_open\nassert not door.is_open",
        remote=False,
    ),
    Idiom(
        "namedtuple",
        "from collections import namedtuple\nPair = namedtuple('Pair', 'left right')",
        "Pair = lambda left, right: [left, right]",
        "pair = Pair(1, right=2)\nassert pair == (1, 2)\nassert pair.right == 2\n"
        "assert Pair._fields == ('left', 'right')",
        remote=False,
    ),
    Idiom(
        "dataclass",
        "from dataclasses import dataclass\n@dataclass\nclass Item:\n    n: int",
        "class Item:\n    def __init__(self, n):\n        self.n = n",
        "assert Item(3) == Item(3)\nassert 'n=3' in repr(Item(3))",
        remote=False,
    ),
    Idiom(
        "own exception",
        "class Empty(Exception):\n    pass\ndef pop(items):\n    if not items:\n"
        "        raise Empty('nothing')\n    return items[-1]",
        "class Empty(Exception):\n    pass\ndef pop(items):\n    return None",
        "try:\n    pop([])\nexcept Empty as error:\n"
        "    assert 'nothing' in str(error)\nelse:\n    assert False",
        remote=False,
    ),
    Idiom(
        "function that is passed in",
        "def twice(f, x):\n    return f(f(x))",
        "def twice(f, x):\n    return f(x)",
        "assert twice(lambda n: n + 1, 1) == 3",
        remote=False,
    ),
    Idiom(
        "decorator",
        "def loud(f):\n    return lambda *a: f(*a).upper()",
        "def loud(f):\n    return f",
        "@loud\ndef greet(name):\n    return 'hi ' + name\n\n"
        "assert greet('bo') == 'HI BO'",
        remote=False,
    ),
    Idiom(
        "what is printed",
        "def hello():\n    print('hello')",
        "def hello():\n    return 'hello'",
        "import contextlib, io\nout = io.StringIO()\n"
        "with contextlib.redirect_stdout(out):\n    hello()\n"
        "assert out.getvalue().strip() == 'hello'",
        remote=False,
    ),
    Idiom(
        "input that is patched",
        "def ask():\n    return int(input('n? ')) + 1",
        "def ask():\n    return 1",
        "from unittest.mock import patch\n"
        "with patch('builtins.input', return_value='4'):\n    assert ask() == 5",
        remote=False,
    ),
    Idiom(
        "source of an answer",
        "def loopy(n):\n    total = 0\n    for i in range(n):\n        total += i\n"
        "    return total",
        "def loopy(n):\n    return sum(range(n))",
        "import inspect\nassert 'for' in inspect.getsource(loopy)",
        remote=False,
    ),
    Idiom(
        "documentation",
        'def told():\n    """Tells."""',
        "def told():\n    pass",
        "assert told.__doc__ and len(told.__doc__) > 3",
        remote=False,
    ),
    Idiom(
        "annotations",
        "def typed(x: int) -> str:\n    return str(x)",
        "def typed(x):\n    return str(x)",
        "assert typed.__annotations__ == {'x': int, 'return': str}",
        remote=False,
    ),
    Idiom(
        "signature",
        "def named(a, b=2):\n    return a",
        "def named(a, b):\n    return a",
        "import inspect\nassert inspect.signature(named).parameters['b'].default == 2",
        remote=False,
    ),
    Idiom(
        "seed",
        "import random\ndef roll():\n    return random.randint(1, 10**6)",
        "def roll():\n    return 7",
        "import random\nrandom.seed(1)\nexpected = random.randint(1, 10**6)\n"
        "random.seed(1)\nassert roll() == expected",
        remote=False,
    ),
    Idiom(
        "generator of numpy",
        "def noise(rng):\n    return rng.normal(size=3)",
        "def noise(rng):\n    return [0, 0, 0]",
        "one, two = np.random.default_rng(5), np.random.default_rng(5)\n"
        "assert np.allclose(noise(one), two.normal(size=3))",
    ),
    Idiom(
        "name that is taken away",
        "def root(x):\n    return x**0.5\ndef roots(xs):\n"
        "    return [root(x) for x in xs]",
        "def root(x):\n    return x**0.5\ndef roots(xs):\n"
        "    return [x**0.5 for x in xs]",
        "kept = root\ndel root\ntry:\n    roots([4])\nexcept NameError:\n    pass\n"
        "else:\n    raise AssertionError('roots does not use root')\nfinally:\n"
        "    root = kept\n    del kept",
        remote=False,
    ),
    Idiom(
        "magic in a test",
        "def quick():\n    return 1",
        "def quick():\n    return 0",
        "%matplotlib inline\n%time quick()\nassert quick() == 1",
        remote=False,
    ),
    Idiom(
        "names that are defined",
        "alpha = beta = 1",
        "alpha = 1",
        "assert 'alpha' in globals() and 'beta' in dir()",
        remote=False,
    ),
    Idiom(
        "await",
        "async def later():\n    return 3",
        "async def later():\n    return 4",
        "assert await later() == 3",
        remote=False,
    ),
    Idiom(
        "complex and fractions",
        "from fractions import Fraction\ndef third():\n    return Fraction(1, 3)",
        "def third():\n    return 1 / 3",
        "from fractions import Fraction\nassert third() == Fraction(1, 3)",
        remote=False,
    ),
    Idiom(
        "date",
        "import datetime\ndef day():\n    return datetime.date(2026, 3, 4)",
        "def day():\n    return '2026-03-04'",
        "import datetime\nassert day() == datetime.date(2026, 3, 4)\n"
        "assert (day() + datetime.timedelta(1)).day == 5",
        remote=False,
    ),
    Idiom(
        "value of a comparison",
        "def same(a, b):\n    return a == b",
        "def same(a, b):\n    raise TypeError",
        "same(1, 1) == True",
        remote=False,
    ),
]


def notebook(only: list[Idiom] | None = None) -> nbformat.NotebookNode:
    """The instructor's notebook: a locked helper, then answers and tests."""
    cells = [new_markdown_cell("# Idioms")]
    cells.append(cell("helper", HELPER, locked=True))
    for number, idiom in enumerate(only or IDIOMS):
        answer = f"### BEGIN SOLUTION\n{idiom.right}\n### END SOLUTION"
        cells.append(cell(f"answer_{number}", answer, solution=True))
        cells.append(
            cell(
                f"test_{number}", idiom.test, grade=True, locked=True,
                points=idiom.points,
            )
        )  # fmt: skip
    return new_notebook(cells=cells, metadata={"kernelspec": PYTHON})


PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}
HELPER = (
    "import numpy as np\ndef price_of(thing):\n    return {'tea': 2, 'milk': 3}[thing]"
)


def cell(name: str, source: str, **about: object) -> nbformat.NotebookNode:
    """A code cell with nbgrader's metadata."""
    kinds = {"grade": False, "solution": False, "locked": False, "schema_version": 3}
    metadata = {"nbgrader": {**kinds, "task": False, "grade_id": name, **about}}
    return new_code_cell(source, metadata=metadata)


def answered(released: dict, wrong: bool = False) -> str:
    """The students' notebook, with every answer right, or every one wrong."""
    filled = json.loads(json.dumps(released))
    for each in filled["cells"]:
        name = each["metadata"].get("nbgrader", {}).get("grade_id", "")
        if name.startswith("answer_"):
            idiom = IDIOMS[int(name.removeprefix("answer_"))]
            each["source"] = idiom.wrong if wrong else idiom.right
    return json.dumps(filled)
