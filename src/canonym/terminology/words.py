"""The words of all names, to find the names that have several words in any order.

They lie in a full-text table of SQLite, beside no text: a row is found by number. The numbers rise
with the length of names, labels first, so that the best rows of a search are its first ones.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from canonym.errors import CanonymError, InvalidInput, ReadError
from canonym.io.files import cache_folder, write_folder
from canonym.text import STRONG, normalise, normalise_all

if TYPE_CHECKING:
    from canonym.terminology.store import Terminology

_FORMAT = 1  # changes with what the table holds
_FILE = "words.db"
# Words are what stands between blanks and quotes, as in `_BETWEEN`.
_BETWEEN = dict.fromkeys((*range(0x21), 0x7F, *map(ord, "\"'")), " ")
_TABLE = (
    "CREATE VIRTUAL TABLE words USING fts5(form, content='', detail=none, prefix='1 2 3', "
    r"""tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'")"""
)
_FIND = "SELECT rowid FROM words WHERE words MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?"
_PART = 1000  # rows that are read at a time
_STEPS = (*STRONG, "fillers")
_LONGEST = (1 << 15) - 1
_ROW = 32  # bits of a row in its number


class Words:
    """Finds rows of names by words, whose plurals, spellings and numerals may differ."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    @classmethod
    def open(cls, terminology: Terminology) -> Words:
        """Open the words of a terminology; the cache keeps them, where that is possible.

        Raises `CanonymError` if the SQLite of this Python has no full-text search.
        """
        folder = cache_folder() / f"words-{_FORMAT}-{terminology.digest[:16]}"
        if not (folder / _FILE).is_file():
            with contextlib.suppress(OSError, InvalidInput):  # a place that cannot be written to
                folder.parent.mkdir(parents=True, exist_ok=True)
                with write_folder(folder) as partial:
                    _write(partial / _FILE, terminology).close()
        if (folder / _FILE).is_file():
            with contextlib.suppress(ReadError):
                return cls(_opened(folder / _FILE))
        return cls(_write(":memory:", terminology))

    def find(self, words: str) -> Iterator[int]:
        """Yield the rows of names with all words, then those where the last one only begins a word.

        Names of these words alone come first. Labels come before other names, and short ones before
        long ones. Words without a letter or digit are passed over, and so are *of* and *the*.
        """
        words = normalise(words, _STEPS).translate(_BETWEEN)
        forms = [form for form in words.split(" ") if any(map(str.isalnum, form))]
        if not forms:
            return
        seen: set[int] = set()
        question = " AND ".join(f'"{form}"' for form in forms)
        length = len(" ".join(forms))
        for number in chain(
            *(self._of_rank(question, rank) for rank in (length, length + _LONGEST + 1)),
            self._numbers(question),
            self._numbers(f"{question}*"),
        ):
            row = number & ((1 << _ROW) - 1)
            if row not in seen:
                seen.add(row)
                yield row

    def _of_rank(self, question: str, rank: int) -> Iterator[int]:
        numbers = self._numbers(question, (rank << _ROW) - 1)
        return takewhile(lambda number: number >> _ROW == rank, numbers)

    def _numbers(self, question: str, last: int = -1) -> Iterator[int]:
        numbers = [(0,)] * _PART
        while len(numbers) == _PART:
            with self._lock:
                numbers = self._connection.execute(_FIND, (question, last, _PART)).fetchall()
            for (last,) in numbers:
                yield last


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, check_same_thread=False)
    try:
        connection.execute(_FIND, ("a", 0, 1)).fetchone()
    except sqlite3.DatabaseError as error:
        raise ReadError(path, f"no table of words ({error})") from error
    return connection


def _write(path: Path | str, terminology: Terminology) -> sqlite3.Connection:
    texts = (text for batch in terminology.iter_texts() for text in batch)
    forms = list(normalise_all(texts, _STEPS))
    lengths = np.array([min(len(form), _LONGEST) for form in forms], dtype=np.int64)
    ranks = lengths + (_LONGEST + 1) * (terminology.scope_of_row() != 0)
    numbers = (ranks << _ROW) + np.arange(len(forms))
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        connection.execute(_TABLE)
    except sqlite3.OperationalError as error:
        connection.close()
        raise CanonymError(
            f"search needs SQLite with full-text search (FTS5), which this Python lacks ({error})"
        ) from error
    numbered = ((int(numbers[row]), forms[row]) for row in np.argsort(numbers))
    with connection:
        connection.executemany("INSERT INTO words(rowid, form) VALUES (?, ?)", numbered)
    return connection
