"""Length-prefixed messages over a stream socket; each send or receive has a deadline.

The sandbox, the judge that decides about points, and the grader talk this way.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from array import array
from typing import Any

from autograder.errors import Closed, OverBudget, Violation
from autograder.wall.wire import MAX_FRAME, Refer, Resolve, decode, encode, no_handles

SIZE = struct.Struct("<I")
AHEAD = 1 << 14


class Channel:
    """Frames over a stream socket; every wait has a deadline (``time.monotonic``).

    ``budget`` is how many bytes it receives in all; without one, as many as come.
    """

    def __init__(self, sock: socket.socket, budget: int | None = None) -> None:
        self.socket, self.budget = sock, budget
        self.buffer = bytearray()  # what has come beyond the last frame

    def send(
        self,
        value: Any,
        refer: Refer = no_handles,
        *,
        deadline: float | None = None,
        fds: tuple[int, ...] = (),
    ) -> None:
        """Send one value, and perhaps open files with it."""
        self.send_encoded(encode(value, refer), deadline=deadline, fds=fds)

    def send_encoded(
        self,
        content: bytes,
        *,
        deadline: float | None = None,
        fds: tuple[int, ...] = (),
    ) -> None:
        """The same for what is encoded already."""
        frame = SIZE.pack(len(content)) + content
        files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", fds))] if fds else []
        at_once = 0 if deadline is None else socket.MSG_DONTWAIT
        rest = memoryview(frame)
        try:
            while rest:
                try:
                    rest = rest[self.socket.sendmsg([rest], files, at_once) :]
                    files = []
                except BlockingIOError:
                    self._wait(select.POLLOUT, deadline)
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None

    def receive(
        self, resolve: Resolve = no_handles, deadline: float | None = None
    ) -> Any:
        """Receive one value; files that come with it are not accepted."""
        return decode(self.frame(deadline), resolve)

    def receive_with_files(self, count: int) -> tuple[Any, list[int]]:
        """Receive a value and up to ``count`` files, from a peer that is trusted."""
        try:
            head, fds, _, _ = socket.recv_fds(self.socket, 4, count)
        except ConnectionResetError:
            raise Closed from None
        self.buffer += head
        return decode(self.frame(None, 0), no_handles), list(fds)

    def frame(self, deadline: float | None = None, ahead: int = AHEAD) -> memoryview:
        """Receive the bytes of one value; up to ``ahead`` of what follows may come."""
        self._fill(4, deadline, ahead)
        (size,) = SIZE.unpack_from(self.buffer)
        if size > MAX_FRAME:
            raise Violation("a frame that is too long")
        if self.budget is not None:
            self.budget -= size
            if self.budget < 0:
                raise OverBudget
        end = 4 + size
        self._fill(end, deadline, ahead)
        frame = memoryview(self.buffer)[4:end]
        self.buffer = self.buffer[end:]
        return frame

    def _fill(self, size: int, deadline: float | None, ahead: int) -> None:
        while (missing := size - len(self.buffer)) > 0:
            self._wait(select.POLLIN, deadline)
            try:
                chunk = self.socket.recv(max(min(missing, 1 << 20), ahead))
            except ConnectionResetError:
                raise Closed from None
            if not chunk:
                raise Closed
            self.buffer += chunk

    def _wait(self, event: int, deadline: float | None) -> None:
        """Wait until the socket is ready, until the deadline at most."""
        if deadline is None:
            return
        poll = select.poll()
        poll.register(self.socket, event)
        # what has come by now counts: this process may have been stopped meanwhile
        if not poll.poll(1000 * max(deadline - time.monotonic(), 0.0)):
            raise TimeoutError

    def close(self) -> None:
        """Close this end."""
        self.socket.close()
