"""Around every request: its id, its log line, its counts, its limits, and headers of safety."""

from __future__ import annotations

import contextlib
import logging
import random
import string
import time
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from canonym.errors import ReadError
from canonym.service import logs
from canonym.service.bodies import Arriving, Body
from canonym.service.metrics import Metrics
from canonym.service.origins import REFUSED
from canonym.service.problems import ProblemResponse

_log = logging.getLogger(__name__)
_GONE = 499  # what nginx calls a client that went away
_OF_IDS = frozenset(f"{string.ascii_letters}{string.digits}._-")
_LONGEST_ID = 64
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
# Who stands before the service may take the other one, and see another request in the body.
_TWO_LENGTHS = ProblemResponse(
    400,
    "Content-Length and Transfer-Encoding are both given; one of them is expected",
    {"Connection": "close"},
)


class Surroundings:
    """Gives a request its id and headers, limits its body, and reports how it was answered."""

    def __init__(self, app: ASGIApp, metrics: Metrics, max_body: int) -> None:
        self._app = app
        self._metrics = metrics
        self._max_body = max_body
        self._arriving = Arriving()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = headers.get("x-request-id", "")
        is_sound = 0 < len(request_id) <= _LONGEST_ID and _OF_IDS.issuperset(request_id)
        id_ = request_id if is_sound else f"{random.getrandbits(64):016x}"
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

        body = Body(scope, receive, self._max_body, self._arriving)
        app = scope.get(REFUSED) or self._app
        if {"content-length", "transfer-encoding"} <= {*headers}:
            app = _TWO_LENGTHS
        try:
            await app(scope, body.receive, send_with_headers)
        except ClientDisconnect:
            statuses[0] = _GONE
            _log.info("the client went away")
        except Exception as error:
            if statuses[0] and isinstance(error.__cause__ or error, ReadError):
                _log.error("an answer was cut off: %s", error.__cause__ or error)
                return
            _log.exception("a request failed")
            if statuses[0]:  # too late for another answer
                raise
            detail = "the service failed; its log says why, under this request id"
            failed = ProblemResponse(500, detail, request_id=id_)
            with contextlib.suppress(ClientDisconnect):
                await failed(scope, receive, send_with_headers)
        finally:
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
