"""The input of a job: entries, each a mention and the cells of its row, or documents."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import NamedTuple

from canonym.errors import InvalidInput, ReadError
from canonym.io.encodings import WINDOWS, check_encoding
from canonym.io.streams import TextStream, detect_encoding, open_text
from canonym.io.tables import COMPRESSED, TableStyle, is_parquet
from canonym.io.workbooks import Sheet, SheetChoice, check_no_choice, open_sheet, workbook_suffix
from canonym.types import Document, Mention

_LOG = logging.getLogger(__name__)

OF_LINES = ("lines", "table", "jsonl", "pubtator")
"""Kinds of input that are read line by line."""


class Entry(NamedTuple):
    """One mention, and the cells of its row if it is from a table."""

    mention: Mention
    cells: Sequence[str] = ()

    @property
    def is_blank(self) -> bool:
        """Whether there is no mention in it."""
        return not self.mention.text.strip()


Item = Entry | Document


class Input(NamedTuple):
    """Entries or documents to link, read one at a time, and their kind.

    A table has `columns`, and a `style` and a `source` if it is delimited text or a `sheet`.
    """

    items: Iterator[Item]
    documents: bool = False
    columns: list[str] | None = None
    kind: str = "lines"
    style: TableStyle | None = None
    encoding: str = "utf-8"
    sheet: Sheet | None = None
    source: Path | None = None

    @property
    def is_annotated(self) -> bool:
        """Whether mentions may have a document, a place in it and a type."""
        return self.columns is None and self.kind != "lines"

    @property
    def unit(self) -> str:
        """What the items are called."""
        return "documents" if self.documents else "mentions"

    @property
    def delimited_format(self) -> str:
        """The format of delimited text nearest to the input: csv, or tsv where there is none."""
        return "tsv" if self.style is None or self.style.delimiter == "\t" else "csv"


class TableOptions(NamedTuple):
    """Options of tables, as `canonym.corpora.tables.parse_table` takes them, and of sheets."""

    column: str | None = None
    context_column: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    header_row: int | None = None

    @property
    def choice(self) -> SheetChoice:
        """Which sheet of a workbook is meant."""
        columns = tuple(filter(None, (self.column, self.context_column)))
        return SheetChoice(self.sheet, self.header_row, columns)


@contextlib.contextmanager
def open_table(path: Path, table: TableOptions, encoding: str | None) -> Iterator[Input]:
    """Open a workbook or a delimited file, plain or compressed, whose column is to be linked.

    An encoding that is found and is not UTF-8 is logged.
    """
    if encoding is not None:
        check_encoding(encoding)
    what = "a folder" if path.is_dir() else "a Parquet file" if is_parquet(path) else ""
    what = what or ("JSON lines" if path.suffix.lower() in (".jsonl", ".ndjson") else "")
    if what:
        raise ReadError(
            path,
            f"is {what}; a workbook, or delimited text such as CSV, is expected: "
            "canonym.bulk.link_files links Parquet, JSON lines and folders of tables",
        )
    if workbook_suffix(path):
        with open_sheet(path, table.choice) as sheet:
            yield read_sheet(sheet, table, encoding)
        return
    check_no_choice(path, table.choice)
    if encoding is None:
        encoding = detect_encoding(path)
        if encoding == WINDOWS:
            _LOG.warning(
                "%s is not UTF-8 and is read as Windows-1252; if letters look wrong, name its "
                "encoding with encoding=...",
                path,
            )
    with open_text(path, encoding=encoding, keep_ends=True) as lines:
        yield read_delimited(lines, lines, path, table)


def read_sheet(sheet: Sheet, table: TableOptions, encoding: str | None = None) -> Input:
    """Return the entries of a sheet."""
    from canonym.corpora.tables import sheet_table

    for name, value in (("delimiter", table.delimiter), ("encoding", encoding)):
        if value:
            raise InvalidInput(f"{name}=... goes with delimited text, not with a workbook")
    rows = sheet_table(sheet, column=str(table.column), context_column=table.context_column)
    entries = (Entry(mention, cells) for cells, mention in rows)
    return Input(entries, columns=list(sheet.header), kind="sheet", sheet=sheet)


def read_delimited(
    lines: Iterable[str], stream: TextStream, path: Path, table: TableOptions
) -> Input:
    """Return the entries of delimited text: of lines of a stream, which errors call `path`."""
    from canonym.corpora.tables import parse_table

    rows = parse_table(
        lines,
        path,
        column=str(table.column),
        context_column=table.context_column,
        delimiter=table.delimiter,
    )
    header = rows.columns
    end = header.end or "\n"
    style = TableStyle(
        rows.delimiter, end, header.quoted, stream.encoding, stream.marked, rows.announced
    )
    entries = (Entry(row.mention, row.cells) for row in rows)
    return Input(
        entries, columns=header, kind="table", style=style, encoding=stream.encoding, source=path
    )


def count_items(path: str | Path, content: Input) -> int | None:
    """Count the lines or documents of a file, to show the time left.

    Compressed files and corpora without an item a line are not counted: that would take reading
    them twice.
    """
    if PurePath(path).suffix.lower() in COMPRESSED or content.kind not in OF_LINES:
        return None
    with Path(path).open("rb") as stream:
        if content.kind == "jsonl" and stream.read(1000).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[":
            return None  # one list
        stream.seek(0)
        if content.documents:
            return sum(1 for line in stream if b"|t|" in line or line.startswith(b"{"))
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def of_types(items: Iterator[Item], types: Sequence[str]) -> Iterator[Item]:
    """Keep the annotated mentions of some types, or all if there are none.

    Raises `InvalidInput` at the end if the whole input had no mention of one of the types.
    """
    if not types:
        yield from items
        return
    seen: set[str] = set()
    for item in items:
        if isinstance(item, Document):
            seen.update(mention.type for mention in item.mentions)
            yield replace(item, mentions=tuple(m for m in item.mentions if m.type in types))
        else:
            seen.add(item.mention.type)
            if item.mention.type in types:
                yield item
    if missing := [type_ for type_ in types if type_ not in seen]:
        there = ", ".join(sorted(filter(None, seen))) or "none"
        raise InvalidInput(f"no mention has the type {missing[0]!r}; the input has {there}")
