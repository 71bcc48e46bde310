"""Cyrillic and Greek words in Latin letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.encoders import make_encoder
from canonym.text.transliterate import latin
from tests.tables import cases


@cases("text", "expected")
def test_words_are_spelt_as_in_english(text: str, expected: str) -> None:
    assert latin(text) == expected


@given(st.text())
def test_any_text_is_taken_and_latin_stays(text: str) -> None:
    spelt = latin(text)
    assert latin(text) == spelt
    ascii_alone = "".join(letter for letter in text if letter.isascii())
    assert latin(ascii_alone) == ascii_alone


@pytest.mark.parametrize("name", ["default", "multilingual"])
def test_subword_encoders_read_them(name: str) -> None:
    encoder = make_encoder(name)
    english = encoder.encode(["gastritis", "pneumonia", "epilepsy", "asthma", "anemia"])
    for others in (
        ["гастрит", "пневмония", "эпилепсия", "астма", "анемия"],
        ["γαστρίτιδα", "πνευμονία", "επιληψία", "άσθμα", "αναιμία"],
    ):
        near = encoder.encode(others) @ english.T
        assert near.argmax(axis=1).tolist() == [0, 1, 2, 3, 4]
