"""``canonym annotate``: the names of a terminology in running text, linked."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import click

from canonym.cli.annotated import ELSEWHERE, find_folder_format, folder_format, look_at
from canonym.cli.device import device_option
from canonym.cli.input import (
    STANDARD_INPUT,
    STDIN,
    Arriving,
    copied,
    errors_named,
    open_input,
)
from canonym.cli.input_encoding import found_encoding
from canonym.cli.link import Filters, Machine
from canonym.cli.options import (
    CorpusFormat,
    choice_options,
    encoding_option,
    everyday_option,
    index_option,
    overwrite_option,
    retired_option,
    ties_option,
    workers_option,
)
from canonym.errors import InvalidInput, ReadError
from canonym.io.encodings import check_encoding
from canonym.io.streams import detect_encoding, open_text
from canonym.io.xml import is_markup
from canonym.jobs.input import Input
from canonym.types import Document

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from canonym.export.marked_text import TextPageWriter
    from canonym.jobs.input import Input
    from canonym.jobs.output import Output
    from canonym.linker import Linker, Links
    from canonym.types import Document

_FORMATS = ("table", "tsv", "csv", "jsonl", "parquet", "pubtator", "bioc", "brat")
_SUFFIXES = {".xml": "bioc", ".json": "bioc"}


class Options(Filters, Machine):
    """What `annotate` hands on as it is given."""


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
@everyday_option
@click.option(
    "-k",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Candidates of a mention.",
)
@retired_option("--flags", "every mention has its status", flag=True)
@choice_options
@ties_option
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
    overwrite: bool,
    **options: Unpack[Options],
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
    from canonym import __version__
    from canonym.cli.annotate import open_texts
    from canonym.cli.input import read_ids, source_of
    from canonym.cli.named_indexes import open_chosen
    from canonym.cli.output import check_output, open_output
    from canonym.cli.progress import counter, stages
    from canonym.errors import InvalidInput
    from canonym.io.places import check_outputs
    from canonym.jobs.output import Layout

    chosen = _chosen_format(format_, output)
    if chosen == "brat" and output is None:
        raise InvalidInput("--format brat writes a folder, with two files a text: name it with -o")
    inputs = (source_of((), file), index, ids)
    check_output(output, chosen, inputs, overwrite=overwrite, resume=False)
    check_outputs({"-o": output, "--html": html}, (), overwrite=True)  # not the same file
    check_outputs({"--html": html}, inputs, overwrite=overwrite)
    with open_texts(file, kind=input_format, encoding=encoding) as given:
        linker = open_chosen(index, options, everyday=not no_everyday)
        layout = Layout(
            chosen,
            k,
            syntax="json" if output and output.lower().endswith(".json") else "xml",
            source=f"canonym {__version__}, index {linker.fingerprint}",
        )
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
            contextlib.closing(_annotate(linker, given, how)) as annotated,
        ):
            n = 0
            for n, (document, links) in enumerate(annotated, start=1):
                out.write(document, links)
                if page is not None:
                    page.write(document, links)
                report(n)
    _sum_up(out, n, output)


@contextlib.contextmanager
def _page(path: str | None, *, overwrite: bool) -> Iterator[TextPageWriter | None]:
    """Open the page of marked texts, which is whole or absent afterwards."""
    if path is None:
        yield None
        return
    from canonym.export.marked_text import TextPageWriter
    from canonym.io.files import write_file

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
    yield from linker.annotate_documents(cast("Iterator[Document]", given.items), **options)


def _chosen_format(named: str | None, output: str | None) -> str:
    """Return the format as named, by the suffix of the file, or as suits standard output."""
    from canonym.cli.output import choose_format

    if named is None and output is None:
        return "table" if sys.stdout.isatty() else "jsonl"
    if named is None and Path(str(output)).suffix.lower() in _SUFFIXES:
        return _SUFFIXES[Path(str(output)).suffix.lower()]
    chosen = choose_format(named, output)
    if chosen not in _FORMATS:
        from canonym.errors import InvalidInput

        raise InvalidInput(f"{output}: annotations are written as {', '.join(_FORMATS)}")
    return chosen


def _sum_up(out: Output, n_documents: int, output: str | None) -> None:
    """Remark how many mentions were found, and where they are."""
    from canonym.cli.progress import note

    found = f"{out.n_links:,} {'mention' if out.n_links == 1 else 'mentions'}"
    texts = f"{n_documents:,} {'text' if n_documents == 1 else 'texts'}"
    if output is not None or not out.n_links:
        note(f"{found} in {texts}{f', written to {output}' if output else ''}.")


_OF_TEXTS = ("text", "lines")
"""Kinds of input: one text, or a folder of .txt files; a text a line."""

_OF_DOCUMENTS = ("pubtator", "bioc", "brat", "jsonl")


@contextlib.contextmanager
def open_texts(
    file: str | None, *, kind: str | None = None, encoding: str | None = None
) -> Iterator[Input]:
    """Open a file, a folder, or, for ``-`` or nothing, standard input, as documents.

    Raises `InvalidInput` if there is nothing to read, and `ReadError` if it cannot be read.
    """
    if encoding is not None:
        check_encoding(encoding)
    if file is None and sys.stdin.isatty():
        raise InvalidInput(
            "there is no text: name a file, or pipe something in (`canonym annotate --help` has "
            "examples)"
        )
    with contextlib.ExitStack() as stack:
        path = STANDARD_INPUT if file in (None, STDIN) else Path(str(file))
        place = copied(stack, Arriving(sys.stdin.buffer)) if file in (None, STDIN) else path
        stack.enter_context(errors_named(path))
        kind = kind or _recognise(place, path)
        if kind in _OF_TEXTS:
            texts = _read_texts(place, path, kind, encoding)
            texts_input = Input(texts, documents=True, kind=kind)
        else:
            texts_input = stack.enter_context(
                open_input((), str(place), kind=kind, encoding=encoding)
            )
            if not texts_input.documents:
                raise InvalidInput(
                    f"{path} holds mentions without a text around them: `canonym link` links those"
                )
        yield texts_input


def _recognise(place: Path, path: Path) -> str:
    """Return the kind of a file at a place, which messages call `path`, by how it begins."""
    if place.is_dir():
        format = find_folder_format(place)
        corpus = format in (*_OF_DOCUMENTS, *ELSEWHERE) or not _text_files(place)
        return folder_format(place) if corpus else "text"
    with open_text(place, encoding=detect_encoding(place)) as lines:
        kind, first, _ = look_at(lines, place)
    if kind in (*_OF_DOCUMENTS, *ELSEWHERE):
        return str(kind)
    if is_markup(first):
        raise ReadError(
            path,
            f"begins with {first.strip()[:40]!r}, which is XML, HTML or JSON: text is expected, or "
            f"{', '.join(_OF_DOCUMENTS)}; give --input-format text if it is text",
        )
    return "text"


def _text_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.txt"))


def _read_texts(place: Path, path: Path, kind: str, encoding: str | None) -> Iterator[Document]:
    """Yield a document for each text; its id is the name of the file, or the number of the line."""
    for file in _text_files(place) if place.is_dir() else [place]:
        shown = file if place.is_dir() else path
        used = encoding or found_encoding(file, shown=shown)
        with open_text(file, encoding=used, keep_ends=True) as lines:
            if kind == "text":
                name = shown.stem if shown != STANDARD_INPUT else "text"
                yield Document(name, "".join(lines))
                continue
            for number, line in enumerate(lines, start=1):
                yield Document(str(number), line.rstrip("\r\n"))
