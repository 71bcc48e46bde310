"""``canonym annotate``: the names of a terminology in running text, linked."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from canonym.cli.device import device_option
from canonym.cli.options import (
    CorpusFormat,
    choice_options,
    columns_option,
    encoding_option,
    index_option,
    overwrite_option,
    retired_option,
    workers_option,
)
from canonym.cli.progress import counter, note, stages
from canonym.errors import InvalidInput
from canonym.io.encodings import without_surrogates
from canonym.io.files import write_file
from canonym.io.places import check_outputs

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from canonym.export.marked_text import TextPageWriter
    from canonym.jobs.input import Input
    from canonym.jobs.output import Output
    from canonym.linker import Linker, Links
    from canonym.types import Document

_FORMATS = ("table", "tsv", "csv", "jsonl", "parquet", "pubtator", "bioc", "brat")
_SUFFIXES = {".xml": "bioc", ".json": "bioc"}


@click.command()
@click.argument("file", required=False, type=click.Path(allow_dash=True))
@click.option(
    "--input-format",
    type=CorpusFormat(("text", "lines", "pubtator", "bioc", "brat", "jsonl")),
    help="Kind of the file; recognised by its beginning when left out, but for lines (a text a "
    "line).",
)
@encoding_option
@index_option
@click.option("-k", type=click.IntRange(1, 1000), default=1, help="Candidates of a mention.")
@retired_option("--flags", "every mention has its status", flag=True)
@choice_options
@click.option("-o", "--output", type=click.Path(), help="Write to this file.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    help="Format of the output.  [default: by the suffix of the file (.xml and .json are BioC); "
    "without a file, table for a terminal, and jsonl for a pipe]",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the texts as one HTML page as well, with the mentions marked.",
)
@columns_option
@overwrite_option
@workers_option
@device_option
def annotate(
    file: str | None,
    input_format: str | None,
    encoding: str | None,
    index: str | None,
    no_everyday: bool,
    k: int,
    ids: str | None,
    output: str | None,
    format_: str | None,
    html: str | None,
    columns: list[str] | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Find the names of a terminology in FILE or standard input, and link them.

    The input is one text; or, with --input-format lines, a text a line; or a folder of .txt files;
    or a corpus of documents (PubTator, BioC, brat, JSON lines), whose own mentions are left out.

    Found are the longest stretches of words that are names of the terminology, in any spelling,
    inflection and order of words, and the short forms that a text defines. The text decides between
    concepts of the same name. Offsets count characters from 0. What no name says is not found.
    Each mention has its status: negated, historical, hypothetical, family or uncertain, in English.

    \b
    A text, to ICD-10-CM:
      canonym annotate note.txt
      echo "He had a heart attack in 2019." | canonym annotate

    \b
    A folder of texts, to a table; a text a line, to JSON lines:
      canonym annotate notes/ -o found.tsv
      cut -f2 visits.tsv | canonym annotate --input-format lines > found.jsonl

    \b
    A corpus, with another terminology; it comes back with the mentions that are found:
      canonym annotate --index doid-index abstracts.pubtator -o found.pubtator
      canonym annotate --index mesh-index abstracts.xml -o found.xml --type Disease
      canonym annotate notes/ --format brat -o marked/ --html marked.html

    The objects of JSON lines, a mention each, are described in docs/formats/links.md.
    """
    from canonym.cli.input import read_ids, source_of
    from canonym.cli.named_indexes import open_linker
    from canonym.cli.output import open_output
    from canonym.cli.texts import open_texts
    from canonym.jobs.output import Layout, check_output, columns_of

    chosen = _chosen_format(format_, output, rows=columns is not None)
    if chosen == "brat" and output is None:
        raise InvalidInput("--format brat writes a folder, with two files a text: name it with -o")
    inputs = (source_of((), file), index, ids)
    check_output(output, chosen, inputs, overwrite=overwrite, resume=False, called="-o")
    check_outputs({"-o": output, "--html": html}, (), overwrite=True)  # not the same file
    check_outputs({"--html": html}, inputs, overwrite=overwrite)
    with open_texts(file, kind=input_format, encoding=encoding) as given:
        syntax = "json" if output and output.lower().endswith(".json") else "xml"
        layout = Layout(chosen, k, syntax=syntax)
        layout = layout._replace(keys=columns_of(layout, columns, annotated=True))
        linker = open_linker(index, everyday=not no_everyday, device=options["device"])
        layout = layout.of_linker(linker)
        how: dict[str, Any] = {
            "k": k,
            "ids": read_ids(ids) if ids else (),
            **{name: value for name, value in options.items() if name != "device"},
        }
        with stages() as report_names:
            linker.annotator.open(report_names)
        with (
            open_output(output, layout, {}, overwrite=overwrite, resume=False, places=True) as out,
            _page(html, overwrite=overwrite) as page,
            counter("Annotating", unit="documents") as report,
            closing(_annotate(linker, given, how)) as annotated,
        ):
            n = 0
            for n, (document, links) in enumerate(annotated, start=1):
                out.write(document, links)
                if page is not None:
                    page.write(document, links)
                report(n)
    _sum_up(out, n, output)


@contextmanager
def _page(path: str | None, *, overwrite: bool) -> Iterator[TextPageWriter | None]:
    """Open the page of marked texts, which is whole or absent afterwards."""
    if path is None:
        yield None
        return
    from canonym.export.marked_text import TextPageWriter

    with (
        write_file(path, overwrite=overwrite) as partial,
        partial.open("w", encoding="utf-8", newline="\n") as stream,
    ):
        page = TextPageWriter(stream)
        yield page
        page.close()


def _annotate(
    linker: Linker, given: Input, options: dict[str, Any]
) -> Generator[tuple[Document, Links]]:
    """Yield each document with the mentions in its text, and their links."""
    documents = (
        replace(
            document, id=without_surrogates(document.id), text=without_surrogates(document.text)
        )
        for document in cast("Iterator[Document]", given.items)
    )
    yield from linker.annotate_documents(documents, **options)


def _chosen_format(named: str | None, output: str | None, *, rows: bool) -> str:
    """Return the format as named, by the suffix of the file, or as suits standard output."""
    from canonym.cli.output import choose_format

    if named is None and output is None and not rows:
        return "table" if sys.stdout.isatty() else "jsonl"
    if named is None and Path(str(output)).suffix.lower() in _SUFFIXES:
        return _SUFFIXES[Path(str(output)).suffix.lower()]
    chosen = choose_format(named, output, rows=rows)
    if chosen not in _FORMATS:
        raise InvalidInput(f"{output}: annotations are written as {', '.join(_FORMATS)}")
    return chosen


def _sum_up(out: Output, n_documents: int, output: str | None) -> None:
    """Remark how many mentions were found, and where they are."""
    found = f"{out.n_links:,} {'mention' if out.n_links == 1 else 'mentions'}"
    texts = f"{n_documents:,} {'text' if n_documents == 1 else 'texts'}"
    if output is not None or not out.n_links:
        note(f"{found} in {texts}{f', written to {output}' if output else ''}.")
