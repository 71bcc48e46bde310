from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from canonym.encoders.chargrams import CharGrams
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.vectors import index_of, join_vectors, mean_vectors, take_vectors
from canonym.types import SparseVectors

NAMES = ["heart attack", "heart", "lung", "", "attack of the heart", "lungs"]


def sparse_of(table: np.ndarray) -> SparseVectors:
    filled = [np.flatnonzero(row) for row in table]
    return SparseVectors(
        np.cumsum([0, *map(len, filled)]).astype(np.int64),
        np.concatenate([*filled, np.empty(0, dtype=int)]).astype(np.int32),
        np.concatenate([row[f] for row, f in zip(table, filled, strict=True)]).astype(np.float32),
        table.shape[1],
    )


def table_of(vectors: SparseVectors) -> np.ndarray:
    table = np.zeros((vectors.n_rows, vectors.n_columns))
    for i in range(vectors.n_rows):
        span = slice(vectors.indptr[i], vectors.indptr[i + 1])
        assert (np.diff(vectors.indices[span]) > 0).all()
        table[i, vectors.indices[span]] = vectors.data[span]
    return table


@given(st.integers(0, 10_000))
def test_a_mean_is_that_of_its_group_whatever_the_kind(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, groups = int(rng.integers(1, 12)), 4
    vectors = rng.integers(-2, 3, (n, 5)).astype(np.float32)
    of = rng.integers(0, groups, n).astype(np.int32)
    expected = np.zeros((groups, 5))
    for group in range(groups):
        if (of == group).any():
            mean = vectors[of == group].astype(float).mean(axis=0)
            length = np.sqrt((mean**2).sum())
            expected[group] = mean / length if length > 1e-9 else 0
    dense = mean_vectors(vectors, of, groups)
    assert isinstance(dense, np.ndarray)
    np.testing.assert_allclose(dense, expected, atol=1e-6)
    sparse = mean_vectors(sparse_of(vectors), of, groups)
    assert isinstance(sparse, SparseVectors)
    np.testing.assert_allclose(table_of(sparse), expected, atol=1e-6)


def test_rows_are_taken_and_joined() -> None:
    dense = np.arange(12, dtype=np.float32).reshape(4, 3)
    rows = np.array([3, 0, 3])
    assert take_vectors(dense, rows).tolist() == dense[rows].tolist()  # type: ignore[union-attr]
    joined = join_vectors([dense[:1], dense[1:]])
    assert joined.tolist() == dense.tolist()  # type: ignore[union-attr]
    encoder = CharGrams().fit(NAMES)
    sparse = encoder.encode(NAMES)
    taken = take_vectors(sparse, np.array([4, 3, 4]))
    assert isinstance(taken, SparseVectors)
    np.testing.assert_array_equal(table_of(taken), table_of(sparse)[[4, 3, 4]])
    assert take_vectors(sparse, np.empty(0, dtype=int)).n_rows == 0  # type: ignore[union-attr]
    both = join_vectors([encoder.encode(NAMES[:2]), encoder.encode(NAMES[2:])])
    assert isinstance(both, SparseVectors)
    np.testing.assert_array_equal(table_of(both), table_of(sparse))


def test_an_index_gives_its_vectors_back() -> None:
    sparse = CharGrams().fit(NAMES).encode(NAMES)
    index = index_of(sparse)
    assert isinstance(index, Inverted)
    np.testing.assert_array_equal(table_of(index.vectors), table_of(sparse))
    dense = np.eye(3, dtype=np.float32)
    assert isinstance(index_of(dense), Exact)
    assert index_of(dense).vectors.tolist() == dense.tolist()  # type: ignore[union-attr]
