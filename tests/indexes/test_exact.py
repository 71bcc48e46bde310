from __future__ import annotations

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.indexes import exact
from canonym.indexes.exact import Exact


def test_vectors_of_any_length_are_compared_by_angle() -> None:
    index = Exact.build(np.array([[3, 0], [0, 0.5], [-2, 0], [0, 0]], dtype=np.float32))
    hits = index.search(np.array([[10, 0]], dtype=np.float32), 4)
    assert hits.rows.tolist() == [[0, 1, 3, 2]]
    assert hits.scores.tolist() == [[1, 0, 0, -1]]


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    index = Exact.build(rng.standard_normal((1000, 16)).astype(np.float32))
    queries = rng.standard_normal((10, 16)).astype(np.float32)
    whole = index.search(queries, 9)
    monkeypatch.setattr(exact, "_ROW_BLOCK", 37)
    monkeypatch.setattr(Exact, "_at_once", 3)
    split = index.search(queries, 9)
    assert split.rows.tobytes() == whole.rows.tobytes()
    assert split.scores.tobytes() == whole.scores.tobytes()


def test_half_precision_rows_are_searched_as_stored() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((400, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    half = vectors.astype(np.float16)
    hits = Exact(half).search(vectors[:5], 3)  # type: ignore[arg-type]
    expected = (half.astype(np.float64) @ vectors[:5].T.astype(np.float64)).T
    np.testing.assert_allclose(hits.scores, -np.sort(-expected, axis=1)[:, :3], atol=1e-6)


def test_vectors_must_be_finite_and_flat() -> None:
    with pytest.raises(InvalidInput, match="vector 1 holds a number that is not finite"):
        Exact.build(np.array([[1, 0], [np.nan, 0]], dtype=np.float32))
    with pytest.raises(InvalidInput, match="two dimensions"):
        Exact(np.zeros(3, dtype=np.float32))
