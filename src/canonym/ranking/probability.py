"""Scores become probabilities: logistic regression, and regression by a rising step function.

What is fitted is the same on every processor: see `canonym.io.numbers`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.io.numbers import exp, log, rounded, solve_definite, weighted_sum

FloatArray = npt.NDArray[np.float64]

_STEPS = 100
_PRECISION = 1e-10
_SMALL_STEP = 1e-8  # the next one would be its square
# Of weights: far beyond what a few thousand examples tell, and far above what rounding adds up to.
_DIGITS = 6


class Logistic(NamedTuple):
    """``p = 1 / (1 + exp(−(x · weights + intercept)))``; `weights` is ``(d,)`` float64."""

    weights: FloatArray
    intercept: float

    def logit(self, features: npt.ArrayLike) -> FloatArray:
        """Return ``x · weights + intercept``, ``(n,)`` float64, for features ``(n, d)``."""
        return weighted_sum(features, self.weights) + self.intercept

    def predict(self, features: npt.ArrayLike) -> FloatArray:
        """Return probabilities, ``(n,)`` float64, for features ``(n, d)``."""
        return sigmoid(self.logit(features))


class Isotonic(NamedTuple):
    """A function that never falls: straight between its knots, level beyond them.

    ``knots`` and ``values`` are ``(m,)`` float64, the first rising.
    """

    knots: FloatArray
    values: FloatArray

    def predict(self, values: npt.ArrayLike) -> FloatArray:
        """Return the values at the given places, ``(n,)`` float64."""
        places = np.asarray(values, dtype=np.float64)
        return np.asarray(np.interp(places, self.knots, self.values))


def fit_logistic(
    features: npt.ArrayLike, targets: npt.ArrayLike, *, ridge: float = 1.0
) -> Logistic:
    """Fit a logistic regression to targets from 0 to 1 by Newton's method.

    `ridge`, above 0, is the price of large weights; the intercept costs nothing. So there is a
    solution whatever the data.

    Notes
    -----
    The minimum of ``−Σ [t log p + (1 − t) log(1 − p)] + ridge / 2 · ‖w‖²``. A step that does not
    lower it is halved.

    >>> fitted = fit_logistic([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1], ridge=1.0)
    >>> fitted.predict([[0.0], [0.5], [1.0]]).round(2).tolist()
    [0.4, 0.5, 0.6]
    """
    x, t = np.asarray(features, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if x.ndim != 2 or t.shape != x.shape[:1] or not len(t):
        raise InvalidInput(
            f"features have the shape {x.shape} and targets {t.shape}; (n, d) and (n,) are "
            "expected, n at least 1"
        )
    if not (np.isfinite(x).all() and ((t >= 0) & (t <= 1)).all()):
        raise InvalidInput("finite features and targets from 0 to 1 are expected")
    if not ridge > 0:
        raise InvalidInput(f"ridge is {ridge}; a number above 0 is expected")
    columns = np.vstack([x.T, np.ones(len(x))])
    cost = np.full(len(columns), float(ridge))
    # A little on the intercept keeps it finite where all targets are 0, or 1.
    cost[-1] = 1e-9
    weights = np.zeros(len(columns))

    def loss(of: FloatArray) -> float:
        logit = weighted_sum(columns.T, of)
        softplus = np.maximum(logit, 0) + log(1 + exp(-np.abs(logit)))
        return float((softplus - t * logit).sum() + (cost * of**2).sum() / 2)

    now = loss(weights)
    for _ in range(_STEPS):
        p = sigmoid(weighted_sum(columns.T, weights))
        gradient = (columns * (p - t)).sum(axis=1) + cost * weights
        slope = p * (1 - p)
        curvature = np.stack([(columns * (slope * column)).sum(axis=1) for column in columns])
        step = solve_definite(curvature + np.diag(cost), gradient)
        # What rounding alone adds to the loss does not make a step too long.
        size, slack = 1.0, _PRECISION * max(abs(now), 1.0)
        while size > 1e-12 and not loss(weights - size * step) <= now + slack:
            size /= 2
        weights = weights - size * step
        before, now = now, loss(weights)
        if before - now <= slack and np.abs(step).max() < _SMALL_STEP:
            break
    return Logistic(weights[:-1], float(weights[-1]))


def fit_platt(features: npt.ArrayLike, observed: npt.ArrayLike) -> Logistic:
    """Fit a logistic regression to yes and no, whatever the scales of the features ``(n, d)``.

    Features are brought to mean 0 and deviation 1 for a ridge of 1. As in Platt (1999),
    Probabilistic outputs for support vector machines, the targets are ``(n₊ + 1) / (n₊ + 2)`` and
    ``1 / (n₋ + 2)`` for ``n₊`` times yes and ``n₋`` times no. Weights have six digits.
    """
    x, y = np.asarray(features, dtype=np.float64), np.asarray(observed, dtype=np.bool_)
    yes = int(y.sum())
    high, low = (yes + 1) / (yes + 2), 1 / (len(y) - yes + 2)
    centre, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale < 1e-12] = 1.0
    fitted = fit_logistic((x - centre) / scale, np.where(y, high, low))
    # A feature that says nothing has a weight of 0, whatever rounding leaves of it.
    raw = rounded(fitted.weights, _DIGITS) / scale
    weights = np.array([float(f"{weight:.{_DIGITS}g}") for weight in raw.tolist()])
    (shift,) = weighted_sum(centre[None], weights).tolist()
    return Logistic(weights, round(fitted.intercept - shift, _DIGITS) + 0.0)


def fit_isotonic(scores: npt.ArrayLike, targets: npt.ArrayLike) -> Isotonic:
    """Fit the function of least squared error that never falls, by pooling adjacent violators.

    Equal places count as one with the mean of their targets. See Zadrozny and Elkan (2002),
    Transforming classifier scores into accurate multiclass probability estimates.

    >>> fit_isotonic([1, 2, 3, 4], [0, 1, 0, 1]).values.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    x, t = np.asarray(scores, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if x.ndim != 1 or x.shape != t.shape or not len(x):
        raise InvalidInput(
            f"places have the shape {x.shape} and targets {t.shape}; one of each, and at least "
            "one, is expected"
        )
    if not (np.isfinite(x).all() and np.isfinite(t).all()):
        raise InvalidInput("finite numbers are expected")
    places, group = np.unique(x, return_inverse=True)
    counts = np.bincount(group).astype(np.float64)
    means = np.bincount(group, weights=t) / counts
    # Blocks with their mean, weight and last place; one that is lower than the one before joins it.
    blocks: list[tuple[float, float, int]] = []
    for place, (mean, count) in enumerate(zip(means.tolist(), counts.tolist(), strict=True)):
        while blocks and blocks[-1][0] >= mean:
            before, weight, _ = blocks.pop()
            mean = (before * weight + mean * count) / (weight + count)
            count += weight
        blocks.append((mean, count, place))
    knots, values, first = [], [], 0
    for mean, _, last in blocks:
        for place in (first, last) if last > first else (first,):
            knots.append(places[place])
            values.append(mean)
        first = last + 1
    return Isotonic(np.array(knots), np.array(values))


def sigmoid(logit: FloatArray) -> FloatArray:
    # Never the exponential of a large number.
    small = exp(-np.abs(logit))
    return np.asarray(np.where(logit >= 0, 1, small) / (1 + small))
