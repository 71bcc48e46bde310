"""Cells of workbooks as text."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from canonym.errors import ReadError

MAX_ROWS = 1 << 20
"""Most rows of a sheet."""

MAX_COLUMNS = 1 << 14
"""Most columns of a sheet."""

MAX_CELLS = 1 << 24
"""Most cells that are read of a sheet: a million rows of 16 columns."""

MAX_CHARACTERS = 1 << 29
"""Most characters that are read of a sheet."""

MAX_ROW_CHARACTERS = 1 << 24
"""Most characters of a row."""

_KEPT_DIGITS = 15  # of a number, by spreadsheets
_FREE_CHARACTERS = 1 << 23  # that a sheet stands for beyond what is written
_CHARACTERS = 1000  # that a written one stands for
_FREE_ROWS = 5000  # that a sheet has by repeats
_ROWS = 10  # that a written one stands for


def without_decimals(cell: str) -> str:
    """Return a whole number without a point and zeros, as sheets and data frames write it.

    >>> without_decimals("120.0"), without_decimals("12.50"), without_decimals("yes")
    ('120', '12.50', 'yes')
    """
    whole, point, decimals = cell.rpartition(".")
    return whole if point and decimals and not decimals.strip("0") else cell


class RawRow(NamedTuple):
    """A row of a sheet: its number from 1, its cells from the first column on, and their faults.

    A fault, by the place of its cell from 0, is an error such as ``#N/A``, or empty for a formula
    without a value. The cell is empty then. `long_numbers` has the places of numbers with more than
    15 digits, each with whether its last digits are lost, and `dates` those of dates.
    """

    number: int
    cells: list[str]
    faults: dict[int, str]
    long_numbers: dict[int, bool]
    dates: list[int]


class Growth:
    """How far a sheet grows beyond its file, by repeats, gaps between cells and shared texts.

    `written` are characters that are there before the first row. A cell counts as a character.
    """

    def __init__(self, path: Path, sheet: str, written: int = 0) -> None:
        self._path, self._sheet = path, sheet
        self._spare = _FREE_CHARACTERS + _CHARACTERS * written
        self._spare_rows = _FREE_ROWS

    def add(self, row: RawRow, written: int, repeats: int = 1) -> None:
        """Take a row, and refuse one that stands for far more than is written."""
        characters = len(row.cells) + sum(map(len, row.cells))
        self._spare += _CHARACTERS * written - characters * repeats
        self._spare_rows += _ROWS - repeats
        if self._spare < 0 or self._spare_rows < 0:
            times = f" stands there {repeats:,} times and" if repeats > 1 else ""
            raise ReadError(
                self._path,
                f"row {row.number:,} of sheet {self._sheet!r}{times} lets the sheet grow to far "
                "more than the file holds: delete rows and columns that repeat each other, or save "
                "the sheet as CSV",
            )


def cell_text(value: object) -> str:
    """Return a value as text: a number with up to 15 digits, a date as in ISO.

    >>> cell_text(250.0), cell_text(0.1 + 0.2), cell_text(7), cell_text(True)
    ('250', '0.3', '7', 'TRUE')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        # As spreadsheets show them: the 16th digit is an artefact of binary numbers.
        whole = isinstance(value, int) or (value.is_integer() and abs(value) < 1e15)
        return str(int(value)) if whole else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        return (value if value.time() != datetime.time() else value.date()).isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def loses_digits(value: float) -> bool | None:
    """Tell whether a number has lost its last digits; None for one of up to 15 digits.

    Spreadsheets keep 15 digits. Other programs write whole numbers with all of theirs, which shows
    where a digit after the 15th is not zero.

    >>> loses_digits(22298006), loses_digits(9.99001261e17), loses_digits(999001261000000105)
    (None, True, False)
    """
    if isinstance(value, bool) or not abs(value) >= 10**_KEPT_DIGITS:  # NaN is not either
        return None
    return not isinstance(value, int) or not str(abs(value))[_KEPT_DIGITS:].strip("0")


def column_letters(number: int) -> str:
    """Return the letters of a column, counted from 1: A, …, Z, AA, …."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(reference: str) -> int:
    """Return the number of the column that a reference such as ``AB7`` begins with."""
    number = 0
    for letter in itertools.takewhile(ascii_uppercase.__contains__, reference):
        number = number * 26 + ord(letter) - 64
    return number
