from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.encoders import wordwise
from canonym.encoders.hashing import hash_features, hash_word
from canonym.encoders.tables import sum_rows
from canonym.encoders.wordwise import WordSums, sum_by_words

TABLE = np.random.default_rng(0).integers(-127, 128, (256, 5)).astype(np.float32)
WORDS = st.text(st.characters(exclude_characters=" "), min_size=1, max_size=6)
TEXTS = st.lists(st.lists(WORDS, max_size=5).map(" ".join), max_size=12)


@given(TEXTS, st.sampled_from([(2, 5), (3, 3)]))
def test_by_words_or_feature_by_feature_the_sum_is_the_same(
    texts: list[str], grams: tuple[int, int]
) -> None:
    found = sum_by_words(texts, TABLE, grams=grams, n_bits=8, characters=100)
    indptr, buckets = hash_features(texts, grams=grams, n_bits=8)
    assert found.tobytes() == (sum_rows(TABLE, indptr, buckets) + 0.0).tobytes()


@given(st.lists(TEXTS, max_size=4), st.sampled_from([(2, 5), (3, 3)]), st.integers(0, 20))
def test_what_is_remembered_changes_no_sum(
    calls: list[list[str]], grams: tuple[int, int], kept: int
) -> None:
    sums = WordSums(TABLE.astype(np.int8), grams=grams)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wordwise, "_KEPT", kept)  # forgotten now and then
        for texts in calls:
            indptr, buckets = hash_features(texts, grams=grams, n_bits=8)
            expected = sum_rows(TABLE, indptr, buckets) + 0.0
            assert sums(texts).tobytes() == expected.tobytes()


def test_words_are_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def hashed(word: str, **options: Any) -> Any:
        asked.append(word)
        return hash_word(word, **options)

    monkeypatch.setattr(wordwise, "hash_word", hashed)
    sums = WordSums(TABLE.astype(np.int8), grams=(2, 5))
    for text in ("heart attack", "heart  attack", "heart failure", "attack", "heart attack"):
        sums([text])
    assert asked == ["heart", "attack", "failure"]


def test_no_texts_and_empty_texts_have_no_sum() -> None:
    options = {"grams": (2, 5), "n_bits": 8, "characters": 100}
    assert sum_by_words([], TABLE, **options).shape == (0, 5)
    assert not sum_by_words(["", ""], TABLE, **options).any()
