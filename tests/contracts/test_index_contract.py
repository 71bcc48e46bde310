"""The contract of every index over vectors, checked against the plain definition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.indexes import ivf
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.ivf import Ivf
from canonym.indexes.unnormalised import Inner
from canonym.types import Hits, SparseVectors


def to_sparse(dense: np.ndarray) -> SparseVectors:
    counts = (dense != 0).sum(axis=1)
    return SparseVectors(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.nonzero(dense)[1].astype(np.int32),
        dense[dense != 0].astype(np.float32),
        dense.shape[1],
    )


def unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class Kind(NamedTuple):
    build: Callable[[np.ndarray], Any]
    queries: Callable[[np.ndarray], Any]
    load: Callable[[Path], Any]


KINDS = {
    "exact": Kind(Exact.build, lambda q: q, Exact.load),
    # Of vectors of length one, inner products are cosines.
    "inner": Kind(Inner.build, lambda q: q, Inner.load),
    "ivf": Kind(Ivf.build, lambda q: q, Ivf.load),
    "inverted": Kind(lambda v: Inverted.build(to_sparse(v)), to_sparse, Inverted.load),
}


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Kind:
    # With all of its lists the index of lists is exact, and looks at them all the same.
    monkeypatch.setattr(ivf, "_SEEN", 10_000)
    monkeypatch.setattr(ivf, "_MOST", 2)
    return KINDS[request.param]


def make(n: int, width: int, *, seed: int, density: float = 0.3) -> np.ndarray:
    """Unit vectors, some equal, some zero, with columns from rare to frequent."""
    rng = np.random.default_rng(seed)
    shares = np.linspace(0.02, 2 * density, width)
    vectors = rng.random((n, width)) * (rng.random((n, width)) < shares)
    vectors[n // 3] = vectors[n // 4]
    vectors[n // 2] = 0
    return unit(vectors)


def by_definition(
    vectors: np.ndarray, queries: np.ndarray, k: int, allowed: np.ndarray | None = None
) -> Hits:
    rows = np.full((len(queries), k), -1, dtype=np.int32)
    scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
    for i, query in enumerate(queries.astype(np.float64)):
        all_scores = (vectors.astype(np.float64) * query).sum(axis=1).astype(np.float32)
        candidates = [r for r in range(len(vectors)) if allowed is None or allowed[r]]
        best = sorted(candidates, key=lambda r: (-all_scores[r], r))[:k]
        rows[i, : len(best)] = best
        scores[i, : len(best)] = all_scores[best]
    return Hits(rows, scores)


def assert_same(found: Hits, expected: Hits) -> None:
    assert found.rows.dtype == np.int32
    assert found.scores.dtype == np.float32
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)
    # Rows may differ only where scores are equal to the last bit that rounding decides.
    for f, e, s in zip(found.rows, expected.rows, expected.scores, strict=True):
        for place in np.flatnonzero(f != e):
            assert np.isclose(s, s[place], atol=1e-6).sum() > 1


@pytest.mark.parametrize("k", [1, 7, 40])
def test_finds_what_the_definition_finds(kind: Kind, k: int) -> None:
    vectors, queries = make(3000, 40, seed=0), make(70, 40, seed=1)
    index = kind.build(vectors)
    assert index.n_rows == 3000
    assert_same(index.search(kind.queries(queries), k), by_definition(vectors, queries, k))


def test_ties_go_by_row(kind: Kind) -> None:
    vectors = unit(np.tile(np.eye(3), (50, 1)))
    hits = kind.build(vectors).search(kind.queries(np.eye(3, dtype=np.float32)), 5)
    assert hits.rows.tolist() == [[0, 3, 6, 9, 12], [1, 4, 7, 10, 13], [2, 5, 8, 11, 14]]
    assert (hits.scores == 1).all()


def test_more_wanted_than_there_are(kind: Kind) -> None:
    vectors = make(4, 6, seed=2)
    hits = kind.build(vectors).search(kind.queries(make(3, 6, seed=3)), 9)
    assert (hits.rows[:, 4:] == -1).all()
    assert np.isneginf(hits.scores[:, 4:]).all()
    assert (np.sort(hits.rows[:, :4]) == np.arange(4)).all()


@pytest.mark.parametrize("share", [0.0, 0.02, 0.6])
def test_filters_are_exact(kind: Kind, share: float) -> None:
    vectors, queries = make(2000, 30, seed=4), make(20, 30, seed=5)
    allowed = np.random.default_rng(6).random(2000) < share
    hits = kind.build(vectors).search(kind.queries(queries), 12, allowed=allowed)
    assert allowed[hits.rows[hits.rows >= 0]].all()
    assert_same(hits, by_definition(vectors, queries, 12, allowed))


def test_batch_mates_change_nothing(kind: Kind) -> None:
    vectors, queries = make(5000, 24, seed=7), make(130, 24, seed=8)
    index = kind.build(vectors)
    together = index.search(kind.queries(queries), 10)
    for i in (0, 63, 64, 129):
        alone = index.search(kind.queries(queries[i : i + 1]), 10)
        assert alone.rows.tobytes() == together.rows[i : i + 1].tobytes()
        assert alone.scores.tobytes() == together.scores[i : i + 1].tobytes()


def test_scores_of_chosen_rows_are_those_of_the_search(kind: Kind) -> None:
    vectors, queries = make(500, 24, seed=9), make(9, 24, seed=10)
    index = kind.build(vectors)
    hits = index.search(kind.queries(queries), 20)
    rows = hits.rows.copy()
    rows[:, 3] = -1
    scores = index.score(kind.queries(queries), rows)
    assert np.isneginf(scores[:, 3]).all()
    keep = np.arange(20) != 3
    assert scores[:, keep].tobytes() == hits.scores[:, keep].tobytes()


def test_no_queries_and_no_rows(kind: Kind) -> None:
    index = kind.build(make(10, 5, seed=11))
    assert index.search(kind.queries(np.zeros((0, 5), np.float32)), 3).rows.shape == (0, 3)
    empty = kind.build(np.zeros((0, 5), np.float32))
    assert (empty.search(kind.queries(np.eye(5, dtype=np.float32)), 2).rows == -1).all()


def test_a_zero_query_scores_zero_everywhere(kind: Kind) -> None:
    hits = kind.build(make(50, 5, seed=12)).search(kind.queries(np.zeros((1, 5), np.float32)), 3)
    assert hits.rows.tolist() == [[0, 1, 2]]
    assert hits.scores.tolist() == [[0, 0, 0]]


def test_saved_and_loaded_it_is_the_same(kind: Kind, tmp_path: Path) -> None:
    vectors, queries = make(300, 12, seed=13), make(5, 12, seed=14)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        kind.build(vectors).save(tmp_path / name)
    files = sorted(file.name for file in (tmp_path / "first").iterdir())
    assert files
    for file in files:
        one, other = tmp_path / "first" / file, tmp_path / "second" / file
        assert one.read_bytes() == other.read_bytes()
    before = kind.build(vectors).search(kind.queries(queries), 8)
    after = kind.load(tmp_path / "first").search(kind.queries(queries), 8)
    assert after.rows.tobytes() == before.rows.tobytes()
    assert after.scores.tobytes() == before.scores.tobytes()


def test_a_damaged_file_is_said_to_be_damaged(kind: Kind, tmp_path: Path) -> None:
    kind.build(make(300, 12, seed=15)).save(tmp_path)
    victim = max(tmp_path.iterdir(), key=lambda file: file.stat().st_size)
    victim.write_bytes(victim.read_bytes()[:100])
    with pytest.raises(ReadError, match="build the index again"):
        kind.load(tmp_path)
    victim.unlink()
    with pytest.raises(ReadError, match="build the index again"):
        kind.load(tmp_path)


def test_what_cannot_be_searched_is_refused(kind: Kind) -> None:
    index = kind.build(make(10, 5, seed=16))
    with pytest.raises(InvalidInput, match="k is 0"):
        index.search(kind.queries(make(2, 5, seed=17)), 0)
    with pytest.raises(InvalidInput, match="width of the index"):
        index.search(kind.queries(make(4, 6, seed=17)), 1)
    with pytest.raises(InvalidInput, match="width of the index"):
        index.score(kind.queries(make(4, 6, seed=17)), np.zeros((4, 1), np.int32))
    for wrong in (np.ones(9, dtype=bool), np.ones(10, dtype=np.int8)):
        with pytest.raises(InvalidInput, match="mask of 10 booleans"):
            index.search(kind.queries(make(4, 5, seed=17)), 1, allowed=wrong)
