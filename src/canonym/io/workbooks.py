"""Workbooks: a sheet of an ``.xlsx``, ``.xlsm`` or ``.ods`` file, read row by row as text.

The header is the row that has the columns which are asked for, or else the first that is not empty,
but for titles: rows of one cell above rows of several. Its last name ends the table: cells to the
right of it are no part of the rows. Rows without a value in the table are left out; hidden and
filtered rows are rows. In merged cells the first one has the value, the others are empty.
"""

from __future__ import annotations

import itertools
import logging
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import NamedTuple

from canonym.errors import InvalidInput, ReadError
from canonym.io import ods, xlsx
from canonym.io.cells import MAX_CELLS, MAX_CHARACTERS, RawRow, column_letters
from canonym.io.streams import ZIP_DAMAGE, check_expansion

_log = logging.getLogger(__name__)

_MODULES: Mapping[str, ModuleType] = {".xlsx": xlsx, ".xlsm": xlsx, ".ods": ods}

SUFFIXES = tuple(_MODULES)
"""Suffixes of workbooks; ``.xlsm`` has macros."""

_TITLES = 20  # rows that are looked at for the header
_TYPES = "[Content_Types].xml"
_LOOKED_AT = 1 << 20  # bytes of a part, which may expand to gigabytes
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0"


class SheetChoice(NamedTuple):
    """Which sheet to read, by default the first visible one, and the row of its header, from 1.

    Without that row, `columns` tell the header.
    """

    sheet: str | None = None
    header_row: int | None = None
    columns: tuple[str, ...] = ()


class SheetRow(list[str]):
    """The cells of a row that knows its number in the sheet, from 1.

    `long_numbers` are those of `canonym.io.cells.RawRow`.
    """

    number: int = 0
    long_numbers: Mapping[int, bool] = MappingProxyType({})


class _Tally:
    """Counts cells; `first` is the first, with what is in it."""

    n = 0
    first = ""

    def add(self, row: int, place: int, content: str = "") -> None:
        """Count a cell, named by its row from 1 and its place from 0."""
        if not self.n:
            self.first = content + _cell(row, place)
        self.n += 1


class Sheet:
    """An open sheet; iterate over ``rows`` once.

    ``header`` names the columns and stands in ``header_row``. ``suffix`` is one of `SUFFIXES`, and
    ``path`` what messages call the ``file``. ``reads`` has the places of the columns that are read,
    None for all: formulas whose value is not known are refused there.
    """

    reads: Collection[int] | None = None

    def __init__(
        self,
        file: Path,
        path: Path,
        suffix: str,
        name: str,
        rows: Iterator[RawRow],
        choice: SheetChoice,
    ) -> None:
        self.file = file
        self.path = path
        self.suffix = suffix
        self.name = name
        self._row: int | None = None
        at = choice.header_row
        rows = itertools.dropwhile(lambda row: row.number < at if at else not any(row.cells), rows)
        head = [*itertools.islice(rows, 1 if at else _TITLES)]
        first = _header(head, choice.columns)
        if first is None or not any(first.cells) or (at and first.number != at):
            expected = f"row {at} holds no header" if at else "holds no value: a header is expected"
            raise self.error(expected)
        self.header_row = self._row = first.number
        width = max(place for place, cell in enumerate(first.cells, 1) if cell)
        self.header = tuple(
            cell.strip() or f"column {column_letters(place)}"
            for place, cell in enumerate(first.cells[:width], 1)
        )
        below = head[head.index(first) + 1 :]
        self.rows = self._read(itertools.chain(below, rows))

    def error(self, problem: str) -> ReadError:
        """Make the `ReadError` of `problem` at the row yielded last."""
        row = f", row {self._row}" if self._row else ""
        return ReadError(self.path, f"sheet {self.name!r}{row}: {problem}")

    def _read(self, rows: Iterator[RawRow]) -> Iterator[SheetRow]:
        width = len(self.header)
        errors, long, unknown = _Tally(), _Tally(), _Tally()
        dates: dict[int, _Tally] = {}  # by their place
        filled = [0] * width
        n_cells = n_characters = 0
        for row in rows:
            self._row = row.number
            cells = SheetRow(row.cells[:width])
            cells.number, cells.long_numbers = row.number, row.long_numbers
            n_cells += len(cells)
            n_characters += sum(map(len, cells))
            if n_cells > MAX_CELLS or n_characters > MAX_CHARACTERS:
                raise self.error(
                    f"of a sheet {MAX_CELLS:,} cells and {MAX_CHARACTERS:,} characters are read, "
                    "and there are more: save it as CSV or TSV"
                )
            self._check(row, width, errors, unknown)
            for at in row.long_numbers:
                if at < width:
                    long.add(row.number, at)
            for at in row.dates:
                if at < width:
                    dates.setdefault(at, _Tally()).add(row.number, at)
            for at, cell in enumerate(cells):
                if cell:
                    filled[at] += 1
            if any(cells) or any(place < width for place in row.faults):
                cells += [""] * (width - len(cells))
                yield cells
        self._tell(errors, "hold an error and are read as empty", "")
        self._tell(unknown, "hold a formula without a stored value and are read as empty", "")
        self._tell(
            long, "hold numbers of more than 15 digits, of which spreadsheets keep 15",
            "If they are codes, enter them as text",
        )  # fmt: skip
        for at, tally in dates.items():
            if 2 * tally.n < filled[at]:
                self._tell(
                    tally,
                    f"of the column {self.header[at]!r}, which is mostly no dates, hold one",
                    "Spreadsheets make dates of names such as MARCH1 and of codes such as 1-2: "
                    "enter these as text",
                )  # fmt: skip

    def _tell(self, tally: _Tally, what: str, advice: str) -> None:
        """Warn about cells, and name the first."""
        if tally.n:
            _log.warning(
                "%s, sheet %r: %d cells %s; the first is %s.%s",
                self.path, self.name, tally.n, what, tally.first, f" {advice}." if advice else "",
            )  # fmt: skip

    def _check(self, row: RawRow, width: int, errors: _Tally, unknown: _Tally) -> None:
        """Note the errors in a row, and refuse formulas whose value is read and not known."""
        for place, fault in row.faults.items():
            if place >= width:
                continue
            if not fault and (self.reads is None or place in self.reads):
                raise self.error(
                    f"the formula in {_cell(row.number, place)} has no stored value: open the "
                    "workbook in Excel or LibreOffice and save it there"
                )
            tally, content = (errors, f"{fault} in ") if fault else (unknown, "")
            tally.add(row.number, place, content)


def _header(head: Sequence[RawRow], columns: Collection[str]) -> RawRow | None:
    """Return which of the first rows names the columns."""
    named = (row for row in head if columns and {*columns}.issubset(map(str.strip, row.cells)))
    n_filled = [sum(map(bool, row.cells)) for row in head]
    wide = (row for row, *n in zip(head, n_filled, n_filled[1:], strict=False) if min(n) > 1)
    first = head[0] if head else None
    return next(named, None) or (first if n_filled[:1] != [1] else next(wide, first))


def check_ids(
    cells: Sequence[str], places: Iterable[int], error: Callable[[str], ReadError]
) -> None:
    """Refuse ids, at places of a row, that are numbers whose last digits a workbook has lost."""
    if not isinstance(cells, SheetRow) or not cells.long_numbers:
        return
    for place in places:
        if cells.long_numbers.get(place):
            raise error(
                f"the id in {_cell(cells.number, place)} is a number of more than 15 digits, and "
                f"its last digits are lost ({cells[place]}): spreadsheets keep 15. Give the column "
                "the format Text and enter the ids again"
            )


def _cell(row: int, place: int) -> str:
    """Name a cell by its row, from 1, and its place in it, from 0."""
    return f"{column_letters(place + 1)}{row}"


def workbook_suffix(path: str | Path) -> str | None:
    """Return which of `SUFFIXES` a workbook should have by its content, None for other files.

    Workbooks that cannot be read (the old ``.xls``, ``.xlsb``, with a password) are a `ReadError`.
    """
    place = Path(path)
    if not place.is_file():
        return None
    with place.open("rb") as stream:
        start = stream.read(4)
    if start == _OLE:
        raise ReadError(
            path, "is an old Office file (.xls), or has a password: save it as .xlsx, without one"
        )
    if start != _ZIP:
        return None
    try:
        with zipfile.ZipFile(place) as archive:
            return _suffix(place, archive)
    except (*ZIP_DAMAGE, OSError):
        return None  # damaged: whoever reads it says so


def _suffix(path: Path, archive: zipfile.ZipFile) -> str | None:
    parts = archive.namelist()
    names = set(parts)
    if _TYPES in names and any(name.startswith("xl/") for name in names):
        types = _beginning(archive, _TYPES)
        if "xl/workbook.bin" in names or b".template." in types:
            raise ReadError(path, "is a binary workbook (.xlsb) or a template: save it as .xlsx")
        suffix = ".xlsm" if b".macroEnabled." in types else ".xlsx"
    elif "content.xml" in names and "mimetype" in names:
        mimetype = _beginning(archive, "mimetype")
        if not mimetype.startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
            raise ReadError(path, "is an OpenDocument file, but no spreadsheet")
        suffix = ".ods"
        manifest = "META-INF/manifest.xml"
        if manifest in names and b"encryption-data" in _beginning(archive, manifest):
            raise ReadError(path, "has a password: save it without one")
    else:
        return None
    if len(names) < len(parts):
        twice = next(name for name in parts if parts.count(name) > 1)
        raise ReadError(
            path,
            f"has the part {twice!r} twice, and programs differ in which they read: open it in "
            "Excel or LibreOffice, and save it there",
        )
    for info in archive.infolist():
        if info.filename.endswith((".xml", ".rels")):
            check_expansion(path, info.file_size, info.compress_size)
    return suffix


def _beginning(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as member:
        return member.read(_LOOKED_AT)


@contextmanager
def open_sheet(
    path: str | Path,
    choice: SheetChoice = SheetChoice(),  # noqa: B008 - it cannot be changed
    *,
    shown: Path | None = None,
) -> Iterator[Sheet]:
    """Open a sheet of a workbook, which messages call `shown`.

    Without a name the first visible sheet is taken; where there are several, a warning says which.
    A sheet or a header that is missing is a `ReadError`.
    """
    path = Path(path)
    suffix = workbook_suffix(path)
    if suffix is None:
        raise ReadError(path, "is no workbook that can be read: .xlsx or .ods is expected")
    if choice.header_row is not None and choice.header_row < 1:
        raise InvalidInput(f"header_row={choice.header_row} is no row: they are counted from 1")
    sheets, read = _MODULES[suffix].open_workbook(path)
    name = _choose(shown or path, sheets, choice.sheet)
    yield Sheet(path, shown or path, suffix, name, read(name), choice)


def sheet_names(path: Path) -> list[str]:
    """Return the names of the visible sheets of a workbook, none of another file."""
    suffix = workbook_suffix(path)
    if suffix is None:
        return []
    sheets, _ = _MODULES[suffix].open_workbook(path)
    return [name for name, visible in sheets if visible]


def _choose(path: Path, sheets: Sequence[tuple[str, bool]], named: str | None) -> str:
    names = [name for name, _ in sheets]
    visible = [name for name, shown in sheets if shown]
    if named is None and visible:
        if len(visible) > 1:
            _log.warning("%s: sheet %r is read, the first of %s", path, visible[0], listed(visible))
        named = visible[0]
    if named is not None and names.count(named) > 1:
        raise ReadError(path, f"has several sheets {named!r}: give each a name of its own")
    if named in names and named is not None:
        return named
    what = f"no sheet {named!r}" if named is not None else "no visible sheet"
    raise ReadError(path, f"has {what}; it has {listed(names) or 'none'}")


def listed(names: Iterable[str]) -> str:
    """List the names of sheets, for a message."""
    names = list(names)
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return ", ".join(map(repr, names[:20])) + more


def check_no_choice(path: str | Path, choice: SheetChoice) -> None:
    """Refuse the choice of a sheet for a file that is no workbook."""
    if choice[:2] != SheetChoice()[:2]:
        raise InvalidInput(f"sheet=... and header_row=... go with workbooks, and {path} is none")
