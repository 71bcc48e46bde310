"""Connections that have to begin a request in time: those that only stay open use up a server."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_SECONDS = 30.0  # for the head of a request


class Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # one of two classes
    """A connection of uvicorn that is closed where the head of a request does not come in time."""

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._waiting = self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._waiting.cancel()
        self._waiting = self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._waiting.cancel()
        super().connection_lost(exc)

    def _wait(self) -> asyncio.TimerHandle:
        loop: asyncio.AbstractEventLoop = self.loop
        return loop.call_later(_SECONDS, self._close_unless_asked)

    def _close_unless_asked(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
