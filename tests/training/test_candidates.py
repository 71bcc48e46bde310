"""Candidates of mentions against full score matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from canonym import NotTrained
from canonym.encoders.chargrams import CharGrams
from canonym.training.sampling import candidates
from canonym.training.sampling.candidates import CandidateSearch, merge_candidates, nearest_names

RNG = np.random.default_rng(3)
SYLLABLES = ["ne", "phro", "ma", "car", "di", "tis", "my", "o", "lu", "pus"]
NAMES = list(
    dict.fromkeys("".join(RNG.choice(SYLLABLES, size=RNG.integers(2, 5))) for _ in range(90))
)
TEXTS = ["nephritis", "carma", "lupus", "xyz"]


def encode(texts: Sequence[str]) -> Any:
    """Unit vectors that depend on the text alone and not on its letters."""
    seeds = [sum(map(ord, text)) * 7 + len(text) for text in texts]
    vectors = np.array([np.random.default_rng(seed).normal(size=6) for seed in seeds])
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def matrices() -> tuple[Any, Any]:
    """All sparse and all dense scores, as float64."""
    grams = CharGrams().fit(NAMES)

    def full(texts: Sequence[str]) -> Any:
        vectors = grams.encode(texts)
        whole = np.zeros((vectors.n_rows, vectors.n_columns))
        for row in range(vectors.n_rows):
            span = slice(vectors.indptr[row], vectors.indptr[row + 1])
            whole[row, vectors.indices[span]] = vectors.data[span]
        return whole

    return full(TEXTS) @ full(NAMES).T, encode(TEXTS).astype(float) @ encode(NAMES).T


@pytest.mark.parametrize(("k", "ratio", "n_dense"), [(20, 0.5, 10), (7, 0.5, 3), (100, 0.29, 29)])
def test_candidates_are_those_of_full_matrices(k: int, ratio: float, n_dense: int) -> None:
    sparse, dense = matrices()
    found = CandidateSearch(NAMES * 1, TEXTS, k=k, dense_ratio=ratio).refresh(encode)
    k = min(k, len(NAMES))
    n_dense = min(n_dense, int(ratio * k))
    for i in range(len(TEXTS)):
        chosen = list(np.argsort(-sparse[i].round(6), kind="stable")[: k - n_dense])
        overlaps = 0
        for row in np.argsort(-dense[i].round(6), kind="stable"):
            if len(chosen) < k and row not in chosen:
                chosen.append(row)
            elif len(chosen) < k:
                overlaps += 1
        assert found.rows[i].tolist() == chosen
        assert np.allclose(found.sparse[i], sparse[i, chosen], atol=1e-6)
        assert len(set(chosen)) == k


@pytest.mark.parametrize(("ratio", "n_sparse"), [(0.0, 6), (1.0, 0)])
def test_either_kind_alone(ratio: float, n_sparse: int) -> None:
    search = CandidateSearch(NAMES, TEXTS, k=6, dense_ratio=ratio)
    assert search.n_sparse == n_sparse
    called = []

    def counted(texts: Sequence[str]) -> Any:
        called.append(len(texts))
        return encode(texts)

    found = search.refresh(counted)
    sparse, dense = matrices()
    scores = dense if ratio else sparse
    best = np.argsort(-scores.round(6), axis=1, kind="stable")[:, :6]
    assert found.rows.tolist() == best.tolist()
    assert bool(called) == bool(ratio)  # nothing is encoded where only n-grams are asked


def test_a_new_encoder_changes_the_dense_candidates_alone() -> None:
    search = CandidateSearch(NAMES, TEXTS, k=8)
    before = search.refresh(encode).rows
    after = search.refresh(lambda texts: encode([text[::-1] + "z" for text in texts])).rows
    assert (before[:, :4] == after[:, :4]).all()
    assert (before[:, 4:] != after[:, 4:]).any()


def test_overlaps_are_filled_up_with_the_next_dense_ones() -> None:
    sparse = np.array([[0, 1], [5, 6]], dtype=np.int32)
    dense = np.array([[1, 2, 0, 3, 4], [0, 1, 2, 3, 4]], dtype=np.int32)
    assert merge_candidates(sparse, dense, 5).tolist() == [[0, 1, 2, 3, 4], [5, 6, 0, 1, 2]]


def test_names_are_encoded_a_block_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = nearest_names(encode, NAMES, TEXTS, 9)
    monkeypatch.setattr(candidates, "_NAMES", 7)
    sizes = []

    def counted(texts: Sequence[str]) -> Any:
        sizes.append(len(texts))
        return encode(texts)

    found = nearest_names(counted, NAMES, TEXTS, 9)
    assert found.rows.tolist() == whole.rows.tolist()
    assert found.scores.tolist() == whole.scores.tolist()
    assert max(sizes) == 7


def test_ties_go_to_the_first_name_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_NAMES", 2)

    def same(texts: Sequence[str]) -> Any:
        return np.tile(np.array([[0.6, 0.8]], dtype=np.float32), (len(texts), 1))

    assert nearest_names(same, NAMES[:9], ["a"], 4).rows.tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize("similarity", ["inner", "euclidean"])
def test_names_are_near_by_the_similarity_asked(
    monkeypatch: pytest.MonkeyPatch, similarity: str
) -> None:
    monkeypatch.setattr(candidates, "_NAMES", 7)
    rng = np.random.default_rng(3)
    places = {text: rng.normal(size=3) * rng.uniform(0.2, 5) for text in [*NAMES, *TEXTS]}

    def pooled(texts: Sequence[str], *, normalise: bool = True) -> Any:
        assert not normalise
        return np.array([places[text] for text in texts], dtype=np.float32)

    names, queries = pooled(NAMES, normalise=False), pooled(TEXTS, normalise=False)
    near = queries @ names.T
    if similarity == "euclidean":
        near = -np.linalg.norm(queries[:, None] - names[None], axis=2)
    search = CandidateSearch(NAMES, TEXTS, k=5, dense_ratio=1.0, similarity=similarity)
    expected = np.argsort(-near, axis=1, kind="stable")[:, :5]
    assert search.refresh(pooled).rows.tolist() == expected.tolist()


class Lengths:
    """An encoder that is fitted: how often each of a few letters occurs, and the length."""

    def __init__(self, fitted: bool = True) -> None:
        self.fitted = fitted

    def fit(self, names: Sequence[str]) -> Lengths:
        assert names == NAMES
        self.fitted = True
        return self

    def encode(self, texts: Sequence[str]) -> Any:
        if not self.fitted:
            raise NotTrained("not fitted")
        rows = [[*(text.count(letter) for letter in "amou"), len(text)] for text in texts]
        return np.array(rows, dtype=np.float32)


@pytest.mark.parametrize("fitted", [True, False])
def test_another_encoder_can_give_the_sparse_scores(fitted: bool) -> None:
    found = CandidateSearch(
        NAMES, TEXTS, k=8, dense_ratio=0.25, sparse=cast(Any, Lengths(fitted))
    ).refresh(encode)
    names, texts = Lengths().encode(NAMES).astype(float), Lengths().encode(TEXTS).astype(float)
    # Cosines, although the vectors have other lengths than 1.
    scores = (texts / np.linalg.norm(texts, axis=1, keepdims=True)) @ (
        names / np.linalg.norm(names, axis=1, keepdims=True)
    ).T
    best = np.argsort(-scores.round(6), axis=1, kind="stable")[:, :6]
    for i, rows in enumerate(found.rows.tolist()):
        assert np.allclose(np.sort(scores[i, rows[:6]]), np.sort(scores[i, best[i]]), atol=1e-5)
        assert np.allclose(found.sparse[i], scores[i, rows], atol=1e-5)
        nearest = np.argsort(-(encode(TEXTS) @ encode(NAMES).T)[i], kind="stable").tolist()
        assert rows[6:] == [row for row in nearest if row not in rows[:6]][:2]


def test_n_grams_of_other_lengths_are_fitted_to_the_names() -> None:
    found = CandidateSearch(
        NAMES, TEXTS, k=6, dense_ratio=0.0, sparse=CharGrams(n_min=3, n_max=3)
    ).refresh(encode)
    usual = CandidateSearch(NAMES, TEXTS, k=6, dense_ratio=0.0).refresh(encode)
    assert found.rows.tolist() != usual.rows.tolist()
    assert NAMES[found.rows[0, 0]][:3] in {"neo", "nep"}


def test_more_candidates_than_names() -> None:
    found = CandidateSearch(NAMES[:5], TEXTS, k=20).refresh(encode)
    assert [sorted(row) for row in found.rows.tolist()] == [[0, 1, 2, 3, 4]] * len(TEXTS)
