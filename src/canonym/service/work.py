"""A bounded number of batches at a time: the others wait, and too many are refused."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from canonym.service.problems import busy

_T = TypeVar("_T")
_Request = TypeVar("_Request")
_MOST_TOGETHER = 64  # requests
_Waiting = list[tuple[Any, asyncio.Future[Any]]]


@contextlib.asynccontextmanager
async def in_turn(room: asyncio.Semaphore, patience: float, refusal: str) -> AsyncIterator[None]:
    """Wait so many seconds for room, or refuse with 503; it is free again when the block ends."""
    try:
        async with asyncio.timeout(patience):
            await room.acquire()
    except TimeoutError as error:
        raise busy(refusal) from error
    try:
        yield
    finally:
        room.release()


class Work:
    """Threads that link, and room for batches that wait for one.

    `report` is called with 1 for each batch that comes, and with -1 when it is done. Who is refused
    is told `what` they are.
    """

    def __init__(
        self, threads: int, queue: int, report: Callable[[int], None], what: str = "batches"
    ) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="link")
        self._room = threads + queue
        self._report = report
        self._what = what
        self._waiting: dict[Hashable, _Waiting] = {}
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], _T]) -> _T:
        """Do some work in a thread, or refuse it with 503 where the queue is full."""
        # A client that goes away does not stop the thread: its place is free when that is done.
        return await asyncio.shield(self._start(work))

    async def together(
        self, kind: Hashable, request: _Request, work: Callable[[Sequence[_Request]], Sequence[_T]]
    ) -> _T:
        """Answer a request along with others of its kind that wait for a thread by then.

        They are one batch: `work` returns an answer for each. Where it fails, each is done alone.
        """
        answer = asyncio.get_running_loop().create_future()
        with self._lock:
            waiting = self._waiting.get(kind)
            if waiting is None or len(waiting) >= _MOST_TOGETHER:
                waiting = []
                batch = self._start(lambda: self._answers(kind, waiting, work))
                batch.add_done_callback(lambda done: _deliver(waiting, done.result()))
                self._waiting[kind] = waiting
            waiting.append((request, answer))
        result: _T = await answer
        return result

    def _start(self, work: Callable[[], _T]) -> asyncio.Future[_T]:
        if not self._room:
            raise busy(f"too many {self._what} are waiting")
        self._change(+1)
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._threads, lambda: context.run(work))
        # The first of its callbacks: who has an answer finds the place free.
        future.add_done_callback(lambda _: self._change(-1))
        return future

    def _answers(
        self, kind: Hashable, waiting: _Waiting, work: Callable[[Sequence[Any]], Sequence[Any]]
    ) -> list[Any]:
        with self._lock:  # nobody joins them from here on
            if self._waiting.get(kind) is waiting:
                del self._waiting[kind]
        return _outcomes(work, [request for request, _ in waiting])

    def _change(self, change: int) -> None:
        self._room -= change
        self._report(change)

    def close(self) -> None:
        """Wait for the batches that are being linked."""
        self._threads.shutdown()


def _outcomes(work: Callable[[Sequence[Any]], Sequence[Any]], requests: Sequence[Any]) -> list[Any]:
    """Return the answer to each request, or the error in its place."""
    try:
        return [*work(requests)]
    except Exception as error:
        if len(requests) == 1:
            return [error]
        return [_outcomes(work, [request])[0] for request in requests]


def _deliver(waiting: _Waiting, outcomes: Sequence[Any]) -> None:
    for (_, answer), outcome in zip(waiting, outcomes, strict=True):
        if answer.done():  # its client went away
            continue
        if isinstance(outcome, Exception):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)
