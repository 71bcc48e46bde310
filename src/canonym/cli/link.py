"""``canonym link``: names, columns, mentions and documents to concepts."""

from __future__ import annotations

import logging
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from canonym.cli.annotated import KINDS
from canonym.cli.device import device_option
from canonym.cli.exchange import LINK_FORMATS, ExchangeOptions, exchange_options, row_options
from canonym.cli.key_options import KeyCommand, superseded_option
from canonym.cli.options import (
    CorpusFormat,
    choice_options,
    everyday_option,
    index_option,
    input_options,
    mention_type_option,
    negated_option,
    overwrite_option,
    separator_option,
    ties_option,
    workers_option,
)
from canonym.cli.unread import Unread

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from canonym.cli.input import Blanks, Entry, Input, Item
    from canonym.cli.output import Layout, Output
    from canonym.io.workbooks import Sheet
    from canonym.linker import Linker
    from canonym.types import Link, Mention

_LOG = logging.getLogger(__name__)


class RowOptions(TypedDict):
    """Options of the rows that are written."""

    one_row: bool
    skip_empty: bool
    formula_guard: bool
    output_encoding: str | None


class Filters(TypedDict):
    """Options that `canonym.Linker.link` takes under the same names."""

    types: tuple[str, ...]
    sources: tuple[str, ...]
    languages: tuple[str, ...]
    prefer: tuple[str, ...]
    separator: str | None
    min_score: float | None
    min_confidence: float | None
    context: bool
    keep_negated: bool
    seed: int | None


class ColumnOptions(TypedDict):
    """Which column of a table is read, see `canonym.cli.input.TableOptions`."""

    column: str | None
    context_column: str | None
    delimiter: str | None
    sheet: str | None
    header_row: int | None


class Machine(TypedDict):
    """What works, which the links do not depend on."""

    workers: int
    device: str | None


class Options(RowOptions, ColumnOptions, Filters, Machine, ExchangeOptions):
    """What `link` hands on as it is given."""

    shard_rows: int
    retries: int
    address: str | None


@click.command(cls=KeyCommand)
@click.argument("names", nargs=-1)
@click.option(
    "-f",
    "--file",
    type=click.Path(allow_dash=True),
    help="Read this file, or folder of a corpus; - is standard input.",
)
@click.option(
    "--input-format",
    type=CorpusFormat(KINDS),
    help="Kind of the file; recognised by its beginning when left out, but for columns (a mention "
    "a row, as `canonym evaluate` takes it) and cadec (id<tab>mention).",
)
@click.option(
    "-c",
    "--column",
    "--mention-column",
    "column",
    metavar="NAME",
    help="Link this column of a table with a header.",
)
@click.option(
    "--context-column",
    metavar="NAME",
    help="A column with the text around the mention, to look for abbreviations.",
)
@input_options
@mention_type_option("mention_types")
@index_option
@everyday_option
@click.option(
    "-k",
    type=click.IntRange(1, 1000),
    help="Candidates of a mention. [default: 1 for tsv and csv, where each is a row, and for "
    "workbooks, which have no other; else 5]",
)
@separator_option
@choice_options
@negated_option
@ties_option
@click.option(
    "--explain", is_flag=True, help="Explain each link: normal forms, scores, runner-up, margin."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    help="Write to this file; or to this folder, in parts, if it ends in a slash or there is "
    "--engine.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(LINK_FORMATS),
    help="Format of the output; sssom, usagi, omop and fhir are for other programs, see "
    "docs/formats/exchange.md. [default: by the suffix of the file; without a file, table for a "
    "terminal, and for a pipe tsv, or csv if that is what --column reads]",
)
@exchange_options
@row_options
@click.option(
    "--one-row",
    is_flag=True,
    help="One row for each mention, also for a composite one: the ids, labels, ... of its parts "
    "are joined by |. Without it each part has a row. Goes with tsv, csv, parquet; workbooks are "
    "always so.",
)
@overwrite_option
@click.option("--resume", is_flag=True, help="Continue an interrupted output.")
@workers_option
@device_option
@click.option(
    "--engine",
    metavar="[local|ray|spark|ADDRESS]",
    help="What links the parts of a folder: processes of this machine, Ray or Spark; or the "
    "cluster at an address, ray://host:6379 or spark://host:7077.  [default: local]",
)
@superseded_option("--address", "--engine takes the address of a cluster")
@click.pass_context
def link(
    ctx: click.Context,
    names: tuple[str, ...],
    file: str | None,
    input_format: str | None,
    encoding: str | None,
    mention_types: tuple[str, ...],
    index: str | None,
    no_everyday: bool,
    k: int | None,
    ids: str | None,
    explain: bool,
    output: str | None,
    format_: str | None,
    overwrite: bool,
    resume: bool,
    engine: str | None,
    **options: Unpack[Options],
) -> None:
    """Link NAMES, a file or standard input to concepts.

    The input is NAMES; or a file with one name a line; or, with --column, a sheet of a workbook
    (.xlsx, .ods), or a CSV or TSV table, whose columns, delimiter, encoding, line ends and quotes
    are kept; or a corpus that `canonym evaluate` reads (PubTator, BioC, brat, JSON lines and
    others). The annotated mentions of documents are linked, with the abbreviations of their
    document written out. Order is kept.

    Each mention gets its candidates, best first, or NIL with the reason. A composite mention
    ("breast and ovarian cancer") and a list ("HTN; DM2; CAD") get one concept for each of their
    parts, in a row each; with --one-row there are as many rows as mentions. Words that say that a
    mention is negated, past, doubtful or of the family (no, h/o, r/o, FHx) are taken off and become
    its status.

    \b
    Names, to ICD-10-CM:
      canonym link "heart attack" "type 2 diabetes" "broken hip"
      canonym link --explain -k 3 "NIDDM"

    \b
    A file of names, a pipe:
      canonym link --file names.txt -o linked.tsv
      cut -f3 visits.tsv | canonym link --format jsonl > linked.jsonl

    \b
    A column of a table, which gets the columns canonym_id, canonym_label, ...:
      canonym link --file visits.csv --column diagnosis -o linked.csv
      canonym link --file visits.csv --column dx --context-column note --min-confidence 0.9
      canonym link --file visits.csv --column dx --one-row -o linked.csv \\
          --input-option delimiter=";" --format-option encoding=utf-8-sig
      canonym link --file visits.csv --column problems --separator "|" --one-row -o linked.csv

    \b
    A sheet of a workbook, whose copy gets these columns; all else in it stays:
      canonym link --file visits.xlsx --sheet Visits --column diagnosis -o linked.xlsx

    \b
    A corpus, to another terminology:
      canonym link --index doid-index --file corpus.pubtator --mention-type Disease -o linked.jsonl

    \b
    A long run in four processes, continued after it was stopped:
      canonym link --file huge.txt -o linked.tsv --workers 4
      canonym link --file huge.txt -o linked.tsv --workers 4 --resume

    \b
    A table of any size, a folder or a pattern of files, in parts, to Parquet (docs/guides/bulk.md):
      canonym link --file "visits/*.csv" --column dx -o linked/
      canonym link --file s3://bucket/visits --column dx -o linked --engine ray://head:6379

    The columns of TSV, CSV and Parquet and the objects of JSON lines are described in
    docs/formats/links.md.
    """
    from canonym.cli.input import Blanks, TableOptions, of_types, open_input, read_ids, source_of
    from canonym.cli.named_indexes import open_chosen
    from canonym.cli.output import check_output, choose_format, open_output
    from canonym.cli.progress import counter, note
    from canonym.cli.resume import is_finished

    if engine is not None or _is_folder(output):
        _link_in_parts(ctx)
        return
    chosen = choose_format(format_, output)
    inputs = (source_of(names, file), index, ids)
    check_output(output, chosen, inputs, overwrite=overwrite, resume=resume)
    if output and resume and is_finished(output):
        note(f"{output} is finished: there is nothing to do.")
        return
    table = TableOptions(**{name: options[name] for name in ColumnOptions.__annotations__})  # type: ignore[literal-required]
    with open_input(names, file, kind=input_format, table=table, encoding=encoding) as given:
        if format_ is output is None and chosen == "tsv":
            chosen = given.delimited_format
        layout = _layout(given, chosen, k, options, explain=explain)
        _check(given, layout, output, mention_types)
        _warn_of_files(names)
        linker = open_chosen(index, options, everyday=not no_everyday)
        layout = _with_origin(layout, linker, options, output)
        how = {
            "k": max(layout.k, 2),  # the margin needs a runner-up
            "ids": read_ids(ids) if ids else (),
            **{name: value for name, value in options.items() if name in Filters.__annotations__},
        }
        blanks, unread = Blanks(skipped=options["skip_empty"]), Unread(linker.encoder_names)
        settings = _settings(linker, layout, mention_types, how, skip_empty=blanks.skipped)
        wanted = blanks.among(of_types(given.items, mention_types))
        with (
            open_output(output, layout, settings, overwrite=overwrite, resume=resume) as out,
            counter("Linking", unit=given.unit, total=_total(file, given)) as report,
            closing(_link(linker, out.remaining(wanted), how, given, options["workers"])) as linked,
        ):
            for n, (item, links) in enumerate(unread.among(linked), start=1):
                out.write(item, links)
                report(n)
    _sum_up(out, given, output, blanks, unread)


def _link_in_parts(ctx: click.Context) -> None:
    from canonym.cli.link_parts import link_in_parts

    link_in_parts(ctx)


def _is_folder(output: str | None) -> bool:
    """Tell whether the output is a folder: one that is there, or is written like one."""
    from pathlib import Path

    return bool(output) and (str(output).endswith(("/", "\\")) or Path(str(output)).is_dir())


def _layout(
    given: Input, format_: str, k: int | None, options: Options, *, explain: bool
) -> Layout:
    """Return how to write the links; refuse options that do not go together."""
    from canonym.cli.exchange import MAPPING_FORMATS, check_mappings
    from canonym.cli.output import Layout, style_of
    from canonym.errors import InvalidInput
    from canonym.io.encodings import check_encoding

    one_row, encoding = options["one_row"], options["output_encoding"]
    check_mappings(format_, options, given.columns, k=k, explain=explain)
    if options["skip_empty"] and given.documents:
        raise InvalidInput(
            "--format-option skip-empty goes with names, lines and tables, not with documents"
        )
    if one_row and format_ not in ("tsv", "csv", "parquet", "xlsx"):
        raise InvalidInput(
            f"--one-row goes with --format tsv, csv, parquet or a workbook, not {format_}"
        )
    if one_row and k not in (None, 1):
        raise InvalidInput(
            f"--one-row writes the best candidate alone, and -k {k} asks for {k} rows: give one of "
            "the two"
        )
    if format_ == "xlsx" and k not in (None, 1):
        raise InvalidInput(
            f"a workbook has one row for each mention, and -k {k} asks for {k}: write .csv, .tsv, "
            ".jsonl or .parquet"
        )
    if encoding is not None:
        check_encoding(encoding, argument="output_encoding")
        if format_ not in ("tsv", "csv"):
            raise InvalidInput(
                f"--format-option encoding goes with --format tsv or csv, not {format_}"
            )
    best_alone = ("tsv", "csv", "xlsx", *MAPPING_FORMATS)
    return Layout(
        format_,
        k or (1 if one_row or format_ in best_alone else 5),
        given.columns,
        explain,
        style_of(format_, given.style, encoding),
        one_row,
        options["formula_guard"],
        _copied_sheet(given.sheet),
    )


def _copied_sheet(sheet: Sheet | None) -> Sheet | None:
    """Return the sheet whose workbook is copied; one of .ods is not, and its table goes anew."""
    return None if sheet is None or sheet.suffix == ".ods" else sheet


def _total(file: str | None, given: Input) -> int | None:
    """Return the number of items, for a progress bar that somebody watches."""
    from canonym.cli.input import count_items
    from canonym.cli.progress import watched

    return count_items(file, given) if watched() else None


def _with_origin(layout: Layout, linker: Linker, options: Options, output: str | None) -> Layout:
    """Add what formats for other programs say about the index."""
    from canonym import __version__
    from canonym.cli.exchange import mapping_target

    return layout._replace(
        mappings=mapping_target(linker, layout.format, options, layout.columns, options["column"]),
        syntax="json" if output and output.lower().endswith(".json") else "xml",
        source=f"canonym {__version__}, index {linker.fingerprint}",
    )


def _check(given: Input, layout: Layout, output: str | None, mention_types: Sequence[str]) -> None:
    from canonym.cli.output import check_workbook
    from canonym.errors import InvalidInput

    if layout.format in ("pubtator", "bioc") and not given.documents:
        raise InvalidInput(
            f"--format {layout.format} goes with documents; write tsv, csv or jsonl instead"
        )
    if mention_types and given.columns is not None:
        raise InvalidInput("--mention-type goes with annotated mentions, not with tables")
    check_workbook(layout.format, output, layout.sheet)


def _warn_of_files(names: Sequence[str]) -> None:
    """Remark on names that are files."""
    from pathlib import Path

    from canonym.cli.progress import note

    for name in names[:20]:
        if len(name) < 200 and "\0" not in name and "." in name and Path(name).is_file():
            note(
                f"{name} is a file, and was looked up as a name: to link its content, use "
                f"--file {name}"
            )


def _settings(
    linker: Linker,
    layout: Layout,
    mention_types: Sequence[str],
    options: dict[str, Any],
    *,
    skip_empty: bool,
) -> dict[str, Any]:
    """Return everything the links depend on beside the input, JSON-able."""
    from canonym import __version__

    settings = {
        "canonym": __version__,
        "index": linker.fingerprint,
        "columns": layout.columns,
        "mention types": list(mention_types),
        "format": layout.format,
        "-k": layout.k,
        "--explain": layout.explain,
        "--one-row": layout.one_row,
        "--skip-empty": skip_empty,
        "--formula-guard": layout.formula_guard,
    }
    for name, value in layout.style._asdict().items():
        settings[f"{name.replace('_', ' ')} of the output"] = value
    for name, value in options.items():
        if name != "k":
            settings[name] = list(value) if isinstance(value, tuple) else value
    _LOG.debug("Settings: %s", settings)
    return settings


def _link(
    linker: Linker, items: Iterator[Any], options: dict[str, Any], given: Input, workers: int
) -> Generator[tuple[Item, Sequence[Link]]]:
    """Yield each item with its links, in order."""
    found: Iterator[tuple[Item, Sequence[Link]]]
    options = {**options, "workers": workers}
    if given.documents:
        found = linker.link_documents(items, **options)
    else:
        found = _link_entries(linker, items, options)
    detailed = _LOG.isEnabledFor(logging.DEBUG)
    for item, links in found:
        for link in links if detailed else ():
            _LOG.debug("%r: %s", link.mention.text, ", ".join(link.ids) or f"NIL, {link.reason}")
        yield item, links


def _link_entries(
    linker: Linker, entries: Iterator[Entry], options: dict[str, Any]
) -> Iterator[tuple[Item, Sequence[Link]]]:
    from collections import deque
    from dataclasses import replace

    from canonym.cli.input import is_blank

    waiting: deque[Entry] = deque()  # as many as the linker takes at once

    def mentions() -> Iterator[Mention]:
        for entry in entries:
            waiting.append(entry)
            yield entry.mention

    for link in linker.link_stream(mentions(), **options):
        entry = waiting.popleft()
        yield entry, (replace(link, nil=True, reason="empty") if is_blank(entry) else link,)


def _sum_up(out: Output, given: Input, output: str | None, blanks: Blanks, unread: Unread) -> None:
    """Remark how many mentions were linked, where the links are, and what the rows are."""
    from canonym.cli.progress import note

    n = out.n_links
    if not n and given.documents:
        note(
            "The documents have no annotated mentions. `canonym annotate` finds the names of the "
            "terminology in their texts."
        )
    if output is not None:
        note(f"{n:,} {'mention is' if n == 1 else 'mentions are'} in {output}.")
    if blanks.n:
        note(
            f"{blanks.n:,} {'row' if blanks.n == 1 else 'rows'} without a mention"
            f"{', left out' if blanks.skipped else ''}."
        )
    if out.n_composite and out.has_rows_of_parts:
        note("Composite mentions have a row for each part: --one-row writes one row for each.")
    if unread.n:
        note(
            f"{unread.n:,} {'mention is' if unread.n == 1 else 'mentions are'} in a script that "
            f"the encoder of the index hardly knows, such as {unread.first[:40]!r}: their links "
            "are guesses. `canonym index --encoder multilingual --encoder universal` makes an "
            "index that reads more."
        )
