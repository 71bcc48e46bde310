"""The engine ``local``: processes of this machine, which share the memory-mapped index."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Any

from canonym.bulk.job import Attempts, Job, Outcome, attempt
from canonym.bulk.sources import Shard
from canonym.io.files import n_cores
from canonym.io.processes import starting

_one_starts = threading.Lock()  # the environment and the mask of signals are changed for a moment


@contextlib.contextmanager
def open_local(job: Job, workers: int) -> Iterator[Attempts]:
    """Yield what links shards in so many processes, in this one alone where that is 1."""
    n = workers or n_cores()
    if n == 1:
        yield lambda shards: (attempt(job, shard) for shard in shards)
        return
    crew = [_Process(job, n) for _ in range(n)]
    try:
        yield lambda shards: _attempts(crew, shards)
    finally:
        for process in crew:
            process.end()


def _attempts(crew: list[_Process], shards: Iterable[Shard]) -> Generator[Outcome, None, None]:
    """Give each free process a shard; a thread waits for each process."""
    free: SimpleQueue[_Process] = SimpleQueue()
    for process in crew:
        free.put(process)

    def link_shard(shard: Shard) -> Outcome:
        process = free.get()
        try:
            return process.attempt(shard)
        finally:
            free.put(process)

    threads = ThreadPoolExecutor(len(crew))
    try:
        for done in as_completed([threads.submit(link_shard, shard) for shard in shards]):
            yield done.result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for process in crew:
            process.kill()
        threads.shutdown()


class _Process:
    """A process that links one shard after the other, and is replaced if it ends meanwhile."""

    def __init__(self, job: Job, n: int) -> None:
        self._job, self._n = job, n
        self._process: Any = None
        self._pipe: Any = None

    def attempt(self, shard: Shard) -> Outcome:
        """Link a shard; the end of the process is a problem like any other."""
        if self._process is None:
            self._start()
        try:
            self._pipe.send(shard)
            outcome: Outcome = self._pipe.recv()
        except (EOFError, OSError):
            process, self._process = self._process, None
            process.join()
            problem = (
                f"the process that linked it ended (code {process.exitcode}): it was killed, or "
                "the memory was not enough; fewer workers or fewer rows per shard need less"
            )
            return Outcome(shard, problem, again=True)
        return outcome

    def kill(self) -> None:
        """End the process at once; a shard that is not renamed yet is not there."""
        if self._process is not None:
            self._process.kill()

    def end(self) -> None:
        """End the process, and wait until it has ended."""
        self.kill()
        if self._process is not None:
            self._process.join()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # safe beside threads, the same everywhere
        self._pipe, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(self._job, theirs), daemon=True)
        with _one_starts, starting(self._n):
            process.start()
        theirs.close()
        self._process = process


def _serve(job: Job, pipe: Connection) -> None:  # pragma: no cover - in another process
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(attempt(job, pipe.recv()))


def _end_with_parent() -> None:  # pragma: no cover - in another process
    parent = multiprocessing.parent_process()
    assert parent is not None, "this process was started by another"
    wait([parent.sentinel])
    os._exit(1)
