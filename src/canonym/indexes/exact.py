"""Dense vectors, searched one block at a time: the reference for all other indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes import BoolArray, check_allowed, check_k, load_array
from canonym.indexes.distinct import Distinct
from canonym.indexes.gpu import GpuVectors
from canonym.indexes.int8 import FEWEST, DenseInt8, multiplier, worth_it
from canonym.indexes.selection import LOWEST, SLACK, Pairs, Promising, empty_hits, ranked_hits
from canonym.io.arrays import let_go
from canonym.io.devices import named_device
from canonym.io.files import asked_threads, n_cores
from canonym.types import Float32Array, Hits, Int32Array

_ROW_BLOCK = 1 << 14
_PRODUCTS = 1 << 21  # of few queries at once
_PAIR_BLOCK = 1 << 9  # their vectors stay in the cache
_NARROW = 0.1

Propose = Callable[[Float32Array], Pairs]
"""Returns every (query, row) of a block of queries that may be among the best of its query."""


class Exact:
    """Cosine similarity to every row of ``(n_rows, d)`` float32 or float16 vectors.

    Vectors have length one, or zero; memory-mapped arrays are read block by block. A product of
    matrices, of the vectors or of their codes, proposes rows. These are scored again in double
    precision, one by one, and rounded to float32. So a score does not depend on batch mates, block
    sizes or codes, and equal vectors get equal scores.
    """

    _at_once = 128  # queries: their products stay in the cache

    def __init__(
        self,
        vectors: Float32Array,
        codes: DenseInt8 | None = None,
        distinct: Distinct | None = None,
    ) -> None:
        if vectors.ndim != 2:
            raise InvalidInput(
                f"vectors have shape {vectors.shape}; expected two dimensions, (rows, width)"
            )
        self.vectors = vectors
        self._codes = codes  # of the distinct vectors, or else of all
        self._distinct = distinct
        self._moved: dict[str, GpuVectors] = {}  # by device, once it is used
        self._is_coded = False  # whether codes are multiplied, from the first time on

    @classmethod
    def build(cls, vectors: Float32Array) -> Exact:
        """Make an index of finite vectors of any length; each is scaled to length one."""
        return cls(unit(vectors))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.vectors.shape[0])

    def _check(self, queries: Float32Array) -> Float32Array:
        width = self.vectors.shape[1]
        if queries.ndim != 2 or queries.shape[1] != width:
            raise InvalidInput(
                f"queries have shape {queries.shape}; expected (n, {width}), the width of the "
                "index: were they made by another encoder?"
            )
        return self._ready(queries)

    def _ready(self, queries: Float32Array) -> Float32Array:
        """Scale queries so that a product with a row is the score, or orders rows as it does."""
        return unit(queries)

    def _directed(self, queries: Float32Array) -> BoolArray:
        """Mark the queries that are searched; all rows are alike to the others."""
        return np.asarray(queries.any(axis=1))

    def _slack(self, queries: Float32Array) -> Float32Array:
        """Return twice the error that products in single precision may have, ``(n,)``."""
        return np.full(len(queries), SLACK, dtype=np.float32)

    def _products(self, queries: Float32Array, rows: Any) -> Float32Array:
        """Return what orders rows for every query, in single precision."""
        return queries @ np.asarray(self.vectors[rows], dtype=np.float32).T

    @staticmethod
    def _similarities(queries: npt.NDArray[np.float64], rows: Float32Array) -> Any:
        """Score pairs in double precision; `queries` may be overwritten."""
        queries *= rows
        return queries.sum(axis=1)

    def search(self, queries: Float32Array, k: int, *, allowed: BoolArray | None = None) -> Hits:
        """Return the `k` allowed rows of largest cosine for every query, ``(n, k)``, ties by row.

        Queries may have any length; a zero vector has cosine 0 with every row.
        """
        check_k(k)
        check_allowed(allowed, self.n_rows)
        queries = self._check(queries)
        directed = self._directed(queries)
        there = np.flatnonzero(directed)
        propose, several = self._plan(len(there), k, allowed)

        def ranked(start: int) -> Hits:
            block = queries[there[start : start + self._at_once]]
            found, rows = propose(block)
            return ranked_hits(len(block), k, found, rows, self._score_pairs(block, found, rows))

        hits = empty_hits(len(queries), k)
        starts = range(0, len(there), self._at_once)
        for start, each in zip(starts, in_threads(ranked, starts, several), strict=True):
            hits.rows[there[start : start + self._at_once]] = each.rows
            hits.scores[there[start : start + self._at_once]] = each.scores
        first = np.arange(min(k, self.n_rows)) if allowed is None else np.flatnonzero(allowed)[:k]
        hits.rows[~directed, : len(first)] = first
        hits.scores[~directed, : len(first)] = 0
        return hits

    def _plan(self, n_queries: int, k: int, allowed: BoolArray | None) -> tuple[Propose, bool]:
        """Return what proposes rows for a block of queries, and whether to do several at once.

        Products of whole numbers take one thread each; others share theirs among threads. A device
        that is named multiplies all vectors but few.
        """
        if allowed is not None and is_narrow(allowed):
            return self._plain_plan(k, allowed), False
        device = named_device() if self.n_rows >= FEWEST else None
        if device is not None:
            if device not in self._moved:
                self._moved[device] = GpuVectors(self.vectors, device)
            moved = self._moved[device]
            return lambda block: moved.promising(block, k, allowed, self._slack(block)), False
        codes, distinct = self._codes, self._distinct
        places = allowed
        if distinct is not None and allowed is not None:
            places = distinct.allowed(allowed)

        def rows_of(pairs: Pairs) -> Pairs:
            return pairs if distinct is None else distinct.rows_of(pairs, allowed)

        if codes is None or not worth_it(n_queries, *self.vectors.shape):
            return lambda block: rows_of(self._promising(block, k, places, None, distinct)), False
        if distinct is not None and not self._is_coded:
            self._is_coded = True
            let_go(distinct.columns)  # products of codes need none of them
        multiply = multiplier(True)
        return (
            lambda block: self._nearer(
                block, k, *rows_of(codes.promising(block, k, places, multiply))
            ),
            True,
        )

    def _plain_plan(self, k: int, allowed: BoolArray | None) -> Propose:
        """Return what multiplies the vectors themselves: of a narrow filter its own rows alone."""
        if allowed is None or not is_narrow(allowed):
            return lambda block: self._promising(block, k, allowed, None)
        chosen = np.flatnonzero(allowed)
        return lambda block: self._promising(block, k, None, chosen)

    def _promising(
        self,
        queries: Float32Array,
        k: int,
        allowed: BoolArray | None,
        chosen: npt.NDArray[np.intp] | None,
        distinct: Distinct | None = None,
    ) -> Pairs:
        """Return every (query, row) that may be among the `k` best of a query, ties included.

        Of distinct vectors their columns come back in place of rows.
        """
        n = self.n_rows if chosen is None else len(chosen)
        n = n if distinct is None else distinct.columns.shape[1]
        found = Promising(k, n, self._slack(queries), np.float32)
        step = _ROW_BLOCK if distinct is None else max(_PRODUCTS // len(queries), _ROW_BLOCK)
        for first in range(0, n, step):
            last = min(first + step, n)
            picked = slice(first, last) if chosen is None else chosen[first:last]
            scores = (
                self._products(queries, picked)
                if distinct is None
                else queries @ np.asarray(distinct.columns[:, first:last], dtype=np.float32)
            )
            if allowed is not None and chosen is None:
                scores[:, ~allowed[first:last]] = LOWEST
            found.add(scores, first)
        near, rows = found.pairs()
        return near, rows if chosen is None else chosen[rows]

    def _nearer(
        self, queries: Float32Array, k: int, found: npt.NDArray[Any], rows: npt.NDArray[Any]
    ) -> Pairs:
        """Drop the rows that single precision tells from the `k` best of their query."""
        kept = np.ones(len(rows), dtype=np.bool_)
        bounds = np.searchsorted(found, np.arange(len(queries) + 1)).tolist()
        spans = zip(bounds[:-1], bounds[1:], self._slack(queries), strict=True)
        space = np.empty((max(np.diff(bounds), default=0), queries.shape[1]), self.vectors.dtype)
        for query, (first, last, slack) in zip(queries, spans, strict=True):
            if last - first > 2 * k:
                near = self.vectors.take(rows[first:last], 0, space[: last - first], "clip")
                scores = np.asarray(near, dtype=np.float32) @ query
                kept[first:last] = scores >= np.partition(scores, -k)[-k] - slack
        return found[kept], rows[kept]

    def score(self, queries: Float32Array, rows: Int32Array) -> Float32Array:
        """Return the cosine of every query with chosen rows, ``(n, m)``; −inf for the row −1."""
        queries = self._check(queries)
        scores = np.full(rows.shape, -np.inf, dtype=np.float32)
        there = rows >= 0
        scores[there] = self._score_pairs(queries, np.nonzero(there)[0], rows[there])
        return scores

    def _score_pairs(
        self, queries: Float32Array, found: npt.NDArray[Any], rows: npt.NDArray[Any]
    ) -> Float32Array:
        """Return the cosine of each pair of a query and a row, all in double precision."""
        scores = np.empty(len(rows), dtype=np.float32)
        exact, n = queries.astype(np.float64), min(len(rows), _PAIR_BLOCK)
        # The same memory for every block: new memory takes longer than the products.
        near, products = (np.empty((n, queries.shape[1]), t) for t in (self.vectors.dtype, float))
        for first in range(0, len(rows), _PAIR_BLOCK):
            span, last = slice(first, first + _PAIR_BLOCK), len(rows) - first
            exact.take(found[span], 0, products[:last], "clip")
            picked = self.vectors.take(rows[span], 0, near[:last], "clip")
            scores[span] = self._similarities(products[:last], picked)
        return scores

    def save(self, folder: Path) -> None:
        """Write ``vectors.npy``, and what finds the best of many rows, to an existing folder."""
        np.save(folder / "vectors.npy", np.asarray(self.vectors))
        write_codes(self.vectors, folder)

    @classmethod
    def load(cls, folder: Path, *, n_rows: int | None = None) -> Exact:
        """Open a saved index, memory-mapped; it has to have `n_rows`."""
        vectors = load_array(folder / "vectors.npy", (n_rows, None), np.float32, np.float16)
        distinct = codes = None
        if (folder / "codes.npy").exists():
            distinct = Distinct.load(folder, vectors)
            codes = DenseInt8.load(folder, distinct.columns.shape[1], vectors.shape[1])
        return cls(vectors, codes, distinct)


def is_narrow(allowed: BoolArray) -> bool:
    """Return whether a filter is best searched among its own rows."""
    return bool(np.count_nonzero(allowed) <= _NARROW * len(allowed))


def in_threads(
    function: Callable[[int], Hits], starts: Sequence[int], several: bool
) -> Iterable[Hits]:
    """Apply a function to each start, in order; `several` at the same time."""
    if not several or len(starts) < 2:
        return map(function, starts)
    with ThreadPoolExecutor(min(asked_threads() or n_cores(), len(starts))) as threads:
        return list(threads.map(function, starts))


def write_codes(vectors: Float32Array, folder: Path) -> None:
    """Write the distinct ones of vectors, and their codes, if there are enough vectors."""
    if len(vectors) >= FEWEST:
        DenseInt8.write(Distinct.write(vectors, folder).T, folder)


def unit(vectors: Float32Array) -> Float32Array:
    """Scale finite vectors to length one; zeros stay."""
    vectors = finite(vectors)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    scaled = np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0)
    return np.asarray(scaled, dtype=np.float32)


def finite(vectors: Float32Array) -> Float32Array:
    """Return vectors as float32, or refuse one that holds NaN or infinity."""
    vectors = np.asarray(vectors, dtype=np.float32)
    sums = vectors.sum(axis=1, dtype=np.float64)
    if not np.isfinite(sums).all():
        bad = int(np.flatnonzero(~np.isfinite(sums))[0])
        raise InvalidInput(f"vector {bad} holds a number that is not finite (NaN or infinity)")
    return vectors
