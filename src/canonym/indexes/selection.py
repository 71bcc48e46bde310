"""Choose the best rows of a block of scores without sorting it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from canonym.types import Float32Array, Hits, Int32Array

__all__ = ["empty_hits", "promising", "promising_pairs", "sort_hits"]

_WIDTH = 128
SLACK = 1e-5
"""Matrix products of different shapes round differently; rows this close are all kept and scored
again one by one, so that a query's answer does not depend on its batch mates."""


def promising(scores: Float32Array, k: int) -> npt.NDArray[np.intp]:
    """Return a superset of the columns of the `k` largest of a row of scores, ties included.

    Parameters
    ----------
    scores : ndarray, shape (n,), float32
        Scores; −inf is never returned.
    k : int
        How many are wanted, at least 1.

    Returns
    -------
    ndarray of intp
        Column numbers in no order. Usually a few more than `k`.
    """
    return promising_pairs(scores[None], k)[1]


def promising_pairs(
    scores: Float32Array, k: int, *, slack: float = SLACK
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return `promising` of every row of a block of scores.

    The k-th largest of the maxima of small groups is a lower bound of the k-th largest score, and
    costs one pass over the row; only groups whose maximum is above it are looked at again.

    Parameters
    ----------
    scores : ndarray, shape (n_rows, n), float32
        Scores; −inf is never returned.
    k : int
        How many of each row are wanted, at least 1.
    slack : float
        Scores this far below the k-th are returned as well: twice the error of a score.

    Returns
    -------
    tuple of two ndarrays of intp
        Rows and columns, in no order.
    """
    n_rows, n = scores.shape
    if n <= 2 * k * _WIDTH:
        return _at_least(scores, _least(scores, k, slack))
    # Columns n / _WIDTH apart are a group: their maxima are taken a whole line at a time.
    size, whole = n // _WIDTH, n - n % _WIDTH
    by_row, by_column = scores.strides
    lines = np.lib.stride_tricks.as_strided(
        scores, (n_rows, _WIDTH, size), (by_row, size * by_column, by_column), writeable=False
    )
    maxima, last = lines.max(axis=1), scores[:, whole:]
    if whole < n:
        maxima = np.hstack([maxima, last.max(axis=1, keepdims=True)])
    least = _least(maxima, k, slack)
    row, group = _at_least(maxima[:, :size], least)
    place, line = _at_least(lines[row, :, group], least[row])
    row_of_last, column = _at_least(last, least)
    return (
        np.concatenate([row[place], row_of_last]),
        np.concatenate([line * size + group[place], whole + column]),
    )


def _least(scores: Float32Array, k: int, slack: float) -> Float32Array:
    """Return what a score of each row has to be to be among its `k` largest, less the slack."""
    n = scores.shape[1]
    if k >= n:
        return np.full(len(scores), -np.inf, dtype=np.float32)
    return np.asarray(np.partition(scores, n - k, axis=1)[:, n - k] - np.float32(slack))


def _at_least(
    scores: Float32Array, least: Float32Array
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    row, column = np.nonzero((scores >= least[:, None]) & (scores > -np.inf))
    return row, column


def empty_hits(n: int, k: int) -> Hits:
    """Return hits without any row: −1 and −inf."""
    return Hits(np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf, dtype=np.float32))


def sort_hits(rows: Int32Array, scores: Float32Array, k: int) -> tuple[Int32Array, Float32Array]:
    """Order one query's rows by falling score, ties by row, and keep the first `k`."""
    order = np.lexsort((rows, -scores))[:k]
    return rows[order], scores[order]
