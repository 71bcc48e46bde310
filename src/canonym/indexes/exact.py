"""Dense vectors, searched one block at a time: the reference for all other indexes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from canonym.errors import InvalidInput
from canonym.indexes import BoolArray, check_allowed, check_k, load_array
from canonym.indexes.selection import empty_hits, promising, sort_hits
from canonym.types import Float32Array, Hits, Int32Array

_ROW_BLOCK = 1 << 16
_QUERY_BLOCK = 256
_SPARSE_MASK = 0.1


class Exact:
    """Cosine similarity to every row of ``(n_rows, d)`` float32 or float16 vectors.

    Vectors have length one, or zero; memory-mapped arrays are read block by block. A matrix product
    proposes rows; these are scored again in double precision, one by one, and rounded to float32.
    So a score does not depend on batch mates or block sizes, and equal vectors get equal scores.
    """

    def __init__(self, vectors: Float32Array) -> None:
        if vectors.ndim != 2:
            raise InvalidInput(
                f"vectors have shape {vectors.shape}; expected two dimensions, (rows, width)"
            )
        self.vectors = vectors

    @classmethod
    def build(cls, vectors: Float32Array) -> Exact:
        """Make an index of finite vectors of any length; each is scaled to length one."""
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
        """Return the `k` allowed rows of largest cosine for every query, ``(n, k)``, ties by row.

        Queries may have any length; a zero vector has cosine 0 with every row.
        """
        check_k(k)
        check_allowed(allowed, self.n_rows)
        queries = self._check(queries)
        hits = empty_hits(len(queries), k)
        # A narrow filter is searched among its own rows; a wide one is masked block by block.
        chosen = None
        if allowed is not None and allowed.mean() <= _SPARSE_MASK:
            chosen = np.flatnonzero(allowed).astype(np.int32)
        n = self.n_rows if chosen is None else len(chosen)
        for start in range(0, len(queries), _QUERY_BLOCK):
            block = queries[start : start + _QUERY_BLOCK]
            found: list[list[Int32Array]] = [[] for _ in block]
            for first in range(0, n, _ROW_BLOCK):
                last = min(first + _ROW_BLOCK, n)
                picked = slice(first, last) if chosen is None else chosen[first:last]
                scores = block @ np.asarray(self.vectors[picked], dtype=np.float32).T
                if allowed is not None and chosen is None:
                    scores[:, ~allowed[first:last]] = -np.inf
                for i, row in enumerate(scores):
                    columns = promising(row, k)
                    rows = first + columns if chosen is None else chosen[first + columns]
                    found[i].append(rows.astype(np.int32))
            for i, parts in enumerate(found):
                if parts:
                    rows = np.concatenate(parts)
                    best, score = sort_hits(rows, self._score_rows(block[i], rows), k)
                    hits.rows[start + i, : len(best)] = best
                    hits.scores[start + i, : len(best)] = score
        return hits

    def score(self, queries: Float32Array, rows: Int32Array) -> Float32Array:
        """Return the cosine of every query with chosen rows, ``(n, m)``; −inf for the row −1."""
        queries = self._check(queries)
        scores = np.full(rows.shape, -np.inf, dtype=np.float32)
        for i, (query, chosen) in enumerate(zip(queries, rows, strict=True)):
            there = chosen >= 0
            scores[i, there] = self._score_rows(query, chosen[there])
        return scores

    def _score_rows(self, query: Float32Array, rows: Int32Array) -> Float32Array:
        products = self.vectors[rows].astype(np.float64) * query.astype(np.float64)
        return np.asarray(products.sum(axis=1), dtype=np.float32)

    def save(self, folder: Path) -> None:
        """Write ``vectors.npy`` to an existing folder."""
        np.save(folder / "vectors.npy", np.asarray(self.vectors))

    @classmethod
    def load(cls, folder: Path, *, n_rows: int | None = None) -> Exact:
        """Open a saved index, memory-mapped; it has to have `n_rows`."""
        return cls(load_array(folder / "vectors.npy", (n_rows, None), np.float32, np.float16))


def _unit(vectors: Float32Array) -> Float32Array:
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        bad = int(np.flatnonzero(~np.isfinite(lengths[:, 0]))[0])
        raise InvalidInput(f"vector {bad} holds a number that is not finite (NaN or infinity)")
    scaled = np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0)
    return np.asarray(scaled, dtype=np.float32)
