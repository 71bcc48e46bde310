"""Around every request: its id, its log line, its counts, its limits, and headers of safety."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import re
import time
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from canonym.service import logs
from canonym.service.metrics import Metrics
from canonym.service.problems import Problem, ProblemResponse, too_large

_log = logging.getLogger(__name__)
_GONE = 499  # what nginx calls a client that went away
_PATIENCE = 30.0  # seconds for a body, and one more for each of so many bytes that have come:
_BYTES_A_SECOND = 20_000
_LARGE = 1_000_000  # bytes; what is read from larger bodies takes many times their memory
_LARGE_AT_ONCE = 2
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


class Surroundings:
    """Gives a request its id and headers, limits its body, and reports how it was answered."""

    def __init__(self, app: ASGIApp, metrics: Metrics, max_body: int) -> None:
        self._app = app
        self._metrics = metrics
        self._max_body = max_body
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        id_ = given if _ID.fullmatch(given) else f"{random.getrandbits(64):016x}"
        token = logs.request_id.set(id_)
        began, statuses = time.perf_counter(), [0]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses[0] = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = id_
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            try:
                await send(message)
            except Exception as error:
                raise ClientDisconnect from error

        body = _Body(scope, receive, self._max_body, self._large)
        try:
            await self._app(scope, body.receive, send_with_headers)
        except ClientDisconnect:
            statuses[0] = _GONE
            _log.info("the client went away")
        except Exception:
            _log.exception("a request failed")
            if statuses[0]:  # too late for another answer
                raise
            detail = "the service failed; its log says why, under this request id"
            failed = ProblemResponse(500, detail, request_id=id_)
            with contextlib.suppress(ClientDisconnect):
                await failed(scope, receive, send_with_headers)
        finally:
            body.close()
            self._report(scope, statuses[0], time.perf_counter() - began)
            logs.request_id.reset(token)

    def _report(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "no route")
        self._metrics.count_request(route, scope["method"], status, seconds)
        facts: dict[str, Any] = {
            "route": route,  # not the path, which may hold a mention
            "method": scope["method"],
            "status": status,
            "seconds": round(seconds, 4),
            **scope.get("state", {}).get("facts", {}),
        }
        logs.access.info("request", extra={"facts": facts})


class _Body:
    """The body of a request: neither too long nor too slow, and few large ones at a time."""

    def __init__(self, scope: Scope, receive: Receive, most: int, large: asyncio.Semaphore) -> None:
        length = Headers(scope=scope).get("content-length", "")
        self._announced = int(length) if length.isascii() and length.isdigit() else 0
        self._receive = receive
        self._most = most
        self._large = large
        self._is_large = False
        self._received = 0
        self._whole = False
        self._until = time.monotonic() + _PATIENCE

    async def receive(self) -> Message:
        """Return the next part, or refuse what is too long or too slow."""
        if self._whole:  # what comes now is that the client goes away
            return await self._receive()
        if self._announced > self._most:
            raise too_large("bytes", self._most, self._announced)
        try:
            async with asyncio.timeout(self._until - time.monotonic()):
                message = await self._receive()
        except TimeoutError as error:
            detail = "the rest of the body did not come in time"
            raise Problem(HTTPStatus.REQUEST_TIMEOUT, detail) from error
        size = len(message.get("body", b""))
        self._received += size
        self._until += size / _BYTES_A_SECOND
        self._whole = not message.get("more_body", False)
        if self._received > self._most:
            raise too_large("bytes", self._most)
        if self._received > _LARGE and not self._is_large:
            await self._large.acquire()
            self._is_large = True
        return message

    def close(self) -> None:
        """Let the next large body come."""
        if self._is_large:
            self._large.release()
