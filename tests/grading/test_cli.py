"""The command line: every verb explains itself, and students have theirs alone."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder import cli

ALONE = """
import sys

for name in "nbgrader jinja2 nbformat nbconvert sqlalchemy bleach".split():
    sys.modules[name] = None  # not installed
from autograder.cli import main

main({arguments!r})
"""


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_has_help_with_an_example_and_a_log(verb, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([verb, "--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"example:\n  autograder {verb} " in said and "--log FILE" in said


def listed(said: str) -> list[str]:
    """The verbs that a help text lists."""
    return re.findall(r"^    (\w+)", said, re.MULTILINE)


def test_help_lists_every_verb_and_an_unknown_one_is_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    said = capsys.readouterr().out
    assert listed(said) == list(cli.VERBS)
    with pytest.raises(SystemExit) as ended:
        cli.main(["grad"])
    assert ended.value.code == 2
    assert "invalid choice: 'grad'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["grade", "--workers", "abc"], "--workers: give a whole number, at least 1"),
        (["grade", "--workers", "0"], "--workers: give a whole number, at least 1"),
        (
            ["certificate", "ada", "--least", "most"],
            "--least: give a number from 0 to 1, such as 0.9",
        ),
    ],
)
def test_an_option_with_a_wrong_value_says_what_it_takes(options, said, capsys):
    with pytest.raises(SystemExit):
        cli.main(options)
    assert said in capsys.readouterr().err


@pytest.fixture(scope="module")
def students(tmp_path_factory, wheels):
    """Run a command where only the wheels and NumPy are installed."""
    root = tmp_path_factory.mktemp("installed")
    for path in wheels:
        zipfile.ZipFile(path).extractall(root)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", ALONE.format(arguments=list(arguments))],
            cwd=root,
            env={"PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
        )

    return run


def test_a_missing_extra_is_reported_with_the_command_that_installs_it(students):
    assert "--seconds" in students("check", "--help").stdout
    said = students("feedback", "--help").stderr
    assert said.endswith('this command needs it: pip install "nbjudge[grade]"\n')
    lti = cli.missing(ModuleNotFoundError(name="jwt.exceptions"))
    assert lti.endswith('pip install "nbjudge[lti]"')


def test_what_ends_a_command_is_in_its_log(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # no course folder
    assert cli.main(["report", "--log", "log"]) == 2
    log = (tmp_path / "log").read_text()
    assert "autograder 'report' '--log' 'log'" in log
    assert "CourseError" in log and "Traceback" in log


def test_the_autograder_of_another_copy_grades_nobody(tmp_path, monkeypatch, capsys):
    """It may judge in another way, and the points would be wrong without a word."""
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    own = tmp_path / "autograder"
    own.mkdir()
    (own / "__init__.py").touch()
    inside = tmp_path / "submitted"
    inside.mkdir()
    monkeypatch.chdir(inside)
    running = Path(cli.__file__).parent
    for verb in ("grade", "collect x.zip", "export", "feedback", "history"):
        assert cli.main(verb.split()) == 2
        said = capsys.readouterr().err
        assert f"This autograder belongs to {running.parent}, " in said
        assert f"Run {tmp_path}/.venv/bin/autograder. " in said
    shutil.rmtree(own)
    shutil.copytree(running, own)  # the same checks, as in the image of a hub
    assert cli.main(["grade"]) == 2
    assert "This autograder belongs to" not in capsys.readouterr().err
    with (own / "checks/question.py").open("a") as file:
        file.write("# repaired\n")
    assert cli.main(["grade"]) == 2
    assert "This autograder belongs to" in capsys.readouterr().err
