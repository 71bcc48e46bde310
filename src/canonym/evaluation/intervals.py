"""Intervals that need no resampling: of a proportion, and of several runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from canonym.errors import InvalidInput

__all__ = ["Interval", "Spread", "aggregate", "check_level", "wilson"]


class Interval(NamedTuple):
    """A number and the interval it is in with some confidence; NaN where it is not defined."""

    value: float
    low: float
    high: float


class Spread(NamedTuple):
    """Several runs of one thing: mean, standard deviation (n − 1), interval, and how many."""

    mean: float
    sd: float
    low: float
    high: float
    n: int


def wilson(n_right: int, n: int, *, level: float = 0.95) -> Interval:
    """Bound a proportion by Wilson's score interval.

    Parameters
    ----------
    n_right, n : int
        Successes, and trials.
    level : float
        Confidence in (0, 1).

    Returns
    -------
    Interval
        In [0, 1]; of positive width even for 0 or `n` successes.

    Raises
    ------
    InvalidInput
        If there are no trials, more successes than trials, or the level is none.

    Notes
    -----
    ``(p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n)``.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.

    Examples
    --------
    >>> [round(x, 3) for x in wilson(8, 10)]
    [0.8, 0.49, 0.943]
    """
    check_level(level)
    if not 0 <= n_right <= n or n < 1:
        raise InvalidInput(f"{n_right} right of {n}; expected 0 to n of n, with n at least 1")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = n_right / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if n_right == 0 else (middle - half) / scale
    high = 1.0 if n_right == n else (middle + half) / scale
    return Interval(share, low, high)


def aggregate(values: Sequence[float], *, level: float = 0.95) -> Spread:
    """Sum up the folds of a cross-validation, or runs with different seeds.

    Parameters
    ----------
    values : sequence of float
        One number per fold or seed, at least two.
    level : float
        Confidence in (0, 1).

    Returns
    -------
    Spread
        Mean, standard deviation of the runs, and t interval of the mean.

    Raises
    ------
    InvalidInput
        If there are fewer than two values, one is not finite, or the level is none.

    Notes
    -----
    ``mean ± t_{n−1} · sd / √n``. Folds share training data and seeds share all data, so the
    interval says how much fold or seed matters, not how much another corpus would.
    """
    from scipy.special import stdtrit

    check_level(level)
    table = np.asarray(values, dtype=np.float64)
    if not np.isfinite(table).all():
        raise InvalidInput(f"{list(values)} are not all finite; leave out what has no value")
    if table.ndim != 1 or len(table) < 2:
        raise InvalidInput(
            f"{table.size} values have no spread; give one per fold or seed, at least two"
        )
    mean, sd = float(table.mean()), float(table.std(ddof=1))
    half = float(stdtrit(len(table) - 1, (1 + level) / 2)) * sd / math.sqrt(len(table))
    return Spread(mean, sd, mean - half, mean + half, len(table))


def check_level(level: float) -> None:
    """Raise `InvalidInput` unless `level` is a confidence between 0 and 1."""
    if not 0 < level < 1:
        raise InvalidInput(f"level is {level}; a confidence between 0 and 1 is expected, as 0.95")
