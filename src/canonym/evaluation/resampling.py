"""Bootstrap samples of mentions, many at once and in bounded memory.

Notes
-----
A draw takes ``n`` mentions of ``n`` with replacement. Only how often each *distinct* value is drawn
matters, and those counts are multinomial. Where few values occur, as with right and wrong, the
counts are drawn directly: the same distribution, much quicker. Values are sorted first, so that the
order of the mentions plays no role.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.intervals import check_level

__all__ = ["check_values", "percentile_interval", "ratios", "resample_counts", "resample_sums"]

FloatArray = npt.NDArray[np.float64]

_CHUNK = 1 << 16  # a block of 512 KiB stays in the cache
_FEW = 64


def check_values(values: npt.ArrayLike) -> FloatArray:
    """Return values as two columns, numerators and denominators.

    Parameters
    ----------
    values : array-like, shape (n,) or (n, 2)
        Numbers whose mean is wanted get the denominator 1.

    Returns
    -------
    ndarray, shape (n, 2), float64
        The columns.

    Raises
    ------
    InvalidInput
        If there are no values, they have another shape, or one is not finite.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim == 1:
        table = np.stack([table, np.ones(len(table))], axis=1)
    if table.ndim != 2 or table.shape[1] != 2:
        raise InvalidInput(
            f"values have shape {np.shape(values)}; expected (n,), one number per mention, or "
            "(n, 2), numerator and denominator"
        )
    if not len(table):
        raise InvalidInput("no mentions to evaluate: give at least one value")
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise InvalidInput(f"value {row} is not finite; leave out mentions without a value")
    return table


def ratios(sums: FloatArray) -> FloatArray:
    """Divide the first by the second of the last axis, ``(…, 2)`` to ``(…)``; NaN over 0."""
    below = sums[..., 1]
    undefined = np.full(below.shape, np.nan)
    return np.asarray(np.divide(sums[..., 0], below, out=undefined, where=below != 0))


def resample_sums(table: FloatArray, draws: int, rng: np.random.Generator | int) -> FloatArray:
    """Sum the columns over each of many bootstrap samples of the rows.

    Parameters
    ----------
    table : ndarray, shape (n, c), float64
        One row per mention.
    draws : int
        Samples wanted.
    rng : numpy.random.Generator or int
        The generator, or the seed of one.

    Returns
    -------
    ndarray, shape (draws, c), float64
        Sums over ``n`` rows each.

    Raises
    ------
    InvalidInput
        If `draws` is not positive.
    """
    rng = _generator(draws, rng)
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    n = len(table)
    if len(distinct) <= _FEW:
        drawn = rng.multinomial(n, counts / n, size=draws)
        return np.asarray(drawn @ distinct)
    ordered = np.repeat(distinct, counts, axis=0)
    return np.concatenate([drawn @ ordered for drawn in resample_counts(n, draws, rng)])


def resample_counts(n: int, draws: int, rng: np.random.Generator | int) -> Iterator[FloatArray]:
    """Yield how often each of `n` items is in each sample, ``(some draws, n)`` float64 at a time.

    Parameters
    ----------
    n : int
        Items, and the size of a sample.
    draws : int
        Samples in all.
    rng : numpy.random.Generator or int
        The generator, or the seed of one.

    Yields
    ------
    ndarray, shape (m, n), float64
        Whole numbers; every row sums to `n`.

    Raises
    ------
    InvalidInput
        If `draws` is not positive.
    """
    rng = _generator(draws, rng)
    step = max(_CHUNK // n, 1)
    for start in range(0, draws, step):
        m = min(step, draws - start)
        places = rng.integers(0, n, size=(m, n)) + n * np.arange(m)[:, None]
        yield np.bincount(places.ravel(), minlength=m * n).reshape(m, n).astype(np.float64)


def percentile_interval(drawn: FloatArray, level: float) -> tuple[float, float]:
    """Return the percentiles with ``(1 − level) / 2`` beyond each; NaN draws are left out.

    Raises
    ------
    InvalidInput
        If the level is not between 0 and 1.
    """
    check_level(level)
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _generator(draws: int, rng: np.random.Generator | int) -> np.random.Generator:
    if draws < 1:
        raise InvalidInput(f"draws is {draws}; a positive number is expected, as 10,000")
    return np.random.default_rng(rng)
