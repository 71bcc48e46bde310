"""Answers and vectors of second looks, kept on disk: nothing is paid for twice."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from canonym.io.forks import Lock, on_fork

_log = logging.getLogger(__name__)
_PATIENCE = 30.0  # seconds that a process waits for another one


class Kind(NamedTuple):
    """A table of the file, its column, and how many values it holds: the older ones make room."""

    table: str
    column: str
    most: int


ANSWERS = Kind("answers", "place", 2_000_000)
"""Places of choices, some 150 bytes each with their keys."""

VECTORS = Kind("vectors", "vector", 100_000)
"""Vectors of names in single precision, some 2 kB each with their keys."""


class Kept:
    """Values of one kind in a file that several threads and processes read and add to.

    Where the file cannot be written, they are kept in memory, with a warning.

    Parameters
    ----------
    path : Path
        Its folder is made if need be.
    kind : Kind
        What is kept.
    """

    def __init__(self, path: Path, kind: Kind = ANSWERS) -> None:
        self._path, self._kind = path, kind
        self._lock = Lock()
        self._open()
        on_fork(self, Kept._open)  # a child has connections of its own

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._opened(self._path)
        except (OSError, sqlite3.Error) as error:
            self._go_on_without(error)

    def _go_on_without(self, error: Exception) -> None:
        what = self._kind.table
        _log.warning("%s are not kept: %s cannot be used (%s)", what, self._path, error)
        self._file = self._opened(":memory:")

    def _opened(self, path: Path | str) -> sqlite3.Connection:
        file = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=False)
        with file:
            file.execute(
                f"create table if not exists {self._kind.table} (number integer primary key,"
                f" key text unique not null, {self._kind.column})"
            )
        return file

    def of(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values that are known, by key."""
        table, column, _ = self._kind
        asked = f"select key, {column} from {table} where key in (select value from json_each(?))"
        with self._lock:
            try:
                return dict(self._file.execute(asked, [json.dumps(list(keys))]))
            except sqlite3.Error as error:
                self._go_on_without(error)
                return {}

    def add(self, values: Mapping[str, Any]) -> None:
        """Keep values by key; one that is there stays."""
        with self._lock:
            try:
                self._insert(values)
            except sqlite3.Error as error:  # as on a full disk
                self._go_on_without(error)
                self._insert(values)

    def _insert(self, values: Mapping[str, Any]) -> None:
        table, column, most = self._kind
        with self._file as file:
            file.executemany(
                f"insert or ignore into {table} (key, {column}) values (?, ?)", values.items()
            )
            file.execute(
                f"delete from {table} where number <= (select max(number) from {table}) - ?",
                (most,),
            )
