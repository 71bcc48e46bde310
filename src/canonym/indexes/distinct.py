"""Each different vector of many rows once, as a column.

Names that differ in capitals, signs or plurals have one normal form, and equal vectors: of the
76,000 names of MEDIC, every third. A product with columns needs no more than it reads, where one
with rows moves them about first.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.indexes import BoolArray, check_numbers, check_starts, load_array
from canonym.indexes.selection import Pairs
from canonym.io.arrays import new_array, ranges, spans
from canonym.types import Float32Array, Int32Array

_SPAN = 1 << 14  # rows at once


class Distinct(NamedTuple):
    """The different vectors of rows, ``(width, n)``, in the order of their first rows.

    Those of column i are ``rows[starts[i]:starts[i + 1]]``, rising.
    """

    columns: Float32Array
    rows: Int32Array
    starts: npt.NDArray[np.int64]

    @classmethod
    def write(cls, vectors: Float32Array, folder: Path) -> Float32Array:
        """Write them to an existing folder, and return them."""
        rows, starts = _equal_rows(vectors)
        first_rows = rows[starts[:-1]]
        shape = vectors.shape[1], len(first_rows)
        columns = new_array(folder / "columns.npy", shape, vectors.dtype)
        for span in spans(len(first_rows), _SPAN):
            columns[:, span] = vectors[first_rows[span]].T
        np.save(folder / "equal_rows.npy", rows)
        np.save(folder / "equal_starts.npy", starts)
        return columns

    @classmethod
    def load(cls, folder: Path, vectors: Float32Array) -> Distinct:
        """Open those of these vectors, memory-mapped."""
        n, width = vectors.shape
        columns = load_array(folder / "columns.npy", (width, None), vectors.dtype)
        rows = load_array(folder / "equal_rows.npy", (n,), np.int32)
        check_numbers(folder / "equal_rows.npy", rows, n)
        starts = load_array(folder / "equal_starts.npy", (columns.shape[1] + 1,), np.int64)
        check_starts(folder / "equal_starts.npy", starts, n)
        return cls(columns, rows, starts)

    def allowed(self, rows: BoolArray) -> BoolArray:
        """Mark the columns that have an allowed row."""
        return np.asarray(np.logical_or.reduceat(rows[self.rows], self.starts[:-1]))

    def rows_of(self, pairs: Pairs, allowed: BoolArray | None) -> Pairs:
        """Return queries and allowed rows for queries and columns."""
        queries, columns = pairs
        begins = self.starts[columns]
        counts = self.starts[columns + 1] - begins
        rows = self.rows[ranges(begins, counts)].astype(np.intp)
        queries = queries.repeat(counts)
        if allowed is None:
            return queries, rows
        kept = allowed[rows]
        return queries[kept], rows[kept]


def _equal_rows(vectors: Float32Array) -> tuple[Int32Array, npt.NDArray[np.int64]]:
    """Return all rows, those of equal vectors together, and where those of each vector start."""
    n = len(vectors)
    keys = np.empty(n, dtype=np.uint64)
    for span in spans(n, _SPAN):
        keys[span] = _keys_of(vectors[span])
    order = np.argsort(keys, kind="stable")
    begins = np.ones(n, dtype=np.bool_)
    for span in spans(n, _SPAN):  # equal keys are no proof
        before = order[np.arange(span.start, span.stop) - 1]
        begins[span] = (vectors[order[span]] != vectors[before]).any(axis=1)
    begins[:1] = True
    first = np.flatnonzero(begins)
    by_row = np.argsort(order[first])
    sizes = np.diff(np.append(first, n))[by_row]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return order[ranges(first[by_row], sizes)].astype(np.int32), starts


def _keys_of(vectors: Float32Array) -> npt.NDArray[np.uint64]:
    """Return a number for each vector, equal for equal ones."""
    bits = np.ascontiguousarray(vectors, dtype=np.float32).view(np.uint32)
    odd = np.random.default_rng(0).integers(1 << 62, size=bits.shape[1], dtype=np.uint64) * 2 + 1
    return np.asarray((bits * odd).sum(axis=1), dtype=np.uint64)
