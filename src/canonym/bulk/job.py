"""The work on a shard, in whatever process: read, link, write."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from canonym.bulk.batch import EMPTY, link_schema, link_table
from canonym.bulk.sources import Layout, Shard, read_shard
from canonym.bulk.target import Target
from canonym.errors import CanonymError, Mismatch, ReadError, require
from canonym.io.files import file_digest, write_file
from canonym.io.journal import write_record
from canonym.linker import Linker

if TYPE_CHECKING:
    import pyarrow as pa

_ROW_GROUP = 65_536
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}

Attempts = Callable[[Iterable[Shard]], Generator["Outcome", None, None]]
"""Tries to link shards, each once, in any order."""


class Job(NamedTuple):
    """What all shards have in common; small and pickled. `opening` makes the linker."""

    target: Path
    layout: Layout
    opening: tuple[Any, ...]
    settings: Mapping[str, Any]
    options: Mapping[str, Any]


class Outcome(NamedTuple):
    """What came of an attempt: nothing to tell, a `problem`, or what has to `stop` the job.

    `again` tells whether another attempt may do better.
    """

    shard: Shard
    problem: str = ""
    again: bool = False
    stop: Exception | None = None


def attempt(job: Job, shard: Shard) -> Outcome:
    """Link a shard, once, and tell how that went."""
    try:
        linker = _linker(job)
    except (CanonymError, OSError) as error:
        return Outcome(shard, stop=error)
    try:
        linked = link_table(linker, read_shard(shard, job.layout), **job.options)
        _linker(job)  # what was added to the index meanwhile would be in some rows only
        _write(job, shard, linked)
    except CanonymError as error:  # the same every time
        stop = error if isinstance(error, OSError | Mismatch) else None
        return Outcome(shard, str(error), stop=stop)
    except OSError as error:
        if error.errno in _FULL:
            error.strerror = os.strerror(error.errno)  # pyarrow has more words
            return Outcome(shard, stop=error)
        return Outcome(shard, str(error), again=True)
    except Exception as error:
        return Outcome(shard, f"{type(error).__name__}: {error}", again=True)
    return Outcome(shard)


def _linker(job: Job) -> Linker:
    """Return the linker of this process, if its index is still the one of the job."""
    folder = job.opening[1][1]
    try:
        linker = reopened(job.opening)
        same = linker.fingerprint == job.settings["index"]
    except (FileNotFoundError, ReadError) as error:
        if Path(folder).exists() and isinstance(error, ReadError):
            raise
        raise ReadError(folder, "the index is gone, or this machine cannot see it") from error
    if not same:
        raise Mismatch(f"{folder} holds another index than when the job began")
    return linker


@lru_cache(maxsize=1)
def reopened(opening: tuple[Any, ...]) -> Linker:
    """Return the linker that another process has described, opened once in this one."""
    function, arguments = opening
    linker: Linker = function(*arguments)
    return linker


def _write(job: Job, shard: Shard, table: pa.Table) -> None:
    """Write the rows of a shard, and then what is told about them."""
    parquet = require("pyarrow.parquet", "writing Parquet", "tables")
    compute = require("pyarrow.compute", "writing Parquet", "tables")
    target = Target(job.target)
    path = target.part(shard)
    added, wanted = link_schema().names, job.settings["columns"]
    kept = table.select([*(name for name in table.schema.names if name not in added), *wanted])
    with write_file(path) as partial:
        parquet.write_table(kept, partial, row_group_size=_ROW_GROUP, compression="zstd")
    ids, reasons = table.column("canonym_id"), table.column("canonym_reason")
    record = {
        "rows": table.num_rows,
        "linked": table.num_rows - ids.null_count,
        "empty": compute.sum(compute.equal(reasons, EMPTY)).as_py() or 0,
        "output": {"file": path.name, "bytes": path.stat().st_size, "sha256": file_digest(path)},
        "input": {"file": shard.file.name, "first row": shard.first_row, "rows": shard.rows},
        "settings": dict(job.settings),
    }
    write_record(target.record(shard), record)
    target.failure(shard).unlink(missing_ok=True)
