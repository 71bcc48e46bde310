"""Hashed features against a plain loop over the characters."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.encoders import hashing
from canonym.encoders.hashing import (
    WordSums,
    hash_features,
    hash_word,
    sum_by_words,
    sum_rows,
    sum_whole_rows,
)

MASK = (1 << 64) - 1
SPREAD, MIX, BASE = 0xD6E8FEB86659FD93, 0x94D049BB133111EB, 0x9E3779B97F4A7C15


def naive_bucket(stretch: str, salt: int, n_bits: int) -> int:
    total = 0
    for place, character in enumerate(stretch):
        code = ord(character) * SPREAD & MASK
        code ^= code >> 32
        total = (total + code * pow(BASE, place, 1 << 64)) & MASK
    value = (total + salt) & MASK
    value ^= value >> 31
    value = value * MIX & MASK
    value ^= value >> 29
    value = value * SPREAD & MASK
    return value >> (64 - n_bits)


def naive_features(text: str, shortest: int, longest: int, n_bits: int) -> list[int]:
    words = text.split(" ") if text else []
    buckets = [naive_bucket(f" {word} ", 0x2545F4914F6CDD1D, n_bits) for word in words]
    buckets += [
        naive_bucket(f" {one} {other} ", 0x7FB5D329728EA185, n_bits)
        for one, other in pairwise(words)
    ]
    for length in range(shortest, longest + 1):
        for word in words:
            marked = f" {word} "
            buckets += [
                naive_bucket(marked[start : start + length], length, n_bits)
                for start in range(len(marked) - length + 1)
            ]
    return buckets


def parts(texts: list[str], shortest: int = 2, longest: int = 5) -> list[list[int]]:
    indptr, buckets = hash_features(texts, grams=(shortest, longest), n_bits=17)
    assert indptr.dtype == np.int64
    assert buckets.dtype == np.int32
    assert indptr[0] == 0
    assert indptr[-1] == len(buckets)
    return [part.tolist() for part in np.split(buckets, indptr[1:-1])] if texts else []


TEXTS = [
    "heart attack",
    "",
    "a",
    "flu",
    "type 2 diabetes mellitus",
    "心筋 梗塞",
    "\ud800x \udfff",
    "",
]


@pytest.mark.parametrize("span", [(2, 5), (3, 3), (2, 2), (4, 9)])
def test_features_are_those_of_a_plain_loop(span: tuple[int, int]) -> None:
    assert parts(TEXTS, *span) == [naive_features(text, *span, 17) for text in TEXTS]


def test_one_text_has_the_features_it_has_in_a_batch() -> None:
    assert [parts([text])[0] for text in TEXTS] == parts(TEXTS)


@given(
    st.lists(
        st.lists(st.text("abc心\U0001f600", min_size=1, max_size=7), max_size=4).map(" ".join),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None)
def test_features_of_any_words(texts: list[str]) -> None:
    assert parts(texts) == [naive_features(text, 2, 5, 17) for text in texts]


def test_nothing_in_nothing_out() -> None:
    indptr, buckets = hash_features([], grams=(2, 5), n_bits=17)
    assert indptr.tolist() == [0]
    assert len(buckets) == 0
    assert parts(["", ""]) == [[], []]


def test_known_buckets() -> None:
    assert parts(["flu"], 2, 3) == [[119624, 73759, 41145, 107783, 97141, 67171, 28878, 128727]]


def test_buckets_do_not_depend_on_the_process() -> None:
    code = (
        "from canonym.encoders.hashing import hash_features as f;"
        "print(f(['heart attack'], grams=(2, 5), n_bits=17)[1].tolist())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert seen == {str(parts(["heart attack"])[0])}


def test_buckets_are_spread_evenly() -> None:
    words = [f"{one}{other}{third}" for one in "abcdefgh" for other in "aeiouy" for third in "lmnr"]
    _, buckets = hash_features(words, grams=(5, 5), n_bits=4)
    counts = np.bincount(buckets, minlength=16)
    expected = counts.sum() / 16
    assert ((counts - expected) ** 2 / expected).sum() < 45  # 15 degrees of freedom, p = 1e-4


def test_a_long_batch_needs_longer_tables_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_tables", None)
    monkeypatch.setattr(hashing, "_KEPT_POWERS", 1 << 13)
    short = parts(["flu"])
    assert len(hashing._tables[0]) == 1 << 12  # type: ignore[index]
    assert parts(["ab " * 4000 + "flu"])[0][-2:] == short[0][-2:]
    assert len(hashing._tables[0]) == 1 << 12  # type: ignore[index]


TABLE = np.random.default_rng(0).integers(-127, 128, (256, 5)).astype(np.float32)
SPACED_WORDS = st.text(st.characters(exclude_characters=" "), min_size=1, max_size=6)
SPACED = st.lists(st.lists(SPACED_WORDS, max_size=5).map(" ".join), max_size=12)


@given(st.lists(st.lists(st.integers(0, 255), max_size=9), max_size=9), st.integers(1, 20))
def test_whole_rows_are_added_without_scipy(sums: list[list[int]], block: int) -> None:
    indptr = np.cumsum([0, *map(len, sums)])
    rows = np.array([row for each in sums for row in each], dtype=np.int32)
    expected = (sum_rows(TABLE, indptr, rows) + 0.0).tobytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_BLOCK_ROWS", block)
        for table in (TABLE, TABLE.astype(np.int8)):
            assert (sum_whole_rows(table, indptr, rows) + 0.0).tobytes() == expected


@given(SPACED, st.sampled_from([(2, 5), (3, 3)]))
def test_by_words_or_feature_by_feature_the_sum_is_the_same(
    texts: list[str], grams: tuple[int, int]
) -> None:
    indptr, buckets = hash_features(texts, grams=grams, n_bits=8)
    expected = (sum_rows(TABLE, indptr, buckets) + 0.0).tobytes()
    for add in (sum_rows, sum_whole_rows):
        found = sum_by_words(texts, TABLE, grams=grams, n_bits=8, characters=100, add=add)
        assert (found + 0.0).tobytes() == expected


@given(st.lists(SPACED, max_size=4), st.sampled_from([(2, 5), (3, 3)]), st.integers(0, 20))
def test_what_is_remembered_changes_no_sum(
    calls: list[list[str]], grams: tuple[int, int], kept: int
) -> None:
    sums = WordSums(TABLE.astype(np.int8), grams=grams)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_KEPT_WORDS", kept)  # forgotten now and then
        for texts in calls:
            indptr, buckets = hash_features(texts, grams=grams, n_bits=8)
            expected = sum_rows(TABLE, indptr, buckets) + 0.0
            assert sums(texts).tobytes() == expected.tobytes()


def test_words_are_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def hashed(word: str, **options: Any) -> Any:
        asked.append(word)
        return hash_word(word, **options)

    monkeypatch.setattr(hashing, "hash_word", hashed)
    sums = WordSums(TABLE.astype(np.int8), grams=(2, 5))
    for text in ("heart attack", "heart  attack", "heart failure", "attack", "heart attack"):
        sums([text])
    assert asked == ["heart", "attack", "failure"]


def test_no_texts_and_empty_texts_have_no_sum() -> None:
    options = {"grams": (2, 5), "n_bits": 8, "characters": 100}
    assert sum_by_words([], TABLE, **options).shape == (0, 5)
    assert not sum_by_words(["", ""], TABLE, **options).any()
