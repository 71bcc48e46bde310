"""Select the best rows of a block of scores without sorting it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from canonym.types import Float32Array, Hits, Int32Array

_WIDTH = 128
SLACK = 1e-5
"""Matrix products of different shapes round differently; rows this close are all kept and scored
again one by one, so that a query's answer does not depend on its batch mates."""


def promising(scores: Float32Array, k: int) -> npt.NDArray[np.intp]:
    """Return a superset of the columns of the `k` largest scores of a row, ties included.

    Columns rise; those of −inf are left out. The k-th largest of the maxima of small groups is a
    lower bound of the k-th largest score, and costs one pass over the row.
    """
    n = len(scores)
    if n > 2 * k * _WIDTH:
        whole = n - n % _WIDTH
        maxima = scores[:whole].reshape(-1, _WIDTH).max(axis=1)
        if whole < n:
            maxima = np.append(maxima, scores[whole:].max())
    else:
        maxima = scores
    bound = -np.inf if k >= len(maxima) else np.partition(maxima, len(maxima) - k)[-k]
    keep = scores >= bound - SLACK if np.isfinite(bound) else np.isfinite(scores)
    return np.flatnonzero(keep)


def empty_hits(n: int, k: int) -> Hits:
    """Return hits without any row: −1 and −inf."""
    return Hits(np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf, dtype=np.float32))


def sort_hits(rows: Int32Array, scores: Float32Array, k: int) -> tuple[Int32Array, Float32Array]:
    """Order one query's rows by falling score, ties by row, and keep the first `k`."""
    order = np.lexsort((rows, -scores))[:k]
    return rows[order], scores[order]
