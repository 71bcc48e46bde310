"""A bounded number of batches at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence

import pytest

from canonym.service.problems import Problem
from canonym.service.work import Work


def test_batches_wait_for_a_thread_and_those_beyond_are_refused() -> None:
    counts: list[int] = []
    work = Work(1, 1, counts.append)
    go, running = threading.Event(), []

    def batch() -> str:
        running.append(threading.current_thread().name)
        assert go.wait(10)
        return "done"

    async def main() -> list[str]:
        first, second = (asyncio.ensure_future(work.run(batch)) for _ in range(2))
        await asyncio.sleep(0.05)
        assert len(running) == 1
        with pytest.raises(Problem) as refused:
            await work.run(batch)
        assert refused.value.status_code == 503
        assert refused.value.headers == {"Retry-After": "1"}
        go.set()
        return [await first, await second, await work.run(batch)]

    assert asyncio.run(main()) == ["done", "done", "done"]
    assert sum(counts) == 0
    assert counts[:2] == [1, 1]
    assert len(running) == 3
    work.close()


def test_a_client_that_goes_away_keeps_its_place_until_its_batch_is_done() -> None:
    counts: list[int] = []
    work = Work(1, 0, counts.append)
    go = threading.Event()

    async def main() -> None:
        task = asyncio.ensure_future(work.run(lambda: go.wait(10)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(Problem):
            await work.run(lambda: None)
        go.set()
        await asyncio.sleep(0.05)
        await work.run(lambda: None)

    asyncio.run(main())
    assert sum(counts) == 0
    work.close()


def test_an_error_in_a_batch_reaches_its_client() -> None:
    work = Work(1, 0, lambda _: None)

    def fail() -> None:
        raise ValueError("wrong")

    async def main() -> None:
        for _ in range(2):
            with pytest.raises(ValueError, match="wrong"):
                await work.run(fail)

    asyncio.run(main())
    work.close()


def test_requests_of_a_kind_that_wait_are_done_together() -> None:
    counts: list[int] = []
    work = Work(1, 2, counts.append)
    started, go, batches = threading.Event(), threading.Event(), []

    def done(requests: Sequence[int]) -> list[int]:
        started.set()
        assert go.wait(10)
        batches.append([*requests])
        if 13 in requests:
            raise ValueError("thirteen")
        return [-one for one in requests]

    async def main() -> list[int]:
        first = asyncio.ensure_future(work.together("a", 1, done))
        await asyncio.to_thread(started.wait, 10)
        more = [asyncio.ensure_future(work.together("a", number, done)) for number in (2, 3)]
        bad = asyncio.ensure_future(work.together("a", 13, done))
        other = asyncio.ensure_future(work.together("b", 5, done))
        await asyncio.sleep(0.05)
        with pytest.raises(Problem):
            await work.together("c", 6, done)
        more[1].cancel()
        go.set()
        with pytest.raises(ValueError, match="thirteen"):
            await bad
        return [await first, await more[0], await other]

    assert asyncio.run(main()) == [-1, -2, -5]
    assert batches == [[1], [2, 3, 13], [2], [3], [13], [5]]
    assert sum(counts) == 0
    work.close()


def test_batches_of_waiting_requests_have_a_limit() -> None:
    work = Work(1, 99, lambda _: None)
    sizes: list[int] = []

    def done(requests: Sequence[int]) -> list[int]:
        time.sleep(0.05)
        sizes.append(len(requests))
        return [*requests]

    async def main() -> list[int]:
        return await asyncio.gather(*(work.together("a", number, done) for number in range(200)))

    assert asyncio.run(main()) == [*range(200)]
    assert max(sizes) == 64
    assert len(sizes) <= 5
    work.close()
