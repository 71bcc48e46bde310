"""What says nothing about a concept goes off both ends of a text, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.text.qualifiers import (
    BROADER,
    QUALIFIERS,
    bare_name,
    is_rest,
    is_unspecified,
    qualified,
)
from tests.tables import cases


@cases("mention", "left")
def test_qualifiers_go(mention: str, left: str) -> None:
    step = qualified(mention)
    assert step is not None
    assert tuple(step) == (QUALIFIERS, mention, left)


@cases("mention", "left")
def test_what_narrows_a_mention_goes_by_a_step_of_its_own(mention: str, left: str) -> None:
    step = qualified(mention)
    assert step is not None
    assert tuple(step) == (BROADER, mention, left)


@cases("mention")
def test_other_words_stay(mention: str) -> None:
    assert qualified(mention) is None


@cases("name", "bare", "is_narrower")
def test_names_have_bare_forms(name: str, bare: str, *, is_narrower: bool) -> None:
    assert bare_name(name) == (bare, is_narrower)


@cases("name")
def test_other_names_have_none(name: str) -> None:
    assert bare_name(name) is None


@given(st.text(max_size=60))
def test_any_text_will_do(text: str) -> None:
    step = qualified(text)
    if step is not None:
        assert step.after
        assert qualified(step.after) is None
    bare = bare_name(text)
    assert bare is None or bare.text


WORDS = ["asthma", "unspecified", "NOS", "(disorder)", "other", "and", ",", "site", "NEC", "in"]


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_something_is_left_and_nothing_more_can_go(words: list[str]) -> None:
    step = qualified(" ".join(words))
    assert step is None or (step.after and qualified(step.after) is None)


@cases("mention", "rest")
def test_how_long_and_how_much_is_no_part_of_a_name(mention: str, rest: str) -> None:
    step = qualified(mention)
    assert step is not None
    assert (step.name, step.after) == (BROADER, rest)
    assert bare_name(mention) is None


@cases("mention")
def test_numbers_of_names_stay(mention: str) -> None:
    assert qualified(mention) is None


def test_the_rest_of_a_class_is_told_from_what_is_unspecified() -> None:
    assert [is_rest(text) for text in ("anemia NEC", "gout, not elsewhere classified")] == [
        True
    ] * 2
    assert is_rest("neuropathy in diseases classified elsewhere")
    assert not is_rest("anemia, unspecified")
    assert [is_unspecified(name) for name in ("Anemia, unspecified", "Gout NOS")] == [True] * 2
    assert not is_unspecified("Anosmia")


@pytest.mark.parametrize(
    "written", ["seizures from age 2", "seizures since 3 years of age", "seizures onset 6 mo"]
)
def test_an_age_of_onset_is_a_measure(written: str) -> None:
    step = qualified(written)
    assert step is not None
    assert step.after == "seizures"
