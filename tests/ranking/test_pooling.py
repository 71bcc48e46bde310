from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.ranking.fusion import FusedHits
from canonym.ranking.pooling import RowsByConcept, TieRule, pool, search_concepts


def ties_for(concepts: list[int], scopes: list[int] | None = None, **more: object) -> TieRule:
    owners = np.array(concepts, dtype=np.int32)
    return TieRule(
        owners,
        np.array(scopes or [1] * len(concepts), dtype=np.int8),
        np.arange(owners.max(initial=0) + 1, dtype=np.int32),
        **more,  # type: ignore[arg-type]
    )


def hits_of(rows: list[int], scores: list[float]) -> FusedHits:
    given = np.array([scores], dtype=np.float32)
    return FusedHits(np.array([rows], dtype=np.int32), given, (given * 10,))


def test_a_concept_is_as_good_as_its_best_row() -> None:
    ranked = pool(
        hits_of([4, 0, 3, 1, -1], [0.9, 0.8, 0.7, 0.6, -np.inf]), 3, ties_for([0, 0, 1, 1, 1])
    )
    assert ranked.concepts.tolist() == [[1, 0, -1]]
    assert ranked.rows.tolist() == [[4, 0, -1]]
    np.testing.assert_allclose(ranked.scores, [[0.9, 0.8, -np.inf]], rtol=1e-6)
    np.testing.assert_allclose(ranked.parts[0], [[9, 8, -np.inf]], rtol=1e-6)


def test_a_terminology_prefers_its_own_concepts_among_labels() -> None:
    owners, labels = np.arange(4, dtype=np.int32), np.zeros(4, dtype=np.int8)
    ranks, rows = np.array([0, 3, 1, 2], dtype=np.int32), np.arange(4)
    ties = TieRule(owners, labels, ranks)
    assert ties.order(rows).tolist() == [0, 2, 3, 1]
    own = ties._replace(home=(2, 4))
    assert own.order(rows).tolist() == [3, 1, 0, 2]
    first_letter = np.array([[0, 0], [0, 1], [0, 0], [0, 1]])
    assert own.order(rows, writing=first_letter).tolist() == [3, 1, 0, 2]
    synonym = own._replace(scope_of_row=np.array([0, 1, 0, 1], dtype=np.int8))
    assert synonym.order(rows).tolist() == [0, 2, 3, 1]
    assert own._replace(by_scope=False).order(rows).tolist() == [0, 2, 3, 1]


def test_equal_scores_prefer_labels_then_ids() -> None:
    equal = hits_of([0, 1, 2], [0.5, 0.5, 0.5])
    assert pool(equal, 3, ties_for([2, 1, 0], [1, 0, 1])).concepts.tolist() == [[1, 0, 2]]
    by_id = ties_for([2, 1, 0], [1, 0, 1], by_scope=False)
    assert pool(equal, 3, by_id).concepts.tolist() == [[0, 1, 2]]
    ranked = by_id._replace(concept_rank=np.array([2, 0, 1], dtype=np.int32))
    assert pool(equal, 3, ranked).concepts.tolist() == [[1, 2, 0]]


class Table:
    """Scores of every query with every row, searched by sorting; counts the searches."""

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores.astype(np.float32)
        self.asked: list[tuple[int, int]] = []

    def search(self, queries: np.ndarray, k: int) -> FusedHits:
        self.asked.append((len(queries), k))
        table = self.scores[queries]
        rows = np.argsort(-table, axis=1, kind="stable")[:, :k].astype(np.int32)
        found = np.take_along_axis(table, rows, axis=1)
        return FusedHits(rows, found, (found,))


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 5))
def test_enough_concepts_whatever_the_names_crowd_around(seed: int, k: int, spread: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_queries = 200, 4
    owners = (rng.random(n_rows) ** spread * 20).astype(int).tolist()
    # Few different scores: ties everywhere.
    table = Table(rng.integers(1, 8, (n_queries, n_rows)) / 8)
    ties = ties_for(owners, rng.integers(0, 3, n_rows).tolist())
    ranked = search_concepts(table.search, n_queries, n_rows, k, ties)
    everything = pool(table.search(np.arange(n_queries), n_rows), k, ties)
    assert ranked.concepts.tolist() == everything.concepts.tolist()
    assert ranked.scores.tolist() == everything.scores.tolist()


def test_only_the_unsettled_are_searched_again() -> None:
    scores = np.zeros((2, 400))
    scores[0] = np.linspace(1, 0.5, 400)  # every row a concept of its own: settled at once
    scores[1] = np.linspace(0.5, 1, 400)  # the last 100 rows belong to one concept
    table = Table(scores)
    ties = ties_for([*range(300), *[300] * 100])
    ranked = search_concepts(table.search, 2, 400, 2, ties)
    assert ranked.concepts.tolist() == [[0, 1], [300, 299]]
    assert table.asked == [(2, 32), (1, 64), (1, 128)]


def test_rows_that_share_nothing_are_not_chased() -> None:
    table = Table(np.zeros((3, 5000)))
    search_concepts(table.search, 3, 5000, 2, ties_for(list(range(5000))))
    assert len(table.asked) == 1


def test_a_filter_may_leave_fewer_concepts_than_wanted() -> None:
    table = Table(np.random.default_rng(0).random((1, 1000)))
    ranked = search_concepts(table.search, 1, 1000, 5, ties_for([0] * 1000), n_concepts=1)
    assert ranked.concepts.tolist() == [[0, -1, -1, -1, -1]]
    assert len(table.asked) == 1


def test_no_candidates_wanted_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="k is 0"):
        search_concepts(Table(np.zeros((1, 1))).search, 1, 1, 0, ties_for([0]))


def test_rows_come_by_concept_and_rise() -> None:
    rows = RowsByConcept(np.array([2, 0, 2, 3, 0], dtype=np.int32))
    found, places = rows.of(np.array([2, 1, 0, 4, 2, 3]), 9)
    assert found.tolist() == [0, 2, 1, 4, 0, 2, 3]
    assert places.tolist() == [0, 0, 2, 2, 4, 4, 5]
    assert [each.tolist() for each in rows.of(np.array([0, 3]), 1)] == [[1, 3], [0, 1]]
    nothing = RowsByConcept(np.zeros(0, dtype=np.int32)).of(np.array([0]), 9)
    assert [each.tolist() for each in nothing] == [[], []]
