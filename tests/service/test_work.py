"""A bounded number of batches at a time."""

from __future__ import annotations

import asyncio
import threading

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
