"""The words, letters and numerals that two strings share."""

from __future__ import annotations

import math

import pytest

from canonym.ranking.overlap import Overlap, overlap


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
