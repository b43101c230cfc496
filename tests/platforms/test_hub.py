"""A real JupyterHub: Linux users, their own servers, and nbgrader's exchange."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from autograder import registry
from autograder.course import CONFIG, Course
from autograder.release.sample_class import reference_answers, solved

PYTHON = "/usr/bin/python3"  # every user can read it; the test's own may be root's
NEEDS = ("npm", "useradd", "runuser", PYTHON)
PS, NOTEBOOK = "01-attention", "attention.ipynb"
HUB = """
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = ["{root}/node_modules/.bin/configurable-http-proxy"]
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.services = [{{"name": "test", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{
    "name": "test",
    "scopes": ["admin:users", "admin:servers", "access:servers"],
    "services": ["test"],
}}]
c.Spawner.cmd = ["{root}/env/bin/jupyterhub-singleuser"]
c.Spawner.environment = {{"PATH": "{root}/env/bin:/usr/bin:/bin"}}
"""


class Hub:
    """Linux users and a hub for them, in a folder that goes away with them."""

    def __init__(self, root: Path, wheels: list[Path]) -> None:
        self.root, self.token = root, os.urandom(16).hex()
        self.users: dict[str, str] = {}
        self.install(wheels)
        (root / "exchange").mkdir()
        (root / "exchange").chmod(0o777)
        (root / "home").mkdir()
        config = root / "env" / "etc" / "jupyter" / CONFIG
        config.write_text(
            f"c = get_config()\nc.Exchange.root = {str(root / 'exchange')!r}\n"
            'c.CourseDirectory.course_id = "paying-attention"\n'
        )

    def install(self, wheels: list[Path]) -> None:
        """An environment of root's that every user can read, and the hub's proxy."""
        place = self.root / "env"
        subprocess.run([PYTHON, "-m", "venv", place], check=True)
        pip = [place / "bin" / "python", "-m", "pip", "install", "--quiet"]
        packages = ["jupyterhub", "jupyterlab", f"{wheels[0]}[grade]", wheels[1]]
        subprocess.run([*pip, *packages], check=True)
        npm = ["npm", "install", "--silent", "--prefix", self.root]
        subprocess.run([*npm, "configurable-http-proxy"], check=True)

    def add(self, who: str) -> str:
        """A Linux user; names differ from run to run."""
        name = self.users[who] = f"{who}{os.getpid()}"
        home = ["--create-home", "--home-dir", self.root / "home" / name]
        subprocess.run(["useradd", *home, "--shell", "/bin/bash", name], check=True)
        return name

    def start(self) -> subprocess.Popen:
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        self.address = f"http://127.0.0.1:{ports[0]}"
        text = HUB.format(ports=ports, root=self.root, token=self.token)
        (self.root / "jupyterhub_config.py").write_text(text)
        program = self.root / "env" / "bin" / "jupyterhub"
        own = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        with (self.root / "log").open("w") as log:
            return subprocess.Popen(
                [program], cwd=self.root, env=own, stdout=log, stderr=log
            )

    def ask(self, path: str, kind: str = "get", **more: object) -> requests.Response:
        headers = {"Authorization": f"token {self.token}"}
        found = requests.request(
            kind, self.address + path, headers=headers, timeout=300, **more
        )
        found.raise_for_status()
        return found

    def until(self, true: Callable[[], object], seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, (self.root / "log").read_text()[-4000:]
            time.sleep(0.5)

    def up(self) -> bool:
        try:
            return self.ask("/hub/api/").ok
        except requests.RequestException:  # the proxy is there before the hub
            return False

    def log_in(self, who: str) -> None:
        """The user's own server."""
        name = self.users[who]
        self.ask(f"/hub/api/users/{name}", "post")
        self.ask(f"/hub/api/users/{name}/server", "post")
        self.until(lambda: self.ask(f"/hub/api/users/{name}").json()["server"])

    def at(self, who: str, path: str, kind: str = "get", **more: object):
        """What a click of this user asks the user's server."""
        return self.ask(f"/user/{self.users[who]}/{path}", kind, **more)

    def click(self, who: str, what: str) -> dict:
        """A button of the students' list of assignments."""
        about = {"course_id": "paying-attention", "assignment_id": PS}
        answer = self.at(who, f"assignments/{what}", "post", data=about).json()
        assert answer["success"], answer
        return answer["value"]

    def run(self, who: str, *command: str) -> subprocess.CompletedProcess:
        """A command in a terminal of this user."""
        home = self.home(who)
        path = f"PATH={self.root}/env/bin:/usr/bin:/bin"
        clean = ["env", "-i", f"HOME={home}", path, "OMP_NUM_THREADS=1"]
        return subprocess.run(
            ["runuser", "-u", self.users[who], "--", *clean, *command],
            cwd=home / "course" if who == "grader" else home,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def home(self, who: str) -> Path:
        return self.root / "home" / self.users[who]

    def remove(self) -> None:
        for name in self.users.values():
            subprocess.run(["pkill", "-KILL", "-u", name])
            subprocess.run(["userdel", name], check=True)
        shutil.rmtree(self.root, ignore_errors=True)


@pytest.fixture
def hub(wheels) -> Iterator[Hub]:
    missing = [program for program in NEEDS if shutil.which(program) is None]
    if os.getuid() or missing:
        pytest.skip(f"a hub with users of its own needs root and {', '.join(NEEDS)}")
    root = Path(tempfile.mkdtemp(prefix="hub-"))
    root.chmod(0o755)
    made = Hub(root, wheels)
    process = made.start()
    try:
        made.until(made.up)
        yield made
    finally:
        process.terminate()
        process.wait(60)
        made.remove()


@pytest.fixture
def course(hub) -> Path:
    """The grader's course, and three students."""
    for who in ("grader", "ada", "bob", "cy"):
        hub.add(who)
    repository, folder = Course.find(Path(__file__).parent).root, hub.home("grader")
    root = folder / "course"
    shutil.copytree(repository / "solutions" / PS, root / "solutions" / PS)
    library = registry.read(repository).library.values()
    for path in (repository / CONFIG, repository / registry.FILE, *library):
        copy = root / path.relative_to(repository)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)
    config = folder / ".jupyter" / CONFIG
    config.parent.mkdir()
    config.write_text(f"c = get_config()\nc.CourseDirectory.root = {str(root)!r}\n")
    subprocess.run(["chown", "-R", hub.users["grader"], folder], check=True)
    for who in hub.users:
        hub.log_in(who)
    return root


def fetched(hub: Hub, who: str) -> dict[str, str]:
    """The pages that *Fetch Feedback* brings this student, the latest last."""
    hub.click(who, "fetch_feedback")
    folder = hub.home(who) / PS / "feedback"
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*.html")}


@pytest.mark.long
def test_a_round_on_a_real_hub(hub, course):
    """From release to fetched feedback: buttons of servers, commands of accounts."""
    repository = Course.find(Path(__file__).parent)
    (assignment,) = repository.chosen([PS])
    api, points = f"formgrader/api/assignment/{PS}", {}

    def grader(*command: str, code: int = 0) -> str:
        done = hub.run("grader", *command)
        assert done.returncode == code, done.stdout
        return done.stdout

    def press(path: str) -> None:
        """A button of formgrader."""
        answer = hub.at("grader", path, "post").json()
        assert answer["success"], answer["log"]

    def grade(*more: str) -> None:
        grader("autograder", "grade", PS, "--json", "results.json", *more)
        found = json.loads((course / "results.json").read_text())["submissions"]
        points.update((one["student"], one["score"]) for one in found)

    def submit(who: str, text: str, name: str = NOTEBOOK) -> None:
        for old in (hub.home(who) / PS).glob("*.ipynb"):
            old.unlink()
        model = {"type": "notebook", "content": json.loads(text)}
        hub.at(who, f"api/contents/{PS}/{name}", "put", json=model)
        hub.click(who, "submit")

    grader("autograder", "release", PS)
    grader("nbgrader", "db", "assignment", "add", PS)
    press(f"{api}/release")
    for who in ("ada", "bob", "cy"):
        hub.click(who, "fetch")
    untouched = (hub.home("ada") / PS / NOTEBOOK).read_text()
    right = solved(json.loads(untouched), reference_answers(assignment))
    submit("ada", right)
    submit("bob", right, "attention (bob).ipynb")
    submit("cy", untouched)
    press(f"{api}/collect")
    ada, bob, cy = (hub.users[who] for who in ("ada", "bob", "cy"))
    grade("--student", ada)  # the button works once the gradebook knows the notebook
    press(f"formgrader/api/submission/{PS}/{cy}/autograde")
    grade()
    assert points == {ada: 20.0, bob: 20.0, cy: 0.0}

    # cy's second submission is collected, and not graded
    submit("cy", right)
    grader("nbgrader", "collect", "--update", PS)
    grader("autograder", "feedback", PS)
    pages = {p: p.read_bytes() for p in (course / "feedback").rglob("*.html")}
    press(f"{api}/generate_feedback")
    assert {p: p.read_bytes() for p in (course / "feedback").rglob("*.html")} == pages
    press(f"{api}/release_feedback")
    passed = "softmax: 4 of 4 points"
    (page,) = fetched(hub, "ada").values()
    assert passed in page
    assert page.encode() == pages[course / "feedback" / ada / PS / "attention.html"]
    ((path, page),) = fetched(hub, "bob").items()
    assert path.endswith("/attention (bob).html") and passed in page
    assert [passed in page for page in fetched(hub, "cy").values()] == [False]
    grade()
    assert points[cy] == 20.0
    grader("autograder", "feedback", PS)
    grader("nbgrader", "release_feedback", PS)
    assert sorted(passed in page for page in fetched(hub, "cy").values()) == [0, 1]

    (closed,) = (hub.root / "env").glob("lib/*/site-packages/msgpack")
    closed.chmod(0o700)  # as root's umask may leave it
    said = grader("autograder", "grade", code=2)
    assert "this account cannot read" in said and f"{closed.name}; whoever" in said
