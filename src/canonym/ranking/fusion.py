"""Several scorers, one ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from canonym.errors import InvalidInput
from canonym.types import Float32Array, Hits, Int32Array


class Scorer(NamedTuple):
    """One way of scoring rows, for queries that are encoded already.

    ``search(k)`` returns `Hits`; ``score(rows)`` scores chosen rows, ``(n, m)``; `weight` is its
    share in the sum.
    """

    name: str
    search: Callable[[int], Hits]
    score: Callable[[Int32Array], Float32Array]
    weight: float = 1.0


class FusedHits(NamedTuple):
    """Hits with each scorer's part: ``parts[s]`` is ``(n, k)`` float32 beside ``rows``."""

    rows: Int32Array
    scores: Float32Array
    parts: tuple[Float32Array, ...]


def union_of_rows(found: Sequence[Int32Array]) -> Int32Array:
    """Return the rows that any search found, ``(n, m)`` rising, −1 where empty."""
    together = np.sort(np.concatenate(found, axis=1), axis=1)
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
    ``S(q, r) = Σ_s w_s · S_s(q, r) / Σ_s w_s``, the weighted mean. BioSyn (Sung et al. 2020, eq. 4)
    adds ``dense + λ · sparse``; dividing by ``1 + λ`` changes no ranking and keeps scores of
    cosines at most 1.
    """
    if not scorers:
        raise InvalidInput("no scorer was given; expected at least one encoder")
    total = sum(scorer.weight for scorer in scorers)
    if total <= 0 or any(scorer.weight < 0 for scorer in scorers):
        given = ", ".join(f"{scorer.name}={scorer.weight:g}" for scorer in scorers)
        raise InvalidInput(
            f"the weights are {given}; expected numbers of at least 0, not all of them 0"
        )
    if len(scorers) == 1:
        hits = scorers[0].search(k)
        return FusedHits(hits.rows, hits.scores, (hits.scores,))
    rows = union_of_rows([scorer.search(k).rows for scorer in scorers])
    empty = rows < 0
    parts = [scorer.score(rows) for scorer in scorers]
    mixed = np.zeros(rows.shape, dtype=np.float64)
    for scorer, part in zip(scorers, parts, strict=True):
        mixed += scorer.weight / total * np.where(empty, 0, part)
    scores = np.where(empty, -np.inf, mixed).astype(np.float32)
    # Rows rise before sorting and the sort is stable: ties stay by row, empty places go last.
    order = np.argsort(-scores, axis=1, kind="stable")
    return FusedHits(
        np.take_along_axis(rows, order, axis=1),
        np.take_along_axis(scores, order, axis=1),
        tuple(np.take_along_axis(part, order, axis=1) for part in parts),
    )
