"""Folded rows only save time: every answer is that of the plain product, to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput, ReadError
from canonym.indexes import int8, inverted
from canonym.indexes.int8 import SparseInt8
from canonym.indexes.inverted import Inverted, write_inverted
from canonym.indexes.selection import ranked_hits
from canonym.indexes.vectors import take_vectors
from canonym.types import Hits, SparseVectors

N_COLUMNS = 40


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8, "_SPARSE_BLOCK", 64)
    monkeypatch.setattr(int8, "_RUN", 4)
    monkeypatch.setattr(int8, "_WIDTH", 12)
    monkeypatch.setattr(int8, "_AT_ONCE", 256)
    monkeypatch.setattr(inverted, "_AT_ONCE", 5)
    monkeypatch.setattr(inverted, "_PAIR_BLOCK", 50)


def sparse(dense: np.ndarray) -> SparseVectors:
    counts = (dense != 0).sum(axis=1)
    return SparseVectors(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.nonzero(dense)[1].astype(np.int32),
        dense[dense != 0].astype(np.float32),
        dense.shape[1],
    )


def made(n: int, rng: np.random.Generator, *, signed: bool = False) -> np.ndarray:
    """Unit vectors with columns from rare to frequent, some of them equal and some zero."""
    there = rng.random((n, N_COLUMNS)) < np.linspace(0.01, 0.7, N_COLUMNS)
    # Few different numbers, so that many scores are equal.
    dense = rng.integers(-3 if signed else 1, 4, (n, N_COLUMNS)) * there
    dense[rng.integers(n, size=n // 5)] = dense[rng.integers(n)]
    dense[rng.integers(n)] = 0
    lengths = np.linalg.norm(dense, axis=1, keepdims=True)
    return (dense / np.maximum(lengths, 1e-9)).astype(np.float32)


def plain(rows: np.ndarray, queries: np.ndarray, k: int, allowed: np.ndarray | None) -> Hits:
    """Score all rows, column after column in double precision, and sort."""
    products = queries.astype(np.float64)[:, None] * rows.astype(np.float64)
    scores = np.cumsum(products, axis=2)[:, :, -1].astype(np.float32)
    there = np.arange(len(rows)) if allowed is None else np.flatnonzero(allowed)
    found, row = np.repeat(np.arange(len(queries)), len(there)), np.tile(there, len(queries))
    return ranked_hits(len(queries), k, found, row, scores[found, row])


def assert_same(found: Hits, expected: Hits) -> None:
    np.testing.assert_array_equal(found.rows, expected.rows)
    assert (found.scores == expected.scores).all()


@pytest.mark.parametrize("onnx", [False, True])
@settings(max_examples=60, deadline=None)
@given(
    n=st.sampled_from([1, 63, 64, 65, 300, 1000]),
    k=st.sampled_from([1, 7, 50, 1200]),
    n_queries=st.sampled_from([1, 2, 12]),
    share=st.sampled_from([None, 0.0, 0.02, 0.5, 0.99]),
    signed=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_every_answer_is_that_of_the_plain_product(
    onnx: bool, n: int, k: int, n_queries: int, share: float | None, signed: bool, seed: int
) -> None:
    if onnx:
        pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(seed)
    rows, queries = made(n, rng, signed=signed), made(n_queries, rng, signed=signed)
    queries[-1] = rows[rng.integers(n)]
    allowed = None if share is None else rng.random(n) < share
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inverted, "worth_it", lambda *_: onnx)
        found = Inverted.build(sparse(rows)).search(sparse(queries), k, allowed=allowed)
    assert_same(found, plain(rows, queries, k, allowed))


def scored(patch: pytest.MonkeyPatch) -> list[int]:
    """Note how many pairs are scored at a time."""
    counts: list[int] = []
    whole = inverted._Scorer.__call__

    def counted(self: inverted._Scorer, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        counts.append(len(rows))
        return whole(self, queries, rows)

    patch.setattr(inverted._Scorer, "__call__", counted)
    return counts


def test_few_rows_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8, "_WIDTH", N_COLUMNS)
    rng = np.random.default_rng(0)
    index, queries = Inverted.build(sparse(made(20_000, rng))), sparse(made(10, rng))
    counts = scored(monkeypatch)
    index.search(queries, 5)
    assert 10 * 5 <= sum(counts) < 10 * 20_000 / 20


def test_rows_that_share_no_column_are_not_all_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.zeros((3000, N_COLUMNS), np.float32)
    rows[:, 0] = 1
    rows[[1000, 2000]] = np.eye(N_COLUMNS)[1]
    index, query = Inverted.build(sparse(rows)), sparse(np.eye(N_COLUMNS, dtype=np.float32)[1:2])
    counts = scored(monkeypatch)
    hits = index.search(query, 5)
    assert hits.rows.tolist() == [[1000, 2000, 0, 1, 2]]
    assert hits.scores.tolist() == [[1, 1, 0, 0, 0]]
    assert sum(counts) < 300


@pytest.mark.parametrize("signed", [False, True])
def test_no_score_exceeds_its_bound(signed: bool) -> None:
    rng = np.random.default_rng(1)
    rows, queries = made(500, rng, signed=signed), made(6, rng, signed=signed)
    index = SparseInt8.of(sparse(rows))
    asked = index.folded(sparse(queries))
    scores = queries.astype(np.float64) @ rows.T
    seen = []
    for chosen, bounds in index.bounds(asked, int8.multiplier(False)):
        limits = bounds * asked.unit[:, None]
        assert (scores[:, chosen] <= limits * (1 + 1e-12)).all()
        assert bounds.min() == 0  # the row of zeros, or rows without a common place
        seen.append(chosen)
    assert sorted(np.concatenate(seen)) == list(range(500))


def test_columns_of_their_own_have_tight_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8, "_WIDTH", N_COLUMNS)
    rng = np.random.default_rng(2)
    rows, queries = made(60, rng), made(4, rng)
    index = SparseInt8.of(sparse(rows))
    asked = index.folded(sparse(queries))
    ((chosen, bounds),) = index.bounds(asked, int8.multiplier(False))
    np.testing.assert_allclose(bounds * asked.unit[:, None], queries @ rows[chosen].T, atol=0.04)


def test_a_column_that_no_row_has_loosens_no_bound() -> None:
    rows = np.eye(3, 4, dtype=np.float32)
    query = np.array([[0.6, 0, 0, 0.8]], np.float32)
    index = SparseInt8.of(sparse(rows))
    ((chosen, bounds),) = index.bounds(index.folded(sparse(query)), int8.multiplier(False))
    assert chosen.tolist() == [0, 1, 2]
    assert bounds.tolist() == [[126 * 127, 0, 0]]


def test_dense_queries_are_refused() -> None:
    index = Inverted.build(sparse(np.eye(4, dtype=np.float32)))
    with pytest.raises(InvalidInput, match="width \\(2, 4\\); expected sparse vectors of 4"):
        index.search(np.zeros((2, 4), np.float32), 1)  # type: ignore[arg-type]


def test_an_index_of_no_rows_is_saved_and_opened(tmp_path: Path) -> None:
    Inverted.build(sparse(np.zeros((0, 4), np.float32))).save(tmp_path)
    hits = Inverted.load(tmp_path, n_rows=0).search(sparse(np.eye(4, dtype=np.float32)), 2)
    assert hits.rows.tolist() == [[-1, -1]] * 4


@pytest.mark.parametrize("step", [0.0, -1.0, np.nan, np.inf])
def test_a_step_that_means_nothing_is_refused(tmp_path: Path, step: float) -> None:
    Inverted.build(sparse(np.eye(4, dtype=np.float32))).save(tmp_path)
    np.save(tmp_path / "step.npy", np.float64(step))
    with pytest.raises(ReadError, match=r"step\.npy.*build the index again"):
        Inverted.load(tmp_path)


@pytest.mark.parametrize("place", [-2, 12])
def test_a_place_that_is_none_is_refused(tmp_path: Path, place: int) -> None:
    Inverted.build(sparse(np.eye(4, dtype=np.float32))).save(tmp_path)
    places = np.load(tmp_path / "places.npy")
    places[2] = place
    np.save(tmp_path / "places.npy", places)
    with pytest.raises(ReadError, match=r"places\.npy.*build the index again"):
        Inverted.load(tmp_path)


def test_it_is_written_in_batches_as_it_is_saved(tmp_path: Path) -> None:
    vectors = sparse(made(300, np.random.default_rng(0)))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    Inverted.build(vectors).save(whole)
    batches = (take_vectors(vectors, np.arange(a, b)) for a, b in ((0, 7), (7, 7), (7, 300)))
    write_inverted((batch for batch in batches if isinstance(batch, SparseVectors)), parts)
    names = sorted(path.name for path in whole.iterdir())
    assert names == sorted(path.name for path in parts.iterdir())
    for name in names:
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
