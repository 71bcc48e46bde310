"""Several indexes searched as one, their rows one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from canonym.indexes import BoolArray, Searchable, check_allowed, check_k
from canonym.indexes.selection import empty_hits
from canonym.types import Float32Array, Hits, Int32Array


class Concatenated:
    """Rows of several indexes of one encoder, numbered through; parts without rows are left out.

    Names can come and go beside an index that stays unchanged: only the small index is rebuilt.
    Every part searches its own rows, and the hits are merged by score. Each score depends on the
    query and the row alone, so the answer is that of one index of all rows.
    """

    def __init__(self, parts: Sequence[Searchable]) -> None:
        starts = np.cumsum([0, *(part.n_rows for part in parts)])
        self.n_rows = int(starts[-1])
        self._parts = [
            (part, int(start), int(start) + part.n_rows)
            for part, start in zip(parts, starts, strict=False)
            if part.n_rows
        ]

    def search(self, queries: Any, k: int, *, allowed: BoolArray | None = None) -> Hits:
        """Return the `k` nearest allowed rows of every query, ``(n, k)``; ties by row."""
        check_k(k)
        check_allowed(allowed, self.n_rows)
        found = []
        for part, start, stop in self._parts:
            mask = None if allowed is None else allowed[start:stop]
            if mask is not None and not mask.any():
                continue
            hits = part.search(queries, k, allowed=None if mask is None or mask.all() else mask)
            found.append(Hits(np.where(hits.rows >= 0, hits.rows + start, -1), hits.scores))
        if not found:
            n = getattr(queries, "n_rows", None)
            return empty_hits(len(queries) if n is None else n, k)
        rows = np.concatenate([hits.rows for hits in found], axis=1)
        scores = np.concatenate([hits.scores for hits in found], axis=1)
        order = np.lexsort((rows, -scores), axis=1)[:, :k]
        rows, scores = (np.take_along_axis(column, order, axis=1) for column in (rows, scores))
        return Hits(rows.astype(np.int32), scores)

    def score(self, queries: Any, rows: Int32Array) -> Float32Array:
        """Score chosen rows, ``(n, m)`` int32 with −1 where empty, for every query."""
        scores = np.full(rows.shape, -np.inf, dtype=np.float32)
        for part, start, stop in self._parts:
            mine = (rows >= start) & (rows < stop)
            if mine.any():
                local = np.where(mine, rows - start, -1).astype(np.int32)
                scores[mine] = part.score(queries, local)[mine]
        return scores
