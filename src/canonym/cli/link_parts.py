"""``canonym link -o FOLDER/``: tables of any size, linked in parts by processes, Ray or Spark."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.key_options import is_typed, typed_as
from canonym.cli.progress import note, stages
from canonym.errors import InvalidInput

if TYPE_CHECKING:
    from canonym.bulk import Summary

_INCOMPLETE = 3
_SHOWN = 10
_OPTIONS = (
    *("context_column", "columns", "separator", "types", "sources", "languages", "ids", "prefer"),
    *("min_score", "min_confidence", "context", "keep_negated", "seed", "second_look"),
    *("workers", "resume", "overwrite", "shard_rows", "retries"),
)
_TAKEN = {*_OPTIONS, "names", "file", "column", "index", "output", "engine", "address"}


def link_in_parts(ctx: click.Context) -> None:
    """Link a column of a file, a folder, a pattern of files or a URL; write a folder of Parquet.

    Text files are read as text: "007" stays "007". The parts have all columns of the input and
    those of the link, in order, and are the same for every engine and any number of workers.

    A part that fails again and again is set aside with its error in ``_canonym/failed``, and the
    others are written: the exit code is 3 then. ``_canonym/manifest.json`` is there when all parts
    are.
    """
    from canonym.bulk import link_files
    from canonym.cli.input import read_ids
    from canonym.cli.named_indexes import open_linker

    typed = ctx.params
    names = list(typed["names"])  # the source and the folder, as far as no options name them
    for option in ("file", "output"):
        if typed[option] is None and names:
            typed[option] = names.pop(0)
    typed["names"] = names
    _check(ctx)
    engine, address = _engine(typed["engine"] or "local")
    options: dict[str, Any] = {name: typed[name] for name in _OPTIONS}
    options["ids"] = read_ids(typed["ids"]) if typed["ids"] else ()
    if not is_typed("workers", ctx):
        options["workers"] = 0  # as many as there are cores
    target = str(Path(typed["output"]))
    with stages(unit="rows") as progress:
        summary = link_files(
            typed["file"],
            target,
            typed["column"],
            partial(open_linker, typed["index"]),
            engine=engine,
            address=typed["address"] or address,
            progress=progress,
            **options,
        )
    _sum_up(summary, target)
    if summary.failures:
        sys.exit(_INCOMPLETE)


def _check(ctx: click.Context) -> None:
    """Refuse what is missing, what does not go with a folder of parts, and a name of a file."""
    from canonym.bulk.sources import KINDS

    output = ctx.params["output"]
    places = {"file": "--file SOURCE", "column": "--column NAME", "output": "-o FOLDER/"}
    missing = [words for name, words in places.items() if ctx.params[name] in (None, "", "-")]
    if missing:
        place = f"-o {output} is a folder: " if is_typed("output", ctx) else ""
        raise InvalidInput(
            f"{place}a folder of parts is made from a column of a table: give "
            f"{' and '.join(missing)}; or link names to a file, without --engine"
        )
    if names := ctx.params["names"]:
        raise InvalidInput(
            f"{names[0]} is one place too many for a source and a folder: files are named by a "
            'pattern in quotes, as "visits/*.csv", or by their folder'
        )
    wrong = [
        typed_as(option).strip(" =")
        for option in ctx.command.params
        if option.name in ctx.params.keys() - _TAKEN and is_typed(option.name, ctx)
    ]
    if wrong:
        raise InvalidInput(
            f"-o {output} is a folder of parts, which does not go with {', '.join(wrong)}: name a "
            "file"
        )
    called_file = Path(output).suffix.lower() in {*KINDS, ".xlsx"}
    if called_file and not output.endswith(("/", "\\")) and not Path(output).is_dir():
        raise InvalidInput(
            f"--engine writes a folder of parts, and {output} is called like a file: name a "
            f"folder, such as {Path(output).stem}/, or leave out --engine"
        )


def _engine(engine: str) -> tuple[str, str | None]:
    """Return the engine, and the address of a cluster."""
    kind, separator, host = engine.partition("://")
    if kind not in ("local", "ray", "spark") or (separator and (kind == "local" or not host)):
        raise InvalidInput(
            f"--engine {engine}: local, ray, spark, ray://HOST:PORT or spark://HOST:PORT is "
            "expected"
        )
    if not separator:
        return kind, None
    return kind, host if kind == "ray" else engine


def _sum_up(summary: Summary, target: str) -> None:
    """Tell how much is written, and what is missing."""
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
