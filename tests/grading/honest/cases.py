"""The honest cases, as tables.

``cases.jsonl`` has those that are made by texts alone, a case a line. ``change`` lists
what is done, one after the other: cells put ``first``, ``last`` or ``after`` one of the
course's; text ``above`` or ``below`` that of a cell; an ``answer`` written differently;
a text that is replaced; the written answer left ``open``; ``words`` after a cell, or as
a ``title``; cells that are ``gone``; and a ``wrap``.
"""
# ruff: noqa: E501 - one case a line where it fits

import json
from pathlib import Path

from honest import (
    NAMES,
    POINTS,
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


def with_picture(data: str, name: str = "image.png", kind: str = "image/png"):
    def change(cells: Cells) -> Cells:
        cell = cell_of(cells, WRITTEN)
        cell["source"] = f"See ![sketch](attachment:{name}) for the three roles."
        cell["attachments"] = {name: {kind: data}}
        return cells

    return change


def only_one_cell(cells: Cells) -> Cells:
    """All code in one cell, and nothing else is left but the written answer."""
    whole = "\n\n".join(source_of(c) for c in cells if c["cell_type"] == "code")
    return [code(whole), cell_of(cells, WRITTEN)]


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
    Case("all-code-in-one-cell-and-no-other", only_one_cell),
    Case(
        "a-check-commented-out",
        edited(
            "test_softmax", lambda s: "\n".join(f"# {line}" for line in s.splitlines())
        ),
    ),
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
PICTURES = [
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
]


def wrapped(name: str, own: str):
    """The stub is left as it was, and an own cell below it builds on its name."""

    def change(cells: Cells) -> Cells:
        source = source_of(cell_of(cells, name))
        cell_of(cells, name)["source"] = stub(name)
        where = place(cells, name) + 1
        return [*cells[:where], code(own.replace("ANSWER", source)), *cells[where:]]

    return change


CHANGES = {
    "first": first,
    "last": last,
    "after": lambda name, *sources: after(name, *map(code, sources)),
    "above": lambda name, more: edited(name, lambda s: more + s),
    "below": lambda name, more: edited(name, lambda s: s + more),
    "replace": lambda name, old, new: edited(name, lambda s: s.replace(old, new)),
    "answer": answer,
    "open": lambda: open_written,
    "words": lambda name, words, kind="markdown": after(
        name, dict(text(words), cell_type=kind)
    ),
    "title": lambda words: lambda cells: [text(words), *cells],
    "gone": lambda *names: lambda cells: without(cells, *names),
    "wrap": wrapped,
}


def read():
    """The cases of ``cases.jsonl``."""
    with Path(__file__).with_suffix(".jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            change = both(*(CHANGES[name](*parts) for name, *parts in row["change"]))
            points = tuple(row.get("points", POINTS))
            yield Case(**row | {"change": change, "points": points})


CASES = [
    *CUT_AND_MERGED,
    *MOVED,
    *PICTURES,
    *read(),
]
