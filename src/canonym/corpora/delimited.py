"""Tables of mentions: CSV, TSV and their like, one column of which is to be linked.

A table has a header. In a tab-separated table a quote is a character like any other and a row is a
line; with every other delimiter cells may be in double quotes and then hold delimiters and line
ends. Blank lines are left out.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import MAX_LINE, open_text
from canonym.types import Mention

__all__ = ["DELIMITERS", "MentionTable", "TableRow", "parse_table", "read_table", "split_header"]

DELIMITERS: tuple[str, ...] = ("\t", ",", ";", "|")
"""Delimiters that are recognised, in the order in which they are tried on the header."""


class TableRow(NamedTuple):
    """A row of a table: all its cells, and the mention in one of them."""

    cells: list[str]
    mention: Mention


class MentionTable:
    """The rows of a table, read one at a time; iterate over it once.

    Attributes
    ----------
    columns : list of str
        The header.
    delimiter : str
        What separates the cells.
    """

    def __init__(self, columns: list[str], delimiter: str, rows: Iterator[TableRow]) -> None:
        self.columns = columns
        self.delimiter = delimiter
        self._rows = rows

    def __iter__(self) -> Iterator[TableRow]:
        return self._rows


@contextmanager
def read_table(
    path: str | Path,
    *,
    column: str,
    context_column: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[MentionTable]:
    """Open a table of mentions, plain or compressed.

    Parameters
    ----------
    path : str or Path
        The file.
    column : str
        Name of the column to link.
    context_column : str, optional
        Name of a column with text around the mention, in which abbreviations are looked for.
    delimiter : str, optional
        What separates the cells, one character; found in the header when missing.
    encoding : str
        Encoding of the text.

    Yields
    ------
    MentionTable
        Its columns and its rows.

    Raises
    ------
    ReadError
        If a column is missing or named twice, a row has another number of cells than the header, or
        quotes are unbalanced.
    InvalidInput
        If the delimiter is not one character.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "patients.csv"
    >>> _ = file.write_text("patient,diagnosis\\n7,broken hip\\n")
    >>> with read_table(file, column="diagnosis") as table:
    ...     [row.mention.text for row in table]
    ['broken hip']
    """
    with open_text(path, encoding=encoding) as lines:
        yield parse_table(
            lines, path, column=column, context_column=context_column, delimiter=delimiter
        )


def parse_table(
    lines: Iterable[str],
    path: str | Path,
    *,
    column: str,
    context_column: str | None = None,
    delimiter: str | None = None,
) -> MentionTable:
    """Read a table from lines; `path` is where errors say they are from.

    Parameters and errors are those of `read_table`.
    """
    iterator = iter(lines)
    first = next((line for line in iterator if line.strip()), None)
    if first is None:
        raise ReadError(path, "holds no header: a first line that names the columns is expected")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise InvalidInput(f"the delimiter is {delimiter!r}; one character is expected")
    delimiter = delimiter or guess_delimiter(first)
    cells = _split(itertools.chain([first], iterator), delimiter, path)
    header, line = next(cells)
    mention_at = _position(path, header, column, line)
    context_at = None if context_column is None else _position(path, header, context_column, line)
    return MentionTable(header, delimiter, _rows(cells, len(header), mention_at, context_at, path))


def split_header(line: str, delimiter: str | None = None) -> list[str]:
    """Split the first line of a table into the names of its columns."""
    delimiter = delimiter or guess_delimiter(line)
    return next(_split(iter([line]), delimiter, "header"))[0]


def guess_delimiter(line: str) -> str:
    """Return the first of `DELIMITERS` that is in the header, else a comma (one column)."""
    return next((delimiter for delimiter in DELIMITERS if delimiter in line), ",")


def _rows(
    rows: Iterator[tuple[list[str], int]],
    width: int,
    mention_at: int,
    context_at: int | None,
    path: str | Path,
) -> Iterator[TableRow]:
    for cells, line in rows:
        if len(cells) != width:
            raise ReadError(
                path,
                f"{len(cells)} cells where the header names {width} columns: check the quotes and "
                "the delimiter",
                line=line,
            )
        context = "" if context_at is None else cells[context_at]
        yield TableRow(cells, Mention(cells[mention_at], context=context))


def _position(path: str | Path, header: Sequence[str], column: str, line: int) -> int:
    count = header.count(column)
    if count == 1:
        return header.index(column)
    names = ", ".join(repr(name[:40]) for name in header[:30])
    problem = f"no column {column!r}" if not count else f"{count} columns named {column!r}"
    raise ReadError(
        path, f"{problem}; the columns are {names} (is the delimiter right?)", line=line
    )


def _split(
    lines: Iterator[str], delimiter: str, path: str | Path
) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each row and the line where it starts."""
    if delimiter == "\t":
        for number, line in enumerate(lines, start=1):
            if line.strip("\n"):
                yield line.rstrip("\n").split("\t"), number
        return
    csv.field_size_limit(max(MAX_LINE, csv.field_size_limit()))  # a cell may be a whole document
    # Strict, so that a quote that is never closed is an error and not one cell of many lines.
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ReadError(
                path,
                f"the quotes of the row that starts here are unbalanced or misplaced ({error})",
                line=start,
            ) from error
        if cells is None:
            return
        if cells:
            yield cells, start
