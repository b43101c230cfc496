"""The server of `make serve`: compressed files where a browser takes them."""

import gzip
import threading
import urllib.error
import urllib.request

import pytest
import serve

WASM = b"\0asm" * 1000


@pytest.fixture
def address(tmp_path):
    (tmp_path / "python.wasm").write_bytes(WASM)
    (tmp_path / "python.wasm.gz").write_bytes(gzip.compress(WASM))
    (tmp_path / "plain.json").write_text("{}")
    (tmp_path / "404.html").write_text("Nothing is here.")
    server = serve.listen(tmp_path, 8700)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def asked(address, path, encoding):
    request = urllib.request.Request(
        f"{address}/{path}", headers={"Accept-Encoding": encoding}
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read(), answer.headers


def test_a_browser_that_takes_gzip_gets_the_compressed_file_with_its_own_type(address):
    body, headers = asked(address, "python.wasm?v=1", "gzip, br")
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Content-Type"] == "application/wasm"
    assert int(headers["Content-Length"]) == len(body) < len(WASM)
    assert gzip.decompress(body) == WASM


@pytest.mark.parametrize(
    ("path", "encoding"), [("python.wasm", "identity"), ("plain.json", "gzip")]
)
def test_others_get_the_file_as_it_is(address, path, encoding):
    body, headers = asked(address, path, encoding)
    assert headers["Content-Encoding"] is None
    assert body in {WASM, b"{}"}


def test_what_is_not_there_has_the_sites_own_page(address):
    with pytest.raises(urllib.error.HTTPError) as error:
        asked(address, "nowhere.html", "gzip")
    assert error.value.code == 404 and error.value.read() == b"Nothing is here."
