"""Character n-grams of many names at once, as arrays.

Names are laid end to end as code points; an n-gram is a start in that array. A name may be cut into
segments that no n-gram crosses. Nothing here loops over characters in Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "Frequencies",
    "Segments",
    "Vocabulary",
    "blocks",
    "counted",
    "keys",
    "segments",
    "starts",
]

_Bools = npt.NDArray[np.bool_]
_Int32 = npt.NDArray[np.int32]
_Int64 = npt.NDArray[np.int64]
_UInt32 = npt.NDArray[np.uint32]
_UInt64 = npt.NDArray[np.uint64]

_BLOCK_NAMES = 8_192
_BLOCK_CHARACTERS = 1 << 18
_PACKED = 3  # characters that fit a key exactly
_BITS = 21  # a code point plus one, so that 0 stands for "no character"
_TABLE_CELLS = 1 << 22
_SPACE = 0x20
_IS_SPACE = np.array([chr(code).isspace() for code in range(0x3001)] + [False])
_HASHED = np.uint64(1 << 63)


def blocks(names: list[str]) -> Iterator[list[str]]:
    """Cut `names` into runs that are small enough to be worked on in one go."""
    lengths = np.fromiter(map(len, names), np.int64, count=len(names))
    # A name of length 0 still takes a row, hence the one character more for each.
    ends = np.cumsum(lengths + 1)
    start = 0
    while start < len(names):
        reach = (ends[start - 1] if start else 0) + _BLOCK_CHARACTERS
        stop = int(np.searchsorted(ends, reach, side="right"))
        stop = min(max(stop, start + 1), start + _BLOCK_NAMES)
        yield names[start:stop]
        start = stop


class Segments(NamedTuple):
    """Characters in runs that n-grams do not cross: names, or words with a space at either end.

    ``codes`` are code points; ``left`` counts the characters from each one to the end of its
    segment, itself included; ``length`` is the length of its segment; ``row`` its name.
    """

    codes: _UInt32
    left: _Int32
    length: _Int32
    row: _Int32


def segments(names: list[str], *, words: bool) -> Segments:
    """Lay `names` end to end; runs of white space count as one space.

    Parameters
    ----------
    names : list of str
        One block of names.
    words : bool
        Whether n-grams stay inside words, each padded with a space at either end.
    """
    buffer = "".join(names).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(buffer, np.dtype("<u4"))
    lengths = np.fromiter(map(len, names), np.int32, count=len(names))
    row = np.repeat(np.arange(len(names), dtype=np.int32), lengths)
    space = _IS_SPACE[np.minimum(codes, len(_IS_SPACE) - 1)]
    if words:
        return _padded_words(codes, row, space)
    codes, row, removed = _collapsed(codes, row, space)
    if removed:
        lengths = np.bincount(row, minlength=len(names)).astype(np.int32)
    return _measured(codes, row, lengths)


def _collapsed(codes: _UInt32, row: _Int32, space: _Bools) -> tuple[_UInt32, _Int32, bool]:
    """Replace runs of two or more white-space characters by one space; a single one stays."""
    again = np.zeros(len(codes), bool)
    again[1:] = space[1:] & space[:-1] & (row[1:] == row[:-1])
    if not again.any():
        return codes, row, False
    first = np.zeros(len(codes), bool)
    first[:-1] = again[1:] & ~again[:-1]
    codes = np.where(first, np.uint32(_SPACE), codes)
    return codes[~again], row[~again], True


def _padded_words(codes: _UInt32, row: _Int32, space: _Bools) -> Segments:
    inside = ~space
    begins = inside.copy()
    begins[1:] &= space[:-1] | (row[1:] != row[:-1])
    codes, row, begins = codes[inside], row[inside], begins[inside]
    first = np.flatnonzero(begins)
    length: _Int32 = np.diff(first, append=len(codes)).astype(np.int32) + np.int32(2)
    padded = np.full(len(codes) + 2 * len(first), _SPACE, np.uint32)
    # Word w is moved on by a space before it and two for every earlier word.
    word = np.cumsum(begins) - 1
    padded[np.arange(len(codes)) + 2 * word + 1] = codes
    return _measured(padded, np.repeat(row[first], length), length)


def _measured(codes: _UInt32, row: _Int32, lengths: _Int32) -> Segments:
    ends = np.repeat(np.cumsum(lengths, dtype=np.int32), lengths)
    left: _Int32 = np.subtract(ends, np.arange(len(codes)), dtype=np.int32, casting="same_kind")
    return Segments(codes, left, np.repeat(lengths, lengths), row)


def starts(where: Segments, n: int, n_min: int, *, words: bool) -> _Int64:
    """Return where the n-grams of length `n` start.

    A padded word shorter than `n_min` counts whole, once.
    """
    if n >= n_min:
        return np.flatnonzero(where.left >= n)
    if not words:
        return np.empty(0, np.int64)
    return np.flatnonzero((where.left == n) & (where.length == n))


def keys(codes: _UInt32, n_max: int) -> Iterator[tuple[int, _UInt64]]:
    """Yield, for n = 1 … `n_max`, the key of the n-gram at every start that has n characters left.

    Up to three characters are packed, the first one highest, so that keys sort as strings do;
    longer n-grams are hashed into the upper half of the range.
    """
    plain = codes.astype(np.uint64) + np.uint64(1)
    key = np.empty(0, np.uint64)
    for n in range(1, min(n_max, len(codes)) + 1):
        last = plain[n - 1 :]
        if n <= _PACKED:
            shifted = last << np.uint64(_BITS * (_PACKED - n))
            key = shifted if n == 1 else key[:-1] | shifted
            yield n, key
        else:
            key = _mixed(key[:-1] * np.uint64(0x9E3779B97F4A7C15) + last)
            yield n, key | _HASHED


def _mixed(values: _UInt64) -> _UInt64:
    """Scatter 64-bit values: the finaliser of SplitMix64, a bijection."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def counted(
    row: _Int32, column: _Int32, n_rows: int, n_columns: int
) -> tuple[_Int32, _Int32, _Int32]:
    """Count equal (row, column) pairs; return the rows, columns and counts, sorted."""
    # Sorting is most of the work, and numbers half as wide sort twice as fast.
    narrow = n_rows * n_columns <= np.iinfo(np.int32).max
    wide: np.dtype[Any] = np.dtype(np.int32 if narrow else np.int64)
    pairs = row.astype(wide) * n_columns + column.astype(wide)
    pairs.sort()
    first = _firsts(pairs)
    count = np.diff(first, append=len(pairs)).astype(np.int32)
    row, column = (part.astype(np.int32) for part in np.divmod(pairs[first], n_columns))
    return row, column, count


def _firsts(ordered: npt.NDArray[Any]) -> _Int64:
    """Return where each run of equal values starts."""
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(new)


class Vocabulary:
    """The n-grams that have a column, found by table where they are short.

    Parameters
    ----------
    keys : (n,) uint64
        Distinct keys, rising; the place of a key is its column.
    """

    def __init__(self, keys: _UInt64) -> None:
        self.keys = keys
        packed = keys[: np.searchsorted(keys, _HASHED)]
        mask = np.uint64((1 << _BITS) - 1)
        first, second, third = ((packed >> np.uint64(_BITS * (2 - at))) & mask for at in range(3))
        letters = np.unique(np.concatenate([first, second]))
        letters = letters[letters > 0]
        n_letters = len(letters) + 1  # 0 stands for a letter that was not seen
        self._letter = np.zeros(int(letters[-1]) + 1 if len(letters) else 1, np.int32)
        self._letter[letters.astype(np.int64) - 1] = np.arange(1, n_letters)
        self._n_letters = np.int32(n_letters)
        self._tables: list[_Int32] = []  # of n = 1, 2
        for n, cells in ((1, n_letters), (2, n_letters**2)):
            if cells > _TABLE_CELLS:
                break
            chosen = np.flatnonzero((third == 0) & ((second == 0) == (n == 1)))
            cell = np.searchsorted(letters, first[chosen]) + 1
            if n == 2:
                cell = cell * n_letters + np.searchsorted(letters, second[chosen]) + 1
            table = np.full(cells, -1, np.int32)
            table[cell] = chosen
            self._tables.append(table)

    def in_tables(self, codes: _UInt32, n_max: int) -> Iterator[tuple[int, _Int32]]:
        """Yield, for n = 1, 2 as far as there are tables, the column at every start (−1: none)."""
        letter = self._letter[np.minimum(codes, np.uint32(len(self._letter) - 1))]
        for n in range(1, min(len(self._tables), n_max, len(codes)) + 1):
            cell = letter if n == 1 else letter[:-1] * self._n_letters + letter[1:]
            yield n, self._tables[n - 1][cell]

    def columns(self, codes: _UInt32, n_max: int) -> Iterator[tuple[int, _Int32]]:
        """Yield, for n = 1 … `n_max`, the column of the n-gram at every start (−1: unknown)."""
        yield from self.in_tables(codes, n_max)
        if n_max <= len(self._tables):
            return
        for n, key in keys(codes, n_max):
            if n > len(self._tables):
                place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
                yield n, np.where(self.keys[place] == key, place, -1).astype(np.int32)


class Frequencies:
    """Counts in how many rows each key stands, block by block."""

    def __init__(self) -> None:
        self.known = Vocabulary(np.empty(0, np.uint64))
        self._counts = np.empty(0, np.int64)
        self._waiting: list[tuple[_UInt64, _Int64]] = []
        self._n_waiting = 0

    def add(self, keys: _UInt64, rows: _Int32) -> None:
        """Add n-grams of one block of rows by their keys."""
        distinct = np.unique(keys)
        places = np.searchsorted(distinct, keys).astype(np.int32)
        n_rows = int(rows[-1]) + 1 if len(rows) else 0
        _, column, _ = counted(rows, places, n_rows, len(distinct))
        self._waiting.append((distinct, np.bincount(column, minlength=len(distinct))))
        self._n_waiting += len(distinct)

    def add_known(self, columns: _Int32, rows: _Int32) -> None:
        """Add n-grams of one block of rows by their columns in `known`, which is much faster."""
        n_columns = len(self._counts)
        _, column, _ = counted(rows, columns, int(rows[-1]) + 1 if len(rows) else 0, n_columns)
        self._counts += np.bincount(column, minlength=n_columns)

    def settle(self) -> None:
        """Make what was added `known`, now or when it is worth the while; columns may change."""
        # Merging costs as much as all keys so far: doing it when they double keeps that linear.
        if self._n_waiting > len(self._counts):
            self._merge()

    def total(self) -> tuple[_UInt64, _Int64]:
        """Return the distinct keys, rising, and the number of rows that hold each."""
        self._merge()
        return self.known.keys, self._counts

    def _merge(self) -> None:
        keys = np.concatenate([self.known.keys, *(keys for keys, _ in self._waiting)])
        counts = np.concatenate([self._counts, *(counts for _, counts in self._waiting)])
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        first = _firsts(keys)
        self._counts = np.add.reduceat(counts, first) if len(first) else counts
        self.known = Vocabulary(keys[first])
        self._waiting, self._n_waiting = [], 0
