from __future__ import annotations

import numpy as np
import pytest

from canonym.indexes.selection import LOWEST, Promising


def promising(scores: np.ndarray, k: int, slack: float = 0, block: int = 7000) -> set[int]:
    """Select from one query's scores, block by block."""
    found = Promising(k, len(scores), np.full(1, slack, np.float32), np.float32)
    for first in range(0, len(scores), block):
        found.add(scores[None, first : first + block], first)
    queries, rows = found.pairs()
    assert not queries.any()
    return set(rows.tolist())


@pytest.mark.parametrize("n", [1, 50, 999, 20_000])
@pytest.mark.parametrize("k", [1, 10, 300])
def test_the_best_are_always_among_the_promising(n: int, k: int) -> None:
    rng = np.random.default_rng(n + k)
    for scores in (rng.random(n), rng.integers(0, 4, n), np.zeros(n)):
        scores = scores.astype(np.float32)
        kth = np.sort(scores)[::-1][min(k, n) - 1]
        assert set(np.flatnonzero(scores >= kth - 0.01)) <= promising(scores, k, 0.01)


def test_few_others_come_along() -> None:
    scores = np.random.default_rng(0).random(100_000).astype(np.float32)
    assert len(promising(scores, 10)) < 60


def test_forbidden_rows_never_come_along() -> None:
    scores = np.full(5000, LOWEST, dtype=np.float32)
    scores[[7, 4999]] = [0.5, -0.5]
    for k in (1, 2, 9):
        assert promising(scores, k) <= {7, 4999}
    assert promising(np.full(300, LOWEST, dtype=np.float32), 3) == set()
