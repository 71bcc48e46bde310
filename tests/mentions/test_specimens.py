"""The specimen that a laboratory test was made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.specimens import specimen_of
from tests.tables import cases


@cases("text", "specimen")
def test_what_a_test_was_made_of(text: str, specimen: str) -> None:
    assert specimen_of(text) == specimen
    assert specimen_of(text.upper()) == specimen


@cases("text")
def test_what_speaks_of_no_specimen(text: str) -> None:
    assert specimen_of(text) == ""


@given(st.text(st.characters(exclude_categories=[]), max_size=80))
def test_any_string(text: str) -> None:
    assert isinstance(specimen_of(text), str)
