"""Several scorers, one ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.types import BoolArray, Float32Array, Hits, Int32Array, Searchable

Share = float | npt.NDArray[np.float64]
"""The share of a scorer in a weighted mean: of all queries, or ``(n, 1)``."""

_PAIRS = 1 << 21  # queries and rows that are scored at once


@dataclass(frozen=True)
class Scorer:
    """One way of scoring rows, for queries that are encoded already.

    `weight` is its share in the sum. `scale` ``(n,)`` multiplies the weight for each query: the
    score of an inner product is a share of the query's product with itself, and the sum is of the
    products. `allowed` marks the rows that may be found; None allows all.
    """

    name: str
    index: Searchable
    queries: Any
    weight: float = 1.0
    scale: npt.NDArray[np.float64] | None = None
    allowed: BoolArray | None = None

    def search(self, k: int) -> Hits:
        """Return the `k` nearest rows of every query."""
        return self.index.search(self.queries, k, allowed=self.allowed)

    def score(self, rows: Int32Array) -> Float32Array:
        """Score chosen rows, ``(n, m)``, for every query."""
        return self.index.score(self.queries, rows)


class FusedHits(NamedTuple):
    """Hits with each scorer's part: ``parts[s]`` is ``(n, k)`` float32 beside ``rows``."""

    rows: Int32Array
    scores: Float32Array
    parts: tuple[Float32Array, ...]


def union_of_rows(rows_of: Sequence[Int32Array]) -> Int32Array:
    """Return the rows that any search found, ``(n, m)`` rising, −1 where empty."""
    together = np.sort(np.concatenate(rows_of, axis=1), axis=1)
    repeated = np.zeros_like(together, dtype=bool)
    repeated[:, 1:] = together[:, 1:] == together[:, :-1]
    together[repeated] = -1
    width = int((together >= 0).sum(axis=1).max(initial=0))
    order = np.argsort(together < 0, axis=1, kind="stable")
    return np.take_along_axis(together, order, axis=1)[:, :width]


def fuse(scorers: Sequence[Scorer], k: int) -> FusedHits:
    """Score the union of the `k` best candidates of each scorer by every scorer.

    All rows of the union come back, ``(n, m)`` with m ≤ ``k · len(scorers)``; ties by row.

    Notes
    -----
    ``S(q, r) = Σ_s w_s · S_s(q, r) / Σ_s w_s``, the weighted mean. BioSyn (Sung et al. 2020, eq. 5)
    adds ``dense + λ · sparse``; dividing by ``1 + λ`` changes no ranking and keeps scores of
    cosines at most 1. With inner products the weight of a scorer is multiplied by ``⟨q, q⟩``. The
    result is then ``S(q, r) / S(q, q)``, and 1 is the same name still.
    """
    shares = shares_of(scorers)
    if len(scorers) == 1:
        hits = scorers[0].search(k)
        return FusedHits(hits.rows, hits.scores, (hits.scores,))
    rows = union_of_rows([scorer.search(k).rows for scorer in scorers])
    return _scored(scorers, shares, rows)


def fuse_exactly(
    scorers_of: Callable[[npt.NDArray[np.intp]], Sequence[Scorer]],
    queries: npt.NDArray[np.intp],
    k: int,
    n_rows: int,
) -> FusedHits:
    """Return the `k` best of all rows by the weighted mean of `fuse`, ``(n, k)``; ties by row.

    ``scorers_of(some)`` makes the scorers of some of the `queries`, by their numbers. BioSyn
    searches like this: a row may be among the best by the sum, and by neither of its terms.

    Notes
    -----
    A row that no search has found scores at most what the last row of every search would score
    together. Once the k-th best row is above that, no other can be among the best; until then each
    search fetches four times as many rows.

    References
    ----------
    Fagin, Lotem and Naor (2003), Optimal aggregation algorithms for middleware: the threshold
    algorithm.
    """
    whole: FusedHits | None = None
    n = len(queries)
    pending, fetch = np.arange(n), min(4 * k, max(n_rows, 1))  # k rows are seldom enough
    while whole is None or len(pending):
        step = max(1, _PAIRS // fetch)
        left = []
        for first in range(0, max(len(pending), 1), step):
            some = pending[first : first + step]
            best, settled = _best(scorers_of(queries[some]), k, fetch)
            if fetch >= n_rows:
                settled[:] = True
            whole = whole or _empty(n, k, len(best.parts))
            for target, part in zip(_arrays(whole), _arrays(best), strict=True):
                target[some[settled]] = part[settled]
            left.append(some[~settled])
        pending, fetch = np.concatenate(left), min(4 * fetch, max(n_rows, 1))
    return whole


def _best(scorers: Sequence[Scorer], k: int, fetch: int) -> tuple[FusedHits, BoolArray]:
    """Return the best `k` rows that any search finds, and for which queries no other is better."""
    shares = shares_of(scorers)
    hits_of = [scorer.search(fetch) for scorer in scorers]
    fused = _scored(scorers, shares, union_of_rows([hits.rows for hits in hits_of]))
    last = [hits.scores[:, -1:] for hits in hits_of]
    # A search that runs out of rows has found them all.
    seen = np.asarray(np.isneginf(np.concatenate(last, axis=1)).any(axis=1))
    bound = _mixed(shares, [np.where(seen[:, None], 0, part) for part in last])[:, 0]
    best = _empty(len(seen), k, len(scorers))
    width = min(k, fused.rows.shape[1])
    for target, source in zip(_arrays(best), _arrays(fused), strict=True):
        target[:, :width] = source[:, :width]
    return best, seen | (best.scores[:, -1] > bound)


def shares_of(scorers: Sequence[Scorer]) -> list[Share]:
    """Return the share of every scorer in the weighted mean: a number, or one per query.

    Raises `InvalidInput` where there is no scorer, or weights that make no mean.
    """
    if not scorers:
        raise InvalidInput("no scorer was given; expected at least one encoder")
    total = sum(scorer.weight for scorer in scorers)
    if total <= 0 or any(scorer.weight < 0 for scorer in scorers):
        weights = ", ".join(f"{scorer.name}={scorer.weight:g}" for scorer in scorers)
        raise InvalidInput(
            f"the weights are {weights}; expected numbers of at least 0, not all of them 0"
        )
    return mean_shares([scorer.weight for scorer in scorers], [scorer.scale for scorer in scorers])


def mean_shares(
    weights: Sequence[float], scales: Sequence[npt.NDArray[np.float64] | None]
) -> list[Share]:
    """Return the shares of weights in their sum, where each may have a scale per query."""
    if all(scale is None for scale in scales):
        total = sum(weights) or 1.0
        return [weight / total for weight in weights]
    scaled = [
        weight if scale is None else weight * scale[:, None]
        for weight, scale in zip(weights, scales, strict=True)
    ]
    whole: Any = sum(scaled)
    # Only a query of zeros, alone, has nothing to share.
    return [part / np.where(whole > 0, whole, 1) for part in scaled]


def _scored(scorers: Sequence[Scorer], shares: Sequence[Share], rows: Int32Array) -> FusedHits:
    """Score rows by every scorer, and rank them; −1 is empty."""
    empty = rows < 0
    parts = [scorer.score(rows) for scorer in scorers]
    mixed = _mixed(shares, [np.where(empty, 0, part) for part in parts])
    scores = np.where(empty, np.float32(-np.inf), mixed)
    # Rows rise before sorting and the sort is stable: ties stay by row, empty places go last.
    order = np.argsort(-scores, axis=1, kind="stable")
    return FusedHits(
        np.take_along_axis(rows, order, axis=1),
        np.take_along_axis(scores, order, axis=1),
        tuple(np.take_along_axis(part, order, axis=1) for part in parts),
    )


def _mixed(shares: Sequence[Share], parts: Sequence[Float32Array]) -> Float32Array:
    mixed = np.zeros(parts[0].shape, dtype=np.float64)
    for share, part in zip(shares, parts, strict=True):
        mixed += share * part
    return mixed.astype(np.float32)


def _empty(n: int, k: int, n_parts: int) -> FusedHits:
    nothing = (np.full((n, k), -np.inf, dtype=np.float32) for _ in range(n_parts + 1))
    scores, *parts = nothing
    return FusedHits(np.full((n, k), -1, dtype=np.int32), scores, tuple(parts))


def _arrays(hits: FusedHits) -> tuple[npt.NDArray[Any], ...]:
    return (hits.rows, hits.scores, *hits.parts)
