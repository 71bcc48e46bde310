"""The engine ``spark``: each shard is a partition of a Spark job, which writes it itself."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Generator, Iterable, Iterator
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
_ROW = "number long, problem string, again boolean, stop string, errno long, path string"
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
    frame = session.range(0, len(shards), 1, len(shards))
    linked = frame.mapInArrow(partial(_link, job, shards), _ROW)
    target, waiting = Target(job.target), dict(enumerate(shards))
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(linked.collect)
        try:
            while not running.done():
                time.sleep(_LOOK)
                for number in [n for n, shard in waiting.items() if target.is_done(shard)]:
                    yield Outcome(waiting.pop(number))
            yield from _told(running, waiting)
        finally:
            session.sparkContext.cancelAllJobs()


def _told(running: Any, waiting: dict[int, Shard]) -> Iterator[Outcome]:
    """Yield what the ended job says of the shards that were not seen yet."""
    try:
        rows = running.result()
    except Exception as error:
        problem = f"Spark gave up: {_cause(error)}"
        yield from (Outcome(shard, problem, again=True) for shard in waiting.values())
        return
    for row in rows:
        if row.number in waiting:
            stop = _stop(row) if row.stop is not None else None
            yield Outcome(waiting[row.number], row.problem, row.again, stop)


def _cause(error: Exception) -> str:
    """Return the beginning of what Java says, without its stack."""
    return " ".join(line.strip() for line in str(error).strip().splitlines()[:2])


def _link(job: Job, shards: list[Shard], batches: Iterable[Any]) -> Iterator[Any]:
    """Link the shards with the numbers in Arrow batches; this runs where Spark wants it."""
    arrow = require("pyarrow", _WHAT, "tables")
    numbers = (number for batch in batches for number in batch.column(0).to_pylist())
    for number in numbers:
        outcome = attempt(job, shards[number])
        stop = outcome.stop
        hindered = stop if isinstance(stop, OSError) and stop.errno is not None else None
        row = {
            "number": number,
            "problem": outcome.problem,
            "again": outcome.again,
            "stop": None if stop is None else hindered.strerror if hindered else str(stop),
            "errno": hindered.errno if hindered else None,
            "path": str(hindered.filename) if hindered else None,
        }
        yield arrow.RecordBatch.from_pylist([row], schema=_schema(arrow))


def _schema(arrow: Any) -> Any:
    return arrow.schema([
        ("number", arrow.int64()), ("problem", arrow.string()), ("again", arrow.bool_()),
        ("stop", arrow.string()), ("errno", arrow.int64()), ("path", arrow.string()),
    ])  # fmt: skip


def _stop(row: Any) -> Exception:
    """Return what has to end the job, as it was where a shard was linked."""
    if row.errno is None:
        return InvalidInput(row.stop)
    return OSError(row.errno, row.stop, row.path)
