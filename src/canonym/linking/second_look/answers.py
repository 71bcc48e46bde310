"""Answers of second looks, kept on disk: a run that goes on, or again, pays for none twice."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from canonym.io.forks import Lock, on_fork
from canonym.linking.second_look.questions import Answer

_log = logging.getLogger(__name__)
_PATIENCE = 30.0  # seconds that a process waits for another one
_MOST = 2_000_000  # answers, some 150 bytes each; the older ones make room
_AT_A_TIME = 500
_TABLE = (
    "create table if not exists answers (number integer primary key, key text unique not null,"
    " place integer)"
)


class Answers:
    """A file of answers that several threads and processes read and add to.

    Where the file cannot be written, answers are kept in memory, with a warning.

    Parameters
    ----------
    path : Path
        Its folder is made if need be.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._open()
        on_fork(self, Answers._open)  # a child has connections of its own

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._opened(self._path)
        except (OSError, sqlite3.Error) as error:
            self._go_on_without(error)

    def _go_on_without(self, error: Exception) -> None:
        _log.warning("answers are not kept: %s cannot be used (%s)", self._path, error)
        self._file = self._opened(":memory:")

    @staticmethod
    def _opened(path: Path | str) -> sqlite3.Connection:
        file = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=False)
        with file:
            file.execute(_TABLE)
        return file

    def of(self, keys: Iterable[str]) -> dict[str, Answer]:
        """Return the answers that are known, by key."""
        with self._lock:
            try:
                return self._read(list(dict.fromkeys(keys)))
            except sqlite3.Error as error:
                self._go_on_without(error)
                return {}

    def _read(self, keys: Sequence[str]) -> dict[str, Answer]:
        known: dict[str, Answer] = {}
        for start in range(0, len(keys), _AT_A_TIME):
            some = keys[start : start + _AT_A_TIME]
            places = ",".join("?" * len(some))
            rows = self._file.execute(
                f"select key, place from answers where key in ({places})", some
            )
            known.update((key, Answer(place)) for key, place in rows)
        return known

    def add(self, key: str, answer: Answer) -> None:
        """Keep an answer; one that is there stays."""
        with self._lock:
            try:
                self._insert(key, answer)
            except sqlite3.Error as error:  # as on a full disk
                self._go_on_without(error)
                self._insert(key, answer)

    def _insert(self, key: str, answer: Answer) -> None:
        with self._file as file:
            number = file.execute(
                "insert or ignore into answers (key, place) values (?, ?)", (key, answer.place)
            ).lastrowid
            file.execute("delete from answers where number <= ?", ((number or 0) - _MOST,))
