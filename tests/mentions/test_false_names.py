"""Words of a text that look like names, by case and by the order of words."""

from __future__ import annotations

from canonym.mentions.composites import composites_ending
from canonym.mentions.false_names import beside, is_out_of_order, looks_alike
from tests.tables import cases


@cases("text", "name", "alike")
def test_case_tells_short_words_from_names(text: str, name: str, alike: bool) -> None:
    assert looks_alike(text, [name]) is alike


def test_one_name_that_fits_is_enough() -> None:
    assert not looks_alike("cold", ["COLD", "Cold"])


def test_in_capitals_all_around_case_says_nothing() -> None:
    assert not looks_alike("COLD", ["Cold"], "PATIENTS WITH A  AND FEVER")
    assert looks_alike("ALL", ["ALL"], "WE SAW  PATIENTS AGAIN")


def test_the_text_beside_a_word_leaves_it_out() -> None:
    assert beside("a cold day", 2, 6) == "a  day"


@cases("text", "wrong")
def test_words_out_of_order_are_no_phrase(text: str, wrong: bool) -> None:
    assert is_out_of_order(text) is wrong


def test_composites_are_sought_from_each_word_before_a_conjunction() -> None:
    text = "of brain, breast, and prostate cancer"
    starts = [*composites_ending(text, text.index("prostate"))]
    assert [text[start:] for start in starts] == [
        "brain, breast, and prostate cancer",
        "breast, and prostate cancer",
    ]
    assert [*composites_ending("some prostate cancer", 5)] == []
