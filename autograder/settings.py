"""nbgrader's own options: those that are honored here, refused, or without effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.errors import CourseError

# By class, as in nbgrader_config.py: what an option that nothing reads would do.
UNUSED = {
    "Autograde": {"create_student": "students are always added to the gradebook"},
    "BaseConverter": {
        "pre_convert_hook": "no hook runs before or after grading",
        "post_convert_hook": "no hook runs before or after grading",
    },
    "CourseDirectory": {
        "groupshared": "files that are written get the usual rights",
        "notebook_id": "all notebooks of an assignment are released and graded",
    },
    "Execute": {
        "error_on_timeout": "a cell that takes too long fails, and the next one runs",
        "execute_retries": "what was killed from outside is tried once more",
        "extra_arguments": "no kernel is started",
        "interrupt_on_timeout": "a cell that takes too long fails, and the next runs",
        "raise_on_iopub_timeout": "no kernel is started",
    },
    "IgnorePattern": {
        "enabled": "text on stderr costs no points",
        "pattern": "text on stderr costs no points",
    },
    "LimitOutput": {
        "max_lines": "outputs have a limit of 1 MB a cell",
        "max_traceback": "outputs have a limit of 1 MB a cell",
    },
    "OverwriteCells": {
        "add_missing_cells": "a test is judged, whether its cell is there or not",
        "missing_cell_notification": "notes in the graded notebook have texts of ours",
    },
}
MOVE = "use the usual one, and move what is there"
REFUSED = {
    "CourseDirectory": {
        "directory_structure": "{nbgrader_step}/{student_id}/{assignment_id}",
        "autograded_directory": "autograded",
        "feedback_directory": "feedback",
        "submitted_directory": "submitted",
    },
}
CONVERTERS = {
    *("Assign", "Autograde", "Feedback"),
    *("GenerateAssignment", "GenerateFeedback", "GenerateSolution"),
}
IGNORED = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback"]  # nbgrader's own
LONGEST = 3600.0  # seconds of a cell
SYSTEM_LIMIT = 120_000_000  # bytes of files that reach a sandbox at most


def refuse(config: Mapping[str, Any], root: Path) -> None:
    """CourseError where folders have other places than ours; ``root`` is the course."""
    given = config.get("CourseDirectory", {}).get("root", root)
    if Path(root, given).resolve() != root.resolve():
        raise CourseError(
            f"c.CourseDirectory.root in nbgrader_config.py is {str(given)!r}, but the "
            f"file is in {root}; {MOVE}."
        )
    for section, usual in REFUSED.items():
        for option, value in usual.items():
            given = config.get(section, {}).get(option, value)
            if given != value:
                raise CourseError(
                    f"c.{section}.{option} in nbgrader_config.py is {given!r}, but "
                    f"this autograder knows only {value!r}; {MOVE}."
                )


def without_effect(config: Mapping[str, Any]) -> Iterator[str]:
    """A sentence about each option that is set and that nothing here reads."""
    for section, options in sorted(config.items()):
        base = UNUSED["BaseConverter"] if section in CONVERTERS else {}
        told = base | UNUSED.get(section, {})
        for option in options:
            if option in told:
                yield f"c.{section}.{option} has no effect: {told[option]}."


def ignored(config: Mapping[str, Any]) -> list[str]:
    """Names of files that stay with the instructor, as in a shell."""
    names = config.get("CourseDirectory", {}).get("ignore", IGNORED)
    if hasattr(names, "get_value"):  # the course appends to nbgrader's own
        names = names.get_value(list(IGNORED))
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise CourseError("c.CourseDirectory.ignore is not a list of names.")
    return [*names, "*-Copy[0-9]*.ipynb"]  # as Jupyter calls a copy


def seconds(config: Mapping[str, Any]) -> float | None:
    """How long a cell may run, if the course says so; -1 and None are no limit."""
    for section in ("Execute", "ExecutePreprocessor", "NotebookClient"):
        options = config.get(section, {})
        if "timeout" in options:
            given = options["timeout"]
            if given is None or given == -1:
                return LONGEST
            if isinstance(given, bool) or not isinstance(given, int | float):
                raise CourseError(f"c.{section}.timeout is {given!r}, not seconds.")
            if given <= 0:
                raise CourseError(f"c.{section}.timeout is {given!r}; give it seconds.")
            return float(min(given, LONGEST))
    return None


def sizes(config: Mapping[str, Any]) -> tuple[int, int]:
    """Bytes of one file beside a notebook at most, and of all together."""
    options = config.get("CourseDirectory", {})
    one, every = (
        1000 * int(options.get(name, 100_000))
        for name in ("max_file_size", "max_dir_size")
    )
    return one, min(every, SYSTEM_LIMIT)


def own_files(config: Mapping[str, Any], assignment: str) -> tuple[str, ...]:
    """Files of an assignment that students write themselves."""
    given = config.get("Autograde", {}).get("exclude_overwriting", {})
    if not isinstance(given, Mapping) or not all(
        isinstance(names, list | tuple | set) for names in given.values()
    ):
        raise CourseError(
            "c.Autograde.exclude_overwriting is not a table of lists; write it as "
            '{"ps1": ["module.py"]}.'
        )
    return tuple(given.get(assignment, ()))
