"""Sparse vectors, searched through their columns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes import (
    BoolArray,
    check_allowed,
    check_k,
    check_numbers,
    check_starts,
    load_array,
)
from canonym.indexes.exact import in_threads
from canonym.indexes.int8 import Multiply, SparseInt8, multiplier, values_of, worth_it
from canonym.indexes.selection import LOWEST, Pairs, Promising, empty_hits, ranked_hits
from canonym.io.arrays import ArrayWriter, open_array
from canonym.types import Float32Array, Hits, Int32Array, SparseVectors

_AT_ONCE = 128  # queries: their products stay in the cache
_PAIR_BLOCK = 1 << 10  # their values stay in the cache
_ROUNDING = 1e-6  # what a score may lie above its bound by rounding alone, of its size


class Inverted:
    """Cosine (dot product of unit vectors) between sparse vectors.

    A product of folded vectors gives each row a bound that its score cannot exceed. Rows whose
    bound reaches the k-th best score so far are scored themselves in double precision, one by one,
    and rounded to float32. So a score depends on nothing else, and equal vectors get equal scores.
    """

    def __init__(self, vectors: SparseVectors, folded: SparseInt8 | None = None) -> None:
        self._vectors = vectors
        self._folded = folded
        self._unchecked: Path | None = None  # a folder whose numbers nobody has looked at yet

    @classmethod
    def build(cls, vectors: SparseVectors) -> Inverted:
        """Make an index of unit vectors (zero vectors stay zero)."""
        indptr = np.asarray(vectors.indptr, dtype=np.int64)
        indices = np.asarray(vectors.indices, dtype=np.int32)
        data = np.asarray(vectors.data, dtype=np.float32)
        return cls(SparseVectors(indptr, indices, data, vectors.n_columns))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._vectors.n_rows

    @property
    def n_columns(self) -> int:
        """Width of the vectors."""
        return self._vectors.n_columns

    @property
    def vectors(self) -> SparseVectors:
        """The rows themselves."""
        if self._unchecked is not None:
            self._check_content(self._unchecked)
        return self._vectors

    def _check(self, queries: SparseVectors) -> None:
        if self._unchecked is not None:
            self._check_content(self._unchecked)
        if not isinstance(queries, SparseVectors) or queries.n_columns != self.n_columns:
            width = getattr(queries, "n_columns", getattr(queries, "shape", "?"))
            raise InvalidInput(
                f"queries have width {width}; expected sparse vectors of {self.n_columns} columns, "
                "the width of the index: were they made by another encoder?"
            )

    def search(self, queries: SparseVectors, k: int, *, allowed: BoolArray | None = None) -> Hits:
        """Return the `k` allowed rows of largest dot product for every query, ``(n, k)``.

        Ties are ordered by row. Rows that share no column with a query score 0.
        """
        check_k(k)
        check_allowed(allowed, self.n_rows)
        self._check(queries)
        if self._folded is None:
            self._folded = SparseInt8.of(self._vectors)
        folded = self._folded
        # Products of whole numbers take one thread each; others share theirs among threads.
        several = worth_it(queries.n_rows, self.n_rows, folded.width)
        multiply = multiplier(several)
        hits = empty_hits(queries.n_rows, k)
        starts = range(0, queries.n_rows, _AT_ONCE)

        def best(start: int) -> Hits:
            block = _part(queries, start, start + _AT_ONCE)
            return self._best(block, k, allowed, folded, multiply)

        for start, block_hits in zip(starts, in_threads(best, starts, several), strict=True):
            hits.rows[start : start + _AT_ONCE] = block_hits.rows
            hits.scores[start : start + _AT_ONCE] = block_hits.scores
        return hits

    def _best(
        self,
        queries: SparseVectors,
        k: int,
        allowed: BoolArray | None,
        folded: SparseInt8,
        multiply: Multiply,
    ) -> Hits:
        """Search block after block; the k-th best score so far is the floor of what is next.

        Without a floor above 0, the rows of largest bound are scored first: ever more rows, until
        few are left that reach the floor.
        """
        score, asked = _Scorer(self._vectors, queries), folded.folded(queries)
        hits = empty_hits(queries.n_rows, k)
        for rows, bounds in folded.bounds(asked, multiply):
            if allowed is not None:
                bounds[:, ~allowed[rows]] = LOWEST
            open_, n = np.flatnonzero(hits.scores[:, -1] <= 0), 2 * k
            _drop_spare_zeros(bounds, rows, k, open_)
            while len(open_):
                hits = _kept(hits, score, bounds, rows, _largest(bounds, open_, n))
                reached = bounds[open_] >= _least(hits.scores[open_, -1], asked.unit[open_])
                open_, n = open_[np.count_nonzero(reached, axis=1) > 4 * n], 4 * n
            reached = bounds >= _least(hits.scores[:, -1], asked.unit)
            pairs = np.divmod(np.flatnonzero(reached), len(rows))
            hits = _kept(hits, score, bounds, rows, pairs)
        return hits

    def score(self, queries: SparseVectors, rows: Int32Array) -> Float32Array:
        """Return the dot product of every query with chosen rows; −inf for the row −1."""
        self._check(queries)
        scores = np.full(rows.shape, -np.inf, dtype=np.float32)
        for first in range(0, queries.n_rows, _AT_ONCE):
            block = _part(queries, first, first + _AT_ONCE)
            query, place = np.nonzero(rows[first : first + _AT_ONCE] >= 0)
            row_of_pair = rows[query + first, place]
            scores[query + first, place] = _Scorer(self._vectors, block)(query, row_of_pair)
        return scores

    def save(self, folder: Path) -> None:
        """Write the index to an existing folder."""
        write_inverted([self._vectors], folder)

    @classmethod
    def load(cls, folder: Path, *, n_rows: int | None = None) -> Inverted:
        """Open a saved index, memory-mapped; it has to have `n_rows`."""
        n_columns = int(load_array(folder / "n_columns.npy", (), np.int64))
        length = None if n_rows is None else n_rows + 1
        indptr = load_array(folder / "indptr.npy", (length,), np.int64)
        indices = load_array(folder / "indices.npy", (None,), np.int32)
        data = load_array(folder / "data.npy", indices.shape, np.float32)
        vectors = SparseVectors(indptr, indices, data, n_columns)
        index = cls(vectors, SparseInt8.load(folder, vectors.n_rows, n_columns))
        index._unchecked = folder
        return index

    def _check_content(self, folder: Path) -> None:
        """Refuse numbers that count no column or row; reading them all takes time."""
        check_numbers(folder / "indices.npy", self._vectors.indices, self.n_columns)
        check_starts(folder / "indptr.npy", self._vectors.indptr, len(self._vectors.data))
        self._unchecked = None


def write_inverted(batches: Iterable[SparseVectors], folder: Path) -> None:
    """Write the rows and what bounds their products, batch by batch; there is at least one."""
    n_values = n_columns = 0
    with (
        ArrayWriter(folder / "indptr.npy", np.int64) as indptr,
        ArrayWriter(folder / "indices.npy", np.int32) as indices,
        ArrayWriter(folder / "data.npy", np.float32) as data,
    ):
        indptr.add(np.zeros(1))
        for batch in batches:
            indptr.add(batch.indptr[1:] + n_values)
            indices.add(batch.indices)
            data.add(batch.data)
            n_values, n_columns = n_values + len(batch.data), batch.n_columns
    written = (open_array(folder / f"{name}.npy") for name in ("indptr", "indices", "data"))
    SparseInt8.write(SparseVectors._make((*written, n_columns)), folder)
    np.save(folder / "n_columns.npy", np.int64(n_columns))


class _Scorer:
    """Scores pairs of some queries and the rows of an index one by one, in double precision."""

    def __init__(self, vectors: SparseVectors, queries: SparseVectors) -> None:
        self._vectors = vectors
        used, places = np.unique(queries.indices, return_inverse=True)
        # All columns that no query has share one place more, of zeros.
        self._places = np.full(vectors.n_columns, len(used))
        self._places[used] = np.arange(len(used))
        self._values = np.zeros((queries.n_rows, len(used) + 1))
        owner = np.repeat(np.arange(queries.n_rows), np.diff(queries.indptr))
        self._values[owner, places] = queries.data

    def __call__(self, queries: npt.NDArray[np.intp], rows: Int32Array) -> Float32Array:
        """Return the dot product of each query with its row."""
        scores = np.empty(len(rows), dtype=np.float32)
        values, starts = self._values.ravel(), queries * self._values.shape[1]
        for first in range(0, len(rows), _PAIR_BLOCK):
            span = slice(first, first + _PAIR_BLOCK)
            at, counts = values_of(self._vectors, rows[span])
            # `take` with "clip" does not look again at numbers that were checked before.
            places = self._places.take(self._vectors.indices.take(at, mode="clip"), mode="clip")
            places += starts[span].repeat(counts)
            products = values.take(places, mode="clip")
            products *= self._vectors.data.take(at, mode="clip")
            pair = np.arange(len(counts)).repeat(counts)
            scores[span] = np.bincount(pair, products, minlength=len(counts))
        return scores


def _part(vectors: SparseVectors, first: int, last: int) -> SparseVectors:
    starts = vectors.indptr[first : last + 1]
    span = slice(int(starts[0]), int(starts[-1]))
    return SparseVectors(
        starts - starts[0], vectors.indices[span], vectors.data[span], vectors.n_columns
    )


def _least(floor: Float32Array, unit: npt.NDArray[np.float64]) -> Int32Array:
    """Return the least bound of a score that is not below the floor, ``(n_queries, 1)``."""
    lowered = floor.astype(np.float64) - _ROUNDING * np.abs(floor)
    return np.maximum(np.ceil(lowered / unit), 0).astype(np.int32)[:, None]


def _largest(bounds: Int32Array, queries: npt.NDArray[np.intp], n: int) -> Pairs:
    """Return the places of the `n` largest bounds of some queries, and a few more."""
    n = min(n, bounds.shape[1])
    largest = Promising(n, bounds.shape[1], np.zeros(len(queries), np.int32), np.int32)
    largest.add(bounds[queries], 0)
    query_numbers, places = largest.pairs()
    return queries[query_numbers], places


def _drop_spare_zeros(
    bounds: Int32Array, rows: Int32Array, k: int, queries: npt.NDArray[np.intp]
) -> None:
    """Forbid all but the first `k` rows of bound 0, where a query has fewer than `k` above.

    They all score 0. Else a query that shares columns with few rows would be scored with them all.
    """
    for query in queries[np.count_nonzero(bounds[queries] > 0, axis=1) < k]:
        zero = np.flatnonzero(bounds[query] == 0)
        bounds[query, zero[np.argsort(rows[zero])[k:]]] = LOWEST


def _kept(hits: Hits, score: _Scorer, bounds: Int32Array, rows: Int32Array, pairs: Pairs) -> Hits:
    """Score queries and places of rows, which then are done with, and keep the best rows."""
    query_numbers, places = pairs
    bounds[pairs] = LOWEST
    scores = score(query_numbers, rows[places])
    good = scores >= hits.scores[query_numbers, -1]
    old, place = np.nonzero(hits.rows >= 0)
    return ranked_hits(
        len(hits.rows),
        hits.rows.shape[1],
        np.concatenate([old, query_numbers[good]]),
        np.concatenate([hits.rows[old, place], rows[places[good]]]),
        np.concatenate([hits.scores[old, place], scores[good]]),
    )
