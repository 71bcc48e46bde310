"""``canonym link``: names, columns, mentions and documents to concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from canonym.cli.inputs import Input

__all__ = ["link"]

_FORMATS = ("table", "tsv", "csv", "jsonl", "parquet", "pubtator")
_KINDS = ("lines", "table", "jsonl", "pubtator")
_FILE = click.Path(allow_dash=True)


def _number(_ctx: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Refuse NaN, which every range lets through."""
    if value is not None and value != value:
        raise click.BadParameter("it is not a number", param=option)
    return value


@click.command()
@click.argument("names", nargs=-1)
@click.option("-f", "--file", type=_FILE, help="Read this file; - is standard input.")
@click.option(
    "--input-format",
    type=click.Choice(_KINDS),
    help="What the file is; recognised by its first line when left out.",
)
@click.option(
    "-c",
    "--column",
    "--mention-column",
    "column",
    metavar="NAME",
    help="Link this column of a table; the file has a header.",
)
@click.option(
    "--context-column",
    metavar="NAME",
    help="A column with text around the mention, in which abbreviations are looked for.",
)
@click.option("--delimiter", metavar="CHAR", help="What separates cells; found when left out.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the file.")
@click.option(
    "--mention-type",
    "mention_types",
    multiple=True,
    metavar="TYPE",
    help="Link annotated mentions of this type only, such as Disease. Can be repeated.",
)
@click.option(
    "-i",
    "--index",
    type=click.Path(),
    help="A folder made by `canonym index`, or a terminology, which is then indexed for this run. "
    "ICD-10-CM when left out.",
)
@click.option(
    "--no-everyday",
    is_flag=True,
    help="ICD-10-CM without the everyday names that come with canonym.",
)
@click.option(
    "-k",
    type=click.IntRange(1, 1000),
    help="Candidates of a mention. [default: 1 for tsv and csv, where each is a row, else 5]",
)
@click.option(
    "--type", "types", multiple=True, metavar="TYPE", help="Concepts of this type. Can be repeated."
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="SOURCE",
    help="Concepts of this source terminology. Can be repeated.",
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="TAG",
    help="Names in this language. Can be repeated.",
)
@click.option(
    "--ids",
    type=click.Path(),
    metavar="FILE",
    help="Only the concepts in this file, one id a line.",
)
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    callback=_number,
    help="Mentions whose best candidate scores less are NIL.",
)
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    callback=_number,
    help="Mentions whose link is right with a smaller probability are NIL: 0.9 is 90 %. The index "
    "has to know how sure it is, see `canonym fit-confidence`.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Break ties between equal scores at random, the same way for the same number.  "
    "[default: the more trusted name first, then the id]",
)
@click.option(
    "--no-context",
    is_flag=True,
    help="Do not let the text and the other mentions around a mention choose between concepts of "
    "the same name, nor a re-ranker look at those mentions.",
)
@click.option("--explain", is_flag=True, help="Say why: normal forms, scores, runner-up, margin.")
@click.option("-o", "--output", type=click.Path(), help="Write to this file.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    help="Format of the output. [default: that of the suffix of the file; without a file a table "
    "for a terminal and tsv for a pipe]",
)
@click.option("--resume", is_flag=True, help="Go on with an output file that was interrupted.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def link(
    names: tuple[str, ...],
    file: str | None,
    input_format: str | None,
    column: str | None,
    context_column: str | None,
    delimiter: str | None,
    encoding: str,
    mention_types: tuple[str, ...],
    index: str | None,
    no_everyday: bool,
    k: int | None,
    types: tuple[str, ...],
    sources: tuple[str, ...],
    languages: tuple[str, ...],
    ids: str | None,
    min_score: float | None,
    min_confidence: float | None,
    seed: int | None,
    no_context: bool,
    explain: bool,
    output: str | None,
    format_: str | None,
    resume: bool,
    quiet: bool,
) -> None:
    """Link NAMES, a file or standard input to concepts.

    The input is NAMES; or a file with one name a line; or, with --column, a CSV or TSV table, whose
    columns are all kept; or documents in PubTator or JSON lines, whose annotated mentions are
    linked with the abbreviations of their document written out. Order is kept.

    Each mention gets its candidates, best first, or NIL with the reason. A composite mention
    ("breast and ovarian cancer") gets one concept for each of its parts.

    \b
    Names, to ICD-10-CM:
      canonym link "heart attack" "type 2 diabetes" "broken hip"
      canonym link --explain -k 3 "NIDDM"

    \b
    A file of names, a pipe:
      canonym link --file names.txt -o linked.tsv
      cut -f3 visits.tsv | canonym link --format jsonl > linked.jsonl

    \b
    A column of a table; the columns of the result are called canonym_id, canonym_label, ...:
      canonym link --file visits.csv --column diagnosis -o linked.csv
      canonym link --file visits.csv --column dx --context-column note --min-score 0.6 -o linked.csv

    \b
    A corpus, to a terminology of your own:
      canonym link --index doid-index --file corpus.pubtator --mention-type Disease -o linked.jsonl

    \b
    A long run, and the same again after it was stopped:
      canonym link --file huge.txt -o linked.tsv --resume

    The columns of TSV, CSV and Parquet and the objects of JSON lines are described in
    docs/formats/links.md.
    """
    from canonym import __version__
    from canonym.cli.inputs import count_items, of_types, open_input
    from canonym.cli.linking import linked, read_ids, say_what_was_done, warn_of_files
    from canonym.cli.outputs import Layout, choose_format, write_output
    from canonym.cli.progress import counter, watched
    from canonym.cli.sources import open_linker

    format_ = choose_format(format_, output)
    if k is None:
        k = 1 if format_ in ("tsv", "csv") else 5
    with open_input(
        names,
        file,
        kind=input_format,
        column=column,
        context_column=context_column,
        delimiter=delimiter,
        encoding=encoding,
    ) as given:
        _check(given, format_, mention_types)
        warn_of_files(names, quiet=quiet)
        linker = open_linker(index, everyday=not no_everyday, quiet=quiet)
        options = {
            "k": max(k, 2),  # the margin needs a runner-up
            "types": types,
            "sources": sources,
            "languages": languages,
            "ids": read_ids(ids) if ids else (),
            "min_score": min_score,
            "min_confidence": min_confidence,
            "seed": seed,
            "context": not no_context,
        }
        settings = {
            "canonym": __version__,
            "index": linker.info()["fingerprint"],
            "columns": given.columns,
            "mention types": list(mention_types),
            "format": format_,
            "-k": k,
            "--explain": explain,
            **{name: _plain(value) for name, value in options.items() if name != "k"},
        }
        total = count_items(file, documents=given.documents) if watched(quiet) else None
        unit = "documents" if given.documents else "mentions"
        with counter("Linking", unit=unit, total=total, quiet=quiet) as report:
            n = write_output(
                linked(linker, given, options, report),
                Layout(format_, k, given.columns, explain),
                output,
                resume=resume,
                settings=settings,
                items=of_types(given.items, mention_types) if mention_types else given.items,
                quiet=quiet,
            )
        say_what_was_done(n, given, output, quiet=quiet)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _check(given: Input, format_: str, mention_types: Sequence[str]) -> None:
    from canonym.errors import InvalidInput

    if format_ == "pubtator" and not given.documents:
        raise InvalidInput("--format pubtator goes with documents; write tsv, csv or jsonl instead")
    if mention_types and given.columns is not None:
        raise InvalidInput("--mention-type goes with annotated mentions, not with tables")
