"""``canonym link``: names, columns, mentions and documents to concepts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.annotated import KINDS
from canonym.cli.device import device_option
from canonym.cli.exchange import (
    LINK_FORMATS,
    MAPPING_FORMATS,
    check_mappings,
    exchange_options,
    mapping_opener,
    row_options,
)
from canonym.cli.key_options import KeyCommand, superseded_option
from canonym.cli.options import (
    CorpusFormat,
    choice_options,
    columns_option,
    index_option,
    input_options,
    mention_type_option,
    negated_option,
    overwrite_option,
    second_look_option,
    separator_option,
    workers_option,
)
from canonym.cli.progress import counter, note, watched
from canonym.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from canonym.jobs.input import Input
    from canonym.jobs.link import Summary
    from canonym.jobs.output import Layout, Output
    from canonym.linker import Linker


@click.command(cls=KeyCommand)
@click.argument("names", nargs=-1)
@click.option(
    "-f",
    "--file",
    type=click.Path(allow_dash=True),
    help="A file, or a folder of a corpus; - is standard input.",
)
@click.option(
    "--input-format", type=CorpusFormat(KINDS), help="Kind of the file.  [default: recognised]"
)
@click.option(
    "-c",
    "--column",
    "--mention-column",
    "column",
    metavar="NAME",
    help="Link this column of a table with a header.",
)
@click.option("--context-column", metavar="NAME", help="Column with the text around the mention.")
@input_options
@mention_type_option("mention_types")
@index_option
@click.option(
    "-k",
    type=click.IntRange(1, 1000),
    help="Candidates of a mention.  [default: 1 in tables, else 5]",
)
@separator_option
@choice_options
@negated_option
@second_look_option
@click.option("--explain", is_flag=True, help="Say why: normal forms, rules, scores, runner-up.")
@click.option("-o", "--output", type=click.Path(), help="File; or FOLDER/, for a result in parts.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(LINK_FORMATS),
    help="Format of the output.  [default: by its suffix; that of the table; tsv for a pipe]",
)
@exchange_options
@row_options
@columns_option
@click.option(
    "--one-row",
    is_flag=True,
    help="One row for each mention; | stands between the parts of a list.",
)
@overwrite_option
@click.option("--resume", is_flag=True, help="Continue an interrupted output.")
@workers_option
@device_option
@click.option(
    "--engine",
    metavar="[local|ray|spark|ADDRESS]",
    help="What links a result in parts; or a cluster, such as ray://host:6379.  [default: local]",
)
@superseded_option("--address", "--engine takes the address of a cluster")
@click.pass_context
def link(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    file: str | None,
    input_format: str | None,
    encoding: str | None,
    mention_types: tuple[str, ...],
    index: str | None,
    no_everyday: bool,
    k: int | None,
    ids: str | None,
    output: str | None,
    format_: str | None,
    overwrite: bool,
    resume: bool,
    engine: str | None,
    **options: Any,
) -> None:
    """Link NAMES, a file or standard input to concepts.

    A file has a name a line; or is a table (CSV, TSV, .xlsx, .ods), of which --column is linked; or
    is a corpus that `canonym evaluate` reads. Each mention gets its candidates, best first, or NIL
    with the reason, and a list ("HTN; DM2") a row for each of its names. Words such as no, h/o, r/o
    and FHx become its status. What is written is described in docs/formats/links.md.

    \b
    Names, to ICD-10-CM; a file of names; a pipe:
      canonym link "heart attack" "type 2 diabetes" "broken hip"
      canonym link --explain -k 3 "NIDDM"
      canonym link --file names.txt -o linked.tsv
      cut -f3 visits.tsv | canonym link --format jsonl > linked.jsonl

    \b
    A column of a table, or of a workbook, which come back with the result beside it:
      canonym link --file visits.csv --column dx -o linked.csv
      canonym link --file visits.csv --column dx --one-row --columns code,label -o linked.csv
      canonym link --file visits.xlsx --sheet Visits --column dx -o linked.xlsx

    \b
    A corpus, to another terminology; a long run, continued after a stop; many files, in parts:
      canonym link --index doid-index --file corpus.pubtator -o linked.jsonl
      canonym link --file huge.txt -o linked.tsv --workers 4 --resume
      canonym link --file "visits/*.csv" --column dx -o linked/

    \b
    A language model on this machine chooses where canonym is unsure:
      canonym link --file names.txt --second-look llama3.2@http://localhost:11434/v1 -o linked.tsv
    """
    from canonym.cli.input import open_input, read_ids, source_of
    from canonym.cli.named_indexes import open_linker
    from canonym.cli.output import choose_format, open_output
    from canonym.io.journal import is_finished
    from canonym.jobs.input import TableOptions
    from canonym.jobs.link import ItemOptions, link_items, runner_up, settings_of
    from canonym.jobs.output import check_output
    from canonym.linking.links import DEFAULTS

    if engine is not None or _is_folder(output):
        from canonym.cli.link_parts import link_in_parts

        link_in_parts(ctx)
        return
    chosen = choose_format(format_, output, rows=options["columns"] is not None)
    inputs = (source_of(names, file), index, ids)
    check_output(output, chosen, inputs, overwrite=overwrite, resume=resume, called="-o")
    if output and resume and is_finished(output):
        note(f"{output} is finished: there is nothing to do.")
        return
    table = TableOptions(*(options[name] for name in TableOptions._fields))
    with open_input(names, file, kind=input_format, table=table, encoding=encoding) as content:
        if format_ is output is None and chosen == "tsv":
            chosen = content.delimited_format
        layout = _layout(content, chosen, k, options, output, mention_types)
        _warn_of_files(names)
        linker = open_linker(index, everyday=not no_everyday, device=options["device"])
        layout = _with_origin(layout, linker, options, output)
        how = {
            "k": runner_up(layout.k),
            "ids": read_ids(ids) if ids else (),
            **{name: value for name, value in options.items() if name in DEFAULTS},
        }
        of_items = ItemOptions(mention_types, options["skip_empty"])
        settings = settings_of(linker, layout, how, of_items, table)
        with (
            open_output(output, layout, settings, overwrite=overwrite, resume=resume) as out,
            counter("Linking", unit=content.unit, total=_total(file, content)) as report,
        ):
            summary = link_items(linker, content, out, how, of_items, report)
    _sum_up(summary, out, content, output, skipped=options["skip_empty"])


def _is_folder(output: str | None) -> bool:
    """Tell whether the output is a folder: one that is there, or is written like one."""
    return bool(output) and (str(output).endswith(("/", "\\")) or Path(str(output)).is_dir())


def _layout(
    content: Input,
    format_: str,
    k: int | None,
    options: Mapping[str, Any],
    output: str | None,
    mention_types: Sequence[str],
) -> Layout:
    """Return how to write the links; refuse options that do not go together."""
    from canonym.jobs.output import check_workbook, layout_of

    check_mappings(format_, options, content.columns, k=k)
    if options["skip_empty"] and content.documents:
        raise InvalidInput(
            "--format-option skip-empty goes with names, lines and tables, not with documents"
        )
    names = ("explain", "one_row", "formula_guard", "output_encoding")
    how = {name: options[name] for name in names}
    k = 1 if format_ in MAPPING_FORMATS else k
    layout = layout_of(content, format_, k, keys=options["columns"], **how)
    if format_ in ("pubtator", "bioc") and not content.documents:
        raise InvalidInput(
            f"--format {format_} goes with documents; write tsv, csv or jsonl instead"
        )
    if mention_types and content.columns is not None:
        raise InvalidInput("--mention-type goes with annotated mentions, not with tables")
    check_workbook(format_, output, layout.sheet)
    return layout


def _total(file: str | None, content: Input) -> int | None:
    """Return the number of items, for a progress bar that somebody watches."""
    from canonym.jobs.input import count_items

    return count_items(file, content) if watched() and file not in (None, "-") else None


def _with_origin(
    layout: Layout, linker: Linker, options: Mapping[str, Any], output: str | None
) -> Layout:
    """Add what formats for other programs say about the index."""
    return layout._replace(
        opener=mapping_opener(linker, layout.format, options, layout.columns, options["column"]),
        syntax="json" if output and output.lower().endswith(".json") else "xml",
    ).of_linker(linker)


def _warn_of_files(names: Sequence[str]) -> None:
    for name in names[:20]:
        if len(name) < 200 and "\0" not in name and "." in name and Path(name).is_file():
            note(
                f"{name} is a file, and was looked up as a name: to link its content, use "
                f"--file {name}"
            )


def _sum_up(
    summary: Summary, out: Output, content: Input, output: str | None, *, skipped: bool
) -> None:
    """Remark how many mentions were linked, where the links are, and what the rows are."""
    n, empty = summary.mentions, summary.empty
    if not n and content.documents:
        note(
            "The documents have no annotated mentions. `canonym annotate` finds the names of the "
            "terminology in their texts."
        )
    if output is not None:
        note(f"{n:,} {'mention is' if n == 1 else 'mentions are'} in {output}.")
    if empty:
        note(
            f"{empty:,} {'row' if empty == 1 else 'rows'} without a mention"
            f"{', left out' if skipped else ''}."
        )
    if summary.composite and out.has_rows_of_parts:
        note("Composite mentions have a row for each part: --one-row writes one row for each.")
    if summary.unanswered:
        n = summary.unanswered
        note(
            f"The second look has no answer for {n:,} {'mention' if n == 1 else 'mentions'} "
            f"({summary.first_problem}): they are linked without it. The same command asks again, "
            "and about them alone."
        )
    if summary.unread:
        note(
            f"{summary.unread:,} {'mention is' if summary.unread == 1 else 'mentions are'} in a "
            "language or a script that the encoder of the index hardly knows, such as "
            f"{summary.first_unread[:40]!r}: their links are guesses. `canonym index --encoder "
            "multilingual --encoder universal` makes an index that reads more."
        )
