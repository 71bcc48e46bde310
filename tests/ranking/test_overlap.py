"""The words, letters and numerals that two strings share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.ranking.overlap import Overlap, overlaps


def overlap(one: str, other: str) -> Overlap:
    (found,) = overlaps([one, other], np.array([0]), np.array([1])).tolist()
    return Overlap(*found)


def test_words_letters_and_numerals() -> None:
    found = overlap("type 1 diabetes", "diabetes mellitus type 2")
    assert found.words == 2 / 5
    assert (found.covered, found.covering) == (2 / 3, 2 / 4)
    assert (found.first, found.last, found.numerals) == (0, 0, 0)
    assert found.length == pytest.approx(math.log(25 / 16))
    assert overlap("a b", "a b") == Overlap(
        1, 1, 1, 1, 1, 1, pytest.approx(math.nan, nan_ok=True), 0
    )


def test_letters_are_those_of_three_in_a_row() -> None:
    # " ab", "abc", "bc " and " ab", "abd", "bd "
    assert overlap("abc", "abd").letters == 2 * 1 / 6
    assert overlap("abc", "xyz").letters == 0


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("type 1", "type 1 x", 1), ("type 1", "type 2", 0), ("type 1", "type", 0), ("b12", "b12", 1)],
)
def test_numerals_agree_or_not(one: str, other: str, expected: float) -> None:
    assert overlap(one, other).numerals == expected


def test_an_empty_string_shares_nothing() -> None:
    for one, other in (("", "a"), ("a", ""), ("", "")):
        found = overlap(one, other)
        assert found[:6] == (0, 0, 0, 0, 0, 0)
        assert math.isnan(found.numerals)
        assert math.isfinite(found.length)


def by_loops(one: str, other: str) -> list[float]:
    words = [set(text.split()) for text in (one, other)]
    grams = [
        {f" {text} "[i : i + 3] for i in range(len(text))} if text else set()
        for text in (one, other)
    ]
    numbers = [{w for w in each if any(letter.isdigit() for letter in w)} for each in words]
    both, either = len(words[0] & words[1]), len(words[0] | words[1])
    first, last = (
        bool(one and other) and one.split()[place] == other.split()[place] for place in (0, -1)
    )
    return [
        both / max(either, 1),
        both / max(len(words[0]), 1),
        both / max(len(words[1]), 1),
        2 * len(grams[0] & grams[1]) / max(len(grams[0]) + len(grams[1]), 1),
        float(first),
        float(last),
        float(numbers[0] == numbers[1]) if any(numbers) else math.nan,
        math.log((len(other) + 1) / (len(one) + 1)),
    ]


normal = st.lists(st.text("abé1²", min_size=1, max_size=4), max_size=4).map(" ".join)


@given(st.lists(normal, min_size=1, max_size=6), st.data())
def test_pairs_of_a_batch_are_compared_as_each_by_itself(
    texts: list[str], data: st.DataObject
) -> None:
    place = st.integers(0, len(texts) - 1)
    pairs = data.draw(st.lists(st.tuples(place, place), max_size=8))
    ones, others = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    expected = [by_loops(texts[one], texts[other]) for one, other in pairs]
    found = overlaps(texts, ones, others)
    exact = np.array(expected, dtype=np.float64).reshape(-1, 8)
    assert found[:, :7].tobytes() == exact[:, :7].tobytes()
    np.testing.assert_allclose(found[:, 7], exact[:, 7], rtol=2e-15)  # a logarithm
    alone = [overlaps(texts, *np.array([pair]).T)[0] for pair in pairs]
    assert found.tobytes() == np.array(alone, dtype=np.float64).reshape(-1, 8).tobytes()
