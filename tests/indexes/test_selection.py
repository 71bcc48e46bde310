from __future__ import annotations

import numpy as np
import pytest

from canonym.indexes.selection import promising, promising_pairs


@pytest.mark.parametrize("n", [1, 50, 999, 20_000])
@pytest.mark.parametrize("k", [1, 10, 300])
def test_the_best_are_always_among_the_promising(n: int, k: int) -> None:
    rng = np.random.default_rng(n + k)
    for scores in (rng.random(n), rng.integers(0, 4, n), np.zeros(n)):
        scores = scores.astype(np.float32)
        kth = np.sort(scores)[::-1][min(k, n) - 1]
        assert set(np.flatnonzero(scores >= kth)) <= set(promising(scores, k))


def test_few_others_come_along() -> None:
    scores = np.random.default_rng(0).random(100_000).astype(np.float32)
    assert len(promising(scores, 10)) < 60


def test_forbidden_rows_never_come_along() -> None:
    scores = np.full(5000, -np.inf, dtype=np.float32)
    scores[[7, 4999]] = [0.5, -0.5]
    for k in (1, 2, 9):
        assert set(promising(scores, k)) <= {7, 4999}
    assert promising(np.full(300, -np.inf, dtype=np.float32), 3).tolist() == []


@pytest.mark.parametrize("n", [1, 50, 999, 20_000])
def test_a_block_is_its_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    scores = rng.random((7, n)).astype(np.float32)
    scores[1] = 0
    scores[2, :: max(2, n // 5)] = -np.inf
    scores[3] = -np.inf
    rows, columns = promising_pairs(scores, 3)
    for row, own in enumerate(scores):
        assert sorted(columns[rows == row]) == sorted(promising(own, 3))
    wide = promising_pairs(scores, 3, slack=0.1)
    for row, own in enumerate(scores):
        chosen = set(wide[1][wide[0] == row])
        finite = own[np.isfinite(own)]
        if len(finite):
            near = np.sort(finite)[::-1][:3][-1] - 0.0999
            assert set(np.flatnonzero(own >= near)) <= chosen
        else:
            assert not chosen
