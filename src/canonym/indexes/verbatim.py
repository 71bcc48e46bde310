"""Strings looked up unchanged: the first sieve."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.indexes import check_numbers, load_array
from canonym.types import Int32Array


class Verbatim:
    """Rows by the hash of their string, in two arrays that open memory-mapped, whatever their size.

    `keys` (uint64) rise, `rows` of equal strings rise; rows with an empty string have no key. The
    caller normalises strings, the same way on both sides. A key is the first 64 bits of BLAKE2b:
    among ten million names and a hundred million different look-ups, one wrong match is expected
    every twenty thousand runs.
    """

    def __init__(self, keys: npt.NDArray[np.uint64], rows: Int32Array) -> None:
        self.keys = keys
        self.rows = rows

    @classmethod
    def build(cls, batches: Iterable[Sequence[str]]) -> Verbatim:
        """Index strings given in row order, in batches of any size."""
        collected = VerbatimBuilder()
        for batch in batches:
            collected.add(batch)
        return collected.finish()

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
        return [
            np.asarray(self.rows[start:stop]) if string else none
            for string, start, stop in zip(strings, starts, stops, strict=True)
        ]

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
        if n_rows is not None:
            check_numbers(folder / "rows.npy", rows, n_rows)
        return cls(keys, rows)


class VerbatimBuilder:
    """Collects strings in row order, so that one pass over the names can build several indexes."""

    def __init__(self) -> None:
        self._keys = [np.empty(0, dtype=np.uint64)]
        self._rows = [np.empty(0, dtype=np.int32)]
        self._next = 0

    def add(self, strings: Sequence[str]) -> None:
        """Take the strings of the next rows; an empty string leaves its row out."""
        there = [place for place, string in enumerate(strings) if string]
        self._rows.append(self._next + np.array(there, dtype=np.int32))
        self._keys.append(keys_of([strings[place] for place in there]))
        self._next += len(strings)

    def finish(self) -> Verbatim:
        """Return the index of all strings added."""
        keys, rows = np.concatenate(self._keys), np.concatenate(self._rows)
        order = np.argsort(keys, kind="stable")
        return Verbatim(keys[order], rows[order].astype(np.int32))


def keys_of(strings: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return the keys of strings, ``(n,)`` uint64; that of the empty string means nothing."""
    blake = hashlib.blake2b
    joined = b"".join(
        [blake(s.encode("utf-8", "surrogatepass"), digest_size=8).digest() for s in strings]
    )
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64)
