"""Intervals of figures, and tests of the difference between two systems.

A metric is the mean of one number per mention, or the ratio of the sums of two: see
`canonym.evaluation.metrics.columns`. The bootstrap draws mentions, so an F1 has an interval like
an accuracy. Distributions come from `scipy.special`, which `scipy.stats` would load a second later.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.io.numbers import rounded

FloatArray = npt.NDArray[np.float64]

SMALL = 30
"""`bound` takes Wilson's interval for proportions of fewer mentions than this."""

_CHUNK = 1 << 16  # a block of 512 KiB stays in the cache
_FEW = 64
_SUM_DECIMALS = 9


class Interval(NamedTuple):
    """A number and its confidence interval; NaN where it is not defined."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """The difference of two numbers."""

    value: float  # first minus second, and its interval
    low: float
    high: float
    p: float  # two-sided probability of a difference at least as large if there were none


class McNemar(NamedTuple):
    """Outcome of McNemar's test."""

    only_first: int  # mentions that only the first system has right
    only_second: int
    statistic: float  # χ², or the smaller of the two counts for the exact test
    p: float  # two-sided


# --- without resampling ---------------------------------------------------------------------------


def wilson(n_right: int, n: int, *, level: float = 0.95) -> Interval:
    """Return Wilson's score interval of a proportion.

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
        If there are no trials, more successes than trials, or `level` is out of range.

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
    from scipy.special import ndtri

    check_level(level)
    if not 0 <= n_right <= n or n < 1:
        raise InvalidInput(f"{n_right} right of {n}; expected 0 to n of n, with n at least 1")
    p, z = n_right / n, float(ndtri((1 + level) / 2))
    scale = 2 * (n + z**2)
    middle = (2 * n * p + z**2) / scale
    half = z / scale * math.sqrt(4 * n * p * (1 - p) + z**2)
    return Interval(p, middle - half if n_right else 0.0, middle + half if n_right < n else 1.0)


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike, *, method: str = "exact") -> McNemar:
    """Test whether two systems are right equally often, by the mentions on which they differ.

    Parameters
    ----------
    first, second : array-like, shape (n,), bool or 0 and 1
        Whether each system has each mention right.
    method : str
        ``"exact"`` (binomial), ``"chi2"``, or ``"corrected"``: χ² with continuity correction.

    Returns
    -------
    McNemar
        ``p`` is 1 where the two never differ.

    Raises
    ------
    InvalidInput
        If there are no mentions, the lengths differ, a value is neither right nor wrong, or the
        method is unknown.

    Notes
    -----
    Let ``b`` and ``c`` count the mentions that only one of the two has right. The exact test has
    ``p = min(1, 2 P(X ≤ min(b, c)))`` for ``X ~ Bin(b + c, ½)``. χ² is ``(b − c)² / (b + c)``, with
    correction ``max(0, |b − c| − 1)² / (b + c)``, of one degree of freedom.

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions or
    percentages. Miftahutdinov et al. (2021), DILBERT: the test at a level of 0.05. Edwards (1948),
    Note on the "correction for continuity".
    """
    from scipy.special import betainc, chdtrc

    sides = []
    for name, values in (("first", first), ("second", second)):
        side = np.asarray(values)
        if side.ndim != 1 or not np.isin(side, [0, 1]).all():
            raise InvalidInput(
                f"{name} holds something else than right (1) and wrong (0), one per mention; with "
                "partly right mentions use paired_bootstrap"
            )
        sides.append(side.astype(bool))
    _check_pairs(len(sides[0]), len(sides[1]))
    b = int((sides[0] & ~sides[1]).sum())
    c = int((~sides[0] & sides[1]).sum())
    if method == "exact":
        # P(X ≤ min(b, c)) is the incomplete beta function.
        tail = float(betainc(max(b, c), min(b, c) + 1, 0.5)) if b + c else 1.0
        return McNemar(b, c, min(b, c), min(1.0, 2 * tail))
    if method not in {"chi2", "corrected"}:
        raise InvalidInput(f"there is no method {method!r}; there are exact, chi2 and corrected")
    gap = abs(b - c) if method == "chi2" else max(abs(b - c) - 1, 0)
    statistic = gap**2 / (b + c) if b + c else 0.0
    return McNemar(b, c, statistic, float(chdtrc(1, statistic)))


# --- bootstrap ------------------------------------------------------------------------------------


def bound(
    values: npt.ArrayLike,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | int = 0,
) -> Interval:
    """Return the interval of a metric: bootstrap, or Wilson's where the bootstrap fails.

    If all of twelve mentions are right, all their samples are alike. The bootstrap interval is then
    a point, although twelve mentions do not show that every mention would be right. Parameters and
    errors are those of `bootstrap`, with values in [0, 1] or numerators and denominators. The
    interval has a positive width wherever the metric is defined, and is all NaN where it is not.

    Notes
    -----
    Let ``m`` mentions have a positive denominator. Wilson's interval is taken

    - where the metric is 0 or 1: of 0 or ``m`` successes in ``m`` trials. A mention is one trial,
      even if it counts several parts, because these are right or wrong together;
    - where the metric is a proportion (each of the ``m`` is right or wrong) and ``m < 30``.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference. Brown, Cai
    and DasGupta (2001), Interval estimation for a binomial proportion: Wilson's for small ``n``.

    Examples
    --------
    >>> [round(x, 3) for x in bound([1, 1, 1, 1])]
    [1.0, 0.51, 1.0]
    """
    table = _check_values(values)
    counted = table[table[:, 1] > 0]
    n, (right, of) = len(counted), counted.sum(axis=0).tolist()
    if n and right in {0, of}:
        return wilson(n if right else 0, n, level=level)
    proportion = np.isin(counted[:, 0], [0, 1]).all() and (counted[:, 1] == 1).all()
    if n and n < SMALL and proportion:
        return wilson(int(right), n, level=level)
    return bootstrap(table, draws=draws, level=level, rng=rng)


def bootstrap(
    values: npt.ArrayLike,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | int = 0,
) -> Interval:
    """Return the percentile interval of the bootstrap distribution of a metric.

    Parameters
    ----------
    values : array-like, shape (n,) or (n, 2)
        Numbers whose mean is wanted, or numerators and denominators.
    draws : int
        Bootstrap samples.
    level : float
        Confidence in (0, 1).
    rng : numpy.random.Generator or int
        The generator, or the seed of one.

    Returns
    -------
    Interval
        All NaN if the metric is not defined. Draws in which it is not defined are left out.

    Raises
    ------
    InvalidInput
        If there are no values, one is not finite, or an option is invalid.

    References
    ----------
    Efron & Tibshirani (1993), An introduction to the bootstrap, chapter 13.
    """
    table = _check_values(values)
    low, high = percentile_interval(ratios(resample_sums(table, draws, rng)), level)
    return Interval(float(ratios(table.sum(axis=0))), low, high)


def bootstrap_test(
    values: npt.ArrayLike,
    published: float,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | int = 0,
) -> Difference:
    """Compare the values of a system with a `published` number, taken as free of error.

    The difference is the metric minus that number. Parameters and errors are those of `bootstrap`;
    `published` has to be finite.

    Notes
    -----
    With ``θ*_b`` the metric of draw ``b`` of ``B``,
    ``p = min(1, 2 (1 + min(#{θ*_b ≤ θ₀}, #{θ*_b ≥ θ₀})) / (B + 1))``.

    References
    ----------
    Xu & Bethard (2021), Triplet-trained vector space and sieve-based search improve biomedical
    concept normalization: a one-sample bootstrap resampling test of 10,000 draws.
    """
    if not math.isfinite(published):
        raise InvalidInput(f"the published number is {published}; a finite one is expected")
    table = _check_values(values)
    drawn = ratios(resample_sums(table, draws, rng))
    return _difference(float(ratios(table.sum(axis=0))), published, drawn, level)


def paired_bootstrap(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | int = 0,
) -> Difference:
    """Compare two systems on the same mentions.

    Parameters
    ----------
    first, second : array-like, shape (n,) or (n, 2)
        Values of the two, mention by mention in the same order.
    draws, level, rng
        See `bootstrap`.

    Returns
    -------
    Difference
        First minus second. Every draw takes the same mentions for both.

    Raises
    ------
    InvalidInput
        As `bootstrap` does, and if the two have not as many mentions.

    Notes
    -----
    ``p`` is that of `bootstrap_test` for the differences and 0.
    """
    first_values, second_values = _check_values(first), _check_values(second)
    _check_pairs(len(first_values), len(second_values))
    sums = resample_sums(np.hstack([first_values, second_values]), draws, rng)
    drawn = ratios(sums[:, :2]) - ratios(sums[:, 2:])
    value = float(ratios(first_values.sum(axis=0)) - ratios(second_values.sum(axis=0)))
    return _difference(value, 0.0, drawn, level)


def ratios(sums: FloatArray) -> FloatArray:
    """Divide the first by the second of the last axis, ``(…, 2)`` to ``(…)``; NaN over 0."""
    below = sums[..., 1]
    undefined = np.full(below.shape, np.nan)
    return np.asarray(np.divide(sums[..., 0], below, out=undefined, where=below != 0))


def resample_sums(table: FloatArray, draws: int, rng: np.random.Generator | int) -> FloatArray:
    """Sum the columns of ``(n, c)`` over each of many bootstrap samples, ``(draws, c)``.

    Only the number of draws of each distinct row matters, and these numbers are multinomial. Where
    few distinct rows occur, they are drawn directly: the same distribution, much quicker.
    """
    rng = _generator(draws, rng)
    # Sorted rows: the order of the mentions plays no role.
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    n = len(table)
    if len(distinct) <= _FEW:
        sums = rng.multinomial(n, counts / n, size=draws) @ distinct
    else:
        ordered = np.repeat(distinct, counts, axis=0)
        sums = np.concatenate([drawn @ ordered for drawn in resample_counts(n, draws, rng)])
    # Equal samples stay equal, in whatever order a processor adds up.
    return rounded(sums, _SUM_DECIMALS)


def resample_counts(n: int, draws: int, rng: np.random.Generator | int) -> Iterator[FloatArray]:
    """Yield how often each of `n` items is in each sample, ``(some draws, n)`` at a time."""
    rng = _generator(draws, rng)
    step = max(_CHUNK // n, 1)
    for start in range(0, draws, step):
        m = min(step, draws - start)
        places = rng.integers(0, n, size=(m, n)) + n * np.arange(m)[:, None]
        yield np.bincount(places.ravel(), minlength=m * n).reshape(m, n).astype(np.float64)


def percentile_interval(drawn: FloatArray, level: float) -> tuple[float, float]:
    """Return the percentiles with ``(1 − level) / 2`` beyond each; NaN draws are left out."""
    check_level(level)
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return math.nan, math.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _difference(value: float, null: float, drawn: FloatArray, level: float) -> Difference:
    low, high = percentile_interval(drawn, level)
    known = drawn[~np.isnan(drawn)]
    if math.isnan(value):
        return Difference(math.nan, math.nan, math.nan, math.nan)
    tail = min((known <= null).sum(), (known >= null).sum())
    p = min(1.0, 2 * (1 + int(tail)) / (len(known) + 1))
    return Difference(value - null, low - null, high - null, p)


def _generator(draws: int, rng: np.random.Generator | int) -> np.random.Generator:
    if draws < 1:
        raise InvalidInput(f"draws is {draws}; a positive number is expected, as 10,000")
    return np.random.default_rng(rng)


def check_level(level: float) -> None:
    """Raise `InvalidInput` for a confidence that is not between 0 and 1."""
    if not 0 < level < 1:
        raise InvalidInput(f"level is {level}; a confidence between 0 and 1 is expected, as 0.95")


def _check_values(values: npt.ArrayLike) -> FloatArray:
    """Return two columns, numerators and denominators; plain numbers get the denominator 1."""
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


def _check_pairs(n_first: int, n_second: int) -> None:
    if n_first != n_second:
        raise InvalidInput(
            f"the first system has {n_first:,} mentions and the second {n_second:,}; both need the "
            "same mentions in the same order"
        )
    if not n_first:
        raise InvalidInput("no mentions to compare: give at least one")
