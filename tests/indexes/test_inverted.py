from __future__ import annotations

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.indexes import inverted
from canonym.indexes.inverted import Inverted
from canonym.types import SparseVectors


def random_vectors(n: int, width: int, seed: int) -> SparseVectors:
    rng = np.random.default_rng(seed)
    dense = rng.random((n, width)) * (rng.random((n, width)) < np.linspace(0.01, 0.7, width))
    dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-9)
    counts = (dense > 0).sum(axis=1)
    return SparseVectors(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.nonzero(dense)[1].astype(np.int32),
        dense[dense > 0].astype(np.float32),
        width,
    )


@pytest.mark.parametrize(("frequent", "memory"), [(0.0, 1 << 28), (2.0, 1 << 28), (0.1, 4000)])
def test_the_share_of_dense_columns_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, frequent: float, memory: int
) -> None:
    vectors, queries = random_vectors(500, 30, 0), random_vectors(8, 30, 1)
    expected = Inverted.build(vectors).search(queries, 12)
    monkeypatch.setattr(inverted, "_FREQUENT", frequent)
    monkeypatch.setattr(inverted, "_DENSE_BYTES", memory)
    found = Inverted.build(vectors).search(queries, 12)
    assert found.rows.tobytes() == expected.rows.tobytes()
    assert found.scores.tobytes() == expected.scores.tobytes()


def test_dense_queries_are_refused() -> None:
    index = Inverted.build(random_vectors(5, 4, 2))
    with pytest.raises(InvalidInput, match="width \\(2, 4\\); expected sparse vectors of 4"):
        index.search(np.zeros((2, 4), np.float32), 1)  # type: ignore[arg-type]
