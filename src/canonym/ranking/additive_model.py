"""A small additive model that orders the top candidates and explains itself.

The right concept is among the first twenty far more often than it is the first. Many small things
set it apart: how clear the lead is, whether numerals agree, whether a name is the label or a stray
synonym. Each of them gets a curve, fitted on mentions whose concept is known; a candidate's score
is the sum of the curves at its features.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.io.numbers import exp, log
from canonym.ranking.descent import minimise
from canonym.types import Float32Array

_Float64Array = npt.NDArray[np.float64]


class Curve(NamedTuple):
    """The worth of one feature.

    ``knots`` are rising values of the feature, ``values`` its worth there, with straight lines
    between them and level ends; ``missing`` is its worth where the feature is unknown (NaN).
    """

    name: str
    knots: tuple[float, ...]
    values: tuple[float, ...]
    missing: float

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Curve:
        """Return a curve from what `_asdict` returned."""
        return cls(
            str(fields["name"]),
            tuple(map(float, fields["knots"])),
            tuple(map(float, fields["values"])),
            float(fields["missing"]),
        )


class _Grid(NamedTuple):
    """Curves as arrays ``(f, m)``, one a line: knots, inf where a curve has fewer, and the rest.

    `slopes` are those of the lines on the right of each knot; `missing` and `n_knots` are ``(f,)``.
    """

    knots: _Float64Array
    values: _Float64Array
    slopes: _Float64Array
    missing: _Float64Array
    n_knots: npt.NDArray[np.intp]


class AdditiveModel:
    """Score candidates by the sum of curves over their features, one curve for each column.

    Notes
    -----
    ``s(x) = Σ_j g_j(x_j)`` with piecewise linear ``g_j``: a generalised additive model (Hastie and
    Tibshirani 1986). A feature adds ``g_j(x_j)`` to a score and nothing else, so an explanation is
    exact.
    """

    def __init__(self, curves: Sequence[Curve]) -> None:
        self.curves = tuple(curves)
        names = self.names
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
        """Return the share of each feature in the score of each candidate, (..., f) float64.

        Features are (..., f), NaN where unknown.
        """
        features = np.asarray(features, dtype=np.float64)
        if features.shape[-1:] != (len(self.curves),):
            raise InvalidInput(
                f"features of shape {features.shape} were given; expected {len(self.curves)} "
                "in the last dimension"
            )
        grid = self._grid
        right = np.minimum((grid.knots <= features[..., None]).sum(axis=-1), grid.n_knots)
        column, left = np.arange(len(self.curves)), np.maximum(right - 1, 0)
        on_line = (right > 0) & (right < grid.n_knots)  # level ends have no slope
        with np.errstate(invalid="ignore"):
            away = np.where(on_line, features - grid.knots[column, left], 0)
        worth = grid.slopes[column, left] * away + grid.values[column, left]
        return np.where(np.isnan(features), grid.missing, worth)

    @functools.cached_property
    def _grid(self) -> _Grid:
        """All curves in arrays, for few candidates are done sooner in all columns at once."""
        n = max((len(curve.knots) for curve in self.curves), default=0)
        knots = np.full((len(self.curves), n), np.inf)
        values, slopes = np.zeros(knots.shape), np.zeros(knots.shape)
        for column, curve in enumerate(self.curves):
            m = len(curve.knots)
            knots[column, :m], values[column, :m] = curve.knots, curve.values
            slopes[column, : m - 1] = np.diff(curve.values) / np.diff(curve.knots)
        missing = np.array([curve.missing for curve in self.curves])
        return _Grid(knots, values, slopes, missing, np.isfinite(knots).sum(axis=1))

    def score(self, features: npt.NDArray[Any]) -> Float32Array:
        """Score candidates: the sums of `worth`, (...) float32.

        Larger is better; only differences within a mention mean anything.
        """
        return np.asarray(self.worth(features).sum(axis=-1), dtype=np.float32)

    def named(self, worth: npt.NDArray[Any]) -> list[dict[str, float]]:
        """Name the share of each feature of n candidates, rows of `worth`; the largest first."""
        by_name = sorted(range(len(self.names)), key=self.names.__getitem__)
        names = np.array(self.names, dtype=object)[by_name]
        shares = worth[:, by_name]
        order = np.argsort(-np.abs(shares), axis=1, kind="stable")
        sorted_shares = np.take_along_axis(shares, order, axis=1)
        return [
            dict(zip(keys, row, strict=True))
            for keys, row in zip(names[order].tolist(), sorted_shares.tolist(), strict=True)
        ]


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
    """Fit curves to mentions whose concepts are known; the same result for the same input.

    Of `n` mentions with `k` candidates, `features` are (n, k, f), NaN where unknown; `gold` (n, k)
    are the right candidates, `there` (n, k) the existing ones, `weights` (n,) the number of
    mentions that each counts as. Mentions without a right or without a wrong candidate teach
    nothing. A curve has at most `knots`, at quantiles of its feature. `smoothness` and `ridge`
    penalise, in mentions, steps between neighbouring values and distances from `start`, whose
    curves keep their knots: so a few new decisions change it a little.

    Notes
    -----
    Minimises ``−Σ_i w_i log Σ_{c right} softmax(s_i)_c``, the marginal likelihood of BioSyn (Sung
    et al. 2020, eq. 8) with curves in the place of vectors, plus the penalties, by L-BFGS.
    """
    if knots < 2 or smoothness < 0 or ridge <= 0 or iterations < 1:
        raise InvalidInput(
            f"knots={knots}, smoothness={smoothness}, ridge={ridge}, iterations={iterations}: "
            "expected at least 2, at least 0, more than 0 and at least 1"
        )
    features, gold, there, times = _teaching(features, gold, names, there, weights)
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
    fitted = _minimise(
        _design(rows, grids), gold, there, times, origin, grids, smoothness, ridge, iterations
    )
    curves, at = [], 0
    for name, grid in zip(names, grids, strict=True):
        values = fitted[at : at + len(grid) + 1].tolist()
        curves.append(Curve(str(name), tuple(grid.tolist()), tuple(values[:-1]), values[-1]))
        at += len(grid) + 1
    return AdditiveModel(curves)


def _teaching(
    features: npt.NDArray[Any],
    gold: npt.NDArray[np.bool_],
    names: Sequence[str],
    there: npt.NDArray[np.bool_] | None,
    weights: npt.ArrayLike | None,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_], npt.NDArray[np.bool_], _Float64Array]:
    """Return the features, right and existing candidates, and weights of the useful mentions."""
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
    gold = gold & there
    useful = gold.any(axis=1) & (there & ~gold).any(axis=1)
    if not useful.any():
        raise InvalidInput(
            f"none of {len(gold):,} mentions has a right and a wrong candidate; nothing can be "
            "learned from them"
        )
    return features[useful], gold[useful], there[useful], times[useful]


def _quantiles(values: _Float64Array, n: int) -> _Float64Array:
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(1)
    distinct = np.unique(known)
    if len(distinct) <= n:
        return np.asarray(distinct)
    # Quantiles of the different values: most candidates share a few of them.
    return np.unique(np.quantile(distinct, np.linspace(0, 1, n)))


def _design(rows: _Float64Array, grids: Sequence[_Float64Array]) -> Any:
    """Return the sparse matrix that turns values at the knots into scores of candidates."""
    from scipy.sparse import csr_array

    n, at = len(rows), 0
    columns, shares = [], []
    for column, grid in enumerate(grids):
        values = rows[:, column]
        unknown = np.isnan(values)
        if len(grid) > 1:
            inside = np.clip(np.where(unknown, grid[0], values), grid[0], grid[-1])
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
        (np.stack(shares, axis=1).ravel(), np.stack(columns, axis=1).ravel(), indptr), shape=(n, at)
    )


def _minimise(
    design: Any,
    gold: npt.NDArray[np.bool_],
    there: npt.NDArray[np.bool_],
    times: _Float64Array,
    origin: _Float64Array,
    grids: Sequence[_Float64Array],
    smoothness: float,
    ridge: float,
    iterations: int,
) -> _Float64Array:
    steps = np.ones(len(origin) - 1, dtype=bool)  # between neighbouring knots of one curve
    ends = np.cumsum([len(grid) + 1 for grid in grids])
    steps[ends - 2] = False  # the last knot and the missing value
    steps[ends[:-1] - 1] = False  # the missing value and the next curve's first knot
    transposed = design.T.tocsr()

    def loss(weights: _Float64Array) -> tuple[float, _Float64Array]:
        scores = np.full(gold.shape, -np.inf)
        scores[there] = design @ weights
        scores -= scores.max(axis=1, keepdims=True)
        mass = exp(scores)
        right = np.where(gold, mass, 0)
        whole, part = mass.sum(axis=1), right.sum(axis=1)
        part = np.maximum(part, np.finfo(float).tiny)
        slope = times[:, None] * (mass / whole[:, None] - right / part[:, None])
        away = weights - origin
        rise = np.where(steps, np.diff(away), 0)
        value = (times * (log(whole) - log(part))).sum()
        value += ridge / 2 * (away**2).sum() + smoothness / 2 * (rise**2).sum()
        gradient = transposed @ slope[there] + ridge * away
        gradient[1:] += smoothness * rise
        gradient[:-1] -= smoothness * rise
        return float(value), gradient

    return minimise(loss, origin, iterations=iterations)
