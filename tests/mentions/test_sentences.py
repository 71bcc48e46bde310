"""Sentences and phrases around a mention."""

from __future__ import annotations

import pytest

from canonym.mentions.sentences import LONGEST, phrases, sentence_of, without


def test_phrases_end_at_punctuation_and_function_words() -> None:
    text = "The use of aspirin, at 5 mg/day, in  acute\nstroke; of The aspirin. ab"
    assert phrases(text) == ["use", "aspirin", "5 mg", "day", "acute", "stroke"]
    assert phrases("") == phrases("of the and") == []
    assert phrases("x" * 300) == ["x" * 100]
    assert phrases("android offence") == ["android offence"]


def test_mentions_are_taken_out_as_whole_words() -> None:
    assert without("MS, ms-like, HMS and MSA; MS", ["MS"]) == ",, ,-like, HMS and MSA; ,"
    assert without("a (b+c) d", ["b+c", "", " "]) == "a (,) d"


@pytest.mark.parametrize(
    ("start", "sentence"),
    [(None, "A cold day."), (2, "A cold day."), (26, "He had a cold!"), (-1, "A cold day."),
     (999, "A cold day.")],
)  # fmt: skip
def test_the_sentence_is_that_of_the_offset_or_of_the_first_place(
    start: int | None, sentence: str
) -> None:
    text = "A cold day. 3 pills. He had a cold! Take approx. 5 mg of it"
    assert sentence_of(text, "cold", start=start)[0] == sentence


def test_small_letters_do_not_begin_a_sentence_and_lines_end_one() -> None:
    assert sentence_of("Title on MS\nIn MS, i.e. sclerosis", "sclerosis")[0] == (
        "In MS, i.e. sclerosis"
    )
    assert sentence_of("Title on MS\nThe rest.", "MS")[0] == "Title on MS"


def test_a_mention_that_is_not_there_has_no_sentence() -> None:
    assert sentence_of("Nothing here.", "cold") == ("", "Nothing here.")
    assert sentence_of("", "cold") == sentence_of("", " ") == ("", "")


def test_long_texts_are_cut_around_the_mention() -> None:
    text = "word " * LONGEST + "word. Then a cold came. " + "More " * LONGEST
    sentence, around = sentence_of(text, "cold")
    assert sentence == "Then a cold came."
    assert len(around) == LONGEST
    assert abs(around.index("cold") - LONGEST // 2) < 10
    assert sentence_of("end " * LONGEST + "cold", "cold")[1].endswith("cold")
    assert len(sentence_of(text, "nowhere")[1]) == LONGEST
