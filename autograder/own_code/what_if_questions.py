"""Quiz questions on what would happen with one line changed, or with other inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from autograder.own_code.answer_record import (
    LEAST,
    Altered,
    Draft,
    Subject,
    listed,
    literal,
    told,
    trace,
    written_out,
)
from autograder.own_code.call_questions import selects
from autograder.own_code.tracing import Call
from autograder.own_code.values import resized, spelled
from autograder.text import one_line

MODEST = 50  # numbers of which a thousand times as much is worth a question
ENDINGS = {
    "error": "An error is raised.",
    "shape": "The result has a different shape.",
    "dtype": "The result has the same values but a different dtype.",
    "values": "The result has the same shape but different values.",
}
UNSURE = re.compile(r"\b(raise|assert|try)\b")


def suppose(altered: Altered, question: str) -> str:
    """A question about a change."""
    old, new = altered.change.old, altered.change.new
    supposed = f"it read\n\n    {new}\n\n" if new != "pass" else "it were left out. "
    line = f"Line {altered.change.number} of your code is\n\n    {old}\n\n"
    return f"{line}Suppose that {supposed}{question}"


def end(altered: Altered, call: Call) -> str:
    """What a change does to the result of a call; "" where that cannot be compared."""
    after = altered.call(call)
    if after is None or call.result is None:
        return ""
    return "error" if after.result is None else call.result.like(after.result)


def change(subject: Subject) -> Iterator[Draft]:
    """What a changed line does to the result of a call.

    That it does nothing is never the key: the call of a check may hide what it does.
    """
    found: dict[str, list[tuple[Altered, Call, Call]]] = {}
    different = {told(call): call for call in subject.calls()}
    for call in list(different.values())[:4]:
        alike = subject.alike(call)
        for altered in subject.altered:
            after = altered.call(call)
            ends = {end(altered, one) for one in alike}
            ran = call.lines[altered.change.number] or not call.lines
            if after is not None and ran and len(ends) == 1:
                found.setdefault(ends.pop(), []).append((altered, call, after))
    kinds = [kind for kind in subject.some(found) if kind in ENDINGS]
    each = [[(kind, *one) for one in found[kind]] for kind in kinds]
    drawn = [one for turn in zip_longest(*each) for one in turn if one]
    for kind, altered, call, after in drawn:
        words = told(call, full=all(map(written_out, call.arguments.values())))
        text = suppose(altered, f"What would change in the result of {words}?")
        why = ENDINGS[kind]
        if kind == "error" and after.error:
            why = f"{why[:-1]}: {one_line(after.error.strip())[:200]}."
        if shown := trace(after, altered.change.number):
            why += f" With the change:\n\n{shown}"
        yield Draft(text, ENDINGS[kind], [*ENDINGS.values()], why)


def fails(subject: Subject) -> Iterator[Draft]:
    """Which visible check a changed line fails alone, or which alone still passes.

    Where an error is raised, what passes is a matter of inputs, which checks keep.
    """
    for altered in subject.altered:
        failed = [subject.sentences[number] for number in altered.failed]
        passing = [one for one in subject.sentences if one not in failed]
        why = f"Failing: {'; '.join(failed)}. Still passing: {'; '.join(passing)}."
        if len(failed) == 1:
            text = suppose(
                altered, "Which visible check is then the only one that fails?"
            )
            yield Draft(text, failed[0], subject.some(passing), why)
        ended = all(call.result for calls in altered.trials for call in calls)
        if len(passing) == 1 and ended:
            text = suppose(
                altered, "Which visible check is then the only one that still passes?"
            )
            yield Draft(text, passing[0], subject.some(failed), why)


def breaks(subject: Subject) -> Iterator[Draft]:
    """Which change fails this visible check; the others fail other checks."""
    for number, sentence in subject.some(enumerate(subject.sentences)):
        every = [one for one in subject.altered if one.failed]
        other = [reads(one) for one in every if number not in one.failed]
        for altered in every:
            if altered.failed == [number]:
                text = "One of these changes makes this check fail; the rest make "
                text += f"only other checks fail. Which one?\n\n“{sentence}”"
                why = f"The line is\n\n    {altered.change.old}"
                yield Draft(text, reads(altered), other, why)


def reads(altered: Altered) -> str:
    """A changed line, as a choice."""
    number, new = altered.change.number, altered.change.new
    return f"Line {number} {f'reads `{new}`' if new != 'pass' else 'is left out'}."


# ------------------------------------------------------------ other inputs


def raises(subject: Subject) -> Iterator[Draft]:
    """Which shape of an argument is an error, or the only one that is none."""
    if UNSURE.search(subject.source):
        return
    for call in subject.calls(own=True):
        if selects(subject, call) or len(subject.alike(call)) > 1:
            continue
        given = call.arguments.values()
        if any(v.kind == "array" and v.dtype.startswith("int") for v in given):
            continue  # as an index, an entry may be too large for another shape
        for name, array in subject.some(call.live.items()):
            old = call.arguments[name]
            if old.kind != "array" or not old.dtype.startswith(("float", "bool")):
                continue
            came = {
                str(shape): subject.program.called(
                    call, **{name: resized(array, shape)}
                )
                for shape in subject.some(near(old.shape))
            }
            bad = [one for one, ran in came.items() if ran and ran.error]
            good = [one for one, ran in came.items() if ran and ran.result]
            ends = {"an error": (bad, good), "no error": (good, bad)}
            for end, (right, wrong) in subject.some(ends.items()):
                if right and len(wrong) >= LEAST - 1:
                    text = f"In the call {told(call)}: which other shape of `{name}` "
                    text += f"raises {end}?"
                    run = came[bad[0]]
                    error = one_line(run.error.strip())[:200] if run else ""
                    why = f"With {good[0]} it runs. With {bad[0]}: {error}."
                    yield Draft(text, right[0], wrong, why)
                    break


def near(shape: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Other shapes: an axis shorter, of one entry, swapped, one less or one more."""
    found = {(1, *shape), shape[1:], (*shape[:-2], *shape[-2:][::-1])}
    for axis, size in enumerate(shape):
        for other in (1, size - 1, size + 1):
            found.add((*shape[:axis], other, *shape[axis + 1 :]))
    return {one for one in found if one and one != shape and 0 not in one}


def overflows(subject: Subject) -> Iterator[Draft]:
    """Which numbers make the result NaN or infinite, with a changed line."""
    for call in list(subject.calls(literal=True))[:2]:
        given = call.arguments.items()
        kind = ("array", "float")
        floats = [name for name, v in given if (v.kind, v.dtype[:5]) == kind]
        entries = call.arguments[floats[0]].entries if floats else None
        if entries is None or not 0 < abs(entries).max(initial=0) < MODEST:
            continue
        name, array = floats[0], call.live.get(floats[0])
        if array is None:
            continue
        rest = [f"`{k} = {literal(v)}`" for k, v in given if k != name]
        beside = f", with {listed(rest)}," if rest else ""
        question = f"For which input{beside} does the result contain NaN or infinity?"
        inputs = [array, array * 0, array * 1000, array * 1000 - 5000, array / 4]
        for altered in subject.altered:
            came = {}
            for one in inputs:
                runs = (subject.program, altered.program)
                now, then = (run.called(call, **{name: one}) for run in runs)
                if now and now.result and now.result.finite and then and then.result:
                    words = f"`{name} = {spelled(one.tolist())}`"
                    came[words] = then.result.finite
            bad = [words for words, finite in came.items() if not finite]
            good = [words for words, finite in came.items() if finite]
            if len(bad) == 1:
                why = "With this input the result is not finite; with the others it is."
                text = suppose(altered, question)
                yield Draft(text, bad[0], good, why)
