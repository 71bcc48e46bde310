"""Rows on their way into a table: gathered, checked and inserted many at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput

__all__ = ["Pending", "Statements", "UnwritableError", "check_text"]

_VARIABLES = 900  # in one statement: much faster than one row each, and any SQLite takes as many


class UnwritableError(InvalidInput):
    """The file cannot be written, whatever the records are."""


class Statements:
    """Runs statements in a file being written.

    Parameters
    ----------
    connection : sqlite3.Connection
        The open file.
    target : Path
        What the caller wants to be written, for messages.
    """

    def __init__(self, connection: sqlite3.Connection, target: Path) -> None:
        self._connection = connection
        self._target = target

    def run(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement.

        Raises
        ------
        InvalidInput
            If the disk is full or fails.
        """
        try:
            return self._connection.execute(sql, values)
        except sqlite3.OperationalError as error:
            raise UnwritableError(
                f"{self._target} could not be written ({error}); is the disk full, or the folder "
                "protected? Nothing was changed"
            ) from error


class Pending:
    """Rows that wait to be inserted into a table.

    Parameters
    ----------
    statements : Statements
        Where they go.
    what : str
        What a row is ("name"), for messages.
    columns : sequence of str
        What its values are.
    sql : str
        The statement, with ``{}`` for the values.

    Attributes
    ----------
    values : list
        Values of all rows, one after the other: extend it by a whole row.
    """

    def __init__(self, statements: Statements, what: str, columns: Sequence[str], sql: str) -> None:
        self.values: list[Any] = []
        self._statements = statements
        self._what = what
        self._columns = columns
        self._sql = sql
        self._several = self._statement(self._together)

    @property
    def n_rows(self) -> int:
        """Number of rows that wait."""
        return len(self.values) // len(self._columns)

    @property
    def _together(self) -> int:
        return max(_VARIABLES // len(self._columns), 1)

    def _statement(self, n: int) -> str:
        marks = f"({', '.join('?' * len(self._columns))})"
        return self._sql.format(", ".join([marks] * n))

    def flush(self) -> None:
        """Insert the rows.

        Raises
        ------
        InvalidInput
            If a value is neither a string nor a number or holds a lone surrogate, or the file
            cannot be written.
        """
        values, width = self.values, len(self._columns)
        if not values:
            return
        # SQLite would take bytes for a string, and give bytes back.
        if not all(issubclass(kind, str | int) for kind in set(map(type, values))):
            self._check()
        step = self._together * width
        try:
            for start in range(0, len(values), step):
                chunk = values[start : start + step]
                whole = len(chunk) == step
                sql = self._several if whole else self._statement(len(chunk) // width)
                self._statements.run(sql, chunk)
        except UnicodeEncodeError:
            self._check()
        values.clear()

    def _check(self) -> None:
        """Raise for the first value that cannot be stored: there is one."""
        width = len(self._columns)
        for at, value in enumerate(self.values):
            column = self._columns[at % width]
            row = tuple(self.values[at - at % width : at - at % width + width])
            if isinstance(value, str):
                check_text(value, f"the {column} of a {self._what}", row)
            elif not isinstance(value, int):
                raise InvalidInput(
                    f"the {column} of the {self._what} {row!a:.200} should be a string, not "
                    f"{type(value).__name__}"
                )


def check_text(text: str, what: str, shown: object) -> None:
    """Raise if a string holds a lone surrogate; `what` and `shown` are for the message."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{what} ({shown!a:.200}) holds a lone surrogate, which is no character; the file was "
            "decoded with the wrong encoding"
        ) from error
