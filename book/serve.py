"""Serve the built course at a local address: python book/serve.py FOLDER."""

import argparse
import functools
import http.server
import sys
from pathlib import Path


class CourseHandler(http.server.SimpleHTTPRequestHandler):
    """Static files, the site's own page for what is not found, and a quiet log."""

    def send_error(self, code, message=None, explain=None):
        page = Path(self.directory) / "404.html"
        if code != 404 or not page.exists():
            return super().send_error(code, message, explain)
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self):
        self.send_header("Cache-Control", "no-cache")  # a rebuilt page is seen at once
        super().end_headers()

    def log_message(self, format, *args):
        pass


def listen(folder: Path, port: int) -> http.server.ThreadingHTTPServer:
    """A server on ``port`` or, when that is taken, on the next free one of twenty."""
    handler = functools.partial(CourseHandler, directory=str(folder))
    for candidate in range(port, port + 20):
        try:
            return http.server.ThreadingHTTPServer(("127.0.0.1", candidate), handler)
        except OSError:
            continue
    sys.exit(f"No free port between {port} and {port + 19}; try make serve PORT=9000.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    if not (options.folder / "index.html").exists():
        sys.exit(f"There is no built book in {options.folder}; run make serve.")
    server = listen(options.folder, options.port)
    address = f"http://127.0.0.1:{server.server_port}/"
    if (options.folder / "sample-class" / "index.html").exists():
        print(f"The sample class's report: {address}sample-class/")
    print(f"The course is at {address} (stop with Ctrl-C)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nStopped.")


if __name__ == "__main__":
    main()
