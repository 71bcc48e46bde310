"""Names that an encoder takes for one another although their concepts differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.types import Float32Array, Int32Array

__all__ = ["find_hard_neighbours"]

_BLOCK = 1024


def find_hard_neighbours(
    queries: Float32Array,
    query_concepts: Int32Array,
    vectors: Float32Array,
    concepts: Int32Array,
    rng: np.random.Generator,
    *,
    k: int = 8,
    query_sources: npt.NDArray[Any] | None = None,
    sources: npt.NDArray[Any] | None = None,
) -> npt.NDArray[np.int64]:
    """Find near names of other concepts: the nearest one in each of `k` random parts of the names.

    The nearest of each part instead of the `k` nearest of all: they are as near, as good as, for
    many names, less alike among themselves, and a maximum is found many times faster than a
    selection.

    Parameters
    ----------
    queries, vectors : (q, d) and (n, d) float32
        L2-normalised vectors of the names asked for and of those to search.
    query_concepts, concepts : (q,) and (n,) int32
        Their concepts.
    rng : numpy.random.Generator
        Deals the names into parts.
    k : int
        Number of neighbours of each query.
    query_sources, sources : (q,) and (n,) int, optional
        Sets of sources as bits. A neighbour that shares no source with the query is passed over:
        two sources have their own concept for one thing, one source has not.

    Returns
    -------
    (q, k) int64
        Rows of `vectors`, −1 where a part holds no name of another concept (and common source).
    """
    found = np.full((len(queries), k), -1, dtype=np.int64)
    for column, part in enumerate(np.array_split(rng.permutation(len(vectors)), k)):
        if not len(part):
            continue
        # Sorted by concept, the names of the query's own concept are one stretch.
        part = part[np.argsort(concepts[part], kind="stable")]
        own = concepts[part]
        candidates = np.ascontiguousarray(vectors[part].T)
        for start in range(0, len(queries), _BLOCK):
            block = slice(start, start + _BLOCK)
            scores = queries[block] @ candidates
            low = np.searchsorted(own, query_concepts[block])
            high = np.searchsorted(own, query_concepts[block], side="right")
            lengths = high - low
            rows = np.repeat(np.arange(len(scores)), lengths)
            offsets = np.repeat(low - (np.cumsum(lengths) - lengths), lengths)
            scores[rows, offsets + np.arange(len(rows))] = -np.inf
            if sources is not None and query_sources is not None:
                apart = (query_sources[block, None] & sources[part]) == 0
                np.copyto(scores, -np.inf, where=apart)
            best = scores.argmax(axis=1)
            good = np.isfinite(scores[np.arange(len(scores)), best])
            found[block, column] = np.where(good, part[best], -1)
    return found
