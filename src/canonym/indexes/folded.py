"""Sparse vectors folded into few columns of small whole numbers, which bound their products.

Columns share places so that every place carries about the same weight: frequent ones have one of
their own. A place of a vector is the sum of the sizes of its columns, rounded up to a whole number.
So the product of two folded vectors is never below that of the vectors themselves::

    q · x ≤ Σ_p (Σ_{c in p} |q_c|) (Σ_{c in p} |x_c|) ≤ βα Σ_p ⌈q̃_p / β⌉ ⌈x̃_p / α⌉

It is the same on every machine, and tells most rows from the best ones.

Short runs of rows are dealt out to blocks in turn, for neighbours are often names of one concept.
So every block holds about the same, and the best rows of the first say much about all others.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.indexes import check_numbers, load_array
from canonym.indexes.codes import Multiply
from canonym.io.arrays import ArrayWriter
from canonym.types import Int32Array, SparseVectors

_WIDTH = 256  # places; of twice as many the product takes twice the time
_BLOCK = 1 << 14  # rows, about
_RUN = 64  # rows that stay together: they are read from a disk at once
_AT_ONCE = 1 << 21  # products
_MOST = 127  # of a number of a row
_MOST_OF_QUERY = 126  # more of it would overflow 16 bits on processors without VNNI


class FoldedQueries(NamedTuple):
    """Queries as whole numbers from 0 to 126, ``(n, width)``, and what 1 of a bound stands for."""

    numbers: npt.NDArray[np.uint8]
    unit: npt.NDArray[np.float64]


class Folded:
    """Folded rows, in blocks that one product takes.

    `numbers` int8 has the blocks one after the other, each ``(width, rows)``; the runs of block i
    of n are every n-th from i on. `places` int32 is the place of every column, −1 for one that no
    row has. `step` is α.
    """

    def __init__(
        self, numbers: npt.NDArray[np.int8], places: Int32Array, step: float, n_rows: int
    ) -> None:
        self.width = _width(places)
        self._numbers, self._places, self._step = numbers, places, step
        self._n_rows = n_rows

    @classmethod
    def of(cls, vectors: SparseVectors) -> Folded:
        """Fold vectors in memory."""
        places = _placed(vectors)
        step = _step(vectors, places)
        blocks = [np.empty(0, dtype=np.int8), *_coded(vectors, places, step)]
        return cls(np.concatenate(blocks), places, step, vectors.n_rows)

    @classmethod
    def write(cls, vectors: SparseVectors, folder: Path) -> None:
        """Write what `of` makes, block by block, to an existing folder."""
        places = _placed(vectors)
        step = _step(vectors, places)
        with ArrayWriter(folder / "folded.npy", np.int8) as numbers:
            for block in _coded(vectors, places, step):
                numbers.add(block)
        np.save(folder / "places.npy", places)
        np.save(folder / "step.npy", np.float64(step))

    @classmethod
    def load(cls, folder: Path, n_rows: int, n_columns: int) -> Folded:
        """Open folded rows, memory-mapped."""
        places = load_array(folder / "places.npy", (n_columns,), np.int32)
        check_numbers(folder / "places.npy", places[places != -1], _WIDTH)
        step = float(load_array(folder / "step.npy", (), np.float64))
        if not (np.isfinite(step) and step > 0):
            raise ReadError(
                folder / "step.npy",
                f"holds {step}, expected a finite number above 0; build the index again",
            )
        numbers = load_array(folder / "folded.npy", (n_rows * _width(places),), np.int8)
        return cls(numbers, places, step, n_rows)

    def folded(self, queries: SparseVectors) -> FoldedQueries:
        """Fold queries."""
        sums = _sums(queries, np.arange(queries.n_rows), self._places, self.width)
        steps = sums.max(axis=1) / _MOST_OF_QUERY
        steps[steps == 0] = 1
        numbers = np.minimum(np.ceil(sums / steps[:, None]), _MOST_OF_QUERY)
        return FoldedQueries(numbers.astype(np.uint8), steps * self._step)

    def bounds(
        self, queries: FoldedQueries, multiply: Multiply
    ) -> Iterator[tuple[Int32Array, Int32Array]]:
        """Yield some rows, and the bounds of every query with them, ``(n_queries, rows)``.

        Few queries meet many rows at once, and only the places they have.
        """
        numbers = queries.numbers
        # A product needs a place, even of queries that have none.
        there = np.union1d(np.nonzero(numbers)[1], 0)
        used = there if 2 * len(there) < self.width else slice(None)
        numbers = np.ascontiguousarray(numbers[:, used])
        together = max(1, _AT_ONCE // (len(numbers) * _BLOCK))
        for start in range(0, len(self._blocks), together):
            span = range(start, min(start + together, len(self._blocks)))
            products = [multiply(numbers, self._block(block)[used]) for block in span]
            bounds = products[0] if len(products) == 1 else np.concatenate(products, axis=1)
            yield np.concatenate([self._blocks[block] for block in span]), bounds

    @functools.cached_property
    def _blocks(self) -> list[Int32Array]:
        return _blocks(self._n_rows)

    @functools.cached_property
    def _ends(self) -> list[int]:
        return list(itertools.accumulate(map(len, self._blocks), initial=0))

    def _block(self, number: int) -> npt.NDArray[np.int8]:
        first, last = self._ends[number : number + 2]
        return self._numbers[first * self.width : last * self.width].reshape(self.width, -1)


def values_of(
    vectors: SparseVectors, rows: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where the values of chosen rows are, row after row, and how many each row has."""
    starts = vectors.indptr.take(rows)
    counts = vectors.indptr.take(rows + 1) - starts
    at = (starts - np.cumsum(counts) + counts).repeat(counts)
    at += np.arange(len(at))
    return at, counts


def _blocks(n_rows: int) -> list[Int32Array]:
    """Deal the rows out, a run at a time, to blocks of about equal size; their rows rise."""
    n = -(-n_rows // _BLOCK)
    run = np.arange(_RUN, dtype=np.int32)
    every = [
        (np.arange(block * _RUN, n_rows, n * _RUN, dtype=np.int32)[:, None] + run).ravel()
        for block in range(n)
    ]
    return [rows[rows < n_rows] for rows in every]


def _placed(vectors: SparseVectors) -> Int32Array:
    """Share the columns out among places, the heaviest first, each to the lightest place."""
    weights = np.zeros(vectors.n_columns)
    for first in range(0, len(vectors.data), _AT_ONCE):
        span = slice(first, first + _AT_ONCE)
        sizes = np.abs(vectors.data[span])
        weights += np.bincount(vectors.indices[span], sizes, minlength=vectors.n_columns)
    places = np.full(vectors.n_columns, -1, dtype=np.int32)
    lightest = [(0.0, place) for place in range(_WIDTH)]
    for column in np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)].tolist():
        weight, place = lightest[0]
        places[column] = place
        heapq.heapreplace(lightest, (weight + weights[column], place))
    return places


def _width(places: Int32Array) -> int:
    return int(places.max(initial=0)) + 1


def _step(vectors: SparseVectors, places: Int32Array) -> float:
    """Return the step with which the largest sum becomes the largest number."""
    width, blocks = _width(places), _blocks(vectors.n_rows)
    largest = (float(_sums(vectors, rows, places, width).max()) for rows in blocks)
    return max(largest, default=0.0) / _MOST or 1.0


def _coded(
    vectors: SparseVectors, places: Int32Array, step: float
) -> Iterator[npt.NDArray[np.int8]]:
    """Yield the numbers of each block."""
    for rows in _blocks(vectors.n_rows):
        numbers = np.ceil(_sums(vectors, rows, places, _width(places)) / step)
        yield np.minimum(numbers, _MOST).astype(np.int8).T.ravel()


def _sums(
    vectors: SparseVectors, rows: npt.NDArray[np.integer], places: Int32Array, width: int
) -> npt.NDArray[np.float64]:
    """Add up the sizes of the values of each row at each place, ``(rows, width)``."""
    at, counts = values_of(vectors, rows)
    owner = np.arange(len(rows)).repeat(counts)
    place = places[vectors.indices[at]]
    known = place >= 0
    flat = owner[known] * width + place[known]
    sizes = np.abs(vectors.data[at][known])
    sums = np.bincount(flat, sizes, minlength=len(rows) * width)
    return np.asarray(sums, dtype=np.float64).reshape(len(rows), width)
