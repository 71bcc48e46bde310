from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.encoders.chargrams import CharGrams
from canonym.errors import InvalidInput
from canonym.indexes.concatenated import Concatenated
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.vectors import index_of, take_vectors
from canonym.types import Hits

NAMES = [f"{one} {two}" for one in ("heart", "hart", "lung", "liver") for two in ("a", "ab", "b")]


def same(first: Hits, second: Hits) -> None:
    assert first.rows.tolist() == second.rows.tolist()
    assert first.scores.tolist() == second.scores.tolist()


@given(st.integers(0, 10_000), st.integers(1, 30), st.lists(st.integers(0, 9), max_size=4))
def test_dense_parts_answer_as_one_index(seed: int, k: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    # Few different vectors: ties across the parts.
    vectors = rng.integers(-1, 2, (sum(sizes) + 3, 3)).astype(np.float32)
    queries = rng.integers(-1, 2, (4, 3)).astype(np.float32)
    whole = Exact.build(vectors)
    bounds = np.cumsum([0, *sizes, 3])
    stacked = Concatenated([Exact(whole.vectors[a:b]) for a, b in itertools.pairwise(bounds)])
    assert stacked.n_rows == whole.n_rows
    same(stacked.search(queries, k), whole.search(queries, k))
    allowed = rng.random(len(vectors)) < 0.5
    same(stacked.search(queries, k, allowed=allowed), whole.search(queries, k, allowed=allowed))
    rows = rng.integers(-1, len(vectors), (4, 6)).astype(np.int32)
    assert stacked.score(queries, rows).tolist() == whole.score(queries, rows).tolist()


def test_sparse_parts_answer_as_one_index() -> None:
    encoder = CharGrams().fit(NAMES)
    vectors = encoder.encode(NAMES)
    whole = Inverted.build(vectors)
    parts = [index_of(take_vectors(vectors, np.arange(a, b))) for a, b in ((0, 5), (5, 5), (5, 12))]
    queries = encoder.encode(["heart b", "", "liver"])
    same(Concatenated(parts).search(queries, 12), whole.search(queries, 12))
    nothing = np.zeros(12, dtype=bool)
    same(
        Concatenated(parts).search(queries, 2, allowed=nothing),
        whole.search(queries, 2, allowed=nothing),
    )
    assert Concatenated(parts).search(queries, 2, allowed=nothing).rows.shape == (3, 2)


def test_without_rows_nothing_is_found() -> None:
    none = Concatenated([Exact(np.zeros((0, 2), dtype=np.float32))])
    assert none.search(np.ones((3, 2), dtype=np.float32), 2).rows.tolist() == [[-1, -1]] * 3


def test_what_cannot_be_searched_is_refused() -> None:
    stacked = Concatenated([Exact(np.eye(2, dtype=np.float32))])
    with pytest.raises(InvalidInput, match="k is 0"):
        stacked.search(np.eye(2, dtype=np.float32), 0)
    with pytest.raises(InvalidInput, match="a mask of 2 booleans"):
        stacked.search(np.eye(2, dtype=np.float32), 1, allowed=np.ones(3, dtype=bool))
