"""Access to routes: API keys with scopes, and limits of requests."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

from fastapi import Request

from canonym.errors import ReadError
from canonym.service.keys import Key, Keys
from canonym.service.problems import Problem, busy

_log = logging.getLogger(__name__)
_MOST_CALLERS = 10_000
_THREADS = 4
_PAUSE = 1.0  # seconds in which keys that could not be read are not looked for again


class Access:
    """Checks who may do what, and how often.

    Without keys everybody may read and nobody may change anything: a page in the browser of the
    same machine could otherwise do so.
    """

    def __init__(self, keys: str, rate_limit: int) -> None:
        self.keys = Keys(keys) if keys else None
        self._buckets = Buckets(rate_limit) if rate_limit else None
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="keys")
        self._unread_until = 0.0

    async def check(self, request: Request, scope: str, token: str = "") -> Key | None:
        """Refuse a request that came too early, or without a key of a scope; return the key.

        `token` is a key that came in a form; one in a header goes before it.
        """
        token = given_key(request) or token
        key = await self._find(token) if token else None
        if key:
            request.state.facts = {"key": key.id}
        if self._buckets:
            address = request.client.host if request.client else ""
            wait = self._buckets.take(key.id if key else f"address {address}")
            if wait:
                raise Problem(
                    HTTPStatus.TOO_MANY_REQUESTS,
                    f"more than the {self._buckets.per_minute} requests a minute that are allowed; "
                    "try again later",
                    {"Retry-After": str(math.ceil(wait))},
                )
        self._check_scope(key, scope)
        return key

    async def _find(self, key: str) -> Key | None:
        """Find a key in a thread: the file may be locked, or on a slow disk."""
        if self.keys is None:
            return None
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._look, self.keys, key)
        except ReadError as error:
            _log.warning("the keys cannot be read: %s", error)
            raise busy("the keys cannot be read now") from error

    def _look(self, keys: Keys, key: str) -> Key | None:
        if time.monotonic() < self._unread_until:  # those that wait would wait one after the other
            raise ReadError(keys.path, "could not be read a moment ago")
        try:
            return keys.find(key)
        except ReadError:
            self._unread_until = time.monotonic() + _PAUSE
            raise

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _check_scope(self, key: Key | None, scope: str) -> None:
        if self.keys is None:
            if scope != "read":
                raise Problem(
                    HTTPStatus.FORBIDDEN,
                    f"this needs a key of the scope {scope}, and the service was started without "
                    "keys: `canonym serve keys add NAME --scope review`, `canonym serve --keys "
                    "FILE`",
                )
        elif key is None:
            raise Problem(
                HTTPStatus.UNAUTHORIZED,
                "a key is expected, in the header `Authorization: Bearer KEY` or `X-API-Key: KEY`; "
                "none that is in use was given",
                {"WWW-Authenticate": "Bearer"},
            )
        elif not key.allows(scope):
            raise Problem(
                HTTPStatus.FORBIDDEN,
                f"the key {key.id} has the scope {key.scope}; {scope} is expected",
            )


def given_key(request: Request) -> str:
    """Return the key in the headers of a request, or nothing."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return (token if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")).strip()


class Buckets:
    """A bucket of tokens for each caller: full at first, refilled evenly, one token a request."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._levels: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> float:
        """Take a token, and return 0; or return the seconds until there is one."""
        now = self._clock()
        # A caller that was taken out has a full bucket again, so the one seen longest ago goes.
        level, since = self._levels.pop(caller, (float(self.per_minute), now))
        level = min(self.per_minute, level + (now - since) * self.per_minute / 60)
        taken = level >= 1
        self._levels[caller] = (level - taken, now)
        if len(self._levels) > _MOST_CALLERS:
            del self._levels[next(iter(self._levels))]
        return 0.0 if taken else (1 - level) * 60 / self.per_minute
