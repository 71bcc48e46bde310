"""Dense vectors, searched one block at a time: the reference for all other indexes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from canonym.errors import InvalidInput, ReadError
from canonym.indexes import BoolArray, check_allowed, check_k
from canonym.indexes.selection import SLACK, empty_hits, promising_pairs
from canonym.types import Float32Array, Hits, Int32Array

__all__ = ["Exact"]

_ROW_BLOCK = 1 << 16
_QUERY_BLOCK = 256
_SPARSE_MASK = 0.1
_PAIRS = 1 << 14
# While one block of queries is multiplied, by all cores, the best of another are chosen.
_AT_ONCE = 2


class Exact:
    """Cosine similarity to every row.

    Parameters
    ----------
    vectors : ndarray, shape (n_rows, d), float32 or float16
        Vectors of length one, or zero. Memory-mapped arrays are read block by block.

    Notes
    -----
    A matrix product proposes rows; the proposed ones are scored again in double precision, one by
    one, and rounded to float32. So a score does not depend on batch mates or block sizes, and equal
    vectors get equal scores. Another way of proposing, such as that of
    `canonym.training.half_products`, overrides `product` and `slack`.
    """

    slack = SLACK
    """Twice the error that a score of `product` may have."""

    def __init__(self, vectors: Float32Array) -> None:
        if vectors.ndim != 2:
            raise InvalidInput(
                f"vectors have shape {vectors.shape}; expected two dimensions, (rows, width)"
            )
        self.vectors = vectors

    @classmethod
    def build(cls, vectors: Float32Array) -> Exact:
        """Make an index of vectors of any length; each is scaled to length one.

        Raises
        ------
        InvalidInput
            If a vector holds a number that is not finite.
        """
        return cls(_unit(vectors))

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
        return _unit(queries)

    def search(self, queries: Float32Array, k: int, *, allowed: BoolArray | None = None) -> Hits:
        """Return the `k` rows of largest cosine for every query.

        Parameters
        ----------
        queries : ndarray, shape (n, d), float32
            Of any length; a zero vector has cosine 0 with every row.
        k : int
            Rows wanted per query; places beyond the rows there are stay empty.
        allowed : ndarray of bool, shape (n_rows,), optional
            Rows that may be returned.

        Returns
        -------
        Hits
            ``(n, k)``; scores in [−1, 1], ties by row.
        """
        check_k(k)
        check_allowed(allowed, self.n_rows)
        queries = self._check(queries)
        hits = empty_hits(len(queries), k)
        # A narrow filter is searched among its own rows; a wide one is masked block by block.
        chosen = None
        if allowed is not None and allowed.mean() <= _SPARSE_MASK:
            chosen = np.flatnonzero(allowed).astype(np.int32)
        columns = _Columns(self, allowed, chosen)

        def find(start: int) -> None:
            """Fill in the hits of a block of queries; no two blocks share a line of them."""
            block = queries[start : start + _QUERY_BLOCK]
            query, rows = columns.promising(block, k)
            scores = self._score_pairs(block, query, rows)
            order = np.lexsort((rows, -scores, query))
            query, rows, scores = query[order], rows[order], scores[order]
            rank = np.arange(len(query)) - np.searchsorted(query, query)
            best = rank < k
            place = (start + query[best], rank[best])
            hits.rows[place], hits.scores[place] = rows[best], scores[best]

        starts = range(0, len(queries), _QUERY_BLOCK)
        if len(starts) < 2:
            list(map(find, starts))
            return hits
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(find, starts))
        return hits

    def product(self, queries: Float32Array, rows: slice | Int32Array) -> Float32Array:
        """Return what proposes rows: ``(n, m)`` products of queries ``(n, d)`` with chosen rows.

        Notes
        -----
        Queries have length one, or zero. Off by at most half of `slack`.
        """
        return queries @ np.asarray(self.vectors[rows], dtype=np.float32).T

    def score(self, queries: Float32Array, rows: Int32Array) -> Float32Array:
        """Return the cosine of every query with chosen rows.

        Parameters
        ----------
        queries : ndarray, shape (n, d), float32
        rows : ndarray, shape (n, m), int32
            Rows per query, −1 where empty.

        Returns
        -------
        ndarray, shape (n, m), float32
            −inf where the row is −1.
        """
        queries = self._check(queries)
        scores = np.full(rows.shape, -np.inf, dtype=np.float32)
        for i, (query, chosen) in enumerate(zip(queries, rows, strict=True)):
            there = chosen >= 0
            scores[i, there] = self._score_rows(query, chosen[there])
        return scores

    def _score_rows(self, query: Float32Array, rows: Int32Array) -> Float32Array:
        products = self.vectors[rows].astype(np.float64) * query.astype(np.float64)
        return np.asarray(products.sum(axis=1), dtype=np.float32)

    def _score_pairs(
        self, queries: Float32Array, query: Int32Array, rows: Int32Array
    ) -> Float32Array:
        scores = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _PAIRS):
            part = slice(start, start + _PAIRS)
            products = self.vectors[rows[part]].astype(np.float64)
            products *= queries[query[part]]
            scores[part] = products.sum(axis=1)
        return scores

    def save(self, folder: Path) -> None:
        """Write ``vectors.npy`` to an existing folder."""
        np.save(folder / "vectors.npy", np.asarray(self.vectors))

    @classmethod
    def load(cls, folder: Path) -> Exact:
        """Open a saved index, memory-mapped."""
        path = folder / "vectors.npy"
        try:
            return cls(np.load(path, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError) as error:
            raise ReadError(path, f"cannot be opened ({error}); build the index again") from error


class _Columns:
    """The rows of an index that a search may return, multiplied with queries a block at a time."""

    def __init__(self, index: Exact, allowed: BoolArray | None, chosen: Int32Array | None) -> None:
        self._index, self._allowed, self._chosen = index, allowed, chosen

    def promising(self, queries: Float32Array, k: int) -> tuple[Int32Array, Int32Array]:
        """Return numbers of queries, and rows that may be among the `k` best of each."""
        chosen, allowed = self._chosen, self._allowed
        n = self._index.n_rows if chosen is None else len(chosen)
        found = [(np.empty(0, np.int32), np.empty(0, np.int32))]
        for first in range(0, n, _ROW_BLOCK):
            last = min(first + _ROW_BLOCK, n)
            picked = slice(first, last) if chosen is None else chosen[first:last]
            scores = self._index.product(queries, picked)
            if allowed is not None and chosen is None:
                scores[:, ~allowed[first:last]] = -np.inf
            query, columns = promising_pairs(scores, k, slack=self._index.slack)
            rows = first + columns if chosen is None else chosen[first + columns]
            found.append((query.astype(np.int32), rows.astype(np.int32)))
        return np.concatenate([one for one, _ in found]), np.concatenate([r for _, r in found])


def _unit(vectors: Float32Array) -> Float32Array:
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        bad = int(np.flatnonzero(~np.isfinite(lengths[:, 0]))[0])
        raise InvalidInput(f"vector {bad} holds a number that is not finite (NaN or infinity)")
    scaled = np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0)
    return np.asarray(scaled, dtype=np.float32)
