"""Searches by inner product and by Euclidean distance, against all pairs in double precision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.indexes import exact, int8
from canonym.indexes.concatenated import Concatenated
from canonym.indexes.int8 import DenseInt8
from canonym.indexes.unnormalised import Euclidean, Inner
from canonym.indexes.vectors import index_of, mean_vectors

KINDS = {"inner": Inner, "euclidean": Euclidean}


def all_scores(kind: str, vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Every score by its definition, ``(n_queries, n_rows)``."""
    rows, asked = vectors.astype(np.float64), queries.astype(np.float64)
    if kind == "euclidean":
        distances = np.linalg.norm(asked[:, None] - rows[None], axis=2)
        return (1 / (1 + distances)).astype(np.float32)
    squares = (asked * asked).sum(axis=1, keepdims=True)
    return (asked @ rows.T / np.where(squares > 0, squares, 1)).astype(np.float32)


def raw(n: int, *, seed: int, width: int = 24, shift: float = 0.0) -> np.ndarray:
    """Vectors of very different lengths, some equal, one of zeros; shifted, all look one way."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, width)) * rng.lognormal(sigma=1.0, size=(n, 1)) + shift
    vectors[n // 2], vectors[n // 3] = 0, vectors[n // 4]
    return vectors.astype(np.float32)


def assert_found(kind: str, index: Any, vectors: np.ndarray, queries: np.ndarray, k: int) -> None:
    expected, hits = all_scores(kind, vectors, queries), index.search(queries, k)
    for found, score, of_all in zip(hits.rows, hits.scores, expected, strict=True):
        np.testing.assert_allclose(score, np.sort(of_all)[::-1][:k], rtol=2e-6, atol=1e-6)
        np.testing.assert_allclose(score, of_all[found], rtol=2e-6, atol=1e-6)
        assert (np.diff(score) <= 0).all()
        assert len(set(found.tolist())) == k


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shift", [0.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_finds_what_all_pairs_say(kind: str, shift: float, seed: int) -> None:
    vectors, queries = raw(900, seed=seed, shift=shift), raw(40, seed=seed + 100, shift=shift)
    assert_found(kind, KINDS[kind].build(vectors), vectors, queries, 7)


@pytest.mark.parametrize("kind", KINDS)
def test_they_differ_from_cosines_unless_vectors_have_length_one(kind: str) -> None:
    vectors, queries = raw(900, seed=1, shift=1.0), raw(40, seed=2, shift=1.0)
    queries = queries[queries.any(axis=1)]
    cosine = exact.Exact.build(vectors).search(queries, 5).rows
    assert (KINDS[kind].build(vectors).search(queries, 5).rows != cosine).any()
    unit = exact.unit(vectors)
    rows = np.flatnonzero(unit.any(axis=1))
    by_cosine = exact.Exact.build(unit[rows]).search(queries, 5)
    found = KINDS[kind].build(unit[rows]).search(exact.unit(queries), 5)
    np.testing.assert_array_equal(found.rows, by_cosine.rows)


@pytest.mark.parametrize("kind", KINDS)
def test_the_query_itself_scores_one(kind: str) -> None:
    vectors = raw(50, seed=5)
    scores = KINDS[kind].build(vectors).score(vectors, np.arange(50, dtype=np.int32)[:, None])
    there = vectors.any(axis=1) if kind == "inner" else np.ones(50, bool)
    np.testing.assert_allclose(scores[there, 0], 1, atol=1e-6)


def test_a_query_of_zeros() -> None:
    vectors, zero = raw(30, seed=6), np.zeros((1, 24), np.float32)
    assert Inner.build(vectors).search(zero, 3).rows.tolist() == [[0, 1, 2]]
    assert Inner.build(vectors).search(zero, 3).scores.tolist() == [[0, 0, 0]]
    hits = Euclidean.build(vectors).search(zero, 3)
    assert hits.rows[0].tolist() == np.argsort(np.linalg.norm(vectors, axis=1))[:3].tolist()
    assert hits.scores[0, 0] == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.02, 0.6])
def test_filters_are_exact_and_batch_mates_change_nothing(kind: str, share: float) -> None:
    vectors, queries = raw(2000, seed=7), raw(30, seed=8)
    allowed = np.random.default_rng(9).random(2000) < share
    index = KINDS[kind].build(vectors)
    hits = index.search(queries, 5, allowed=allowed)
    expected = np.where(allowed, all_scores(kind, vectors, queries), -np.inf)
    np.testing.assert_allclose(
        hits.scores, -np.sort(-expected, axis=1)[:, :5], rtol=2e-6, atol=1e-6
    )
    assert allowed[hits.rows[hits.rows >= 0]].all()
    for i in (0, 13, 29):
        alone = index.search(queries[i : i + 1], 5, allowed=allowed)
        assert alone.rows.tobytes() == hits.rows[i : i + 1].tobytes()
        assert alone.scores.tobytes() == hits.scores[i : i + 1].tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_beside_others(kind: str, tmp_path: Path) -> None:
    vectors, queries = raw(700, seed=10), raw(20, seed=11)
    index = KINDS[kind].build(vectors)
    index.save(tmp_path)
    hits = index.search(queries, 6)
    opened = KINDS[kind].load(tmp_path, n_rows=700).search(queries, 6)
    assert opened.scores.tobytes() == hits.scores.tobytes()
    parts = Concatenated([index_of(vectors[:500], kind), index_of(vectors[500:], kind)])
    assert parts.search(queries, 6).scores.tobytes() == hits.scores.tobytes()
    assert parts.search(queries, 6).rows.tobytes() == hits.rows.tobytes()


@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_codes_of_long_vectors_miss_nothing(shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "worth_it", lambda *_: True)
    monkeypatch.setattr(int8, "_is_installed", lambda: True)
    monkeypatch.setattr(exact, "multiplier", lambda _: int8._without_onnx)
    vectors, queries = raw(3000, seed=12, shift=shift), raw(60, seed=13, shift=shift)
    plain, coded = Inner(vectors), Inner(vectors, DenseInt8.of(vectors))
    hits, same = plain.search(queries, 9), coded.search(queries, 9)
    assert same.rows.tobytes() == hits.rows.tobytes()
    assert same.scores.tobytes() == hits.scores.tobytes()
    assert_found("inner", coded, vectors, queries, 9)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_are_none_are_refused(kind: str) -> None:
    vectors = raw(10, seed=14)
    vectors[3, 2] = np.nan
    with pytest.raises(InvalidInput, match="vector 3 holds a number that is not finite"):
        KINDS[kind].build(vectors)
    with pytest.raises(InvalidInput, match="vector 3"):
        KINDS[kind].build(raw(10, seed=14)).search(vectors, 2)


def test_the_mean_of_vectors_that_keep_their_lengths() -> None:
    vectors = np.array([[2, 0], [0, 4], [0, 1]], np.float32)
    groups = np.array([0, 0, 2], np.int32)
    found = mean_vectors(vectors, groups, 3, scaled=False)
    assert np.asarray(found).tolist() == [[1, 2], [0, 0], [0, 1]]
