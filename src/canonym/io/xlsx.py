"""Workbooks of Excel, ``.xlsx`` and ``.xlsm``: their sheets, and the cells of one as text."""

from __future__ import annotations

import datetime
import posixpath
import sys
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from canonym.errors import ReadError, require
from canonym.io.cells import (
    MAX_COLUMNS,
    MAX_ROW_CHARACTERS,
    MAX_ROWS,
    Growth,
    RawRow,
    cell_text,
    column_number,
    loses_digits,
)
from canonym.io.number_formats import formatted
from canonym.io.parts import parse_part, parse_whole
from canonym.regex import regex

_DAMAGED = "cannot be read as an Excel workbook ({}): open it in Excel or LibreOffice, save it anew"
_MAX_STRINGS = 400 << 20  # bytes of the strings that cells share
_MAX_FORMATS = 1 << 17  # Excel has at most 65,490
_CHARACTER = regex("_x([0-9A-Fa-f]{4})_")
_TEXTS = ("str", "s", "inlineStr")


class SheetPart(NamedTuple):
    """A sheet: its name, whether it is visible, and the file inside the workbook that holds it."""

    name: str
    visible: bool
    part: str


class _Book(NamedTuple):
    """What a workbook says about itself: its sheets, its parts by kind, whether days count 1904."""

    sheets: list[SheetPart]
    parts: dict[str, str]
    since_1904: bool


def sheet_parts(path: Path) -> list[SheetPart]:
    """List the sheets of a workbook, without sheets that are charts or macros."""
    return _book(path).sheets


def _book(path: Path) -> _Book:
    main = dict(_relations(path, "").values()).get("officeDocument")
    if main is None:
        raise ReadError(path, _DAMAGED.format("it has no workbook"))
    relations = _relations(path, main)
    sheets: list[SheetPart] = []
    since_1904 = False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal since_1904
        if tag == "workbookPr":
            since_1904 = attributes.get("date1904", "0") not in ("0", "false")
        elif tag == "sheet":
            id_ = next((value for key, value in attributes.items() if key.endswith(":id")), "")
            if id_ not in relations:
                raise ReadError(path, _DAMAGED.format(f"a sheet refers to {id_!r}"))
            kind, target = relations[id_]
            if kind == "worksheet":
                visible = attributes.get("state", "visible") == "visible"
                sheets.append(SheetPart(attributes.get("name", ""), visible, target))

    parse_whole(path, main, start, damaged=_DAMAGED)
    return _Book(sheets, dict(relations.values()), since_1904)


def _relations(path: Path, part: str) -> dict[str, tuple[str, str]]:
    """Return the kind and the target of each relation of a part, by its id."""
    folder, name = posixpath.split(part)
    relations: dict[str, tuple[str, str]] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "Relationship":
            target = posixpath.join("/", folder, attributes.get("Target", ""))
            kind = attributes.get("Type", "").rpartition("/")[2]
            relations[attributes.get("Id", "")] = kind, posixpath.normpath(target)[1:]

    parse_whole(path, posixpath.join(folder, "_rels", f"{name}.rels"), start, damaged=_DAMAGED)
    return relations


def open_workbook(
    path: Path,
) -> tuple[list[tuple[str, bool]], Callable[[str], Iterator[RawRow]]]:
    """Open a workbook: its sheets, each with whether it is visible, and a reader of one."""
    require("openpyxl", "reading and writing .xlsx files", "tables")
    book = _book(path)

    def read(name: str) -> Iterator[RawRow]:
        part = next(sheet.part for sheet in book.sheets if sheet.name == name)
        return _SheetReader(path, book, name).rows(part)

    return [(sheet.name, sheet.visible) for sheet in book.sheets], read


# --- strings and formats --------------------------------------------------------------------------


def _strings(path: Path, part: str | None) -> list[str]:
    """Read the strings that cells share."""
    strings: list[str] = []
    pieces: list[str] = []
    is_text, phonetic, size = False, 0, 0

    def start(tag: str, _attributes: dict[str, str]) -> None:
        nonlocal is_text, phonetic
        phonetic += tag == "rPh"
        is_text = tag == "t" and not phonetic

    def end(tag: str) -> None:
        nonlocal is_text, phonetic, size
        is_text = False
        phonetic -= tag == "rPh"
        if tag == "si":
            strings.append(shown_text("".join(pieces)))
            pieces.clear()
            size += sys.getsizeof(strings[-1])
            if size > _MAX_STRINGS:
                raise ReadError(
                    path, f"has texts of more than {_MAX_STRINGS >> 20} MiB: save it as CSV or TSV"
                )

    def text(characters: str) -> None:
        if is_text:
            pieces.append(characters)

    if part is not None:
        parse_whole(path, part, start, end=end, text=text, damaged=_DAMAGED)
    return strings


def shown_text(written: str) -> str:
    """Return a text as Excel shows it: ``_x0041_`` stands for a character, an A.

    >>> shown_text("beta_x002D_blocker"), shown_text("_x005F_x0041_"), shown_text("a_x000D_\\nb")
    ('beta-blocker', '_x0041_', 'a\\nb')
    """
    if "_x" not in written:
        return written
    text = _CHARACTER.sub(lambda match: chr(int(match[1], 16)), written)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


class _Format(NamedTuple):
    """A number format: as written, and whether it shows dates or durations."""

    written: str
    is_date: bool = False
    is_duration: bool = False


def _formats(path: Path, part: str | None) -> list[_Format]:
    """Read the number formats of the styles that cells name by number."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format

    codes: dict[int, str] = dict(BUILTIN_FORMATS)
    styles: list[int] = []
    inside = False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal inside
        if tag == "numFmt":
            codes[int(attributes["numFmtId"])] = attributes.get("formatCode", "General")
        elif tag == "xf" and inside:
            styles.append(int(attributes.get("numFmtId", "0")))
        inside = inside or tag == "cellXfs"
        if len(styles) > _MAX_FORMATS or len(codes) > _MAX_FORMATS:
            raise ReadError(path, _DAMAGED.format(f"it has more than {_MAX_FORMATS:,} formats"))

    def end(tag: str) -> None:
        nonlocal inside
        inside = inside and tag != "cellXfs"

    if part is not None:
        parse_whole(path, part, start, end=end, damaged=_DAMAGED)

    @cache
    def format_of(number: int) -> _Format:
        code = codes.get(number, "General")
        return _Format(code, is_date_format(code), is_timedelta_format(code))

    return [format_of(number) for number in styles]


# --- rows -----------------------------------------------------------------------------------------


class _SheetReader:
    """Collects the rows of one sheet while its XML is parsed."""

    def __init__(self, path: Path, book: _Book, name: str) -> None:
        from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel, from_ISO8601

        self._path = path
        self._name = name
        self._strings = _strings(path, book.parts.get("sharedStrings"))
        self._formats = _formats(path, book.parts.get("styles"))
        self._epoch = MAC_EPOCH if book.since_1904 else WINDOWS_EPOCH
        self._from_excel, self._from_iso = from_excel, from_ISO8601
        self._ready: list[RawRow] = []
        self._number = 0
        self._row: RawRow | None = None
        self._size = 0  # characters of the row
        self._written = 0  # cells of it
        self._growth = Growth(path, name, sum(map(len, self._strings)))
        self._cell: dict[str, str] | None = None
        self._pieces: list[str] | None = None  # of a text that is being read
        self._value: str | None = None
        self._has_formula = False
        self._phonetic = 0

    def rows(self, part: str) -> Iterator[RawRow]:
        """Yield the rows of the sheet in a file of the workbook."""
        pieces = parse_part(self._path, part, self._start, self._end, self._text, damaged=_DAMAGED)
        for _ in pieces:
            yield from self._ready
            self._ready.clear()

    def _error(self, problem: str) -> ReadError:
        return ReadError(self._path, f"sheet {self._name!r} {problem}")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "c":
            if self._row is not None:
                self._cell, self._value, self._has_formula = attributes, None, False
                self._place(attributes.get("r", ""))
        elif tag in ("v", "t"):
            if self._cell is not None and not self._phonetic:
                self._pieces = []
        elif tag == "f":
            self._has_formula = True
        elif tag == "rPh":
            self._phonetic += 1
        elif tag == "row":
            number = int(attributes.get("r", self._number + 1))
            if number > MAX_ROWS:
                raise self._error(f"has more than {MAX_ROWS:,} rows")
            self._check_order(number > self._number, f"row {number}")
            self._number, self._size, self._written = number, 0, 0
            self._row = RawRow(number, [], {}, {}, [])

    def _place(self, reference: str) -> None:
        """Fill the row up to the cell that begins; cells stand in order, as in any sheet."""
        assert self._row is not None
        if reference:
            letters = reference.rstrip("0123456789")
            column = _column(letters)
            in_row = reference[len(letters) :] in ("", str(self._number))
            before = len(self._row.cells)
            self._check_order(in_row and column > before, f"the cell {reference}")
            self._row.cells.extend([""] * (column - 1 - before))
        if len(self._row.cells) >= MAX_COLUMNS:
            raise self._error(f"has more than {MAX_COLUMNS:,} columns in row {self._number}")

    def _check_order(self, in_order: bool, what: str) -> None:
        if not in_order:
            raise self._error(
                f"has {what} twice or out of order, and programs differ in what they show of such "
                "a workbook: open it in Excel or LibreOffice, and save it there"
            )

    def _text(self, characters: str) -> None:
        if self._pieces is not None:
            self._pieces.append(characters)
            self._size += len(characters)
            if self._size > MAX_ROW_CHARACTERS:
                raise self._error(
                    f"has more than {MAX_ROW_CHARACTERS:,} characters in row {self._number}"
                )

    def _end(self, tag: str) -> None:
        if tag in ("v", "t"):
            if self._pieces is not None:
                # The runs of a rich text are one value.
                self._value = (self._value or "") + "".join(self._pieces)
                self._pieces = None
        elif tag == "c":
            if self._cell is not None and self._row is not None:
                self._add(self._row, self._cell)
                self._cell = None
        elif tag == "rPh":
            self._phonetic -= 1
        elif tag == "row" and self._row is not None:
            if self._row.cells:
                self._growth.add(self._row, self._written + self._size)
                self._ready.append(self._row)
            self._row = None

    def _add(self, row: RawRow, cell: dict[str, str]) -> None:
        self._written += 1
        kind, written, place = cell.get("t", "n"), self._value, len(row.cells)
        text = ""
        if self._has_formula and not written and kind != "str":
            row.faults[place] = ""
        elif not written:
            pass
        elif kind == "s":
            if not 0 <= (number := int(written)) < len(self._strings):
                raise LookupError(f"there is no text {number}")
            text = self._strings[number]
        elif kind in _TEXTS:
            text = shown_text(written)
        elif kind == "e":
            row.faults[place] = written
        elif kind == "b":
            text = cell_text(written in ("1", "true"))
        elif kind == "d":
            text = self._dated(row, place, self._from_iso(written))
        else:
            text = self._number_text(row, place, written, int(cell.get("s", "0")))
        row.cells.append(text)

    def _number_text(self, row: RawRow, place: int, written: str, style: int) -> str:
        value: int | float
        try:
            value = int(written)
        except ValueError:
            value = float(written)
        format_ = self._formats[style] if style < len(self._formats) else _Format("General")
        if format_.is_date:
            try:
                moment = self._from_excel(value, self._epoch, timedelta=format_.is_duration)
            except (OverflowError, ValueError):
                row.faults[place] = "#VALUE!"  # Excel shows ####
                return ""
            return self._dated(row, place, moment)
        if (lost := loses_digits(value)) is not None:
            row.long_numbers[place] = lost
        code = formatted(value, format_.written)
        return cell_text(value) if code is None else code

    def _dated(self, row: RawRow, place: int, moment: Any) -> str:
        if isinstance(moment, datetime.date):
            row.dates.append(place)
        return cell_text(moment)


@lru_cache(maxsize=MAX_COLUMNS)
def _column(letters: str) -> int:
    if not (0 < len(letters) <= 3 and set(ascii_uppercase).issuperset(letters)):
        raise ValueError(f"{letters!r} is no column")
    return column_number(letters)
