"""Names as sums of words: what is found, how long names are, which words are too general."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from canonym.errors import ReadError
from canonym.indexes.phrase_filter import PhraseFilter, WordNumbers


def _sum(words: str) -> np.ndarray:
    return np.array([WordNumbers().of(words.split()).sum(dtype=np.uint64)])


def _limits(phrases: PhraseFilter, words: str) -> list[int]:
    return phrases.limits(WordNumbers().of(words.split())).tolist()


def test_a_bag_is_found_in_any_order_and_nothing_else_is() -> None:
    phrases = PhraseFilter.build([["breast cancer", "flu"], ["acute renal failure"]])
    found = [
        bool(phrases.has(_sum(words))[0]) for words in ("cancer breast", "flu", "renal failure")
    ]
    assert found == [True, True, False]


def test_a_word_has_the_length_of_its_longest_name() -> None:
    phrases = PhraseFilter.build([["renal failure", "flu"], ["acute renal failure", ""]])
    assert _limits(phrases, "renal failure acute flu other") == [3, 3, 3, 1, 0]


def test_batches_of_any_size_make_the_same_bags() -> None:
    names = [f"w{i % 7} w{i % 5} w{i}" for i in range(300)]
    whole = PhraseFilter.build([names])
    parts = PhraseFilter.build([names[:1], [], [""], names[1:40], names[40:]])
    for name in ("sums", "words", "longest", "common"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


def test_a_word_of_many_names_is_too_general_alone() -> None:
    phrases = PhraseFilter.build(
        [[f"disease {i}" for i in range(200)] + [f"flu {i}" for i in range(99)]]
    )
    assert phrases.too_general(WordNumbers().of(["disease", "flu"])).tolist() == [True, False]


def test_bags_come_back_from_a_folder(tmp_path: Path) -> None:
    phrases = PhraseFilter.build([["breast cancer", "flu"]])
    phrases.save(tmp_path)
    again = PhraseFilter.load(tmp_path)
    assert again.has(_sum("flu"))[0]
    assert _limits(again, "breast") == [2]
    np.save(tmp_path / "longest.npy", np.zeros(1, np.uint8))
    with pytest.raises(ReadError, match="3 words and 1 lengths"):
        PhraseFilter.load(tmp_path)


def test_no_names_are_no_bags() -> None:
    phrases = PhraseFilter.build([])
    assert not phrases.has(_sum("flu"))[0]
    assert _limits(phrases, "flu") == [0]
