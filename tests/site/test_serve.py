"""The server of `make serve`."""

import threading
import urllib.error
import urllib.request

import pytest
import serve


@pytest.fixture
def address(tmp_path):
    (tmp_path / "404.html").write_text("Nothing is here.")
    server = serve.listen(tmp_path, 8700)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_what_is_not_there_has_the_sites_own_page(address):
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(f"{address}/nowhere.html")
    assert error.value.code == 404 and error.value.read() == b"Nothing is here."
