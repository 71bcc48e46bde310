"""The table to review: its columns, its rows, and each mention with its context once."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import detect_encoding
from canonym.io.tables import announced_delimiter, open_table, shown
from canonym.io.workbooks import workbook_suffix

Key = tuple[str, str]
"""A mention and its context: what is decided once."""

MOST_ROWS = 200_000
_DECIMALS = re.compile(r"\.0+$")  # of a whole number in a sheet


class GivenTable(NamedTuple):
    """Rows as they were given, each with the mention that it holds, and how often that occurs."""

    columns: tuple[str, ...]
    column: str
    context_column: str
    rows: list[tuple[Key, list[str]]]
    frequencies: dict[Key, int]


def read_given(content: bytes, name: str) -> tuple[tuple[str, ...], list[list[str]]]:
    """Read a file that was uploaded: its header and its rows.

    A file of lines without a table in it has one column, called ``mention``.

    Raises
    ------
    ReadError
        If it is no table, with the name that it was given under.
    """
    suffix = Path(name).suffix.lower()
    with tempfile.TemporaryDirectory(prefix="canonym-") as folder:
        path = Path(folder) / f"table{suffix if suffix.isascii() and len(suffix) < 9 else ''}"
        path.write_bytes(content)
        try:
            if workbook_suffix(path):
                with open_table(path) as table:
                    return table.header, _cleaned(table.rows, name)
            encoding = detect_encoding(path)
            text = content.decode(encoding, "replace").lstrip("\ufeff")
            first = text.partition("\n")[0]
            named = announced_delimiter(first)
            if named or suffix in (".csv", ".tsv", ".tab"):
                if not named and not any(mark in first for mark in "\t,;|"):
                    return _lines(text, header=True)
                with open_table(path, encoding=encoding) as table:
                    return table.header, _cleaned(table.rows, name)
            return _lines(text, header=False)
        except ReadError as error:
            raise ReadError(name, error.problem, line=error.line) from error
        except UnicodeError as error:
            raise ReadError(name, f"is no text in the encoding {encoding}") from error


def read_pasted(text: str) -> tuple[tuple[str, ...], list[list[str]]]:
    """Read what was pasted: a mention a line, or a table with tabs and a header."""
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and announced_delimiter(lines[0]):
        text = "\n".join(lines := lines[1:])
    if lines and all("\t" in line for line in lines):
        header, *rows = ([cell.strip() for cell in line.split("\t")] for line in lines)
        width = len(header)
        return tuple(header), _cleaned([[*row, *[""] * width][:width] for row in rows], "the text")
    return _lines(text, header=False)


def _lines(text: str, *, header: bool) -> tuple[tuple[str, ...], list[list[str]]]:
    lines = [line.strip().strip('"') for line in text.splitlines() if line.strip()]
    columns = (lines.pop(0),) if header and lines else ("mention",)
    return columns, _cleaned([[line] for line in lines], "the text")


def _cleaned(rows: object, name: str) -> list[list[str]]:
    """Take the rows, without the characters that a database cannot hold."""
    found: list[list[str]] = []
    for row in rows:  # type: ignore[attr-defined]
        if len(found) == MOST_ROWS:
            raise InvalidInput(
                f"{name} has more than {MOST_ROWS:,} rows; review a part, or each mention once"
            )
        found.append([clean(cell) for cell in row])
    return found


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which a database cannot hold."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def as_table(
    columns: Sequence[str],
    rows: list[list[str]],
    *,
    column: str = "",
    context_column: str = "",
    frequency_column: str = "",
) -> GivenTable:
    """Find the mentions in a table; rows without one are kept, but there is nothing to decide.

    Raises
    ------
    InvalidInput
        If a column is missing, a frequency is no number, or there is no mention at all.
    """
    wanted = [name for name in (column, context_column, frequency_column) if name]
    for name in wanted:
        if name not in columns:
            raise InvalidInput(f"there is no column {name!r:.80}; there are {shown(columns)}")
    if not column and len(columns) > 1:
        raise InvalidInput(f"choose the column with the mentions: {shown(columns)}")
    places = [list(columns).index(name) if name else None for name in (
        column or columns[0], context_column, frequency_column
    )]  # fmt: skip
    keyed: list[tuple[Key, list[str]]] = []
    frequencies: dict[Key, int] = {}
    for number, cells in enumerate(rows, start=1):
        mention, context, frequency = ("" if at is None else cells[at].strip() for at in places)
        key = (mention, context)
        keyed.append((key, cells))
        if mention:
            n = _frequency(frequency, number) if frequency_column else 1
            frequencies[key] = frequencies.get(key, 0) + n
    if not frequencies:
        raise InvalidInput("there is no mention to review: give one a line, or another column")
    return GivenTable(tuple(columns), column or columns[0], context_column, keyed, frequencies)


def _frequency(cell: str, row: int) -> int:
    plain = _DECIMALS.sub("", cell.replace(",", ""))
    if not plain.isdecimal() or len(plain) > 15:
        raise InvalidInput(f"row {row}: the frequency is {cell!r:.60}; a whole number is expected")
    return int(plain)
