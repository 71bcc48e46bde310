"""Connections within a limit: those that only stay open use up a server."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_SECONDS = 30.0  # for the head of a request
_MOST = 10_000
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"

_idle: dict[Connection, None] = {}  # that wait for a request, the longest first


class Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # one of two classes
    """A connection of uvicorn that is closed where the head of a request does not come in time.

    Where there are too many connections, the one that asked nothing for the longest makes room.
    """

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._waiting = self._wait()
        if len(self.connections) > most_connections():
            self._make_room()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._waiting.cancel()
        self._waiting = self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        _idle.pop(self, None)
        self._waiting.cancel()
        super().connection_lost(exc)

    def _wait(self) -> asyncio.TimerHandle:
        _idle.pop(self, None)
        _idle[self] = None
        loop: asyncio.AbstractEventLoop = self.loop
        return loop.call_later(_SECONDS, self._close_unless_asked)

    def _close_unless_asked(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _make_room(self) -> None:
        """Close the connection that asked nothing for the longest: this one, if no other is so."""
        while True:
            oldest = next(iter(_idle))
            del _idle[oldest]
            if oldest.cycle is None or oldest.cycle.response_complete:
                break  # the others are asking something
        if oldest is self:
            self.transport.write(_BUSY)
        self.connections.discard(oldest)
        oldest.transport.close()


@functools.cache
def most_connections() -> int:
    """Return how many connections a process keeps open: half of the files that it may open."""
    return min(_MOST, open_files() // 2)


def open_files() -> int:
    """Let this process open as many files as it needs and may, and return how many that are."""
    needed = 2 * _MOST + 1000
    try:
        import resource
    except ImportError:  # Windows, where connections are no files
        return needed
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft in range(needed):
        more = min(needed, hard) if hard in range(needed) else needed
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return soft if soft in range(needed) else needed
