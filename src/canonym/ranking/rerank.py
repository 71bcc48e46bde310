"""Choose among the top candidates with a small additive model that explains itself.

The right concept is among the first twenty far more often than it is the first. What tells it apart
are many small things: how clear the lead is, whether numerals agree, whether a name is the label or
a stray synonym. Each of them gets a curve, fitted on mentions whose concept is known, and a
candidate's score is the sum of what its curves say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.types import Float32Array

__all__ = ["Curve", "Reranker"]

_Float64Array = npt.NDArray[np.float64]


class Curve(NamedTuple):
    """What one feature is worth.

    Attributes
    ----------
    name : str
        The feature.
    knots : tuple of float
        Rising values of the feature.
    values : tuple of float
        What it is worth at the knots; straight lines between them, level beyond the ends.
    missing : float
        What it is worth where the feature is unknown (NaN).
    """

    name: str
    knots: tuple[float, ...]
    values: tuple[float, ...]
    missing: float

    def __call__(self, feature: npt.ArrayLike) -> _Float64Array:
        """Return what values of the feature are worth, of the same shape."""
        given = np.asarray(feature, dtype=np.float64)
        worth = np.interp(given, self.knots, self.values)
        return np.where(np.isnan(given), self.missing, worth)


class Reranker:
    """Score candidates by the sum of curves over their features.

    Parameters
    ----------
    curves : sequence of Curve
        One per feature, in the order of the columns it is given.

    Raises
    ------
    InvalidInput
        If a curve has no knot, knots that do not rise, or other than one number per knot, or two
        have one name.

    Notes
    -----
    ``s(x) = Σ_j g_j(x_j)`` with piecewise linear ``g_j``: a generalised additive model. What a
    feature adds to a score is ``g_j(x_j)`` and nothing else, so that an explanation is exact.

    References
    ----------
    Hastie and Tibshirani (1986), Generalized Additive Models.
    """

    def __init__(self, curves: Sequence[Curve]) -> None:
        self.curves = tuple(curves)
        names = [curve.name for curve in self.curves]
        if len(set(names)) < len(names):
            raise InvalidInput(f"features are named more than once: {', '.join(names)}")
        for curve in self.curves:
            numbers = (*curve.knots, *curve.values, curve.missing)
            rising = all(a < b for a, b in zip(curve.knots, curve.knots[1:], strict=False))
            if (
                not curve.knots
                or not rising
                or len(curve.knots) != len(curve.values)
                or not all(map(math.isfinite, numbers))
            ):
                raise InvalidInput(
                    f"the curve of {curve.name!r} needs rising knots and a finite value for each"
                )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in the order of the columns."""
        return tuple(curve.name for curve in self.curves)

    def worth(self, features: npt.NDArray[Any]) -> _Float64Array:
        """Return what each feature of each candidate adds to its score, (..., f) float64.

        Parameters
        ----------
        features : (..., f) float array
            One column per curve; NaN where a feature is unknown.

        Raises
        ------
        InvalidInput
            If there is not one column per curve.
        """
        features = np.asarray(features)
        if features.shape[-1:] != (len(self.curves),):
            raise InvalidInput(
                f"features of shape {features.shape} were given; expected {len(self.curves)} "
                "in the last dimension"
            )
        found = np.empty(features.shape)
        for column, curve in enumerate(self.curves):
            found[..., column] = curve(features[..., column])
        return found

    def score(self, features: npt.NDArray[Any]) -> Float32Array:
        """Score candidates: the sums of `worth`, (...) float32.

        Larger is better; only differences within a mention mean anything.
        """
        return np.asarray(self.worth(features).sum(axis=-1), dtype=np.float32)

    def named(self, worth: npt.NDArray[Any]) -> dict[str, float]:
        """Name what each feature of one candidate adds, a row of `worth`; the largest share first.

        Returns
        -------
        dict of str to float
            By feature.
        """
        shares = dict(zip(self.names, worth.tolist(), strict=True))
        return dict(sorted(shares.items(), key=lambda share: (-abs(share[1]), share[0])))
