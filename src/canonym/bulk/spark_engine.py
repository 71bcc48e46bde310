"""The engine ``spark``: each shard is a partition of a Spark job, which writes it itself."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from canonym.bulk.addresses import check_reachable
from canonym.bulk.job import Attempts, Job, Outcome, attempt
from canonym.bulk.sources import Shard
from canonym.bulk.target import Target
from canonym.errors import InvalidInput, require
from canonym.io.files import n_cores

_WHAT = "the engine spark"
_LOOK = 0.5  # seconds between two looks at what is written


def check_spark(address: str | None) -> None:
    """Refuse what `open_spark` could not use, before anything is written."""
    for package in ("pyspark", "pandas"):  # pyspark calls pandas, and does not bring it
        require(package, _WHAT, "spark")
    if not os.environ.get("JAVA_HOME") and not shutil.which("java"):
        raise InvalidInput(
            "the engine spark needs Java 17 or newer: there is no java on the PATH, and JAVA_HOME "
            "is not set"
        )
    if address:
        check_reachable(address, "spark://host:7077")


@contextlib.contextmanager
def open_spark(job: Job, workers: int, address: str | None) -> Iterator[Attempts]:
    """Yield what links shards with a Spark master, on this machine by default."""
    sql = require("pyspark.sql", _WHAT, "spark")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    ours = sql.SparkSession.getActiveSession() is None
    builder = sql.SparkSession.builder.appName("canonym bulk")
    for shown in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(shown, "false")
    if ours:
        builder = builder.master(address or f"local[{workers or n_cores()}]")
    if workers and address:
        builder = builder.config("spark.cores.max", workers)
    try:
        session = builder.getOrCreate()
    except Exception as error:  # py4j has a kind of its own for whatever Java raises
        raise InvalidInput(f"there is no Spark at {address or 'local'}: {_cause(error)}") from error
    try:
        session.sparkContext.setLogLevel("ERROR")
        yield lambda shards: _attempts(session, job, list(shards))
    finally:
        if ours:
            session.stop()


def _attempts(session: Any, job: Job, shards: list[Shard]) -> Generator[Outcome, None, None]:
    """Run one job over the shards; tell of each as soon as its record is there."""
    linked = session.sparkContext.parallelize(shards, len(shards)).map(partial(attempt, job))
    target, waiting = Target(job.target), list(shards)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(linked.collect)
        try:
            while not running.done():
                time.sleep(_LOOK)
                for shard in [shard for shard in waiting if target.is_done(shard)]:
                    waiting.remove(shard)
                    yield Outcome(shard)
            yield from _told(running, waiting)
        finally:
            session.sparkContext.cancelAllJobs()


def _told(running: Any, waiting: list[Shard]) -> Iterator[Outcome]:
    """Yield what the ended job says of the shards that were not seen yet."""
    try:
        yield from (outcome for outcome in running.result() if outcome.shard in waiting)
    except Exception as error:
        problem = f"Spark gave up: {_cause(error)}"
        yield from (Outcome(shard, problem, again=True) for shard in waiting)


def _cause(error: Exception) -> str:
    """Return the beginning of what Java says, without its stack."""
    return " ".join(line.strip() for line in str(error).strip().splitlines()[:2])
