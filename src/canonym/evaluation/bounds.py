"""The interval of a figure: by bootstrap, and by Wilson's score where resampling tells nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from canonym.evaluation.intervals import Interval, wilson
from canonym.evaluation.resampling import check_values
from canonym.evaluation.significance import bootstrap

__all__ = ["SMALL", "bound"]

SMALL = 30
"""Proportions of fewer mentions than this are bounded by Wilson's score interval."""


def bound(
    values: npt.ArrayLike,
    *,
    draws: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | int = 0,
) -> Interval:
    """Bound a metric: by the bootstrap, or by Wilson's score where that is the better one.

    Twelve mentions that are all right do not show that every mention would be: their resamplings
    are all alike, and the interval of the bootstrap is a point.

    Parameters
    ----------
    values : array-like, shape (n,) or (n, 2)
        Numbers in [0, 1] whose mean is wanted, or numerators and denominators.
    draws, level, rng
        As `canonym.evaluation.significance.bootstrap` takes them.

    Returns
    -------
    Interval
        Of positive width wherever the metric is defined; all NaN where it is not.

    Raises
    ------
    InvalidInput
        As `canonym.evaluation.significance.bootstrap` does.

    Notes
    -----
    Let ``m`` mentions have a positive denominator. Wilson's interval is taken

    - where the metric is 0 or 1, whatever it is: of 0 or ``m`` successes in ``m`` trials. A mention
      is one trial, also where it counts several parts, as these are right and wrong together;
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
    table = check_values(values)
    counted = table[table[:, 1] > 0]
    n, (right, of) = len(counted), counted.sum(axis=0).tolist()
    plain = n and np.isin(counted[:, 0], [0, 1]).all() and (counted[:, 1] == 1).all()
    if n and right in {0, of}:
        return wilson(n if right else 0, n, level=level)
    if plain and n < SMALL:
        return wilson(int(right), n, level=level)
    return bootstrap(table, draws=draws, level=level, rng=rng)
