"""Firefox for Playwright, which drives it by WebDriver BiDi.

    python tests/site/firefox.py FIREFOX ARGUMENTS

Playwright begins with a command that Debian's Firefox does not know yet, one that sets
the color scheme. This process stands between the two and answers it: all is light.
"""

import asyncio
import json
import re
import sys

from tornado import httpserver, netutil, web, websocket

UNKNOWN = "emulation.setMediaFeaturesOverride"
LISTENING = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")


class Between(websocket.WebSocketHandler):
    """Passes messages on, from Playwright to Firefox and back."""

    async def open(self):
        self.firefox = await websocket.websocket_connect(
            f"{self.settings['firefox']}{self.request.path}",
            on_message_callback=self.answer,
            max_message_size=1 << 30,
        )

    def answer(self, message):
        if message is None:
            self.close()
        else:
            self.write_message(message)

    def on_message(self, message):
        asked = json.loads(message)
        if asked["method"] == UNKNOWN:
            done = {"type": "success", "id": asked["id"], "result": {}}
            self.write_message(json.dumps(done))
        else:
            self.firefox.write_message(message)


async def main(*command):
    firefox = await asyncio.create_subprocess_exec(
        *command, stderr=asyncio.subprocess.PIPE
    )
    async for line in firefox.stderr:
        if found := LISTENING.search(line):
            address = found[1].decode()
            places = netutil.bind_sockets(0, "127.0.0.1")
            settings = {"firefox": address, "websocket_max_message_size": 1 << 30}
            server = httpserver.HTTPServer(
                web.Application([(r"/.*", Between)], **settings)
            )
            server.add_sockets(places)
            _, port = places[0].getsockname()
            line = f"WebDriver BiDi listening on ws://127.0.0.1:{port}\n".encode()
        sys.stderr.buffer.write(line)
        sys.stderr.flush()
    return await firefox.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
