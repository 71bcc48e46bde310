"""Rows in the order of their strings, to find those that begin with a prefix."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.indexes import check_numbers, load_array
from canonym.types import Int32Array

_LATER = 1 << 15


class Prefixes(NamedTuple):
    """The rows of sorted strings, and a rank of each among those found; both open memory-mapped.

    The strings themselves are not kept: a search asks for some forty of them, by row. The caller
    normalises strings, the same way on both sides.
    """

    rows: Int32Array
    ranks: npt.NDArray[np.uint16]

    @classmethod
    def build(cls, strings: Iterable[str], preferred: npt.NDArray[np.bool_]) -> Prefixes:
        """Sort strings, which are given in row order; preferred rows are found before others."""
        whole = list(strings)
        rows = np.array(sorted(range(len(whole)), key=whole.__getitem__), dtype=np.int32)
        lengths = np.array([min(len(string), _LATER - 1) for string in whole], dtype=np.uint16)
        ranks = np.where(preferred, lengths, lengths + _LATER).astype(np.uint16)
        return cls(rows, ranks[rows])

    def find(self, prefix: str, k: int, string_at: Callable[[int], str]) -> list[int]:
        """Return at most k rows whose string begins with a prefix.

        First those that are the prefix, then the preferred ones, then the others, each from short
        to long. `string_at` gives the string of a row.
        """
        places = range(len(self.rows))
        n = len(prefix)

        def string(place: int) -> str:
            return string_at(int(self.rows[place]))

        first = bisect_left(places, prefix, key=string)
        last = bisect_right(places, prefix, lo=first, key=lambda place: string(place)[:n])
        ranks = self.ranks[first:last]
        order = np.lexsort((ranks, ranks % _LATER != min(n, _LATER - 1)))[:k]
        return [int(row) for row in self.rows[first + order]]

    def save(self, folder: Path) -> None:
        """Write ``rows.npy`` and ``ranks.npy`` to an existing folder."""
        np.save(folder / "rows.npy", np.asarray(self.rows))
        np.save(folder / "ranks.npy", np.asarray(self.ranks))

    @classmethod
    def load(cls, folder: Path, *, n_rows: int) -> Prefixes:
        """Open what `save` wrote, memory-mapped, for that many rows."""
        rows = load_array(folder / "rows.npy", (n_rows,), np.int32)
        ranks = load_array(folder / "ranks.npy", (n_rows,), np.uint16)
        check_numbers(folder / "rows.npy", rows, n_rows)
        return cls(rows, ranks)
