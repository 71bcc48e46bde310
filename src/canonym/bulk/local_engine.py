"""The engine ``local``: processes of this machine, which share the memory-mapped index."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable
from concurrent.futures import as_completed
from functools import partial

from canonym.bulk.job import Attempts, Job, Outcome, attempt
from canonym.bulk.sources import Shard
from canonym.io.files import n_cores
from canonym.io.processes import WorkerEnded, open_crew


def open_local(job: Job, workers: int) -> contextlib.AbstractContextManager[Attempts]:
    """Return what links shards in so many processes, in this one alone where that is 1."""
    n = workers or n_cores()
    if n == 1:
        return contextlib.nullcontext(lambda shards: (attempt(job, shard) for shard in shards))
    return contextlib.nullcontext(lambda shards: _attempts(job, shards, n))


def _attempts(job: Job, shards: Iterable[Shard], n: int) -> Generator[Outcome, None, None]:
    """Give each free process a shard; the end of a process is a problem like any other."""
    with open_crew(partial(attempt, job), n) as submit:
        shard_of = {submit(shard): shard for shard in shards}
        for done in as_completed(shard_of):
            try:
                yield done.result()
            except WorkerEnded as ended:
                problem = (
                    f"the process that linked it ended (code {ended.code}): it was killed, or "
                    "the memory was not enough; fewer workers or fewer rows per shard need less"
                )
                yield Outcome(shard_of[done], problem, again=True)
