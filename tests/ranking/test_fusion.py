from __future__ import annotations

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.ranking.fusion import Scorer, fuse, union_of_rows
from canonym.types import Hits

N_ROWS, N_QUERIES = 60, 5


def scorer(name: str, seed: int, weight: float = 1.0) -> tuple[Scorer, np.ndarray]:
    table = np.random.default_rng(seed).random((N_QUERIES, N_ROWS)).astype(np.float32)

    def search(k: int) -> Hits:
        rows = np.argsort(-table, axis=1, kind="stable")[:, :k].astype(np.int32)
        return Hits(rows, np.take_along_axis(table, rows, axis=1))

    def score(rows: np.ndarray) -> np.ndarray:
        found = np.take_along_axis(table, np.maximum(rows, 0), axis=1)
        return np.where(rows >= 0, found, -np.inf).astype(np.float32)

    return Scorer(name, search, score, weight), table


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
    rows = np.array([[4, 2, 9]], dtype=np.int32)
    same = Scorer(
        "same",
        lambda k: Hits(rows[:, :k], np.ones((1, 3), np.float32)[:, :k]),
        lambda r: np.where(r >= 0, 1, -np.inf).astype(np.float32),
    )
    assert fuse([same, same], 3).rows.tolist() == [[2, 4, 9]]


def test_weights_must_mean_something() -> None:
    one, _ = scorer("a", 0)
    with pytest.raises(InvalidInput, match="no scorer"):
        fuse([], 3)
    with pytest.raises(InvalidInput, match="a=0"):
        fuse([one._replace(weight=0)], 3)
    with pytest.raises(InvalidInput, match="a=-1, a=2"):
        fuse([one._replace(weight=-1), one._replace(weight=2)], 3)


def test_union_drops_what_is_found_twice() -> None:
    a = np.array([[5, 1, -1], [2, -1, -1]], dtype=np.int32)
    b = np.array([[1, 7], [2, -1]], dtype=np.int32)
    assert union_of_rows([a, b]).tolist() == [[1, 5, 7], [2, -1, -1]]
