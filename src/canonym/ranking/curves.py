"""Fit the curves of a re-ranker: the same ones each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.ranking.rerank import Curve, Reranker

__all__ = ["fit_reranker"]

_Float64Array = npt.NDArray[np.float64]


def fit_reranker(
    features: npt.NDArray[Any],
    gold: npt.NDArray[np.bool_],
    names: Sequence[str],
    *,
    there: npt.NDArray[np.bool_] | None = None,
    weights: npt.ArrayLike | None = None,
    knots: int = 8,
    smoothness: float = 1.0,
    ridge: float = 0.1,
    start: Reranker | None = None,
    iterations: int = 300,
) -> Reranker:
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
    start : Reranker, optional
        Where curves begin and what they are drawn to: knots of features that it has are its own, so
        that a few decisions of one's own change it a little. Zero by default.
    iterations : int
        Most steps of the optimiser.

    Returns
    -------
    Reranker
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
    return Reranker(curves)


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
    times: _Float64Array,
    origin: _Float64Array,
    grids: Sequence[_Float64Array],
    smoothness: float,
    ridge: float,
    iterations: int,
) -> _Float64Array:
    from scipy.optimize import minimize

    steps = np.ones(len(origin) - 1, dtype=bool)  # between neighbouring knots of one curve
    ends = np.cumsum([len(grid) + 1 for grid in grids])
    steps[ends - 2] = False  # the last knot and the missing value
    steps[ends[:-1] - 1] = False  # the missing value and the next curve's first knot
    transposed = design.T.tocsr()

    def loss(weights: _Float64Array) -> tuple[float, _Float64Array]:
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
