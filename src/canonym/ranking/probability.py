"""Scores become probabilities; the same on every processor, see `canonym.io.numbers`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from canonym.io.numbers import exp

FloatArray = npt.NDArray[np.float64]


def sigmoid(logit: FloatArray) -> FloatArray:
    """Return ``1 / (1 + exp(−logit))`` of each number."""
    # Never the exponential of a large number.
    small = exp(-np.abs(logit))
    return np.asarray(np.where(logit >= 0, 1, small) / (1 + small))
