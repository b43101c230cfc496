"""Python for the exercise pages: whence it comes, and what is refused."""

import functools
import hashlib
import http.server
import io
import json
import subprocess
import threading
import zipfile

import pytest
import remote
import vendor


class Ranges(http.server.SimpleHTTPRequestHandler):
    """A server of parts of files, as those of package registries are."""

    whole = False
    sent = None  # how many bytes, by answer

    def do_GET(self):
        content = (vendor.Path(self.directory) / self.path[1:]).read_bytes()
        if not self.whole:
            first, last = self.headers["Range"].removeprefix("bytes=").split("-")
            content = content[int(first) : int(last) + 1]
        self.sent.append(len(content))
        self.send_response(200 if self.whole else 206)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format, *arguments):
        pass


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder that is served, and its address."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setattr(Ranges, "sent", [])
    handler = functools.partial(Ranges, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def wheel(terms="License-Expression: BSD-3-Clause"):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("x-1.dist-info/METADATA", f"Name: x\n{terms}\n\nText.\n")
        archive.writestr("x-1.dist-info/LICENSE", "You may.")
    return content.getvalue()


def carried(content=None, **changes):
    """A small runtime with its wheels, by name, and the checksums to pin."""
    wheels = {f"{name}-1.whl": content or wheel() for name in ("numpy", "matplotlib")}
    packages = {
        name.partition("-")[0]: {
            "file_name": name,
            "sha256": hashlib.sha256(data).hexdigest(),
            "depends": ["numpy"] if name.startswith("m") else [],
        }
        for name, data in wheels.items()
    }
    runtime = {name: name.encode() for name in vendor.RUNTIME}
    runtime[vendor.LOCK] = json.dumps({"packages": packages}).encode()
    sums = {name: (hashlib.sha256(c).hexdigest(),) for name, c in runtime.items()}
    return {**runtime, **wheels, **changes}, sums


@pytest.fixture
def offer(shelf, monkeypatch):
    """Offer files in a large package, without npm."""
    folder, address = shelf

    def pip(verb, *arguments):
        if verb == "install":
            url = f"{address}/carrier.whl"
            return json.dumps({"install": [{"download_info": {"url": url}}]})
        (vendor.Path(arguments[-1]) / "carrier.whl").write_bytes(
            (folder / "carrier.whl").read_bytes()
        )
        return ""

    def put(files, sums):
        with zipfile.ZipFile(folder / "carrier.whl", "w") as archive:
            archive.writestr("before", b"b" * 3 * remote.PART)
            for name, content in files.items():
                archive.writestr(vendor.INSIDE + name, content)
            archive.writestr("after", b"a" * 3 * remote.PART)
        monkeypatch.setattr(vendor, "RUNTIME", sums)

    monkeypatch.setattr(vendor, "runtime_of_npm", lambda folder: None)
    monkeypatch.setattr(vendor, "pip", pip)
    return put


def test_only_what_is_needed_is_read_of_a_large_package(offer, tmp_path, shelf):
    files, sums = carried()
    offer(files, sums)
    vendor.vendor(tmp_path / "python")
    found = {path.name: path.read_bytes() for path in (tmp_path / "python").iterdir()}
    assert "numpy-1.whl: BSD-3-Clause" in found.pop("LICENSES.txt").decode()
    assert found == files
    size = (shelf[0] / "carrier.whl").stat().st_size
    assert sum(Ranges.sent) < 0.75 * size
    Ranges.sent.clear()
    vendor.vendor(tmp_path / "python")
    assert not Ranges.sent  # it is complete


def test_a_server_without_parts_gives_the_whole(offer, tmp_path, monkeypatch):
    offer(*carried())
    monkeypatch.setattr(Ranges, "whole", True)
    vendor.vendor(tmp_path / "python")
    assert vendor.complete(tmp_path / "python")


@pytest.mark.parametrize("name", ["pyodide.mjs", "numpy-1.whl"])
def test_another_file_is_refused_and_nothing_changes(offer, tmp_path, name):
    target = tmp_path / "python"
    offer(*carried(**{name: b"other bytes"}))
    target.mkdir()
    (target / "mine").touch()
    with pytest.raises(vendor.VendorError, match=f"{name} is not the file"):
        vendor.vendor(target)
    assert [path.name for path in target.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("terms", "accepted"),
    [
        ("License: MIT", True),
        ("Classifier: License :: OSI Approved :: BSD License", True),
        ("License-Expression: AGPL-3.0-only", False),
    ],
)
def test_a_wheel_that_may_not_be_passed_on_is_refused(offer, tmp_path, terms, accepted):
    offer(*carried(wheel(terms)))
    if accepted:
        vendor.vendor(tmp_path / "python")
    else:
        with pytest.raises(vendor.VendorError, match=r"AGPL-3\.0-only"):
            vendor.vendor(tmp_path / "python")


def test_npm_s_runtime_goes_before_and_its_lock_file_pins_the_wheels(
    offer, tmp_path, monkeypatch
):
    files, sums = carried()
    offer({name: files[name] for name in files if name.endswith("whl")}, sums)
    runtime = {name: files[name] for name in sums}
    monkeypatch.setattr(vendor, "runtime_of_npm", lambda folder: runtime)
    vendor.vendor(tmp_path / "python")
    assert vendor.complete(tmp_path / "python")


def test_without_registries_it_says_so_and_a_build_goes_on(
    tmp_path, monkeypatch, capsys
):
    def refuse(command, check=False, **options):
        if check:
            raise FileNotFoundError(command[0])
        return subprocess.CompletedProcess(command, 1, "", "No index.\n")

    monkeypatch.setattr(vendor, "TARGET", tmp_path / "_build/pyodide")
    monkeypatch.setattr(vendor, "HOME", tmp_path / "_build/python-home")
    monkeypatch.setattr(vendor.editor, "target", lambda: tmp_path / "_build/editor")
    monkeypatch.setattr(vendor.subprocess, "run", refuse)
    monkeypatch.setattr("sys.argv", ["vendor.py"])
    with pytest.raises(SystemExit, match=r"No index\. Exercise pages load Python from"):
        vendor.main()
    monkeypatch.setattr("sys.argv", ["vendor.py", "--try"])
    vendor.main()
    assert vendor.HOME.read_text() == f"{vendor.host()}\n"
    assert "npm gave no editor: npm. Exercise pages keep" in capsys.readouterr().out


def test_an_editor_of_other_packages_is_refused(tmp_path, monkeypatch):
    def pack(command, cwd, **options):
        (cwd / "codemirror-autocomplete-6.20.4.tgz").write_bytes(b"other bytes")

    monkeypatch.setattr(vendor.editor.subprocess, "run", pack)
    with pytest.raises(vendor.VendorError, match=r"complete@6\.20\.4 is not the file"):
        vendor.editor.bundle(tmp_path / "editor")
    assert not list(tmp_path.iterdir())


def test_what_is_vendored_is_what_is_pinned(python):
    assert vendor.complete(python)
    lock = json.loads((python / vendor.LOCK).read_text(encoding="utf-8"))
    names = {entry["name"].lower() for entry in vendor.needed(lock)}
    assert {"numpy", "matplotlib", "pillow", "contourpy", "kiwisolver"} <= names
    listed = (python / "LICENSES.txt").read_text(encoding="utf-8").splitlines()
    assert len(listed) == 1 + len(names)
