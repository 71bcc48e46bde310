"""Choose among the top candidates with a small additive model that explains itself.

The right concept is among the first twenty far more often than it is the first. What tells it apart
are many small things: how clear the lead is, whether numerals agree, whether a name is the label or
a stray synonym. Each of them gets a curve, fitted on mentions whose concept is known, and a
candidate's score is the sum of what its curves say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.types import Float32Array

# --- rerank ---

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


class AdditiveModel:
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


# --- curves ---
# MODULE: Fit the curves of a re-ranker: the same ones each time.

_CurvesFloat64Array = npt.NDArray[np.float64]


def fit_additive_model(
    features: npt.NDArray[Any],
    gold: npt.NDArray[np.bool_],
    names: Sequence[str],
    *,
    there: npt.NDArray[np.bool_] | None = None,
    weights: npt.ArrayLike | None = None,
    knots: int = 8,
    smoothness: float = 1.0,
    ridge: float = 0.1,
    start: AdditiveModel | None = None,
    iterations: int = 300,
) -> AdditiveModel:
    """Fit the curves of a re-ranker to mentions whose concepts are known.

    Parameters
    ----------
    features : (n, k, f) float array
        Features of `k` candidates of `n` mentions; NaN where unknown.
    gold : (n, k) bool
        Which candidates are right. Mentions without one, or without a wrong one, teach nothing.
    names : sequence of str
        Of the `f` features.
    there : (n, k) bool, optional
        Which candidates there are; all by default.
    weights : (n,) float array, optional
        How many mentions each counts as, at least 0; 1 by default.
    knots : int
        Most knots of a curve, at quantiles of its feature; at least 2.
    smoothness, ridge : float
        How strongly neighbouring values of a curve, and values and those of `start`, are kept
        together, in mentions: as if so many mentions had said so.
    start : AdditiveModel, optional
        Where curves begin and what they are drawn to: knots of features that it has are its own, so
        that a few decisions of one's own change it a little. Zero by default.
    iterations : int
        Most steps of the optimiser.

    Returns
    -------
    AdditiveModel
        The same for the same input, on any machine but for rounding.

    Raises
    ------
    InvalidInput
        If shapes do not fit, options are out of range, or no mention teaches anything.

    Notes
    -----
    Minimises ``−Σ_i w_i log Σ_{c right} softmax(s_i)_c``, the marginal likelihood of BioSyn (eq. 8)
    with curves in the place of vectors, plus the penalties, by L-BFGS.

    References
    ----------
    Sung, Jeon, Lee and Kang (2020), Biomedical Entity Representations with Synonym Marginalization.
    """
    gold = np.asarray(gold, dtype=bool)
    there = np.ones(gold.shape, dtype=bool) if there is None else np.asarray(there, dtype=bool)
    times = np.ones(len(gold)) if weights is None else np.asarray(weights, dtype=np.float64)
    if features.shape != (*gold.shape, len(names)) or there.shape != gold.shape:
        raise InvalidInput(
            f"features of shape {features.shape}, gold of {gold.shape} and {len(names)} names were "
            "given; expected (n, k, f), (n, k) and f"
        )
    if times.shape != gold.shape[:1] or not (np.isfinite(times) & (times >= 0)).all():
        raise InvalidInput(
            f"weights of shape {times.shape} were given for {len(gold):,} mentions; expected a "
            "number for each, 0 or more"
        )
    if knots < 2 or smoothness < 0 or ridge <= 0 or iterations < 1:
        raise InvalidInput(
            f"knots={knots}, smoothness={smoothness}, ridge={ridge}, iterations={iterations}: "
            "expected at least 2, at least 0, more than 0 and at least 1"
        )
    gold = gold & there
    teaching = gold.any(axis=1) & (there & ~gold).any(axis=1)
    if not teaching.any():
        raise InvalidInput(
            f"none of {len(gold):,} mentions has a right and a wrong candidate; nothing can be "
            "learned from them"
        )
    features, gold, there = features[teaching], gold[teaching], there[teaching]
    times = times[teaching]
    begun = {curve.name: curve for curve in start.curves} if start else {}
    rows = features[there].astype(np.float64)
    grids = [
        np.asarray(begun[name].knots) if name in begun else _quantiles(rows[:, column], knots)
        for column, name in enumerate(names)
    ]
    origin = np.concatenate(
        [
            (*begun[name].values, begun[name].missing) if name in begun else np.zeros(len(grid) + 1)
            for name, grid in zip(names, grids, strict=True)
        ]
    )
    weights = _minimise(
        _design(rows, grids), gold, there, times, origin, grids, smoothness, ridge, iterations
    )
    curves, at = [], 0
    for name, grid in zip(names, grids, strict=True):
        found = weights[at : at + len(grid) + 1].tolist()
        curves.append(Curve(str(name), tuple(grid.tolist()), tuple(found[:-1]), found[-1]))
        at += len(grid) + 1
    return AdditiveModel(curves)


def _quantiles(values: _CurvesFloat64Array, n: int) -> _CurvesFloat64Array:
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(1)
    distinct = np.unique(known)
    if len(distinct) <= n:
        return np.asarray(distinct)
    # Quantiles of the different values: most candidates share a few of them.
    return np.unique(np.quantile(distinct, np.linspace(0, 1, n)))


def _design(rows: _CurvesFloat64Array, grids: Sequence[_CurvesFloat64Array]) -> Any:
    """Return the sparse matrix that turns values at the knots into scores of candidates."""
    from scipy.sparse import csr_array

    n, at = len(rows), 0
    columns, shares = [], []
    for column, grid in enumerate(grids):
        given = rows[:, column]
        unknown = np.isnan(given)
        if len(grid) > 1:
            inside = np.clip(np.where(unknown, grid[0], given), grid[0], grid[-1])
            left = np.clip(np.searchsorted(grid, inside, side="right") - 1, 0, len(grid) - 2)
            share = (inside - grid[left]) / (grid[left + 1] - grid[left])
        else:
            left, share = np.zeros(n, dtype=np.intp), np.zeros(n)
        right = np.minimum(left + 1, len(grid) - 1)
        columns += [np.where(unknown, at + len(grid), at + left), at + right]
        shares += [np.where(unknown, 1, 1 - share), np.where(unknown, 0, share)]
        at += len(grid) + 1
    width = len(columns)
    indptr = np.arange(0, n * width + 1, width)
    return csr_array(
        (np.stack(shares, axis=1).ravel(), np.stack(columns, axis=1).ravel(), indptr),
        shape=(n, at),
    )


def _minimise(
    design: Any,
    gold: npt.NDArray[np.bool_],
    there: npt.NDArray[np.bool_],
    times: _CurvesFloat64Array,
    origin: _CurvesFloat64Array,
    grids: Sequence[_CurvesFloat64Array],
    smoothness: float,
    ridge: float,
    iterations: int,
) -> _CurvesFloat64Array:
    from scipy.optimize import minimize

    steps = np.ones(len(origin) - 1, dtype=bool)  # between neighbouring knots of one curve
    ends = np.cumsum([len(grid) + 1 for grid in grids])
    steps[ends - 2] = False  # the last knot and the missing value
    steps[ends[:-1] - 1] = False  # the missing value and the next curve's first knot
    transposed = design.T.tocsr()

    def loss(weights: _CurvesFloat64Array) -> tuple[float, _CurvesFloat64Array]:
        scores = np.full(gold.shape, -np.inf)
        scores[there] = design @ weights
        scores -= scores.max(axis=1, keepdims=True)
        mass = np.exp(scores)
        right = np.where(gold, mass, 0)
        whole, part = mass.sum(axis=1), right.sum(axis=1)
        part = np.maximum(part, np.finfo(float).tiny)
        slope = times[:, None] * (mass / whole[:, None] - right / part[:, None])
        away = weights - origin
        rise = np.where(steps, np.diff(away), 0)
        value = times @ (np.log(whole) - np.log(part))
        value += ridge / 2 * (away @ away) + smoothness / 2 * (rise @ rise)
        gradient = transposed @ slope[there] + ridge * away
        gradient[1:] += smoothness * rise
        gradient[:-1] -= smoothness * rise
        return float(value), gradient

    found = minimize(
        loss, origin, jac=True, method="L-BFGS-B", options={"maxiter": iterations, "maxcor": 20}
    )
    return np.asarray(found.x)
