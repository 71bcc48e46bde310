"""Strings looked up unchanged: the first sieve."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from canonym import indexes
from canonym.errors import ReadError
from canonym.indexes import check_numbers, load_array
from canonym.io.arrays import ArrayWriter, open_array
from canonym.types import Int32Array

_SORTING = 40  # bytes a row while keys are sorted
_BLOCK = 1 << 20  # rows
_MOST_BITS = 16


@dataclass(frozen=True, eq=False)
class Verbatim:
    """Rows by the hash of their string, in two arrays that open memory-mapped, whatever their size.

    `keys` (uint64) rise, `rows` of equal strings rise; rows with an empty string have no key. The
    caller normalises strings, the same way on both sides. A key is the first 64 bits of BLAKE2b:
    among ten million names and a hundred million different look-ups, one wrong match is expected
    every twenty thousand runs.
    """

    keys: npt.NDArray[np.uint64]
    rows: Int32Array
    unchecked: tuple[Path, int] | None = None  # a file of rows that nobody has looked at, and n

    @classmethod
    def build(cls, batches: Iterable[Sequence[str]]) -> Verbatim:
        """Index strings given in row order, in batches of any size."""
        strings = [string for batch in batches for string in batch]
        rows = np.array([row for row, string in enumerate(strings) if string], dtype=np.int32)
        return cls.of_keys(keys_of([strings[row] for row in rows]), rows)

    @classmethod
    def of_keys(cls, keys: npt.NDArray[np.uint64], rows: Int32Array) -> Verbatim:
        """Index rows by keys that `keys_of` gave, in any order."""
        order = np.lexsort((rows, keys))
        return cls(keys[order], rows[order].astype(np.int32))

    def find(self, strings: Sequence[str]) -> list[Int32Array]:
        """Return the rows that hold exactly each string, rising; none for an empty string."""
        keys = keys_of(strings)
        starts = np.searchsorted(self.keys, keys, side="left")
        stops = np.searchsorted(self.keys, keys, side="right")
        none = np.empty(0, dtype=np.int32)
        rows_of = [
            np.asarray(self.rows[start:stop]) if string else none
            for string, start, stop in zip(strings, starts, stops, strict=True)
        ]
        if self.unchecked is not None and rows_of:
            path, n_rows = self.unchecked
            check_numbers(path, np.concatenate(rows_of), n_rows)
        return rows_of

    def first_rows(self, keys: npt.NDArray[np.uint64]) -> Int32Array:
        """Return the first row of each key, −1 for a key that no row has."""
        places = np.searchsorted(self.keys, keys)
        there = places < len(self.keys)
        there[there] = self.keys[places[there]] == keys[there]
        rows = np.full(len(keys), -1, dtype=np.int32)
        rows[there] = self.rows[places[there]]
        return rows

    def save(self, folder: Path) -> None:
        """Write ``keys.npy`` and ``rows.npy`` to an existing folder."""
        np.save(folder / "keys.npy", np.asarray(self.keys))
        np.save(folder / "rows.npy", np.asarray(self.rows))

    @classmethod
    def load(cls, folder: Path, *, n_rows: int | None = None) -> Verbatim:
        """Open a saved index, memory-mapped; its rows have to be among `n_rows`."""
        keys = load_array(folder / "keys.npy", (None,), np.uint64)
        rows = load_array(folder / "rows.npy", (None,), np.int32)
        if len(keys) != len(rows):
            raise ReadError(
                folder, f"holds {len(keys):,} keys and {len(rows):,} rows; build the index again"
            )
        if n_rows is not None and len(rows) > indexes.LOOKED_AT:
            return cls(keys, rows, unchecked=(folder / "rows.npy", n_rows))
        if n_rows is not None:
            check_numbers(folder / "rows.npy", rows, n_rows)
        return cls(keys, rows)


class VerbatimWriter:
    """Writes the index of strings that come in row order; one pass over them can feed several.

    Keys wait in a file of the folder, and are sorted range by range.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unsorted = folder / "unsorted.npy"
        self._waiting = ArrayWriter(self._unsorted, np.uint64)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.close()

    def add(self, keys: npt.NDArray[np.uint64]) -> None:
        """Take the keys of the next rows; `NO_KEY` leaves its row out."""
        self._waiting.add(keys)

    def finish(self, memory: int) -> None:
        """Write the files that `Verbatim.save` would write, in about `memory` bytes."""
        self._waiting.close()
        waiting = open_array(self._unsorted)
        # Keys are evenly spread, so that their first bits tell ranges of nearly equal size.
        bits = math.ceil(math.log2(max(len(waiting) * _SORTING / memory, 1)))
        bits = min(bits, _MOST_BITS)
        with (
            ArrayWriter(self._folder / "keys.npy", np.uint64) as keys,
            ArrayWriter(self._folder / "rows.npy", np.int32) as rows,
        ):
            for part in range(1 << bits):
                of_part = _rows_of_part(waiting, part, bits)
                unsorted = waiting[of_part]
                order = np.argsort(unsorted, kind="stable")
                keys.add(unsorted[order])
                rows.add(of_part[order])
        del waiting
        self._unsorted.unlink()


def _rows_of_part(keys: npt.NDArray[np.uint64], part: int, bits: int) -> Int32Array:
    """Return the rising rows with a string whose keys begin with the given bits."""
    parts = [np.empty(0, dtype=np.int32)]
    for first in range(0, len(keys), _BLOCK):
        block = keys[first : first + _BLOCK]
        begins = block >> np.uint64(1) >> np.uint64(63 - bits)  # 64 at once is not defined
        there = np.flatnonzero((begins == part) & (block != NO_KEY))
        parts.append((first + there).astype(np.int32))
    return np.concatenate(parts)


def keys_of(strings: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return the keys of strings, ``(n,)`` uint64; that of the empty string means nothing."""
    blake = hashlib.blake2b
    joined = b"".join(
        [blake(s.encode("utf-8", "surrogatepass"), digest_size=8).digest() for s in strings]
    )
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64)


NO_KEY = keys_of([""])[0]
"""The key of the empty string: a row without a string."""
