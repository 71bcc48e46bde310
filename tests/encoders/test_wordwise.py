from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from canonym.encoders.hashing import hash_features
from canonym.encoders.tables import sum_rows
from canonym.encoders.wordwise import sum_by_words

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


def test_no_texts_and_empty_texts_have_no_sum() -> None:
    options = {"grams": (2, 5), "n_bits": 8, "characters": 100}
    assert sum_by_words([], TABLE, **options).shape == (0, 5)
    assert not sum_by_words(["", ""], TABLE, **options).any()
