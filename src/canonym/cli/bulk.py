"""``canonym bulk``: tables of any size, linked in parts by processes, Ray or Spark."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.options import choice_options, index_option, overwrite_option, separator_option

if TYPE_CHECKING:
    from canonym.bulk import Summary
    from canonym.cli.progress import Stages

_INCOMPLETE = 3
_SHOWN = 10


@click.command()
@click.argument("source")
@click.argument("target", type=click.Path())
@index_option
@click.option("-c", "--column", metavar="NAME", required=True, help="The column with the mentions.")
@click.option(
    "--context-column",
    metavar="NAME",
    help="A column with the text around the mention, to look for abbreviations.",
)
@separator_option
@choice_options
@click.option(
    "--engine",
    type=click.Choice(("local", "ray", "spark")),
    default="local",
    show_default=True,
    help="What links the parts: processes of this machine, Ray or Spark.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    default=0,
    help="Parts linked at once.  [default: as many as the machine or the cluster has cores]",
)
@click.option(
    "--address",
    metavar="ADDRESS",
    help="Of the Ray cluster (host:6379) or the Spark master (spark://host:7077). [default: one is "
    "started on this machine]",
)
@click.option(
    "--shard-rows",
    type=click.IntRange(1),
    default=50_000,
    show_default=True,
    help="Most rows of a part. A part is held in memory, and is what is done again after a stop.",
)
@click.option(
    "--retries",
    type=click.IntRange(0, 100),
    default=2,
    show_default=True,
    help="Further attempts for a part that fails by chance, as when its process is killed.",
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted run.")
@overwrite_option
def bulk(
    source: str,
    target: str,
    index: str | None,
    column: str,
    ids: str | None,
    no_context: bool,
    **options: Any,
) -> None:
    """Link a column of the table SOURCE, of any size, and write the folder TARGET.

    SOURCE is a file, a folder, a pattern in quotes or a URL (s3://..., with the package of its
    protocol): CSV, TSV, JSON lines or Parquet. Columns of text files stay text: "007" stays "007".
    TARGET gets Parquet files with all columns of SOURCE and those of the link, in order. They are
    the same for every engine and any number of workers.

    \b
    On this machine, with all its cores:
      canonym bulk visits.csv linked --column diagnosis
      canonym bulk "visits/*.parquet" linked --index doid-index --column dx --workers 8

    \b
    After it was stopped, in whatever way:
      canonym bulk visits.csv linked --column diagnosis --resume

    \b
    On a cluster, whose machines see the files and the index under the same names:
      canonym bulk s3://bucket/visits linked --column dx --engine ray --address head:6379
      canonym bulk visits linked --column dx --engine spark --address spark://head:7077

    A part that fails again and again is set aside with its error in TARGET/_canonym/failed, and the
    others are written: the exit code is 3 then. TARGET/_canonym/manifest.json is there when all
    parts are. See docs/guides/bulk.md.
    """
    from canonym.bulk import link_files
    from canonym.cli.input import read_ids
    from canonym.cli.progress import stages
    from canonym.cli.sources import open_linker

    options |= {"ids": read_ids(ids) if ids else (), "context": not no_context}
    linker = open_linker(index, min_confidence=options["min_confidence"])
    with stages(unit="rows") as report, _kept(target, report) as progress:
        summary = link_files(source, target, column, linker, progress=progress, **options)
    _sum_up(summary, target)
    if summary.failures:
        sys.exit(_INCOMPLETE)


@contextlib.contextmanager
def _kept(target: str, report: Stages) -> Iterator[Stages]:
    """Yield `report`; if the run is stopped after that was called, remark that its work is kept."""
    begun = False

    def told(stage: str, done: int, total: int | None) -> None:
        nonlocal begun
        begun = True
        report(stage, done, total)

    try:
        yield told
    except BaseException:
        if begun:
            click.echo(
                f"What is done is kept in {target}; the same command with --resume goes on.",
                err=True,
            )
        raise


def _sum_up(summary: Summary, target: str) -> None:
    """Tell how much is written, and what is missing."""
    from canonym.cli.progress import note

    kept = f", {summary.kept:,} of them from before" if summary.kept else ""
    there = summary.parts - len(summary.failures)
    note(
        f"{there:,} of {summary.parts:,} parts are in {target}{kept}; {summary.rows:,} rows in all."
    )
    for failure in summary.failures[:_SHOWN]:
        click.echo(f"{failure.part}: {failure.problem}", err=True)
    if summary.failures:
        n = len(summary.failures)
        click.echo(
            f"{n:,} {'part is' if n == 1 else 'parts are'} missing, see {target}/_canonym/failed. "
            "Mend the cause; the same command with --resume makes what is missing.",
            err=True,
        )
