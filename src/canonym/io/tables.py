"""Tables with a header: delimited files and Parquet, read row by row."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, Unpack

from canonym.errors import InvalidInput, ReadError, require
from canonym.io.streams import MAX_LINE, TextStream, open_text
from canonym.io.workbooks import SheetChoice, check_no_choice, open_sheet, workbook_suffix
from canonym.regex import regex

DELIMITERS: tuple[str, ...] = ("\t", ",", ";", "|")
"""Delimiters that are recognised, the first one preferred."""

SUFFIXES: tuple[str, ...] = (".csv", ".tsv", ".tab")
"""Suffixes of delimited tables."""

COMPRESSED: tuple[str, ...] = (".gz", ".xz", ".bz2", ".zip")
"""Suffixes of compressed files."""

_LONG_NAME = 100  # characters, whose comparison takes long
_NEAR = 0.8  # similarity of a column that may be meant
_QUOTED = regex(r'"[^"]*"')
_ANNOUNCED = regex(r"sep=(\\t|\t|[^\w\s\\])\1*", re.IGNORECASE)
_LINE_ENDS = ("\r", "\n")
# As sheets and data frames write whole numbers; "1.000" is a thousand in half of the world.
_COUNT = regex(r"([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.00?)?")
_LONGEST_COUNT = 15


class TableStyle(NamedTuple):
    """How a delimited table is written; `quote_all` tells whether all cells are in quotes.

    `announced` is a first line that names the delimiter, as of `announced_delimiter`, or empty.
    """

    delimiter: str = "\t"
    line_end: str = "\n"
    quote_all: bool = False
    encoding: str = "utf-8"
    mark: bool = False
    announced: str = ""


class Row(list[str]):
    """The cells of a row, and how it is written: `text` without the line `end`."""

    def __init__(self, cells: Iterable[str], written: str, delimiter: str) -> None:
        super().__init__(cells)
        self.text = written.rstrip("\r\n") if written[-1:] in _LINE_ENDS else written
        self.end = written[len(self.text) :]
        self.delimiter = delimiter

    def __repr__(self) -> str:
        return f"Row({list(self)!r}, {self.text + self.end!r})"

    @property
    def quoted(self) -> bool:
        """Whether every cell is in quotes."""
        written = self.delimiter.join('"' + cell.replace('"', '""') + '"' for cell in self)
        return self.text == written


class Table(NamedTuple):
    """An open table.

    ``header`` names the columns, ``rows`` yields as many cells for each row, and ``error`` makes a
    `ReadError` at the row yielded last.
    """

    header: tuple[str, ...]
    rows: Iterator[Sequence[str]]
    error: Callable[[str], ReadError]


def check_delimiter(delimiter: str | None, *, quoted: bool = True) -> None:
    """Refuse a delimiter that is not one character, or none where cells are not `quoted`.

    None stands for one to be found.
    """
    if delimiter is None or (delimiter and not quoted):
        return
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InvalidInput(f"the delimiter is {delimiter!r}; one character is expected")


def announced_delimiter(line: str) -> str | None:
    """Return the delimiter that a line before the header names for Excel; None for other lines.

    >>> announced_delimiter("sep=;"), announced_delimiter('"sep=|"'), announced_delimiter("sep;id")
    (';', '|', None)
    """
    if line[:6].lstrip('\ufeff" ').lower()[:3] != "sep":  # as cheap as can be: most are not
        return None
    # Programs that do not know it put quotes around it, or fill it up with empty cells.
    match = _ANNOUNCED.fullmatch(line.replace('"', "").strip(" \r\n\ufeff"))
    return match and (match[1] if len(match[1]) == 1 else "\t")


def find_announced(path: str | Path, encoding: str = "utf-8") -> str | None:
    """Return the delimiter that the first line of a file names for Excel, None if it does not."""
    with open_text(path, encoding=encoding) as stream:
        return announced_delimiter(next(stream, ""))


# --- rows of delimited text -----------------------------------------------------------------------


def quoted_rows(
    lines: Iterable[str], path: str | Path, delimiter: str, *, before: int = 0, blank: bool = False
) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each CSV row and the line where it starts.

    Lines that are `blank` have no cells, and are left out by default. `before` counts the lines of
    the file that were read already.
    """
    csv.field_size_limit(max(MAX_LINE, csv.field_size_limit()))  # a cell may be a whole document
    # Strict, so that a quote that is never closed is an error and not one cell of many lines.
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        start = before + reader.line_num + 1
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
        if cells or blank:
            yield cells, start


def split_rows(
    stream: TextStream, *, delimiter: str = ",", quoted: bool = True, width: int | None = None
) -> Iterator[list[str]]:
    """Split the lines of a file into cells; blank lines are left out.

    With `quoted` cells may be in double quotes; otherwise a row is a line. With `width` every row
    must have so many cells. After each row `stream.line` is its last line.
    """
    split: Iterator[list[str]]
    if quoted:
        rows = quoted_rows(stream, stream.path, delimiter, before=stream.line)
        split = (cells for cells, _ in rows)
    else:
        split = (line.rstrip("\n").split(delimiter) for line in stream if line != "\n")
    for cells in split:
        if width is not None and len(cells) != width:
            raise stream.error(
                f"{len(cells)} cells where {width} were expected (separated by {delimiter!r})"
            )
        yield cells


def column_places(stream: TextStream, header: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Return the place of each wanted column, or raise a `ReadError` that lists the columns."""
    missing = [name for name in columns if name not in header]
    if missing:
        raise stream.error(
            f"no column {', '.join(map(repr, missing))}: the header names "
            f"{shown(header, most=20)}; check the file and its delimiter"
        )
    return [list(header).index(name) for name in columns]


def full_rows(
    stream: TextStream, width: int, rows: Iterable[Sequence[str]]
) -> Iterator[Sequence[str]]:
    """Yield rows as wide as the header; others are a `ReadError`, and so is a file without any."""
    any_row = False
    for cells in rows:
        if len(cells) != width:
            raise stream.error(f"{len(cells)} cells where the header has {width}")
        any_row = True
        yield cells
    if not any_row:
        raise stream.error("the file has no rows after its header")


def filled_parts(cell: str, separator: str = "|") -> list[str]:
    """Split a cell of several values; empty ones are left out."""
    return [part.strip() for part in cell.split(separator) if part.strip()]


def shown(header: Sequence[str], *, most: int = 30) -> str:
    """List the columns of a table, for a message."""
    return ", ".join(repr(name[:40]) for name in header[:most])


def no_column(name: str, header: Sequence[str]) -> str:
    """Say that a table lacks a column, and which one may be meant.

    >>> no_column("dx", ["id", " DX "])
    "no column 'dx' (did you mean ' DX '?)"
    """
    near = [other_name for other_name in header if squeezed(other_name) == squeezed(name)]
    short = [other_name for other_name in header if len(other_name) < _LONG_NAME]
    near = near or difflib.get_close_matches(name, short, 1, _NEAR)
    return f"no column {name!r}" + (f" (did you mean {near[0]!r}?)" if near else "")


def squeezed(name: str) -> str:
    """Return a column name without case, spaces and punctuation."""
    return "".join(filter(str.isalnum, name)).lower()


# --- whole tables ---------------------------------------------------------------------------------


class TableForm(TypedDict, total=False):
    """Form of a table: of delimited text, or of a workbook.

    `open_table` finds out missing keys and None.
    """

    delimiter: str | None
    quoted: bool | None
    encoding: str
    sheet: str | None
    header_row: int | None


@contextmanager
def open_table(
    path: str | Path, *, header: bool = True, separator: str = "|", **form: Unpack[TableForm]
) -> Iterator[Table]:
    """Open a delimited file, plain or compressed, a Parquet file or a workbook as a table.

    Without `delimiter` the one that the first line announces (``sep=;``) is taken, else the most
    frequent of `DELIMITERS` in it. By default
    cells may be `quoted` and then hold delimiters and line ends, except that in a tab-separated
    file a row is always one line. Without `header` the columns are called ``"1"``, ``"2"``, ….
    `separator` joins the values of a list in Parquet. `sheet` and `header_row` are those of
    `canonym.io.workbooks.SheetChoice`. Rows in which all cells are empty are left out.
    """
    choice = SheetChoice(form.get("sheet"), form.get("header_row"))
    if workbook_suffix(path):
        if not header:
            raise InvalidInput(f"header=False: a sheet needs a header, and {path} is a workbook")
        with open_sheet(path, choice) as sheet:
            yield Table(sheet.header, sheet.rows, sheet.error)
        return
    check_no_choice(path, choice)
    if is_parquet(path):
        number = 0

        def text_rows(rows: Iterator[Sequence[Any]]) -> Iterator[list[str]]:
            nonlocal number
            for cells in rows:
                number += 1
                yield [_parquet_text(cell, separator) for cell in cells]

        with open_parquet(path) as (names, rows):
            yield Table(
                tuple(names),
                text_rows(rows(None)),
                lambda problem: ReadError(path, problem, line=number or None),
            )
        return
    encoding, quoted = form.get("encoding", "utf-8"), form.get("quoted")
    check_delimiter(form.get("delimiter"), quoted=quoted is not False)
    announced = find_announced(path, encoding)
    delimiter = form.get("delimiter") or announced or _delimiter(path, encoding)
    with open_text(path, encoding=encoding) as stream:
        if announced:
            next(stream)
        if quoted is None and delimiter == "\t":
            split = _tab_rows(stream)
        else:
            split = split_rows(stream, delimiter=delimiter, quoted=quoted in (True, None))
        first = next(split, [])
        names = first if header else [str(number) for number in range(1, len(first) + 1)]
        body = _checked(stream, len(names), split, [] if header else [first])
        yield Table(tuple(name.strip().lstrip("#").strip() for name in names), body, stream.error)


def _delimiter(path: str | Path, encoding: str) -> str:
    with open_text(path, encoding=encoding) as stream:
        line = _QUOTED.sub("", next(stream))
    best = max(DELIMITERS, key=line.count)
    if best not in line:
        raise ReadError(
            path,
            f"the first line has no tab, comma, semicolon or bar: {line.strip()[:80]!r}; a table "
            "has at least a column of ids and one of names (pass the delimiter if it is another)",
            line=1,
        )
    return best


def _tab_rows(stream: TextStream) -> Iterator[list[str]]:
    for line in stream:
        cells = line.rstrip("\n").split("\t")
        if '"' in line:
            cells = [unquoted(cell) for cell in cells]
        yield cells


def unquoted(cell: str) -> str:
    """Return a cell of a tab-separated file without the quotes around it, if there are any."""
    # Spreadsheets quote cells with quotes in them also where tabs separate; others never quote.
    # Quotes that are not doubled inside belong to the name.
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        inner = cell[1:-1]
        if '"' not in inner.replace('""', ""):
            return inner.replace('""', '"')
    return cell


def whole_count(cell: str) -> int | None:
    """Return the count that a cell holds; None for no number, or one that may be read in two ways.

    >>> whole_count("1,200"), whole_count("2.0"), whole_count("1,5"), whole_count("1.000")
    (1200, 2, None, None)
    """
    match = _COUNT.fullmatch(cell.strip())
    return int(match[1].replace(",", "")) if match and len(match[1]) <= _LONGEST_COUNT else None


def _checked(
    stream: TextStream, width: int, split: Iterator[list[str]], first: list[list[str]]
) -> Iterator[list[str]]:
    yield from first
    for cells in split:
        if len(cells) != width:
            if not any(cells):
                continue
            raise stream.error(
                f"{len(cells)} cells where the first row has {width}: the row is cut, or the "
                "delimiter is part of a name and needs quotes"
            )
        yield cells


def bare_suffix(path: Path) -> str:
    """Return the suffix of a file in lower case: of visits.CSV.gz it is .csv."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_binary(path: str | Path) -> bool:
    """Tell whether a table is no text: Parquet or a workbook."""
    return is_parquet(path) or workbook_suffix(path) is not None


# --- Parquet --------------------------------------------------------------------------------------


def is_parquet(path: str | Path) -> bool:
    """Tell whether a file begins as Parquet files do."""
    place = Path(path)
    if not place.is_file():
        return False
    with place.open("rb") as stream:
        return stream.read(4) == b"PAR1"


@contextmanager
def open_parquet(
    path: str | Path,
) -> Iterator[tuple[list[str], Callable[[list[str] | None], Iterator[Sequence[Any]]]]]:
    """Open a Parquet file: its column names, and a function that yields the cells of its rows.

    The function takes the columns to read, None for all; of columns with one name it takes the
    last. Damage becomes a `ReadError`, also text that is not UTF-8.
    """
    parquet = require("pyarrow.parquet", "reading Parquet files", "tables")
    lib = require("pyarrow.lib", "reading Parquet files", "tables")
    damage = (lib.ArrowException, OSError, ValueError, OverflowError)
    try:
        file = parquet.ParquetFile(path)
        names = list(file.schema_arrow.names)
    except damage as error:
        raise ReadError(path, f"is no complete Parquet file ({error})") from error

    def rows(columns: list[str] | None) -> Iterator[Sequence[Any]]:
        batches = file.iter_batches(columns=columns)
        while True:
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                all_columns = [column.to_pylist() for column in batch.columns]
                named = dict(zip(batch.schema.names, all_columns, strict=True))
                cells = all_columns if columns is None else [named[name] for name in columns]
            except damage as error:
                raise ReadError(path, f"the Parquet file is damaged ({error})") from error
            yield from zip(*cells, strict=True)

    with file:
        yield names, rows


def _parquet_text(value: Any, separator: str) -> str:
    if isinstance(value, list):
        return separator.join(map(str, value))
    return "" if value is None else str(value)
