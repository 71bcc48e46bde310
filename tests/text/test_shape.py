"""Words and signs of texts, and readers that ask for them first."""

from __future__ import annotations

import pytest

from canonym.mentions.clinical import usual_reading
from canonym.mentions.measurements import finding_name
from canonym.mentions.phrasings import phrasings
from canonym.mentions.segments import segments
from canonym.rules import Rule, shipped, using
from canonym.text.qualifiers import bare_name, qualified, without_details
from canonym.text.shape import shape_of


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "a_b", "İzmir fever", "①fever", "t(9;22)", "x" * 999]
)
def test_every_character_is_in_a_word_a_sign_or_plain(text: str) -> None:
    shape = shape_of(text)
    assert shape.there == {*shape.words}
    assert shape.characters == {*text}
    assert not any(sign.isascii() and (sign.isalnum() or sign == " ") for sign in shape.signs)


@pytest.mark.parametrize("text", ["\x85fever", "fever\u2028cough", "no\tfever", "☐gout"])
def test_what_separates_lines_is_a_sign(text: str) -> None:
    assert shape_of(text).signs


def test_the_rules_of_an_institution_are_found_by_their_own_words() -> None:
    rows = (
        Rule("w.a", "reading", "XQZ", "quartz lung", example="XQZ"),
        Rule("w.b", "sign", "§", "negated", example="§ [fever]"),
        Rule("w.c", "wording", "zapped X", "shocked X", example="zapped heart"),
        Rule("w.d", "in blood", "unobtainium", "unobtain", example="low unobtainium"),
        Rule("w.e", "tag", "ward seven", example="gout (ward seven)"),
    )

    def read() -> tuple[object, ...]:
        return (
            usual_reading("XQZ of miners"),
            [part.means for part in segments("§fever")],
            [step.after for step in phrasings("zapped heart")],
            finding_name("low unobtainium"),
            qualified("gout (ward seven)"),
        )

    assert read() == ("", [], [], "", None)
    with using(shipped().with_rules(rows)):
        *others, step = read()
        assert others == [
            "quartz lung of miners",
            ["negated"],
            ["shocked heart"],
            "hypounobtainemia",
        ]
        assert step.after == "gout"  # type: ignore[attr-defined]
    assert read() == ("", [], [], "", None)


def test_what_is_remembered_of_a_text_is_of_one_book() -> None:
    text = "gout (ward nine)"
    tag = Rule("w.tag", "tag", "ward nine", example=text)
    assert (qualified(text), bare_name(text), without_details(text)) == (None, None, ())
    with using(shipped().with_rules([tag])):
        assert qualified(text) is not None
        assert bare_name(text) is not None
    assert qualified(text) is None
