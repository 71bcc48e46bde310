"""Ordinary words, and words beside a name that make no other name of it."""

from __future__ import annotations

import pytest

from canonym.mentions.english import is_ordinary, qualifying_forms


@pytest.mark.parametrize("text", ["coronary", "Growths", "follow-up", "nerves", "rotator cuff"])
def test_ordinary_words_are_known_in_any_inflection(text: str) -> None:
    assert is_ordinary(text)


@pytest.mark.parametrize("text", ["COLD", "fever", "depression", "stroke", "", "common cold"])
def test_names_of_diseases_and_capitals_are_no_ordinary_words(text: str) -> None:
    assert not is_ordinary(text)


def test_qualifying_words_are_normal_forms() -> None:
    assert {"severe", "induced", "no", "2"} <= set(qualifying_forms())
    assert "macular" not in qualifying_forms()
