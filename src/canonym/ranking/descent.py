"""Least values of smooth functions, by L-BFGS with all sums in one order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
Function = Callable[[_Floats], tuple[float, _Floats]]
"""Returns a value and its gradient."""

_MEMORY = 20
_FLAT = 1e-5  # no part of a gradient is larger
_GAIN = 1e-11  # of the value: a smaller one ends the descent
_SUFFICIENT = 1e-4  # of what the slope promises
_SHORTEST = 1e-10


def minimise(function: Function, start: _Floats, *, iterations: int) -> _Floats:
    """Return where a smooth function is least, from `start` downhill.

    Notes
    -----
    Liu and Nocedal (1989), On the limited memory BFGS method for large scale optimization, with
    the last 20 steps. A step that does not lower the function enough is halved. SciPy's solver adds
    up by BLAS, so the place where it ends depends on the processor.

    >>> def bowl(x):
    ...     return float(((x - 3) ** 2).sum()), 2 * (x - 3)
    >>> minimise(bowl, np.zeros(2), iterations=50).round(4).tolist()
    [3.0, 3.0]
    """
    place, (value, gradient) = start, function(start)
    pairs: deque[tuple[_Floats, _Floats, float]] = deque(maxlen=_MEMORY)
    for _ in range(iterations):
        if np.abs(gradient).max() <= _FLAT:
            break
        direction = _downhill(gradient, pairs)
        promised = _product(gradient, direction)
        size = 1.0 if pairs else min(1.0, 1 / np.sqrt(_product(gradient, gradient)))
        new, slope = function(place + size * direction)
        while not new <= value + _SUFFICIENT * size * promised and size > _SHORTEST:
            size /= 2
            new, slope = function(place + size * direction)
        if not new <= value:
            break
        step, bend = size * direction, slope - gradient
        curvature = _product(step, bend)
        if curvature > _SHORTEST * _product(bend, bend):
            pairs.append((step, bend, curvature))
        gain = value - new
        place, value, gradient = place + step, new, slope
        if gain <= _GAIN * max(abs(value), 1.0):
            break
    return place


def _downhill(gradient: _Floats, pairs: deque[tuple[_Floats, _Floats, float]]) -> _Floats:
    """Return minus the gradient times the inverse curvature that the last steps tell of."""
    direction = -gradient
    shares = []
    for step, bend, curvature in reversed(pairs):
        share = _product(step, direction) / curvature
        shares.append(share)
        direction = direction - share * bend
    if pairs:
        _, bend, curvature = pairs[-1]
        direction = direction * (curvature / _product(bend, bend))
    for (step, bend, curvature), share in zip(pairs, reversed(shares), strict=True):
        direction = direction + (share - _product(bend, direction) / curvature) * step
    return direction


def _product(left: _Floats, right: _Floats) -> float:
    return float((left * right).sum())
