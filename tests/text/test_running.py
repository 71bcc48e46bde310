"""Running text as words: offsets, forms that depend on neighbours, and where phrases end."""

from __future__ import annotations

from canonym.text import UNORDERED, normalise
from canonym.text.running import BREAK, NO_BREAK, PARAGRAPH, TextReader
from tests.tables import cases


def _bag(text: str) -> list[str]:
    words = TextReader().read(text)
    return sorted(word for form in words.forms for word in form.split())


def _breaks(text: str) -> list[int]:
    return TextReader().read(text).breaks


@cases("phrase")
def test_the_words_of_a_phrase_are_those_of_its_normal_form(phrase: str) -> None:
    assert _bag(phrase) == normalise(phrase, UNORDERED).split()


def test_offsets_are_those_of_words_without_a_possessive_s() -> None:
    text = "An old Crohn's, (flu)."
    words = TextReader().read(text)
    found = [text[start:end] for start, end in zip(words.starts, words.ends, strict=True)]
    assert found == ["An", "old", "Crohn", "flu"]
    assert words.forms == ["an", "old", "crohn", "flu"]


def test_of_and_the_have_no_form() -> None:
    assert TextReader().read("cancer of the breast").forms == ["cancer", "", "", "breast"]


def test_a_comma_and_a_bracket_before_a_space_end_a_phrase() -> None:
    assert _breaks("pain, fever (mild) 1,2 p(53)") == [
        *(PARAGRAPH, BREAK, BREAK, BREAK),
        *(NO_BREAK, NO_BREAK, NO_BREAK),
    ]


def test_the_dot_of_an_initial_ends_nothing() -> None:
    assert _breaks("E. coli infection. Then") == [PARAGRAPH, NO_BREAK, NO_BREAK, BREAK]
    assert _breaks("type 1. Then")[2] == BREAK


def test_a_wrapped_line_goes_on_and_a_new_paragraph_does_not() -> None:
    assert _breaks("heart\nattack") == [PARAGRAPH, NO_BREAK]
    assert _breaks("heart\nAttack") == [PARAGRAPH, PARAGRAPH]
    assert _breaks("heart\n\nattack") == [PARAGRAPH, PARAGRAPH]


def test_a_short_form_is_one_word_with_the_words_of_the_long_form() -> None:
    words = TextReader().read("two MPS IIs here", {"MPS II": "Hunter syndrome"})
    assert words.forms == ["two", "hunter syndrome", "here"]
    assert (words.starts[1], words.ends[1]) == (4, 11)


def test_a_short_form_inside_a_word_is_none() -> None:
    assert TextReader().read("HDL and xHD", {"HD": "Huntington disease"}).forms == [
        *("hdl", "and", "xhd"),
    ]


def test_words_around_a_gloss_are_read_without_it() -> None:
    text = "glucose dehydrogenase (GD) deficiency"
    forms = {"GD": "glucose dehydrogenase"}
    reader = TextReader()
    ((around, cut),) = reader.around_glosses(text, reader.read(text, forms), forms)
    assert (around.forms, cut) == (["glucose", "dehydrogenase", "deficiency"], 2)
    assert around.breaks == [PARAGRAPH, NO_BREAK, NO_BREAK]
    assert [*reader.around_glosses("a (GD), b", reader.read("a (GD), b", forms), forms)] == []


def test_a_text_without_words_has_none() -> None:
    assert TextReader().read("... &lt; ").forms == []
    assert TextReader().read("").breaks == []
