"""nbgrader's exchange, as on a JupyterHub: a round from release to fetched feedback."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from jupyter_core.application import NoStart
from nbgrader.apps import NbGraderApp
from shared import GRADE

from autograder.cli import main

PS = "01-attention"


@pytest.fixture
def hub(course, tmp_path, monkeypatch):
    """Run an nbgrader command in the instructor's account, or in a student's."""
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    setting = f"c.Exchange.root = {str(exchange)!r}\n"
    config = course.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\n{setting}")
    setting += "c.CourseDirectory.course_id = 'paying-attention'\n"

    def run(who: str, *command: str) -> Path:
        """Where what the command brings lies: in the account's folder."""
        home = course.root if who == "instructor" else tmp_path / who
        if not home.exists():
            home.mkdir()
            text = f"c = get_config()\n{setting}"
            (home / "nbgrader_config.py").write_text(text)
        mine = [] if who == "instructor" else [f"--CourseDirectory.student_id={who}"]
        with monkeypatch.context() as account:
            account.chdir(home)
            for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
                account.setenv(name, str(home))
            app = NbGraderApp.instance()
            app.initialize([*command, *mine])
            NbGraderApp.clear_instance()
            with suppress(NoStart):  # its subcommand has run
                app.start()
        return home / PS

    return run


def grade() -> dict[str, float]:
    assert main(GRADE) == 0
    found = json.loads(Path("results.json").read_text())["submissions"]
    return {one["student"]: one["score"] for one in found}


def test_a_round_on_a_hub(course, hub, right, untouched, tmp_path):
    """Three students: one renames the notebook, one hands in twice."""

    def submit(who: str, text: str, name: str = "attention") -> None:
        (tmp_path / who / PS / "attention.ipynb").unlink(missing_ok=True)
        (tmp_path / who / PS / f"{name}.ipynb").write_text(text)
        hub(who, "submit", PS)

    def send() -> None:
        assert main(["feedback", PS]) == 0
        hub("instructor", "release_feedback", PS)

    def fetched(who: str) -> list[tuple[str, bool]]:
        """Pages in the order of submissions; whether one is about right answers."""
        folder = hub(who, "fetch_feedback", PS) / "feedback"
        pages = sorted(folder.glob("*/*.html"))
        return [(p.name, "softmax: 4 of 4 points" in p.read_text()) for p in pages]

    assert main(["release"]) == 0
    hub("instructor", "db", "assignment", "add", PS)
    hub("instructor", "release_assignment", PS)
    released = course.exercises / PS / "attention.ipynb"
    for who in ("ada", "bob", "cy"):
        mine = hub(who, "fetch_assignment", PS) / "attention.ipynb"
        assert json.loads(mine.read_text()) == json.loads(released.read_text())
    submit("ada", right)
    submit("bob", right, "attention (bob)")
    submit("cy", untouched)
    hub("instructor", "collect", PS)
    assert grade() == {"ada": 20.0, "bob": 20.0, "cy": 0.0}
    submit("cy", right)
    hub("instructor", "collect", "--update", PS)
    send()  # what was judged is the first of cy's
    assert fetched("ada") == [("attention.html", True)]
    assert fetched("bob") == [("attention (bob).html", True)]
    assert fetched("cy") == [("attention.html", False)]
    assert grade()["cy"] == 20.0
    send()
    assert fetched("cy") == [("attention.html", False), ("attention.html", True)]
    submit("bob", right, "attention (bob)")  # the same again
    hub("instructor", "collect", "--update", PS)
    grade()
    send()
    assert fetched("bob") == [("attention (bob).html", True)] * 2

    # formgrader's button and nbgrader's command write the same pages
    before = files(course.feedback)
    shutil.rmtree(course.feedback)
    hub("instructor", "generate_feedback", PS, "--force")
    assert files(course.feedback) == before


def test_the_folder_of_an_exchange_is_collected(course):
    """As nbgrader wrote it on a hub; the times are those in the names of folders."""
    inbound = Path(__file__).parents[1] / "platforms/nbgrader-0.9.6/inbound.zip"
    assert main(["collect", str(inbound)]) == 0
    stamps = course.submitted.glob(f"*/{PS}/timestamp.txt")
    assert {path.parts[-3]: path.read_text()[:19] for path in stamps} == {
        "ada": "2026-11-28 13:34:56",
        "bob": "2026-11-28 13:34:57",
        "cy": "2026-11-28 13:34:57",
    }


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_pages_that_the_exchange_cannot_send_are_named_once(
    course, right, capsys, hand_in
):
    for who in ("ada", "bob"):
        hand_in(who, right)
    assert grade()
    assert main(["feedback"]) == 0  # a course without an exchange
    assert "cannot send" not in capsys.readouterr().out
    secret = course.submitted / "ada" / PS / "submission_secret.txt"
    secret.write_text("s" * 128)
    grade()
    assert main(["feedback"]) == 0
    said = capsys.readouterr().out
    assert said.count("nbgrader's exchange cannot send the pages of bob, since") == 1
    assert (course.feedback / "ada" / PS / secret.name).read_text() == "s" * 128
    secret.unlink()
    grade()
    assert main(["feedback"]) == 0
    assert not list(course.feedback.rglob(secret.name))
