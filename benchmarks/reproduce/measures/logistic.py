"""Logistic regression; what is fitted is the same on every processor, see `canonym.io.numbers`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.io.numbers import FloatArray, exp, log, sigmoid, weighted_sum

_STEPS = 100
_PRECISION = 1e-10
_SMALL_STEP = 1e-8  # the next one would be its square


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


def solve_definite(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return ``x`` with ``matrix @ x = right``, for a symmetric matrix with a positive curvature.

    >>> solve_definite(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([4.0, 5.0])).tolist()
    [1.0, 2.0]
    """
    table = np.column_stack([matrix, right])
    for place in range(len(table)):
        below = table[place + 1 :]
        below -= (below[:, place] / table[place, place])[:, None] * table[place]
    solved = np.zeros(len(table))
    for place in reversed(range(len(table))):
        known = (table[place, :-1] * solved).sum()
        solved[place] = (table[place, -1] - known) / table[place, place]
    return solved
