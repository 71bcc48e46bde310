"""The output of commands: tables to read, and links on standard output or in a file."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from canonym.cli.exchange import MappingTarget, mapping_writer
from canonym.cli.explanation import explain
from canonym.cli.failures import printable
from canonym.cli.input import Entry, Item
from canonym.cli.place import check_outputs, check_standard_output
from canonym.cli.resume import Journal, open_journal, working_files
from canonym.errors import InvalidInput
from canonym.export import DelimitedWriter, JsonLinesWriter, LinkWriter, ParquetWriter, format_of
from canonym.export.excel import WorkbookWriter
from canonym.io.encodings import without_mark
from canonym.io.files import write_file, write_folder
from canonym.io.tables import TableStyle
from canonym.io.workbooks import SUFFIXES, Sheet
from canonym.types import Document, Link, Mention

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from canonym.corpora.bioc import BioCWriter

_BLOCK = 100  # mentions in one table, whose columns are as wide as its cells
_WIDTH = 120  # characters in a line where the output is no terminal
_LONGEST = 200  # characters of a cell
_BINARY = ("parquet", "xlsx")
_OF_ROWS = ("tsv", "csv", "parquet")
_DELIMITED = {"tsv": "\t", "csv": ","}
_RESUMABLE = ("tsv", "csv", "jsonl", "pubtator")
_NOT_RESUMABLE = f"--resume needs a file (-o) in one of the formats {', '.join(_RESUMABLE)}"

# --- where links go -------------------------------------------------------------------------------


class Layout(NamedTuple):
    """How links are written: at most `k` candidates, `columns` of the input table.

    `style`, `one_row` and `formula_guard` are those of `canonym.export.DelimitedWriter`, `sheet`
    that of `canonym.export.excel.WorkbookWriter`. `mappings` is for formats of mappings,
    `syntax` and `source` are for BioC. With `places` a table to read tells where mentions stand.
    """

    format: str
    k: int
    columns: list[str] | None = None
    explain: bool = False
    style: TableStyle = TableStyle()
    one_row: bool = False
    formula_guard: bool = True
    sheet: Sheet | None = None
    mappings: MappingTarget | None = None
    syntax: str = "xml"
    source: str = ""
    places: bool = False


class Output:
    """Where links go; `n_links` counts them, with those of the run that is resumed."""

    def __init__(self, stream: IO[Any], layout: Layout, journal: Journal | None = None) -> None:
        self.n_links = journal.n_links if journal else 0
        self.n_composite = 0  # in this run
        self.has_rows_of_parts = layout.format in _OF_ROWS and not layout.one_row
        self._encoding = layout.style.encoding
        self._writer = _writer(layout, stream, done=self.n_links)
        self._journal = journal

    def remaining(self, items: Iterable[Item]) -> Iterator[Item]:
        """Leave out the items that the resumed run has written."""
        journal = self._journal
        return (item for item in items if journal is None or not journal.skip(item))

    def write(self, item: Item, links: Sequence[Link]) -> None:
        """Write the links of an item."""
        if self._journal is not None:
            self._journal.begin()
        try:
            self._writer.write(item, links)
        except UnicodeEncodeError as error:
            raise self._not_encoded(error) from error
        if self._journal is not None:
            self._journal.done(item, len(links))
        self.n_links += len(links)
        self.n_composite += sum(1 for link in links if link.parts)

    def close(self) -> None:
        """Write what is pending."""
        try:
            self._writer.close()
        except UnicodeEncodeError as error:
            raise self._not_encoded(error) from error

    def _not_encoded(self, error: UnicodeEncodeError) -> InvalidInput:
        around = error.object[max(error.start - 20, 0) : error.end + 20].strip()
        return InvalidInput(
            f"{error.object[error.start]!r} in {around!r} cannot be written in {self._encoding}: "
            "choose an encoding that has all characters, such as --format-option encoding=utf-8-sig"
        )


def choose_format(named: str | None, output: str | None) -> str:
    """Return the format: as named, by the suffix of the file, or as suits standard output."""
    if named is None:
        if output is not None:
            suffix = Path(output).suffix.lower()
            if suffix == ".ods":
                raise InvalidInput(
                    f"{output}: .ods is read and not written; name a file *.xlsx, which "
                    "LibreOffice opens as well"
                )
            if suffix in SUFFIXES:
                return "xlsx"
            if output.lower().endswith(".sssom.tsv"):
                return "sssom"
            return "pubtator" if suffix == ".pubtator" else format_of(output)
        return "table" if sys.stdout.isatty() else "tsv"
    if named in _BINARY and output is None and sys.stdout.isatty():
        raise InvalidInput(f"--format {named} is binary: name a file with -o")
    return named


def check_workbook(format: str, output: str | None, sheet: Sheet | None) -> None:
    """Refuse a workbook whose suffix is not that of the workbook that is copied."""
    if format != "xlsx":
        return
    written = f".{format}" if output is None else Path(output).suffix.lower()
    suffix = sheet.suffix if sheet else f".{format}"
    if written == suffix:
        return
    if sheet is None:
        raise InvalidInput(f"a new workbook of --format {format} is called NAME{suffix}")
    raise InvalidInput(
        f"the result is a copy of the workbook, which is {suffix}: name a file *{suffix}, or write "
        "the table alone as .csv, .tsv, .jsonl or .parquet"
    )


def style_of(format: str, given: TableStyle | None, encoding: str | None) -> TableStyle:
    """Return how to write a format: as the input table `given`, but for what was asked for."""
    style = given or TableStyle()
    if format not in _DELIMITED:
        return TableStyle()
    if (format == "tsv") != (style.delimiter == "\t"):
        style = style._replace(delimiter=_DELIMITED[format], announced="")
    if encoding is not None:
        style = style._replace(**without_mark(encoding)._asdict())
    return style


def check_output(
    path: str | None, format: str, inputs: Iterable[str | None], *, overwrite: bool, resume: bool
) -> None:
    """Refuse a file for links that is an input, or exists and is neither replaced nor resumed.

    Without a file links go to standard output, which may not be an input either.
    """
    if path is None:
        check_standard_output(inputs)
        return
    if resume and format not in _RESUMABLE:
        raise InvalidInput(_NOT_RESUMABLE)
    touched = working_files(Path(path)) if format in _RESUMABLE else ()
    check_outputs(
        {"-o": path},
        inputs,
        overwrite=overwrite or resume,
        folder=format == "brat",
        touched=touched,
    )


@contextlib.contextmanager
def open_output(
    path: str | None,
    layout: Layout,
    settings: Mapping[str, Any],
    *,
    overwrite: bool,
    resume: bool,
) -> Iterator[Output]:
    """Open a file that is whole or absent afterwards, or standard output.

    `settings` holds everything the links depend on beside the input: a run is only resumed with
    the same.
    """
    if resume and path is None:
        raise InvalidInput(_NOT_RESUMABLE)
    if path is not None and layout.format in _RESUMABLE:
        with open_journal(
            Path(path),
            settings,
            overwrite=overwrite,
            resume=resume,
            encoding=layout.style.encoding,
        ) as journal:
            output = Output(journal.stream, layout, journal)
            yield output
            output.close()
    elif path is not None and layout.format == "brat":
        with write_folder(path, overwrite=overwrite) as folder:
            yield Output(cast(Any, folder), layout)
    else:
        encoding = None if layout.format in _BINARY else layout.style.encoding
        with _open_stream(path, encoding, overwrite=overwrite) as stream:
            output = Output(stream, layout)
            yield output
            output.close()


@contextlib.contextmanager
def _open_stream(path: str | None, encoding: str | None, *, overwrite: bool) -> Iterator[IO[Any]]:
    """Open a file or standard output, for bytes if there is no encoding."""
    if path is None:
        yield _encoded(sys.stdout, encoding) if encoding else sys.stdout.buffer
        sys.stdout.flush()
        return
    with (
        write_file(path, overwrite=overwrite) as partial,
        partial.open("w" if encoding else "wb", encoding=encoding) as stream,
    ):
        yield stream


def _encoded(stream: IO[str], encoding: str) -> IO[str]:
    # A pipe gets the same bytes everywhere; a terminal knows best what it can show.
    if not stream.isatty() and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding=encoding, newline="")
    return stream


# --- how items are written ------------------------------------------------------------------------


class ItemWriter(Protocol):
    """Writes items with their links."""

    def write(self, item: Item, links: Sequence[Link]) -> None:
        """Write the links of an item."""
        ...

    def close(self) -> None:
        """Write what is pending."""
        ...


class _EachLink:
    """Writes the links of an item one by one, with a writer of `canonym.export`."""

    def __init__(self, writer: LinkWriter, *, explain: bool, separator: str) -> None:
        self._writer = writer
        self._explain = explain
        self._separator = separator
        self.close = writer.close

    def write(self, item: Item, links: Sequence[Link]) -> None:
        cells = item.cells if isinstance(item, Entry) else ()
        for link in links:
            explanation = self._separator.join(explain(link)) if self._explain else ""
            self._writer.write(link, cells, explanation=explanation)


class _PubTator:
    """Writes documents with the ids of the links in place of the annotated ones."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, item: Item, links: Sequence[Link]) -> None:
        from canonym.corpora.pubtator import pubtator_text

        self._stream.write(pubtator_text(_linked(item, links)))

    def close(self) -> None:
        """Do nothing: every document is written at once."""


class _BioC:
    """Writes documents with the links, each with its score and confidence."""

    def __init__(self, writer: BioCWriter) -> None:
        self._writer = writer
        self.close = writer.close

    def write(self, item: Item, links: Sequence[Link]) -> None:
        self._writer.write(_linked(item, links, in_text=False), [_infons(link) for link in links])


class _Brat:
    """Writes documents into a folder."""

    def __init__(self, folder: Path) -> None:
        from canonym.corpora.brat import BratWriter

        self._writer = BratWriter(folder)

    def write(self, item: Item, links: Sequence[Link]) -> None:
        self._writer.write(_linked(item, links))

    def close(self) -> None:
        """Do nothing: every document is written at once."""


def _infons(link: Link) -> dict[str, str]:
    found = link.parts or (link,)
    best = [one.candidates[0] for one in found if one.id is not None]
    facts = {
        "label": "|".join(one.label for one in best),
        "score": "|".join(f"{one.score:.6g}" for one in best),
        "confidence": "" if link.confidence is None else f"{link.confidence:.6g}",
        "sieve": "|".join(one.sieve for one in best),
        "status": "|".join(link.status),
        "nil": "; ".join(dict.fromkeys(one.reason for one in found if one.nil)),
    }
    return {key: value for key, value in facts.items() if value}


def _linked(item: Item, links: Sequence[Link], *, in_text: bool = True) -> Document:
    """Return a document with the mentions that were linked, ids filled in."""
    document = cast(Document, item)  # `canonym link` refuses the formats for anything else
    mentions = [_with_ids(link) for link in links]
    if in_text:
        mentions = [_in_text(mention, document.text) for mention in mentions]
    return replace(document, mentions=tuple(mentions))


def _with_ids(link: Link) -> Mention:
    rule = "nil" if not link.ids else "all" if link.parts else "any"
    return replace(link.mention, ids=tuple(dict.fromkeys(link.ids)), rule=rule)


def _in_text(mention: Mention, text: str) -> Mention:
    """Return a mention in pieces with the text at its offsets, which PubTator has beside them."""
    if mention.start is None or mention.end is None:
        return mention
    there = text[mention.start : mention.end]
    return mention if there.split() == mention.text.split() else replace(mention, text=there)


def _writer(layout: Layout, stream: IO[Any], *, done: int) -> ItemWriter:
    if layout.format in ("pubtator", "bioc"):
        if layout.explain:
            raise InvalidInput(
                f"--format {layout.format} has no place for explanations: leave out --explain"
            )
        if layout.format == "pubtator":
            return _PubTator(stream)
        from canonym.corpora.bioc import BioCWriter

        return _BioC(BioCWriter(stream, syntax=layout.syntax, source=layout.source))
    if layout.format == "brat":
        return _Brat(cast(Path, stream))
    writer: LinkWriter
    if layout.mappings is not None:
        writer = mapping_writer(layout.format, stream, layout.mappings)
        return _EachLink(writer, explain=False, separator="")
    options: dict[str, Any] = {"k": layout.k, "explain": layout.explain}
    if layout.format == "table":
        writer = _TableWriter(stream, places=layout.places, **options)
        return _EachLink(writer, explain=layout.explain, separator="\n")
    options["columns"] = layout.columns
    if layout.format == "xlsx":
        del options["k"]
        writer = WorkbookWriter(stream, sheet=layout.sheet, **options)
        return _EachLink(writer, explain=layout.explain, separator="; ")
    if layout.format == "parquet":
        writer = ParquetWriter(stream, one_row=layout.one_row, **options)
    elif layout.format == "jsonl":
        writer = JsonLinesWriter(stream, **options)
    else:
        writer = DelimitedWriter(
            stream,
            style=layout.style,
            first_row=done + 1,
            header=not done,
            formula_guard=layout.formula_guard,
            one_row=layout.one_row,
            **options,
        )
    return _EachLink(writer, explain=layout.explain, separator="; ")


# --- tables to read -------------------------------------------------------------------------------


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    title: str = "",
) -> None:
    """Print a table to standard output, with the columns in `right` aligned to the right."""
    from rich.text import Text

    screen = _console(sys.stdout)
    shown = _table(*columns, right=right)
    for cells in rows:
        shown.add_row(*(Text(printable(cell)) for cell in cells))
    if title:
        screen.print(Text(printable(title), style="bold"))
    screen.print(shown)
    screen.print()


def _console(stream: IO[str]) -> Console:
    """Return a console that writes to `stream`, in colour where it is a terminal."""
    from rich.console import Console

    return Console(file=stream, width=None if stream.isatty() else _WIDTH, highlight=False)


def _table(*columns: str, right: Sequence[str] = ()) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


class _TableWriter:
    """Writes links as tables of a hundred mentions, or, with explanations, one table each."""

    def __init__(
        self,
        stream: IO[str],
        *,
        k: int,
        explain: bool = False,
        places: bool = False,
    ) -> None:
        self._console = _console(stream)
        self._places = places
        self._k = k
        self._most = 1 if explain else _BLOCK
        self._pending: list[Link] = []

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:  # noqa: ARG002
        """Take one link; the table is printed when it is full."""
        from rich.text import Text

        self._pending.append(link)
        if len(self._pending) >= self._most:
            self.close()
        if explanation:
            for line in explanation.split("\n"):
                # Not wrapped: the terminal does that, and a pipe needs whole lines.
                self._console.print(Text(f"    {printable(line)}", style="dim"), soft_wrap=True)
            self._console.print()

    def close(self) -> None:
        """Print what is pending."""
        from rich.text import Text

        if not self._pending:
            return
        columns = ["mention", "id", "label", "score", "matched name"]
        said = any(link.status for link in self._pending)
        if said:
            columns.insert(1, "status")
        first = ("place",) if self._places else ()
        table = _table(*first, *columns, right=("score",))
        for link in self._pending:
            for number, cells in enumerate(_rows(link, self._k)):
                style = "" if cells[0] else "dim"
                if said:
                    cells = (cells[0], "" if number else ", ".join(link.status), *cells[1:])
                if self._places:
                    cells = ("" if number else _place(link.mention), *cells)
                table.add_row(*(Text(printable(_short(cell)), style=style) for cell in cells))
        self._console.print(table)
        self._pending = []


def _place(mention: Mention) -> str:
    """Return the document and the offsets of a mention."""
    return f"{mention.document_id} {mention.start}–{mention.end}".strip()


def _rows(link: Link, k: int) -> Iterator[tuple[str, ...]]:
    text = " ".join(link.mention.text.split()) or "(empty)"
    if link.parts:
        yield (text, "", f"({len(link.parts)} parts)", "", "")
        for part in link.parts:
            yield from _candidate_rows(f"  + {part.mention.text}", part, k)
    else:
        yield from _candidate_rows(text, link, k)


def _candidate_rows(text: str, link: Link, k: int) -> Iterator[tuple[str, ...]]:
    if link.nil or not link.candidates:
        yield (text, "NIL", link.reason, "", "")
        return
    for candidate in link.candidates[:k]:
        name = "" if candidate.name == candidate.label else candidate.name
        if kinds := dict.fromkeys(kind for kind, *_ in candidate.against.contradictions):
            name = f"{candidate.name} (contradicts: {', '.join(kinds)})"
        yield (text, candidate.id, candidate.label, f"{candidate.score:.3f}", name)
        text = ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
