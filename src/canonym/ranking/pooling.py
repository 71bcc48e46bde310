"""Rows become concepts: the best row of each, fetched until there are enough."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.ranking.fusion import FusedHits
from canonym.types import Float32Array, Int32Array


class RankedConcepts(NamedTuple):
    """Ranked concepts of a batch of queries.

    ``concepts``, ``rows`` ``(n, k)`` int32 and ``scores`` ``(n, k)`` float32: the concept, its best
    row and that row's score; −1 and −inf where empty. ``parts[s]`` ``(n, k)`` float32 is the score
    of the row by scorer ``s``.
    """

    concepts: Int32Array
    rows: Int32Array
    scores: Float32Array
    parts: tuple[Float32Array, ...]


class TieRule(NamedTuple):
    """The order of equal scores.

    ``concept_of_row`` and ``scope_of_row`` describe rows; ``concept_rank`` is a number per concept,
    smaller first: the place of its id, or a random permutation for the protocol of Xu & Bethard
    (2021), who break ties at random. With ``by_scope`` the more trusted scope (a label) goes first.
    ``preference`` is a number per concept that counts before both, smaller first. The concepts
    whose rank lies in ``home`` are a terminology's own, and go before those that it took from
    others where names are as trusted: *asthma* in EFO is its own, and not that of MONDO.
    """

    concept_of_row: Int32Array
    scope_of_row: npt.NDArray[np.int8]
    concept_rank: npt.NDArray[np.int32]
    by_scope: bool = True
    preference: npt.NDArray[np.int32] | None = None
    home: tuple[int, int] = (0, 0)

    def order(
        self,
        rows: npt.NDArray[Any],
        run: npt.NDArray[Any] | None = None,
        *,
        writing: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[np.intp]:
        """Return the places of rows of equal scores in their order; with runs, run after run.

        `writing`, ``(n, 2)``, tells how near each name is to a string as it is written, smaller
        first: what counts before scopes, and what counts after them. Neither does where ties are
        broken at random.
        """
        owners = self.concept_of_row[rows]
        ranks = self.concept_rank[owners]
        begin, end = self.home
        taken = (ranks < begin) | (ranks >= end)
        keys: list[npt.NDArray[Any]] = [rows, ranks]
        if self.by_scope and writing is not None:
            keys += [writing[:, 1], taken, self.scope_of_row[rows], writing[:, 0]]
        elif self.by_scope:
            keys += [taken, self.scope_of_row[rows]]
        if self.preference is not None:
            keys.append(self.preference[owners])
        return np.lexsort(keys if run is None else [*keys, run])


def pool(hits: FusedHits, k: int, ties: TieRule) -> RankedConcepts:
    """Rank the best `k` concepts of every query by their best row.

    Equal scores are in the order of `TieRule`.
    """
    n = len(hits.rows)
    queries, places = np.nonzero(hits.rows >= 0)
    rows, score = hits.rows[queries, places], hits.scores[queries, places]
    owners = ties.concept_of_row[rows]
    # Scores of a query fall already: only equal ones, which stand together, change places.
    begins = np.ones(len(rows), dtype=np.bool_)
    begins[1:] = (queries[1:] != queries[:-1]) | (score[1:] != score[:-1])
    tied = np.flatnonzero(~(begins & np.append(begins[1:], True)))
    order = np.arange(len(rows))
    order[tied] = tied[ties.order(rows[tied], np.cumsum(begins)[tied])]
    # The first place of each concept of a query, in their order.
    _, first = np.unique(queries * len(ties.concept_rank) + owners[order], return_index=True)
    best = order[np.sort(first)]
    of = queries[best]
    rank = np.arange(len(best)) - np.searchsorted(of, of)
    best, of, rank = best[rank < k], of[rank < k], rank[rank < k]

    def ranked(values: npt.NDArray[Any], empty: float) -> npt.NDArray[Any]:
        whole = np.full((n, k), empty, dtype=values.dtype)
        whole[of, rank] = values[best]
        return whole

    return RankedConcepts(
        ranked(owners, -1),
        ranked(rows, -1),
        ranked(score, -np.inf),
        tuple(ranked(part[queries, places], -np.inf) for part in hits.parts),
    )


def search_concepts(
    search: Callable[[npt.NDArray[np.intp], int], FusedHits],
    n_queries: int,
    n_rows: int,
    k: int,
    ties: TieRule,
    *,
    n_concepts: int | None = None,
) -> RankedConcepts:
    """Search rows until every query has `k` concepts or the rows run out.

    The nearest names may all belong to one concept, and ties may be cut off in the middle; such
    queries are searched again with twice as many rows. ``search(queries, k)`` returns the hits
    of the chosen queries, an array of their numbers; `n_concepts` may be found, where fewer than
    `k` are allowed.
    """
    if k < 1:
        raise InvalidInput(f"k is {k}; expected the number of candidates wanted, at least 1")
    n_needed = k if n_concepts is None else min(k, n_concepts)
    pending = np.arange(n_queries)
    fetch = max(8 * k, 32)  # rows cost little beside another search
    result: RankedConcepts | None = None
    while True:
        hits = search(pending, min(fetch, max(n_rows, 1)))
        ranked = pool(hits, k, ties)
        if result is None:
            result = ranked
        else:
            for whole, new in zip(_arrays(result), _arrays(ranked), strict=True):
                whole[pending] = new
        if fetch >= n_rows:
            return result
        last = hits.scores[:, -1] if hits.scores.shape[1] else np.zeros(len(pending))
        enough = (ranked.concepts >= 0).sum(axis=1) >= n_needed
        # A tie between the last concept wanted and the last row fetched may go on beyond it. Rows
        # that score 0 or less share nothing with the query: their order is of no interest.
        kth = ranked.scores[:, n_needed - 1] if n_needed else last
        settled = enough & ((kth > last) | (kth <= 0) | ~np.isfinite(last))
        pending = pending[~settled]
        if not len(pending):
            return result
        fetch *= 2


def _arrays(ranked: RankedConcepts) -> tuple[npt.NDArray[np.generic], ...]:
    return (ranked.concepts, ranked.rows, ranked.scores, *ranked.parts)


class RowsByConcept:
    """The rows of each concept, sorted on first use; `owners` is the concept of every row."""

    def __init__(self, owners: Int32Array) -> None:
        self._owners = owners

    @functools.cached_property
    def _sorted(self) -> tuple[Int32Array, npt.NDArray[np.intp]]:
        order = np.argsort(self._owners, kind="stable")
        n = int(self._owners.max(initial=-1)) + 1
        starts = np.searchsorted(self._owners, np.arange(n + 1), sorter=order)
        return order.astype(np.int32), starts

    def of(
        self, concepts: npt.NDArray[np.integer[Any]], most: int
    ) -> tuple[Int32Array, npt.NDArray[np.intp]]:
        """Return the first rows of each concept, rising, and the place in `concepts` of each."""
        rows, starts = self._sorted
        first, last = (starts[np.minimum(c, len(starts) - 1)] for c in (concepts, concepts + 1))
        counts = np.minimum(last - first, most)
        ends = np.cumsum(counts)
        places = np.repeat(np.arange(len(counts)), counts)
        return rows[np.arange(len(places)) + np.repeat(first - ends + counts, counts)], places
