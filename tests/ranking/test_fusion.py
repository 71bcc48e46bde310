from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.ranking.fusion import Scorer, fuse, fuse_exactly, union_of_rows
from canonym.types import Hits

N_ROWS, N_QUERIES = 60, 5


class Table:
    """An index of the scores of queries and rows, −inf where a row is not allowed."""

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores
        self.fetched: list[int] = []

    def search(self, queries: np.ndarray, k: int, *, allowed: np.ndarray | None = None) -> Hits:
        self.fetched.append(k)
        scores = self.scores[queries]
        if allowed is not None:
            scores = np.where(allowed, scores, np.float32(-np.inf))
        rows = np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int32)
        scores = np.take_along_axis(scores, rows, axis=1)
        spare = ((0, 0), (0, max(k - self.scores.shape[1], 0)))
        rows = np.pad(np.where(np.isneginf(scores), -1, rows), spare, constant_values=-1)
        return Hits(rows.astype(np.int32), np.pad(scores, spare, constant_values=-np.inf))

    def score(self, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        scores = np.take_along_axis(self.scores[queries], np.maximum(rows, 0), axis=1)
        return np.where(rows >= 0, scores, -np.inf).astype(np.float32)


def scorer(name: str, seed: int, weight: float = 1.0) -> tuple[Scorer, np.ndarray]:
    table = np.random.default_rng(seed).random((N_QUERIES, N_ROWS)).astype(np.float32)
    return Scorer(name, Table(table), np.arange(N_QUERIES), weight), table


def test_every_candidate_of_either_is_scored_by_both() -> None:
    (one, a), (two, b) = scorer("a", 0, 1.0), scorer("b", 1, 3.0)
    fused = fuse([one, two], 6)
    for i in range(N_QUERIES):
        union = set(one.search(6).rows[i]) | set(two.search(6).rows[i])
        mean = {row: (a[i, row] + 3 * b[i, row]) / 4 for row in union}
        expected = sorted(union, key=lambda row: (-mean[row], row))
        found = [row for row in fused.rows[i].tolist() if row >= 0]
        assert found == expected
        np.testing.assert_allclose(fused.scores[i, : len(found)], [mean[r] for r in found], 1e-6)
        np.testing.assert_allclose(fused.parts[0][i, : len(found)], a[i, found])
        np.testing.assert_allclose(fused.parts[1][i, : len(found)], b[i, found])
        assert np.isneginf(fused.scores[i, len(found) :]).all()


def test_a_weight_of_zero_leaves_only_the_candidates() -> None:
    (one, a), (two, _) = scorer("a", 2), scorer("b", 3, 0.0)
    fused = fuse([one, two], 4)
    assert fused.rows[:, 0].tolist() == a.argmax(axis=1).tolist()
    np.testing.assert_allclose(fused.scores[:, 0], a.max(axis=1))


def test_equal_scores_go_by_row() -> None:
    same = Scorer("same", Table(np.ones((1, 10), np.float32)), np.array([0]))
    only = np.isin(np.arange(10), [4, 2, 9])
    assert fuse([replace(same, allowed=only)] * 2, 3).rows.tolist() == [[2, 4, 9]]


def test_weights_must_mean_something() -> None:
    one, _ = scorer("a", 0)
    with pytest.raises(InvalidInput, match="no scorer"):
        fuse([], 3)
    with pytest.raises(InvalidInput, match="a=0"):
        fuse([replace(one, weight=0)], 3)
    with pytest.raises(InvalidInput, match="a=-1, a=2"):
        fuse([replace(one, weight=-1), replace(one, weight=2)], 3)


def test_union_drops_what_is_found_twice() -> None:
    a = np.array([[5, 1, -1], [2, -1, -1]], dtype=np.int32)
    b = np.array([[1, 7], [2, -1]], dtype=np.int32)
    assert union_of_rows([a, b]).tolist() == [[1, 5, 7], [2, -1, -1]]


@pytest.mark.parametrize("seed", range(30))
def test_the_best_sums_of_all_rows_are_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_rows, k = 6, int(rng.integers(1, 300)), int(rng.integers(1, 12))
    # Few distinct numbers, so that many sums are equal, and the two against each other.
    steps = int(rng.choice([2, 5, 1000]))
    dense = (rng.integers(0, steps, (n, n_rows)) / steps - 0.3).astype(np.float32)
    sparse = (rng.integers(0, steps, (n, n_rows)) / steps).astype(np.float32)
    if seed % 3 == 0:
        sparse = (0.7 - dense).astype(np.float32)
    weights = (1.0, float(rng.choice([0.0, 0.5, 3.0])))
    scale = rng.random(n) * 9 if seed % 2 else None
    share = np.ones((n, 2)) * weights
    if scale is not None:
        share[:, 0] *= scale
    share /= share.sum(axis=1, keepdims=True)
    if scale is None:  # the products of a number are rounded, as they were before
        share = share.astype(np.float32)
    expected = np.zeros((n, n_rows)) + share[:, :1] * dense
    expected = (expected + share[:, 1:] * sparse).astype(np.float32)
    if seed % 4 == 0:
        hidden = rng.random(n_rows) < 0.7
        dense[:, hidden] = sparse[:, hidden] = expected[:, hidden] = -np.inf

    def scorers_of(some: np.ndarray) -> list[Scorer]:
        scaled = None if scale is None else scale[some]
        return [
            Scorer("dense", Table(dense), some, weights[0], scaled),
            Scorer("sparse", Table(sparse), some, weights[1]),
        ]

    found = fuse_exactly(scorers_of, np.arange(n), k, n_rows)
    for i in range(n):
        order = np.argsort(-expected[i], kind="stable")[:k]
        order = order[~np.isneginf(expected[i, order])]
        assert found.rows[i].tolist() == order.tolist() + [-1] * (k - len(order))
        assert found.scores[i, : len(order)].tolist() == expected[i, order].tolist()
        np.testing.assert_array_equal(found.parts[0][i, : len(order)], dense[i, order])
        np.testing.assert_array_equal(found.parts[1][i, : len(order)], sparse[i, order])
        assert np.isneginf(found.scores[i, len(order) :]).all()


def test_the_union_misses_what_the_sum_of_all_finds() -> None:
    dense = np.array([[0.9, 0.8, 0.6, 0.0, 0.0]], np.float32)
    sparse = np.array([[0.0, 0.0, 0.6, 0.9, 0.8]], np.float32)

    def scorers_of(some: np.ndarray) -> list[Scorer]:
        return [Scorer(name, Table(t), some) for name, t in (("a", dense), ("b", sparse))]

    assert fuse(scorers_of(np.array([0])), 1).rows[0, 0] == 0
    assert fuse_exactly(scorers_of, np.array([0]), 1, 5).rows.tolist() == [[2]]


def test_most_rows_are_never_scored() -> None:
    rng = np.random.default_rng(1)
    dense, sparse = rng.normal(size=(2, 4, 5000)).astype(np.float32)
    tables = (Table(dense), Table(np.clip(sparse, 0, 1)))

    def scorers_of(some: np.ndarray) -> list[Scorer]:
        return [Scorer(n, t, some, w) for n, t, w in zip("ab", tables, (200.0, 3.0), strict=True)]

    fuse_exactly(scorers_of, np.arange(4), 5, 5000)
    assert max(tables[0].fetched + tables[1].fetched) <= 320


def test_some_of_the_queries() -> None:
    tables = [Table(np.random.default_rng(seed).random((6, 9)).astype("f4")) for seed in (1, 2)]

    def scorers_of(some: np.ndarray) -> list[Scorer]:
        return [Scorer(name, table, some) for name, table in zip("ab", tables, strict=True)]

    whole = fuse_exactly(scorers_of, np.arange(6), 3, 9)
    some = fuse_exactly(scorers_of, np.array([4, 1]), 3, 9)
    assert some.rows.tolist() == whole.rows[[4, 1]].tolist()


def test_no_queries() -> None:
    table = Table(np.zeros((1, 4), np.float32))

    def scorers_of(some: np.ndarray) -> list[Scorer]:
        return [Scorer(name, table, some) for name in "ab"]

    assert fuse_exactly(scorers_of, np.arange(0), 3, 4).rows.shape == (0, 3)
