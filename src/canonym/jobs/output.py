"""The output of a job: the links of items, in a file that is whole or absent."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from canonym import __version__
from canonym.errors import InvalidInput
from canonym.export import DelimitedWriter, JsonLinesWriter, LinkWriter, ParquetWriter, format_of
from canonym.export.excel import WorkbookWriter
from canonym.export.rows import checked_columns
from canonym.io.encodings import check_encoding, without_mark
from canonym.io.files import write_file, write_folder
from canonym.io.journal import Journal, open_journal, working_files
from canonym.io.places import check_outputs, check_standard_output
from canonym.io.tables import TableStyle
from canonym.io.workbooks import SUFFIXES, Sheet
from canonym.jobs.input import Entry, Input, Item
from canonym.linker import Linker
from canonym.types import Document, Link, Mention

_LOG = logging.getLogger(__name__)
_Write = Callable[[Item, Sequence[Link]], object]
_OF_ROWS = ("tsv", "csv", "parquet")
_DELIMITED = {"tsv": "\t", "csv": ","}
_CONCEPT = ("id", "code", "label")
_SAID = ("confidence", "status", "left_over", "reason")
_RESUMABLE = ("tsv", "csv", "jsonl", "pubtator")

BINARY = ("parquet", "xlsx")
"""Formats that are no text."""

NOT_RESUMABLE = f"resume=True needs a file in one of the formats {', '.join(_RESUMABLE)}"

# --- where links go -------------------------------------------------------------------------------


class Layout(NamedTuple):
    """How links are written: at most `k` candidates, `columns` of the input table.

    `style`, `one_row`, `keys` and `formula_guard` are those of `canonym.export.DelimitedWriter`,
    `sheet` that of `canonym.export.excel.WorkbookWriter`. `source` says what made the links, for
    BioC and workbooks, and `syntax` is for BioC. `opener` makes the writer of a format that is none
    of `canonym.export`.
    """

    format: str
    k: int
    columns: list[str] | None = None
    explain: bool = False
    style: TableStyle = TableStyle()
    one_row: bool = False
    formula_guard: bool = True
    sheet: Sheet | None = None
    syntax: str = "xml"
    source: str = ""
    opener: Callable[[IO[Any]], LinkWriter] | None = None
    keys: tuple[str, ...] = ()

    def of_linker(self, linker: Linker) -> Layout:
        """Return the layout with the index of a linker."""
        return self._replace(source=f"canonym {__version__}, index {linker.fingerprint}")


def layout_of(
    content: Input,
    format: str,
    k: int | None,
    *,
    explain: bool,
    one_row: bool,
    formula_guard: bool,
    output_encoding: str | None,
    keys: Sequence[str] | None = None,
) -> Layout:
    """Return how to write the links of an input; refuse options that do not go together.

    `keys` are the columns of the result that are asked for, see `columns_of`.
    """
    if one_row and format not in (*_OF_ROWS, "xlsx"):
        raise InvalidInput(
            f"one_row=True goes with format=tsv, csv, parquet or a workbook, not {format}"
        )
    if one_row and k not in (None, 1):
        raise InvalidInput(
            f"one_row=True writes the best candidate alone, and k={k} asks for {k} rows: give one "
            "of the two"
        )
    if format == "xlsx" and k not in (None, 1):
        raise InvalidInput(
            f"a workbook has one row for each mention, and k={k} asks for {k}: write .csv, .tsv, "
            ".jsonl or .parquet"
        )
    if output_encoding is not None:
        check_encoding(output_encoding, argument="output_encoding")
        if format not in _DELIMITED:
            raise InvalidInput(f"output_encoding=... goes with format=tsv or csv, not {format}")
    # A sheet of .ods is not copied: its table goes into a new workbook.
    sheet = None if content.sheet is None or content.sheet.suffix == ".ods" else content.sheet
    k = k or (1 if one_row or format in (*_DELIMITED, "xlsx") else 5)
    style = _style_of(format, content.style, output_encoding)
    layout = Layout(format, k, content.columns, explain, style, one_row, formula_guard, sheet)
    return layout._replace(keys=columns_of(layout, keys, annotated=content.is_annotated))


def columns_of(layout: Layout, names: Sequence[str] | None, *, annotated: bool) -> tuple[str, ...]:
    """Return the columns of the result: those with `names`, which may be ``["all"]``, or a few.

    An empty tuple are all: those of lists, whose places programs know, and of Parquet.
    """
    if names is not None and layout.format not in (*_OF_ROWS, "xlsx"):
        raise InvalidInput(
            f"columns=... goes with format=tsv, csv, parquet, xlsx, not {layout.format}"
        )
    if names is not None and list(names) != ["all"]:
        return checked_columns(names)
    is_list, is_workbook = layout.columns is None, layout.format == "xlsx"
    if names or layout.format == "parquet" or (is_list and not is_workbook):
        return ()
    place = ("document", "start", "end", "type") if annotated else ()
    several = () if layout.one_row or is_workbook else ("row", "part", "rank")
    score = ("score",) if layout.k > 1 else ()
    return (*place, *(("mention",) if is_list else ()), *several, *_CONCEPT, *score, *_SAID)


class Output:
    """Where links go; `n_links` counts them, with those of the run that is resumed.

    `n_items` is the number of items that it had done.
    """

    def __init__(self, stream: IO[Any], layout: Layout, journal: Journal | None = None) -> None:
        self.n_items, self.n_links = (journal.n_items, journal.n_links) if journal else (0, 0)
        self.has_rows_of_parts = layout.format in _OF_ROWS and not layout.one_row
        self._encoding = layout.style.encoding
        self._write, self._end = _writer(layout, stream, done=self.n_links)
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
            self._write(item, links)
        except UnicodeEncodeError as error:
            raise self._not_encoded(error) from error
        if self._journal is not None:
            self._journal.done(item, len(links))
        self.n_links += len(links)

    def close(self) -> None:
        """Write what is pending."""
        try:
            self._end()
        except UnicodeEncodeError as error:
            raise self._not_encoded(error) from error

    def _not_encoded(self, error: UnicodeEncodeError) -> InvalidInput:
        around = error.object[max(error.start - 20, 0) : error.end + 20].strip()
        return InvalidInput(
            f"{error.object[error.start]!r} in {around!r} cannot be written in {self._encoding}: "
            "choose an encoding that has all characters, such as output_encoding='utf-8-sig'"
        )


def format_for(path: str | Path) -> str:
    """Return the format that a suffix stands for."""
    suffix = Path(path).suffix.lower()
    if suffix == ".ods":
        raise InvalidInput(
            f"{path}: .ods is read and not written; name a file *.xlsx, which LibreOffice opens as "
            "well"
        )
    return "xlsx" if suffix in SUFFIXES else format_of(path)


def check_workbook(format: str, output: str | None, sheet: Sheet | None) -> None:
    """Refuse a workbook whose suffix is not that of the workbook that is copied."""
    if format != "xlsx":
        return
    written = f".{format}" if output is None else Path(output).suffix.lower()
    suffix = sheet.suffix if sheet else f".{format}"
    if written == suffix:
        return
    if sheet is None:
        raise InvalidInput(f"a new workbook of format={format} is called NAME{suffix}")
    raise InvalidInput(
        f"the result is a copy of the workbook, which is {suffix}: name a file *{suffix}, or write "
        "the table alone as .csv, .tsv, .jsonl or .parquet"
    )


def _style_of(format: str, of_input: TableStyle | None, encoding: str | None) -> TableStyle:
    """Return how to write a format: as the input table, `of_input`, but for what was asked for."""
    style = of_input or TableStyle()
    if format not in _DELIMITED:
        return TableStyle()
    if (format == "tsv") != (style.delimiter == "\t"):
        style = style._replace(delimiter=_DELIMITED[format], announced="")
    if encoding is not None:
        style = style._replace(**without_mark(encoding)._asdict())
    return style


def check_output(
    path: str | Path | None,
    format: str,
    inputs: Iterable[str | None],
    *,
    overwrite: bool,
    resume: bool,
    called: str = "out",
) -> None:
    """Refuse a file for links that is an input, or exists and is neither replaced nor resumed.

    Messages say that it is `called` so. Without a file links go to standard output, which may not
    be an input either.
    """
    if path is None:
        check_standard_output(inputs)
        return
    if resume and format not in _RESUMABLE:
        raise InvalidInput(NOT_RESUMABLE)
    check_outputs(
        {called: str(path)},
        inputs,
        overwrite=overwrite or resume,
        folder=format == "brat",
        touched=working_files(Path(path)) if format in _RESUMABLE else (),
    )


@contextlib.contextmanager
def open_output(
    path: str | Path,
    layout: Layout,
    settings: Mapping[str, Any],
    *,
    overwrite: bool,
    resume: bool,
    tell: Callable[[str], None] = _LOG.info,
) -> Iterator[Output]:
    """Open a file that is whole or absent afterwards.

    `settings` holds everything the links depend on beside the input: a run is only resumed with
    the same. `tell` is that of `canonym.io.journal.open_journal`.
    """
    encoding = layout.style.encoding
    journal, stream = None, cast(Any, None)
    with contextlib.ExitStack() as stack:
        if layout.format in _RESUMABLE:
            opened = open_journal(
                Path(path),
                settings,
                overwrite=overwrite,
                resume=resume,
                encoding=encoding,
                tell=tell,
            )
            journal = stack.enter_context(opened)
            stream = journal.stream
        elif layout.format == "brat":
            stream = stack.enter_context(write_folder(path, overwrite=overwrite))
        else:
            partial = stack.enter_context(write_file(path, overwrite=overwrite))
            binary = layout.format in BINARY
            file = partial.open("wb") if binary else partial.open("w", encoding=encoding)
            stream = stack.enter_context(file)
        output = Output(stream, layout, journal)
        yield output
        output.close()


# --- how items are written ------------------------------------------------------------------------


def _infons(link: Link) -> dict[str, str]:
    parts = link.parts or (link,)
    best = [part.candidates[0] for part in parts if part.id is not None]
    facts = {
        "label": "|".join(candidate.label for candidate in best),
        "score": "|".join(f"{candidate.score:.6g}" for candidate in best),
        "confidence": "" if link.confidence is None else f"{link.confidence:.6g}",
        "sieve": "|".join(candidate.sieve for candidate in best),
        "status": "|".join(link.status),
        "nil": "; ".join(dict.fromkeys(part.reason for part in parts if part.nil)),
    }
    return {key: value for key, value in facts.items() if value}


def _linked(item: Item, links: Sequence[Link], *, in_text: bool = True) -> Document:
    """Return a document with the mentions that were linked, ids filled in."""
    document = cast(Document, item)  # the formats are refused for anything else
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


def _writer(layout: Layout, stream: Any, *, done: int) -> tuple[_Write, Callable[[], object]]:
    """Return what writes the links of an item, and what writes in the end what is pending."""
    if layout.format in ("pubtator", "bioc") and layout.explain:
        raise InvalidInput(
            f"format={layout.format} has no place for explanations: leave out explain=True"
        )
    # A document is written at once: nothing is pending in the end.
    if layout.format == "pubtator":
        from canonym.corpora.pubtator import pubtator_text

        return lambda item, links: stream.write(pubtator_text(_linked(item, links))), lambda: None
    if layout.format == "bioc":
        from canonym.corpora.bioc import BioCWriter

        bioc = BioCWriter(stream, syntax=layout.syntax, source=layout.source)
        return (
            lambda item, links: bioc.write(
                _linked(item, links, in_text=False), [*map(_infons, links)]
            )
        ), bioc.close
    if layout.format == "brat":
        from canonym.corpora.brat import BratWriter

        brat = BratWriter(stream)
        return lambda item, links: brat.write(_linked(item, links)), lambda: None
    separator = "; " if layout.opener is None else "\n"
    writer = _link_writer(layout, stream, done=done)

    def explained(link: Link) -> str:
        return separator.join(link.explain()) if layout.explain else ""

    def write(item: Item, links: Sequence[Link]) -> None:
        cells = item.cells if isinstance(item, Entry) else ()
        for link in links:
            writer.write(link, cells, explanation=explained(link))

    return write, writer.close


def _link_writer(layout: Layout, stream: IO[Any], *, done: int) -> LinkWriter:
    """Return a writer of links one by one, of which so many are `done`."""
    if layout.opener is not None:
        return layout.opener(stream)
    options: dict[str, Any] = {"columns": layout.columns, "explain": layout.explain}
    if layout.format == "jsonl":
        return JsonLinesWriter(stream, k=layout.k, **options)
    options["keys"] = layout.keys
    if layout.format == "xlsx":
        return WorkbookWriter(stream, sheet=layout.sheet, made_by=layout.source, **options)
    options |= {"k": layout.k, "one_row": layout.one_row}
    if layout.format == "parquet":
        return ParquetWriter(stream, **options)
    return DelimitedWriter(
        stream,
        style=layout.style,
        number=done + 1,
        header=not done,
        formula_guard=layout.formula_guard,
        **options,
    )
