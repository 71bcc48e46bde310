"""How sure a number is, and whether a difference between two systems is one.

Values are one number per mention, whose mean is the metric, or two columns of
`canonym.evaluation.metrics.columns`, the ratio of whose sums it is. Mentions are resampled as they
are, so that an F1 has an interval like an accuracy has.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.intervals import Interval
from canonym.evaluation.resampling import (
    check_values,
    percentile_interval,
    ratios,
    resample_sums,
)

__all__ = ["Difference", "McNemar", "bootstrap", "bootstrap_test", "mcnemar", "paired_bootstrap"]


class Difference(NamedTuple):
    """A number against another.

    Attributes
    ----------
    value, low, high : float
        The difference, first minus second, and its interval.
    p : float
        Two-sided probability of a difference at least as large if there were none.
    """

    value: float
    low: float
    high: float
    p: float


class McNemar(NamedTuple):
    """Outcome of McNemar's test.

    Attributes
    ----------
    only_first, only_second : int
        Mentions that only the first, and only the second system has right.
    statistic : float
        χ², or the smaller of the two counts for the exact test.
    p : float
        Two-sided.
    """

    only_first: int
    only_second: int
    statistic: float
    p: float


def bootstrap(
    values: npt.ArrayLike,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | int = 0,
) -> Interval:
    """Bound a metric by the percentiles of its bootstrap distribution.

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
        If there are no values, one is not finite, or an option cannot be used.

    References
    ----------
    Efron & Tibshirani (1993), An introduction to the bootstrap, chapter 13.
    """
    table = check_values(values)
    drawn = ratios(resample_sums(table, draws, rng))
    low, high = percentile_interval(drawn, level)
    return Interval(float(ratios(table.sum(axis=0))), low, high)


def bootstrap_test(
    values: npt.ArrayLike,
    published: float,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | int = 0,
) -> Difference:
    """Compare a system with a published number whose predictions are not to be had.

    Parameters
    ----------
    values : array-like, shape (n,) or (n, 2)
        Of the system, as `bootstrap` takes them.
    published : float
        The number to compare with, taken as free of error.
    draws, level, rng
        As `bootstrap` takes them.

    Returns
    -------
    Difference
        Value minus `published`.

    Raises
    ------
    InvalidInput
        As `bootstrap` does, and if `published` is not finite.

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
    table = check_values(values)
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
        As `bootstrap` takes them.

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
    one, two = check_values(first), check_values(second)
    _check_pairs(len(one), len(two))
    sums = resample_sums(np.hstack([one, two]), draws, rng)
    drawn = ratios(sums[:, :2]) - ratios(sums[:, 2:])
    return _difference(float(ratios(one.sum(axis=0)) - ratios(two.sum(axis=0))), 0.0, drawn, level)


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
        If there are no mentions, not as many for both, something else than right and wrong, or
        no such method.

    Notes
    -----
    With ``b`` and ``c`` the mentions that only one of the two has right: exact is
    ``p = min(1, 2 P(X ≤ min(b, c)))`` for ``X ~ Bin(b + c, ½)``; χ² is ``(b − c)² / (b + c)``, with
    correction ``max(0, |b − c| − 1)² / (b + c)``, of one degree of freedom.

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions or
    percentages. Miftahutdinov et al. (2021), DILBERT: the test at a level of 0.05. Edwards (1948),
    Note on the "correction for continuity".
    """
    sides = []
    for name, given in (("first", first), ("second", second)):
        side = np.asarray(given)
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
        from scipy.special import bdtr

        return McNemar(b, c, min(b, c), min(1.0, 2 * float(bdtr(min(b, c), b + c, 0.5))))
    if method not in {"chi2", "corrected"}:
        raise InvalidInput(f"there is no method {method!r}; there are exact, chi2 and corrected")
    gap = abs(b - c) if method == "chi2" else max(abs(b - c) - 1, 0)
    statistic = gap**2 / (b + c) if b + c else 0.0
    return McNemar(b, c, statistic, math.erfc(math.sqrt(statistic / 2)))


def _difference(
    value: float, null: float, drawn: npt.NDArray[np.float64], level: float
) -> Difference:
    low, high = percentile_interval(drawn, level)
    known = drawn[~np.isnan(drawn)]
    if math.isnan(value):
        return Difference(math.nan, math.nan, math.nan, math.nan)
    tail = min((known <= null).sum(), (known >= null).sum())
    p = min(1.0, 2 * (1 + int(tail)) / (len(known) + 1))
    return Difference(value - null, low - null, high - null, p)


def _check_pairs(n_first: int, n_second: int) -> None:
    if n_first != n_second:
        raise InvalidInput(
            f"the first system has {n_first:,} mentions and the second {n_second:,}; both need the "
            "same mentions in the same order"
        )
    if not n_first:
        raise InvalidInput("no mentions to compare: give at least one")
