"""OpenDocument spreadsheets, ``.ods``: their sheets, and the cells of one as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from canonym.errors import ReadError
from canonym.io.cells import (
    MAX_COLUMNS,
    MAX_ROW_CHARACTERS,
    MAX_ROWS,
    Growth,
    RawRow,
    cell_text,
    loses_digits,
)
from canonym.io.number_formats import shown_code
from canonym.io.parts import parse_part, parse_whole

CONTENT = "content.xml"
_DAMAGED = "is a damaged spreadsheet ({}): open it in LibreOffice or Excel, save it anew"
_ODF = "urn:oasis:names:tc:opendocument:xmlns:%s:1.0 "
_TABLE, _OFFICE, _TEXT, _STYLE = (_ODF % name for name in ("table", "office", "text", "style"))
_CALCEXT = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0 "
_SHEET, _ROW = f"{_TABLE}table", f"{_TABLE}table-row"
_CELL, _COVERED = f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"
_PARAGRAPH = f"{_TEXT}p"
_ASIDE = (f"{_OFFICE}annotation", f"{_TEXT}note", f"{_TEXT}ruby-text")
_BREAKS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_MOST_SPACES = 1000
_NUMBERS = {"float", "currency", "percentage"}
_DIGITS = 300  # of a whole number that is read as one
_SHORTEST_LONG = 4  # characters of a number with more than 15 digits: 1E16


def open_workbook(
    path: Path,
) -> tuple[list[tuple[str, bool]], Callable[[str], Iterator[RawRow]]]:
    """Open a spreadsheet: its sheets, each with whether it is visible, and a reader of one."""
    return _sheets(path), lambda name: _SheetReader(path, name).rows()


def _sheets(path: Path) -> list[tuple[str, bool]]:
    hidden: set[str] = set()
    sheets: list[tuple[str, bool]] = []
    style, depth = "", 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal style, depth
        if tag == f"{_STYLE}style":
            style = attributes.get(f"{_STYLE}name", "")
        elif tag == f"{_STYLE}table-properties":
            if attributes.get(f"{_TABLE}display") == "false":
                hidden.add(style)
        elif tag == _SHEET:
            depth += 1
            if depth == 1:
                shown = attributes.get(f"{_TABLE}style-name") not in hidden
                sheets.append((attributes.get(f"{_TABLE}name", ""), shown))

    def end(tag: str) -> None:
        nonlocal depth
        depth -= tag == _SHEET

    parse_whole(path, CONTENT, start, end=end, namespaces=True, damaged=_DAMAGED)
    return sheets


class _SheetReader:
    """Collects the rows of one sheet while its XML is parsed."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._ready: list[tuple[RawRow, int]] = []  # rows that are not empty, and their repeats
        self._number = 0  # rows before
        self._depth = 0  # of tables
        self._inside = self._done = False
        self._row: RawRow | None = None
        self._repeats = 1
        self._gap = 0  # empty cells, which may be 16,384 at the end of a row
        self._size = 0  # characters of the row
        self._written = 0  # of it, without spaces that are given as a number
        self._growth = Growth(path, name)
        self._cell: tuple[str, dict[str, str]] | None = None
        self._level = 0  # of elements in the cell
        self._aside = 0  # level of the note that is open
        self._paragraphs: list[list[str]] = []
        self._in_paragraph = False

    def rows(self) -> Iterator[RawRow]:
        """Yield the rows of the sheet that are not empty."""
        pieces = parse_part(
            self._path, CONTENT, self._start, self._end, self._text, namespaces=True,
            damaged=_DAMAGED,
        )  # fmt: skip
        for _ in pieces:
            for row, repeats in self._ready:
                for number in range(row.number, row.number + repeats):
                    yield row._replace(number=number)
            self._ready.clear()
            if self._done:
                return

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._cell is not None:
            self._level += 1
            self._start_inside(tag, attributes)
        elif tag == _SHEET:
            self._depth += 1
            named = self._depth == 1 and attributes.get(f"{_TABLE}name") == self._name
            self._inside = self._inside or (named and not self._done)
        elif not self._inside or self._depth != 1:
            return
        elif tag == _ROW:
            self._repeats = _repeats(attributes, "rows", MAX_ROWS)
            self._row = RawRow(self._number + 1, [], {}, {}, [])
            self._gap = self._size = self._written = 0
        elif tag in (_CELL, _COVERED) and self._row is not None:
            self._cell, self._level, self._aside = (tag, attributes), 0, 0
            self._paragraphs, self._in_paragraph = [], False

    def _start_inside(self, tag: str, attributes: dict[str, str]) -> None:
        """Take an element in a cell: spaces, tabs and line breaks of a paragraph are elements."""
        if self._aside:
            return
        if tag == _PARAGRAPH and self._level == 1:
            self._paragraphs.append([])
            self._in_paragraph = True
        elif tag in _ASIDE or tag == _SHEET:
            self._aside = self._level
        elif tag == f"{_TEXT}s":
            spaces = _count(attributes.get(f"{_TEXT}c", "1"), _MOST_SPACES)
            self._text(" " * spaces)
            self._written -= spaces
        elif tag in _BREAKS:
            self._text(_BREAKS[tag])

    def _text(self, characters: str) -> None:
        if self._cell is None or not self._in_paragraph or self._aside:
            return
        self._paragraphs[-1].append(characters)
        self._size += len(characters)
        if self._size > MAX_ROW_CHARACTERS:
            raise ReadError(
                self._path,
                f"row {self._number + 1} of sheet {self._name!r} has more than "
                f"{MAX_ROW_CHARACTERS:,} characters",
            )

    def _end(self, tag: str) -> None:
        if self._cell is not None and self._level:
            if self._aside == self._level:
                self._aside = 0
            elif tag == _PARAGRAPH and self._level == 1:
                self._in_paragraph = False
            self._level -= 1
        elif self._cell is not None and self._row is not None:
            self._add(self._row, *self._cell)
            self._cell = None
        elif tag == _SHEET:
            self._depth -= 1
            if not self._depth and self._inside:
                self._inside, self._done = False, True
        elif tag == _ROW and self._row is not None:
            self._end_row(self._row)
            self._row = None

    def _end_row(self, row: RawRow) -> None:
        # Empty rows at the end of a sheet are one element for a million rows.
        if any(row.cells) or row.faults:
            self._growth.add(row, self._written, self._repeats)
            if self._number + self._repeats > MAX_ROWS:
                raise ReadError(self._path, f"sheet {self._name!r} has more than {MAX_ROWS:,} rows")
            self._ready.append((row, self._repeats))
        self._number += self._repeats

    def _add(self, row: RawRow, tag: str, cell: dict[str, str]) -> None:
        """Take a cell whose end is reached."""
        repeats = _repeats(cell, "columns", MAX_COLUMNS)
        text = "" if tag == _COVERED else self._cell_text(cell)
        self._written += 1 + len(text)
        fault = None
        if cell.get(f"{_CALCEXT}value-type") == "error":
            text, fault = "", text or "an error"
        elif cell.get(f"{_TABLE}formula") and not cell.get(f"{_OFFICE}value-type"):
            fault = ""
        if not text and fault is None:
            self._gap += repeats
        elif len(row.cells) + self._gap < MAX_COLUMNS:
            row.cells.extend([""] * self._gap)
            self._gap = 0
            places = range(len(row.cells), min(len(row.cells) + repeats, MAX_COLUMNS))
            if fault is not None:
                row.faults.update(dict.fromkeys(places, fault))
            if (lost := _loses_digits(cell)) is not None:
                row.long_numbers.update(dict.fromkeys(places, lost))
            if cell.get(f"{_OFFICE}value-type") == "date":
                row.dates.extend(places)
            row.cells.extend([text] * len(places))

    def _cell_text(self, cell: dict[str, str]) -> str:
        shown = "\n".join("".join(pieces) for pieces in self._paragraphs)
        kind, value = cell.get(f"{_OFFICE}value-type"), cell.get(f"{_OFFICE}value", "")
        if kind in _NUMBERS:
            number = _number(value)
            if number is None:
                return shown
            # The format is that of another file part, but its result stands in the cell.
            code = shown_code(number, shown) if kind == "float" else None
            return cell_text(number) if code is None else code
        if kind == "boolean":
            return cell.get(f"{_OFFICE}boolean-value", "").upper()
        if kind == "date":
            date = cell.get(f"{_OFFICE}date-value", shown)
            day, midnight, fraction = date.rpartition("T00:00:00")
            return day if midnight and not fraction.strip(".0") else date
        if kind == "string":
            return cell.get(f"{_OFFICE}string-value") or shown
        return shown


def _repeats(attributes: dict[str, str], what: str, most: int) -> int:
    written = attributes.get(f"{_TABLE}number-{what}-repeated", "1")
    return max(1, _count(written, most))


def _count(written: str, most: int) -> int:
    # Of thousands of digits the first ones tell that it is too many.
    return min(int(written[:9]), most) if written.isdecimal() else 1


def _number(written: str) -> float | None:
    if written.isdecimal() and len(written) <= _DIGITS:
        return int(written)
    try:
        return float(written)
    except ValueError:
        return None


def _loses_digits(cell: dict[str, str]) -> bool | None:
    written = cell.get(f"{_OFFICE}value", "")
    if cell.get(f"{_OFFICE}value-type") not in _NUMBERS or len(written) < _SHORTEST_LONG:
        return None
    number = _number(written)
    return None if number is None else loses_digits(number)
