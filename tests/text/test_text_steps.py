"""Each step of the normalisation, alone."""

from __future__ import annotations

import pytest

from canonym.text import STEPS, words
from tests.tables import cases, tables


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        *tables(__file__)["step"],
        # What is half a character cannot stand in a file.
        ("width", "a\x00b\x7fc\ud800d", "abcd"),
        ("width", "\ud83d\ude00a", "a"),
    ],
)
def test_step(step, before, after):
    assert STEPS[step](before) == after


@cases("before", "after")
def test_numerals_are_read(before, after):
    assert words.numerals(before) == after


@cases("same")
def test_numerals_are_not_invented(same):
    assert words.numerals(same) == same


@cases("before", "after")
def test_plurals_become_singular(before, after):
    assert words.plural(before) == after


@cases("same")
def test_what_only_looks_like_a_plural_stays(same):
    assert words.plural(same) == same


@cases("british", "american")
def test_british_spelling_becomes_american(british, american):
    assert words.spelling(british) == american


@cases("same")
def test_american_words_stay(same):
    assert words.spelling(same) == same
