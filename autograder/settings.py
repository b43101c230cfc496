"""nbgrader's own options: those that are honored here, refused, or without effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.errors import CourseError

# options that nothing here reads, by class
UNUSED = {
    "Autograde": "create_student",
    "BaseConverter": "pre_convert_hook post_convert_hook",
    "CourseDirectory": "groupshared notebook_id",
    "Execute": "error_on_timeout execute_retries extra_arguments interrupt_on_timeout "
    "raise_on_iopub_timeout",
    "IgnorePattern": "enabled pattern",
    "LimitOutput": "max_lines max_traceback",
    "OverwriteCells": "add_missing_cells missing_cell_notification",
}
MOVE = "use the usual one, and move what is there"
REFUSED = {  # options of CourseDirectory, and what they have to be
    "directory_structure": "{nbgrader_step}/{student_id}/{assignment_id}",
    "autograded_directory": "autograded",
    "feedback_directory": "feedback",
    "submitted_directory": "submitted",
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
    given = config.get("CourseDirectory", {})
    place = given.get("root", root)
    if Path(root, place).resolve() != root.resolve():
        raise CourseError(
            f"c.CourseDirectory.root in nbgrader_config.py is {str(place)!r}, but the "
            f"file is in {root}; {MOVE}."
        )
    for option, usual in REFUSED.items():
        if (value := given.get(option, usual)) != usual:
            raise CourseError(
                f"c.CourseDirectory.{option} in nbgrader_config.py is {value!r}, but "
                f"this autograder knows only {usual!r}; {MOVE}."
            )


def without_effect(config: Mapping[str, Any]) -> Iterator[str]:
    """A sentence about each option that is set and that nothing here reads."""
    for section, options in sorted(config.items()):
        names = UNUSED.get(section, "").split()
        if section in CONVERTERS:
            names += UNUSED["BaseConverter"].split()
        for option in options:
            if option in names:
                yield f"c.{section}.{option} has no effect on autograder."


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
