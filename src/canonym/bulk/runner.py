"""Bulk runs: files of any size in, a folder of Parquet files out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from canonym.bulk.batch import check_columns, link_schema, link_table
from canonym.bulk.job import Attempts, Job, Outcome
from canonym.bulk.local_engine import open_local
from canonym.bulk.ray_engine import check_ray, open_ray
from canonym.bulk.sources import Shard, find_files, no_rows, plan
from canonym.bulk.spark_engine import check_spark, open_spark
from canonym.bulk.target import Target, open_target
from canonym.errors import InvalidInput, check_types, require
from canonym.io.places import check_paths
from canonym.linker import Linker, LinkOptions, as_linker
from canonym.linking.links import check_options, recorded

ENGINES = ("local", "ray", "spark")
SHARD_ROWS = 50_000


class Failure(NamedTuple):
    """A part that could not be made."""

    part: str
    problem: str


class Summary(NamedTuple):
    """What a bulk run has done.

    Attributes
    ----------
    parts, rows : int
        Parts and rows of the whole output.
    kept : int
        Parts that an earlier run had made.
    failures : tuple of Failure
        Parts that are missing.
    """

    parts: int
    rows: int
    kept: int
    failures: tuple[Failure, ...]


def link_files(
    source: str | Path,
    target: str | Path,
    column: str,
    linker: Linker | str | Path | Callable[[], Linker] | None = None,
    *,
    context_column: str | None = None,
    columns: Sequence[str] | None = None,
    engine: str = "local",
    address: str | None = None,
    shard_rows: int = SHARD_ROWS,
    retries: int = 2,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **options: Unpack[LinkOptions],
) -> Summary:
    """Link a column of files of any size; write a folder of Parquet files.

    Every `shard_rows` rows of a file become a part of the output, whatever links them: the bytes
    depend on the input, the index and the options, never on engine or workers.

    Parameters
    ----------
    source : str or Path
        A file, a folder, a pattern such as ``"visits/*.csv"``, or a URL that fsspec opens: CSV,
        TSV, JSON lines or Parquet. Columns of text files stay strings.
    target : str or Path
        The folder to write. All processes need to see it under this name.
    column, context_column, columns
        As for `canonym.bulk.link_batch`.
    linker : Linker, str or Path, or a function, optional
        A linker that is saved, or its folder, or what opens one; by default ICD-10-CM. It is opened
        when the input has been looked at.
    engine : {"local", "ray", "spark"}
        What links the shards.
    address : str, optional
        Of a Ray cluster or a Spark master; by default one is started on this machine.
    shard_rows : int
        Most rows of a part; they are held in memory.
    retries : int
        Further attempts for a shard whose process ended, or that failed by chance.
    resume, overwrite : bool
        Go on with an interrupted run, or replace what is there.
    progress : function of a str and two ints, optional
        Called with the stage, the number of rows done and of all rows.
    **options
        See `canonym.LinkOptions`. `workers` is the number of shards linked at once; by default, and
        with 0, there are as many as the machine or the cluster has cores.

    Returns
    -------
    Summary
        With the parts that failed. They are missing in the folder, and `resume` tries them again.

    Raises
    ------
    InvalidInput
        If an argument or the input cannot be used, or another process writes the folder.
    Mismatch
        If the earlier run had other settings, or the index changes meanwhile.
    """
    check_paths(source, target=target)
    check_types(str, "the name of a column", column=column)
    check_types(str | None, "the name of a column", context_column=context_column)
    check_types(bool, "True or False", resume=resume, overwrite=overwrite)
    check_types(Callable | None, "a function", progress=progress)
    checked, workers = check_options(options), options.get("workers", 0)
    checked |= {"ids": tuple(checked["ids"]), "workers": 1}  # read more than once; of one shard
    _check(engine, address, shard_rows=shard_rows, retries=retries)
    arrow = require("pyarrow", "linking files in bulk", "tables")
    files, folder = find_files(str(source)), Path(target).absolute()
    _check_apart(files, folder)
    with open_target(folder, resume=resume, overwrite=overwrite) as output:
        resumed = resume and output.job.exists()
        planned = None if resumed else plan(files, shard_rows)
        if planned:
            check_columns(planned[0].columns, [column, context_column])
        opened = as_linker(linker() if callable(linker) else linker)
        place = {"column": column, "context_column": context_column, "shard_rows": shard_rows}
        place |= {"pyarrow": arrow.__version__, "columns": link_schema(columns).names}
        settings = recorded(opened.fingerprint, checked) | place
        layout, shards = planned or output.resume(settings, files)
        # What no shard could use is refused before anything is removed or written.
        of_shards = {"column": column, "context_column": context_column, **checked}
        link_table(opened, no_rows(files[0], layout), **of_shards)
        job = Job(folder, layout, opened.__reduce__(), settings, of_shards)
        missing = [shard for shard in shards if not (resumed and output.is_done(shard))]
        with _opened(job, engine, workers, address, needed=bool(missing)) as attempts:
            if not resumed:
                output.clear()
                output.begin(settings, files, layout, shards)
            try:
                failures = _link(attempts, output, shards, missing, retries, progress)
            except BaseException as error:
                if any(output.record(shard).exists() for shard in missing):
                    error.add_note(
                        f"What is done is kept in {target}; the same call with resume=True goes on."
                    )
                raise
        if not failures and (missing or not output.manifest.exists()):
            output.finish(settings, shards)
    rows = sum(shard.rows for shard in shards)
    return Summary(len(shards), rows, len(shards) - len(missing), tuple(failures))


def _opened(
    job: Job, engine: str, workers: int, address: str | None, *, needed: bool
) -> contextlib.AbstractContextManager[Attempts]:
    if not needed:
        return contextlib.nullcontext(lambda shards: (Outcome(shard) for shard in shards))
    if engine == "ray":
        return open_ray(job, workers, address)
    if engine == "spark":
        return open_spark(job, workers, address)
    return open_local(job, workers)


def _link(
    attempts: Attempts,
    output: Target,
    shards: list[Shard],
    missing: list[Shard],
    retries: int,
    progress: Callable[[str, int, int], None] | None,
) -> list[Failure]:
    """Link the shards that are missing; set aside those that fail, and return why."""
    failures = []
    total = sum(shard.rows for shard in shards)
    done = total - sum(shard.rows for shard in missing)
    with contextlib.closing(_complete(attempts, missing, retries)) as outcomes:
        for outcome, n in outcomes:
            if outcome.problem:
                output.set_aside(outcome.shard, outcome.problem, n)
                failures.append(Failure(outcome.shard.name, outcome.problem))
            done += outcome.shard.rows
            if progress:
                progress("Linking", done, total)
    return sorted(failures)


def _complete(
    attempts: Attempts, shards: Iterable[Shard], retries: int
) -> Generator[tuple[Outcome, int], None, None]:
    """Yield what came of each shard at last, and after how many attempts.

    Shards that may yet succeed wait until all others are done, which gives trouble time to pass.
    """
    waiting = list(shards)
    for n in range(1, retries + 2):
        if not waiting:
            return
        failed = []
        with contextlib.closing(attempts(waiting)) as outcomes:
            for outcome in outcomes:
                if outcome.stop:
                    raise outcome.stop
                if outcome.again and n <= retries:
                    failed.append(outcome.shard)
                else:
                    yield outcome, n
        waiting = failed


def _check(engine: str, address: str | None, *, shard_rows: int, retries: int) -> None:
    if engine not in ENGINES:
        raise InvalidInput(f"engine is {engine!r}; expected one of {', '.join(ENGINES)}")
    if engine == "ray":
        check_ray(address)
    elif engine == "spark":
        check_spark(address)
    elif address:
        raise InvalidInput("address is that of a cluster: it goes with the engines ray and spark")
    for name, value, least in (("shard_rows", shard_rows, 1), ("retries", retries, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise InvalidInput(f"{name} is {value!r}; expected a whole number, at least {least}")


def _check_apart(files: Iterable[Any], target: Path) -> None:
    """Refuse to write where the input lies."""
    for file in files:
        if target in Path(file.url).parents:
            raise InvalidInput(
                f"{file.url}, which is to be read, lies in {target}: write elsewhere"
            )
