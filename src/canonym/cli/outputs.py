"""Where links go: standard output, a file that is whole or absent, a run that can be resumed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

from canonym.cli.explanation import explain
from canonym.cli.inputs import Entry, Item
from canonym.cli.journal import Journal
from canonym.cli.progress import note
from canonym.cli.tables import TableWriter
from canonym.corpora.pubtator import pubtator_text
from canonym.errors import InvalidInput
from canonym.export import (
    DelimitedWriter,
    JsonLinesWriter,
    LinkWriter,
    ParquetWriter,
    format_of,
)
from canonym.io.files import write_file
from canonym.types import Document, Link, Mention

__all__ = ["OUTPUT_FORMATS", "Layout", "Linked", "choose_format", "write_output"]

OUTPUT_FORMATS: tuple[str, ...] = ("table", "tsv", "csv", "jsonl", "parquet", "pubtator")
"""Formats that ``canonym link`` writes."""

Linked = Callable[[Iterator[Item]], Iterator[tuple[Item, Sequence[Link]]]]
"""Turns items into pairs of an item and its links, in order."""

_RESUMABLE = ("tsv", "csv", "jsonl", "pubtator")


@dataclass(frozen=True)
class Layout:
    """How links are written.

    Attributes
    ----------
    format : str
        One of `OUTPUT_FORMATS`.
    k : int
        Most candidates of a mention.
    columns : list of str, optional
        Columns of the input table.
    explain : bool
        Whether explanations are written.
    """

    format: str
    k: int
    columns: list[str] | None = None
    explain: bool = False


def choose_format(named: str | None, output: str | None) -> str:
    """Return the format: the one named, that of the file's suffix, or what suits standard output.

    Raises
    ------
    InvalidInput
        If the suffix stands for none, or Parquet would go to a terminal.
    """
    if named is None:
        if output is not None:
            return "pubtator" if Path(output).suffix.lower() == ".pubtator" else format_of(output)
        return "table" if sys.stdout.isatty() else "tsv"
    if named == "parquet" and output is None and sys.stdout.isatty():
        raise InvalidInput("Parquet is binary: name a file with -o")
    return named


def write_output(
    linked: Linked,
    layout: Layout,
    output: str | None,
    *,
    resume: bool,
    settings: Mapping[str, Any],
    items: Iterator[Item],
    quiet: bool = False,
) -> int:
    """Link `items` with `linked` and write the links.

    Parameters
    ----------
    linked : callable
        Turns an iterator of items into one of pairs: an item and its links.
    layout : Layout
        How links are written.
    output : str or None
        The file; standard output without one.
    resume : bool
        Whether to go on with what an earlier run left.
    settings : mapping
        Everything the links depend on beside the input.
    items : iterator of Entry or Document
        The input.
    quiet : bool
        Say nothing that is no result.

    Returns
    -------
    int
        Number of links written.
    """
    if resume and (output is None or layout.format not in _RESUMABLE):
        raise InvalidInput(
            f"--resume needs a file (-o) in one of the formats {', '.join(_RESUMABLE)}"
        )
    if output is not None and layout.format in _RESUMABLE:
        return _write_journal(linked, layout, Path(output), resume, settings, items, quiet)
    n = 0
    with _stream(layout, output) as stream:
        writer = _writer(layout, stream)
        for item, links in linked(items):
            writer.put(item, links)
            n += len(links)
        writer.close()
    return n


@contextlib.contextmanager
def _stream(layout: Layout, output: str | None) -> Iterator[IO[Any]]:
    binary = layout.format == "parquet"
    if output is None:
        yield sys.stdout.buffer if binary else _utf8(sys.stdout)
        sys.stdout.flush()
        return
    with write_file(output) as partial:
        if binary:
            with partial.open("wb") as stream:
                yield stream
        else:
            with partial.open("w", encoding="utf-8") as text:
                yield text


def _utf8(stream: IO[str]) -> IO[str]:
    # What goes into a pipe is UTF-8 everywhere; a terminal knows best what it can show.
    if not stream.isatty() and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", newline="")
    return stream


def _write_journal(
    linked: Linked,
    layout: Layout,
    output: Path,
    resume: bool,
    settings: Mapping[str, Any],
    items: Iterator[Item],
    quiet: bool,
) -> int:
    journal = Journal(output, settings, resume=resume)
    if journal.discarded:
        note(f"What an earlier run left in {journal.partial} is discarded.", quiet=quiet)
    if journal.n_items:
        note(f"Going on after {journal.n_links:,} mentions.", quiet=quiet)
    n = journal.n_links
    try:
        writer = _writer(layout, journal.stream, done=journal.n_links, header=not journal.n_links)
        rest = (item for item in items if not journal.skip(item))
        for item, links in linked(rest):
            journal.begin()
            writer.put(item, links)
            journal.done(item, len(links))
            n += len(links)
        journal.check_skipped()
        writer.close()
        journal.finish()
    except BaseException:
        kept = journal.stop()
        if kept:
            note(
                f"What is done, {kept:,} mentions, is kept in {journal.partial}; the same command "
                "with --resume goes on from there.",
            )
        raise
    return n


class _ItemWriter:
    """Writes the links of an item with a writer of export."""

    def __init__(self, writer: LinkWriter, *, explain: bool, separator: str) -> None:
        self._writer = writer
        self._explain = explain
        self._separator = separator

    def put(self, item: Item, links: Iterable[Link]) -> None:
        cells = item.cells if isinstance(item, Entry) else ()
        for link in links:
            explanation = self._separator.join(explain(link)) if self._explain else ""
            self._writer.write(link, cells, explanation=explanation)

    def close(self) -> None:
        self._writer.close()


class _PubTatorWriter:
    """Writes documents with the ids of the links in the place of their own."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def put(self, item: Item, links: Iterable[Link]) -> None:
        document = cast(Document, item)  # `canonym link` refuses the format for anything else
        linked = tuple(_with_ids(link) for link in links)
        self._stream.write(pubtator_text(replace(document, mentions=linked)))

    def close(self) -> None:
        """Do nothing: every document is written at once."""


def _with_ids(link: Link) -> Mention:
    rule = "nil" if not link.ids else "all" if link.parts else "any"
    return replace(link.mention, ids=tuple(dict.fromkeys(link.ids)), rule=rule)


def _writer(
    layout: Layout, stream: IO[Any], *, done: int = 0, header: bool = True
) -> _ItemWriter | _PubTatorWriter:
    if layout.format == "pubtator":
        if layout.explain:
            raise InvalidInput("PubTator has no place for explanations: leave out --explain")
        return _PubTatorWriter(stream)
    writer: LinkWriter
    options: dict[str, Any] = {"k": layout.k, "explain": layout.explain}
    if layout.format == "table":
        writer = TableWriter(stream, **options)
    elif layout.format == "parquet":
        writer = ParquetWriter(stream, columns=layout.columns, **options)
    elif layout.format == "jsonl":
        writer = JsonLinesWriter(stream, columns=layout.columns, **options)
    else:
        writer = DelimitedWriter(
            stream,
            delimiter="\t" if layout.format == "tsv" else ",",
            columns=layout.columns,
            first_row=done + 1,
            header=header,
            **options,
        )
    separator = "\n" if layout.format == "table" else "; "
    return _ItemWriter(writer, explain=layout.explain, separator=separator)
