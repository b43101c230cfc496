"""Frames with a length over a stream socket; every wait can have a deadline."""

from __future__ import annotations

import socket
import struct
import time
from typing import Any

from autograder.errors import Closed, OverBudget, Violation
from autograder.wall.wire import MAX_FRAME, Refer, Resolve, decode, encode, no_handles


class Channel:
    """Frames over a stream socket; every wait has a deadline (``time.monotonic``).

    ``budget`` is how many bytes it receives in all; without one, as many as come.
    """

    def __init__(self, sock: socket.socket, budget: int | None = None) -> None:
        self.socket, self.budget = sock, budget

    def send(
        self,
        value: Any,
        refer: Refer = no_handles,
        *,
        deadline: float | None = None,
        fds: tuple[int, ...] = (),
    ) -> None:
        """Send one value, and perhaps open files with it."""
        content = encode(value, refer)
        frame = struct.pack("<I", len(content)) + content
        try:
            self._wait(deadline)
            sent = socket.send_fds(self.socket, [frame], fds) if fds else 0
            view = memoryview(frame)[sent:]
            while view:
                self._wait(deadline)
                view = view[self.socket.send(view) :]
        except BlockingIOError:
            raise TimeoutError from None
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None

    def receive(
        self, resolve: Resolve = no_handles, deadline: float | None = None
    ) -> Any:
        """Receive one value; files that come with it are not accepted."""
        return decode(self._frame(deadline), resolve)

    def receive_with_files(self, count: int) -> tuple[Any, list[int]]:
        """Receive a value and up to ``count`` files, from a peer that is trusted."""
        try:
            first, fds, _, _ = socket.recv_fds(self.socket, 4, count)
        except ConnectionResetError:
            raise Closed from None
        return decode(self._frame(None, bytearray(first)), no_handles), list(fds)

    def _frame(
        self, deadline: float | None, head: bytearray | None = None
    ) -> bytearray:
        head = head or bytearray()
        self._fill(head, 4, deadline)
        (size,) = struct.unpack("<I", head)
        if size > MAX_FRAME:
            raise Violation("a frame that is too long")
        if self.budget is not None:
            self.budget -= size
            if self.budget < 0:
                raise OverBudget
        frame = bytearray()
        self._fill(frame, size, deadline)
        return frame

    def _fill(self, buffer: bytearray, size: int, deadline: float | None) -> None:
        while len(buffer) < size:
            self._wait(deadline)
            try:
                chunk = self.socket.recv(min(size - len(buffer), 1 << 20))
            except BlockingIOError:
                raise TimeoutError from None
            except ConnectionResetError:
                raise Closed from None
            if not chunk:
                raise Closed
            buffer += chunk

    def _wait(self, deadline: float | None) -> None:
        """Let the next call on the socket wait until the deadline at most."""
        if deadline is None:
            self.socket.settimeout(None)
            return
        # what has come by now counts: this process may have been stopped meanwhile
        self.socket.settimeout(max(deadline - time.monotonic(), 0.0))

    def close(self) -> None:
        """Close this end."""
        self.socket.close()
