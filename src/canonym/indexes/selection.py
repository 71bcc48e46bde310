"""Select the best rows of blocks of scores without sorting them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.types import Float32Array, Hits

GROUP = 32
"""Blocks of a multiple of so many rows are looked through without a copy."""

SLACK = 1e-5
"""Matrix products of different shapes round differently; rows this close are all kept and scored
again one by one, so that a query's answer does not depend on its batch mates."""

LOWEST = -(2**30)
"""Stands for the score of a row that is not allowed, or not there."""

Pairs = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
"""Queries and rows, as many of each."""


class Promising:
    """Every row that may be among the `k` best of its query, from blocks of rows and their scores.

    Scores are good to half of `slack`, ``(n_queries,)``, and are whole numbers or float32. The k-th
    largest of the maxima of small groups is a lower bound of the k-th largest score.
    """

    def __init__(self, k: int, n_rows: int, slack: npt.NDArray[Any], dtype: npt.DTypeLike) -> None:
        self._lowest: Any = np.dtype(dtype).type(LOWEST)
        self._k = k
        # Groups wide enough to save work, and far more of them than k.
        self._width = next((w for w in (GROUP, 8) if 2 * k * w <= n_rows), 1)
        self._slack = slack
        self._best = np.full((len(slack), k), self._lowest, dtype=dtype)
        none = np.empty(0, dtype=np.intp)
        self._found: list[tuple[npt.NDArray[Any], ...]] = [(none, none, none.astype(dtype))]

    def add(self, scores: npt.NDArray[Any], first: int) -> None:
        """Take the scores of the rows from `first` on, ``(n_queries, rows)``."""
        n, rows = scores.shape
        whole = rows - rows % self._width
        # Rows a fixed distance apart are a group: the maximum of whole lines is fast.
        maxima = [scores[:, :whole].reshape(n, self._width, -1).max(axis=1)]
        if whole < rows:
            maxima.append(scores[:, whole:].max(axis=1, keepdims=True))
        best = np.concatenate([self._best, *maxima], axis=1)
        self._best = np.partition(best, best.shape[1] - self._k, axis=1)[:, -self._k :]
        flat = np.flatnonzero(scores >= self._floor()[:, None])
        queries, columns = np.divmod(flat, rows)
        self._found.append((queries, columns + first, scores.ravel()[flat]))

    def pairs(self) -> Pairs:
        """Return queries and rows, as many of each; the rows of a query rise."""
        queries, rows, values = (
            np.concatenate(column) for column in zip(*self._found, strict=True)
        )
        high = values >= self._floor()[queries]
        queries, rows = queries[high], rows[high]
        order = np.argsort(queries, kind="stable")
        return queries[order], rows[order]

    def _floor(self) -> npt.NDArray[Any]:
        # A row that is not allowed never reaches the floor.
        return np.asarray(np.maximum(self._best.min(axis=1) - self._slack, self._lowest // 2))


def empty_hits(n: int, k: int) -> Hits:
    """Return hits without any row: −1 and −inf."""
    return Hits(np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf, dtype=np.float32))


def ranked_hits(
    n: int, k: int, queries: npt.NDArray[Any], rows: npt.NDArray[Any], scores: Float32Array
) -> Hits:
    """Return the best `k` of (query, row, score) triples for each of `n` queries; ties by row."""
    hits = empty_hits(n, k)
    order = np.lexsort((rows, -scores, queries))
    queries = queries[order]
    place = np.arange(len(order)) - np.searchsorted(queries, queries)
    among_k = place < k
    hits.rows[queries[among_k], place[among_k]] = rows[order][among_k]
    hits.scores[queries[among_k], place[among_k]] = scores[order][among_k]
    return hits
