"""The engine ``ray``: each shard is a task of a Ray cluster, or of this machine.

A task whose process or machine is lost is tried again by `canonym.bulk.runner`, wherever there is
room. Ray keeps its processes, so that each opens the index once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import Any

from canonym.bulk.addresses import check_reachable
from canonym.bulk.job import Attempts, Job, Outcome, attempt
from canonym.bulk.sources import Shard
from canonym.errors import InvalidInput, require

_WHAT = "the engine ray"


def check_ray(address: str | None) -> None:
    """Refuse what `open_ray` could not use, before anything is written."""
    require("ray", _WHAT, "ray")
    if address:
        check_reachable(address, "host:6379")


@contextlib.contextmanager
def open_ray(job: Job, workers: int, address: str | None) -> Iterator[Attempts]:
    """Yield what links shards on a cluster, so many at once; by default as it has cores."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing goes online unasked
    ray = require("ray", _WHAT, "ray")
    ours = not ray.is_initialized()
    if ours:
        _connect(ray, workers, address)
    try:
        n = workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)
        # Ray gives a task of one core one thread for linear algebra.
        task = ray.remote(num_cpus=1, max_retries=0)(attempt)
        yield lambda shards: _attempts(ray, task, ray.put(job), shards, n)
    finally:
        if ours:
            ray.shutdown()


def _connect(ray: Any, workers: int, address: str | None) -> None:
    try:
        here = {} if address else {"num_cpus": workers or None, "include_dashboard": False}
        ray.init(address=address or "local", log_to_driver=False, logging_level="error", **here)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise InvalidInput(f"there is no Ray cluster at {address or 'local'}: {error}") from error


def _attempts(
    ray: Any, task: Any, job: Any, shards: Iterable[Shard], n: int
) -> Generator[Outcome, None, None]:
    """Keep `n` tasks with the cluster until all shards were tried."""
    waiting, running = iter(shards), dict[Any, Shard]()
    try:
        while True:
            for shard in islice(waiting, n - len(running)):
                running[task.remote(job, shard)] = shard
            if not running:
                return
            (done, *_), _ = ray.wait(list(running), num_returns=1)
            shard = running.pop(done)
            try:
                yield ray.get(done)
            except ray.exceptions.RayError as error:
                problem = f"Ray lost its process: {type(error).__name__}: {error}"
                yield Outcome(shard, problem, again=True)
    finally:
        for running_task in running:
            ray.cancel(running_task, force=True)
