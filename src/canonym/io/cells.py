"""Cells of workbooks as text."""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple

MAX_ROWS = 1 << 20
"""Most rows of a sheet."""

MAX_COLUMNS = 1 << 14
"""Most columns of a sheet."""


class RawRow(NamedTuple):
    """A row of a sheet: its number from 1, its cells from the first column on, and their faults.

    A fault, by the place of its cell from 0, is an error such as ``#N/A``, or empty for a formula
    without a value. The cell is empty then.
    """

    number: int
    cells: list[str]
    faults: dict[int, str]


def cell_text(value: object, *, zeros: int = 0) -> str:
    """Return a value as text: a number with up to 15 digits, at least `zeros`, a date as in ISO.

    >>> cell_text(250.0), cell_text(0.1 + 0.2), cell_text(7, zeros=3), cell_text(True)
    ('250', '0.3', '007', 'TRUE')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        # As spreadsheets show them: the 16th digit is an artefact of binary numbers.
        whole = isinstance(value, int) or (value.is_integer() and abs(value) < 1e15)
        return f"{int(value):0{zeros}d}" if whole else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        return (value if value.time() != datetime.time() else value.date()).isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


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
    for letter in re.match("[A-Z]*", reference)[0]:  # type: ignore[index]
        number = number * 26 + ord(letter) - 64
    return number
