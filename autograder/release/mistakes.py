"""Generator of ``known.json``, the table by which students' computers name mistakes.

It is made from the catalog of wrong answers: each one is run on the visible checks, and
hashes of what it gives are kept. The table is the same in every run, and is made only
when the checks or the catalog have changed.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder import registry
from autograder.checks import fingerprints
from autograder.checks.catalog import Catalog
from autograder.checks.entries import Mistake
from autograder.checks.isolation import quiet, seed
from autograder.checks.puzzle import Redrawn
from autograder.checks.question import first_line, probed
from autograder.checks.relations import facts
from autograder.files import write_whole

WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
MOST = 150  # pairs of a question: the catalog has frequent mistakes first
SEEDS = (0, 1, 2)  # some mistakes do something else in every run
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Notes = list[list[fingerprints.Note]]
Change = tuple[int, int, list[str]]  # from, to, what stands there instead


def notes_of(package: ModuleType, question: str, answer: Any, number: int) -> Notes:
    """What each visible check and the probe note, with random numbers of that seed."""
    with quiet():
        seed(number)
        return list(package.assignment.questions[question].trail(answer))


def by_chance(package: ModuleType, question: str) -> set[str]:
    """The places where a right answer, too, leaves other numbers in every run.

    The sentence of a check (note 1) tells such numbers when it fails.
    """
    catalog: Catalog = package.assignment.catalog
    right = catalog.answer(catalog.references[question])
    one, two = (notes_of(package, question, right, number) for number in SEEDS[:2])
    places = set()
    for check, pair in enumerate(zip(one, two, strict=True), 1):
        differ = {i for i, (a, b) in enumerate(zip(*pair, strict=True)) if a != b}
        places |= {f"{check}.{i}" for i in differ | ({1} if differ else set())}
    return places


def table_of(package: ModuleType, question: str) -> tuple[dict[str, Any], list[str]]:
    """The table of a question, and the mistakes that it cannot name.

    Those are what does not do the same in every run, and what does the same as another
    mistake. Two mistakes at once are in it as well.
    """
    catalog: Catalog = package.assignment.catalog
    chance = by_chance(package, question)
    leads: defaultdict[str, set[str]] = defaultdict(set)  # to which mistakes
    found, unnamed = [], []
    first: dict[str, Keys] = {}  # what each mistake does to begin with
    for entry in catalog.every(question):
        left = []
        for number in SEEDS:
            keys = Keys(package, question, catalog.answer(entry), number, chance)
            for key in keys.probe:
                leads[key].add(entry.id)
            if keys.check:
                first.setdefault(entry.id, keys)
                left.append({*keys.trail, *keys.probe})
        for key in {key for keys in left for key in keys}:
            leads[key].add(entry.id)
        always = set.intersection(*left) if len(left) == len(SEEDS) else set()
        if always:
            found.append((entry.id, sorted(always)))
        elif left:
            unnamed.append(entry.id)
    names = {key: id for id, keys in found for key in keys if len(leads[key]) == 1}
    named = {*names.values()}
    unnamed += [id for id, _ in found if id not in named]
    entries = [entry for entry in catalog.every(question) if entry.id in named]
    two = paired(package, question, entries, first, chance, {*leads})
    table = {"chance": sorted(chance), "mistakes": dict(sorted(names.items()))}
    return table | ({"pairs": two} if two else {}), unnamed


class Keys:
    """The fingerprints of an answer, and the number of the check that it fails or 0."""

    def __init__(
        self,
        package: ModuleType,
        question: str,
        answer: Any,
        number: int,
        chance: set[str],
    ) -> None:
        notes = notes_of(package, question, answer, number)
        self.probe = fingerprints.by_probe(len(notes), notes[-1], chance)
        failing = (i for i, one in enumerate(notes[:-1]) if one[0][0] != "holds")
        place = next(failing, None)
        self.check, self.trail, self.kind = 0, list[str](), ""
        if place is not None:
            self.check, self.kind = place + 1, notes[place][0][0]
            self.trail = fingerprints.fingerprints(place + 1, notes[place:], chance)


def paired(
    package: ModuleType,
    question: str,
    entries: list[Mistake],
    first: dict[str, Keys],
    chance: set[str],
    taken: set[str],
) -> dict[str, str]:
    """Which two mistakes lead to a fingerprint that no single one has, by their names.

    The mistake that an earlier check notices comes first. If several pairs lead to the
    same fingerprint, the message tells only the mistake that both pairs have.
    """
    catalog: Catalog = package.assignment.catalog
    reference = catalog.references[question]
    if catalog.entries[question].hunts or question.startswith("plot_"):
        return {}  # the parts of a figure are checked one by one
    leads: defaultdict[str, list[list[str]]] = defaultdict(list)
    for one, other, code in two_at_once(reference.code, entries):
        try:
            answer = catalog.answer(replace(reference, code=code))
        except Exception:  # the two together are no program
            continue
        keys = Keys(package, question, answer, SEEDS[0], chance)
        ids = sorted((one.id, other.id), key=lambda id: first[id].check)
        raised = keys.kind == "error" and "error" not in {first[id].kind for id in ids}
        if keys.check and not raised:
            for key in keys.probe or keys.trail:
                leads[key].append(ids)
    found = {}
    for key, several in sorted(leads.items()):
        common = [id for id in several[0] if all(id in ids for ids in several)]
        if common and key not in taken:
            found[key] = " ".join(id.partition("-")[2] for id in common)
    return found


def right_one(package: ModuleType, question: str, chance: set[str]) -> dict[str, Any]:
    """What is known of a right answer, to which wrong ones are compared.

    Nothing for a test, and where chance has a part.
    """
    catalog: Catalog = package.assignment.catalog
    answer = catalog.answer(catalog.references[question])
    asked = package.assignment.questions[question]
    if catalog.entries[question].hunts:
        return {}
    with quiet():
        right = [catalog.answer(style) for style in catalog.right(question)[:4]]
        found = facts(right, asked.steady)
        notes = [probed(asked.probe, answer)]
    drawn = any(place.startswith(f"{len(asked.checks) + 1}.") for place in chance)
    keys = fingerprints.fingerprints(0, notes, set()) if len(notes[0]) > 2 else []
    return {} if drawn else {"right": {"probe": keys, **found}}


def promised(package: ModuleType, question: str) -> dict[str, list[str]]:
    """The sentences of its hidden checks; none where these repeat the visible ones."""
    half = getattr(package.hidden, question)
    again = isinstance(half, Redrawn)
    found = [] if again else [first_line(check) for _, check in half.checks]
    return {"hidden": found} if found else {}


def made(package: ModuleType) -> tuple[dict[str, Any], list[str]]:
    """The table of an assignment, and the mistakes that it cannot name."""
    catalog: Catalog = package.assignment.catalog
    halves = {
        name: {"half": catalog.half(name).packed()}
        for name, entries in catalog.entries.items()
        if entries.hunts
    }
    # visible checks play with the halves of now
    package.assignment.table = {"questions": halves, "sentences": {}}
    questions, unnamed = {}, []
    for question in catalog.entries:
        found, missing = table_of(package, question)
        questions[question] = (
            found | halves.get(question, {}) | promised(package, question)
        ) | right_one(package, question, {*found["chance"]})
        unnamed += missing
    named = {id for each in questions.values() for id in each["mistakes"].values()}
    sentences = {
        entry.id: [entry.diagnosis, entry.read]
        for entry in catalog.misconceptions
        if entry.id in named
    }
    table = {"made_from": key(package), "questions": questions, "sentences": sentences}
    package.assignment.table = table
    return table, unnamed


# what else the notes of an answer depend on: the sentence of a wrong type is one
SHARED = """
shared.toml fingerprints.py outcomes.py expect.py accepted_results.py puzzle.py
figures.py memory.py visible_hunt.py planted.py relations.py trials.py
../torch_support/modules.py ../torch_support/values.py
"""


def key(package: ModuleType) -> str:
    """A hash of what the table is made from; docstrings but promises are left out."""
    shared = [Path(fingerprints.__file__).parent / name for name in SHARED.split()]
    promises = [promised(package, name) for name in package.assignment.questions]
    digest = hashlib.sha256(repr(promises).encode())
    used = registry.folders_used(package.assignment.name)
    own = [path for folder in used for path in folder.glob("visible/**/*.py")]
    own += package.assignment.folder.glob("hidden/catalog/*.*")
    for path in [*sorted(own), *shared]:
        text = path.read_text("utf-8")
        data = undocumented(text) if path.suffix == ".py" else text
        digest.update(f"{path.name}\0{len(data.encode())}\0{data}".encode())
    return digest.hexdigest()[:16]


def undocumented(text: str) -> str:
    """The text of a module without the lines of its docstrings."""
    lines: list[str | None] = [*text.splitlines()]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            lines[first - 1 : last] = [None] * (last - first + 1)
    return "\n".join(line for line in lines if line is not None)


def text_of(table: dict[str, Any]) -> str:
    """The table as it is stored."""
    parts = []
    for part, rows in table.items():  # a line for each question
        text = json.dumps(rows, ensure_ascii=False)
        if part == "questions":
            lines = (f"{json.dumps(n)}: {json.dumps(rows[n])}" for n in rows)
            text = "{\n" + ",\n".join(lines) + "}"
        parts.append(f'"{part}": {text}')
    return "{" + ",\n".join(parts) + "}\n"


def write_known(package: ModuleType) -> list[str] | None:
    """Write the table if it is not fresh; then, the mistakes that it cannot name."""
    if package.assignment.catalog is None or not stale(package):
        return None
    table, unnamed = made(package)
    write_whole(package.assignment.visible / "known.json", text_of(table))
    return unnamed


def stale(package: ModuleType) -> bool:
    """Whether checks or catalog have changed since the table was made."""
    return fingerprints.table(package.assignment.visible).get("made_from") != key(
        package
    )


# -------------------------------------- two mistakes, as when two branches are merged


def two_at_once(
    reference: str, entries: list[Mistake]
) -> Iterator[tuple[Mistake, Mistake, str]]:
    """Two different mistakes and a program that makes both, the frequent ones first."""
    words = WORD.findall(reference)
    made = [(entry, changes(words, WORD.findall(entry.code))) for entry in entries]
    places = [(i, j) for j in range(len(made)) for i in range(j)]
    found = 0
    for i, j in sorted(places, key=sum):
        (one, first), (other, second) = made[i], made[j]
        code = merged(words, first, second) if one.id != other.id else None
        if code and found < MOST:
            found += 1
            yield one, other, code


def changes(old: list[str], new: list[str]) -> list[Change]:
    """What makes one text of another."""
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(a, b, new[c:d]) for kind, a, b, c, d in steps if kind != "equal"]


def merged(words: list[str], first: list[Change], second: list[Change]) -> str | None:
    """The text with both changes; None where they touch, or where it is not Python."""
    every = sorted([*first, *second], key=lambda change: change[:2])
    if any(one[1] >= other[0] for one, other in itertools.pairwise(every)):
        return None
    result = list(words)
    for start, end, new in reversed(every):
        result[start:end] = new
    code = "".join(result)
    try:
        ast.parse(code)
    except SyntaxError:
        return None
    return code
