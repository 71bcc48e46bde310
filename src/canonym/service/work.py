"""A bounded number of batches at a time: the others wait, and too many are refused."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import TypeVar

from canonym.service.problems import Problem

_T = TypeVar("_T")
_SECONDS = 1  # after which a refused client may try again


class Work:
    """Threads that link, and room for batches that wait for one.

    `report` is called with 1 for each batch that comes, and with -1 when it is done.
    """

    def __init__(self, threads: int, queue: int, report: Callable[[int], None]) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="link")
        self._room = threads + queue
        self._report = report

    async def run(self, work: Callable[[], _T]) -> _T:
        """Do some work in a thread, or refuse it with 503 where the queue is full."""
        if not self._room:
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "too many batches are waiting to be linked; try again later",
                {"Retry-After": str(_SECONDS)},
            )
        self._change(+1)
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        future = loop.run_in_executor(self._threads, lambda: context.run(work))
        # A client that goes away does not stop the thread: its place is free when that is done.
        future.add_done_callback(lambda _: self._change(-1))
        return await asyncio.shield(future)

    def _change(self, change: int) -> None:
        self._room -= change
        self._report(change)

    def close(self) -> None:
        """Wait for the batches that are being linked."""
        self._threads.shutdown()
