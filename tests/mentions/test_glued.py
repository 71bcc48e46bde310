"""Words that were written together are taken apart, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym import Concept, Linker, Name, Terminology
from canonym.mentions.glued import MOST_READINGS, Reading, readings
from canonym.mentions.spelling import Apart, Speller
from tests.tables import cases, tables

NAMES = tables(__file__)["names"]


@pytest.fixture(scope="module")
def linker() -> Linker:
    records = [Concept(f"G:{number}", name) for number, name in enumerate(NAMES)]
    records.append(Concept("G:900", "Vitamine"))  # as German writes it
    return Linker.build(Terminology.build([*records, Name("Avitaminosis", "G:4")]))


@cases("text", "name")
def test_glued_words_are_taken_apart(linker: Linker, text: str, name: str) -> None:
    (link,) = linker.link([text])
    best = link.candidates[0]
    assert (best.label, best.sieve != "search") == (name, True)
    assert [step.name for step in link.steps][:1] == ["space"]
    assert link.steps[0].before == text


@cases("text")
def test_another_letter_is_another_name(linker: Linker, text: str) -> None:
    (link,) = linker.link([text])
    assert all(one.sieve == "search" and one.score < 1 for one in link.candidates)


@pytest.mark.parametrize(
    "text",
    ["vitamin", "vitamins", "Vitamine", "vitamina", "proteins", "proteine", "influenzae",
     "hepatitides", "tumorr", "hepatitiss", "lymphomata", "heart", "diabetes", "typ", "HIV", "",
     "cytomegalovirus", "influenza a", "vitamin d", "collagene", "hemoglobine", "Hepatitis B",
     "ABCDEF", "12345", "T4", "A1c", "β", "心筋梗塞", "streptococcusstreptococcu", "x" * 2_000],
)  # fmt: skip
def test_what_is_one_word_stays(text: str) -> None:
    assert Speller.build(NAMES).take_apart(text) == Apart()


def test_letters_that_make_no_name_stay(linker: Linker) -> None:
    for text in ("Asystole", "Aheart", "tumorv", "feverc"):
        (link,) = linker.link([text])
        assert (link.searched, link.steps) == (text, ())


def test_a_capital_s_is_no_plural() -> None:
    names = ["Protein", "Protein C", "Protein C deficiency", "Vitamins", "Vitamin K"]
    linker = Linker.build(Terminology.build(Concept(f"X:{n}", one) for n, one in enumerate(names)))
    (link,) = linker.link(["proteinS"])
    assert (link.searched, link.candidates[0].sieve) == ("protein S", "search")
    assert [step.name for step in link.steps] == ["space"]
    assert linker.link(["proteins"])[0].candidates[0].sieve == "normalised"
    assert linker.link(["PROTEINS"])[0].candidates[0].sieve == "normalised"


def test_a_word_of_the_terminology_stays(linker: Linker) -> None:
    assert linker.link(["vitamine"])[0].candidates[0].label == "Vitamine"
    linker.synonyms.add("heartattack", "G:0")
    try:
        (link,) = linker.link(["heartattack"])
        assert (link.id, link.candidates[0].sieve) == ("G:0", "verbatim")
    finally:
        linker.synonyms.remove("heartattack", "G:0")


def test_a_clear_reading_is_searched_too() -> None:
    names = [f"{word} number {n}" for word in ("heart attack", "acute stroke") for n in range(4)]
    linker = Linker.build(Terminology.build(Concept(f"X:{n}", one) for n, one in enumerate(names)))
    (link,) = linker.link(["acutestroke"])
    assert (link.searched, link.steps[0].name) == ("acute stroke", "space")
    assert link.candidates[0].label.startswith("acute stroke")
    assert linker.link(["acutestroke nunber 3"])[0].searched == "acute stroke number 3"


def test_a_space_goes_before_a_slip() -> None:
    names = ["Arm pain", "Leg pain", "Armpaint", "Armpaint allergy"]
    linker = Linker.build(Terminology.build(Concept(f"X:{n}", one) for n, one in enumerate(names)))
    (link,) = linker.link(["armpain"])
    assert (link.candidates[0].label, link.steps[0].name) == ("Arm pain", "space")


# --- readings -------------------------------------------------------------------------------------


def pieces_of(word: str, names: dict[str, int], least: int = 1) -> list[str]:
    def beginnings(text: str) -> list[tuple[int, int]]:
        return [(len(known), n) for known, n in names.items() if text.startswith(known)]

    return [" ".join(one.pieces) for one in readings(word, beginnings, least=least)]


def test_two_readings_that_are_as_good_are_not_clear() -> None:
    names = {"kidney": 9, "kidneys": 8, "stone": 9, "tone": 8}

    def beginnings(text: str) -> list[tuple[int, int]]:
        return [(len(known), n) for known, n in names.items() if text.startswith(known)]

    assert readings("kidneystone", beginnings) == (
        Reading(("kidney", "stone"), 9, is_clear=False),
        Reading(("kidneys", "tone"), 8, is_clear=False),
    )
    names["tone"] = 3
    assert readings("kidneystone", beginnings)[0].is_clear


def test_words_that_only_begin_others_make_nothing_clear() -> None:
    names = {"cardio": 9, "toxicity": 9, "heart": 9}

    def beginnings(text: str) -> list[tuple[int, int]]:
        return [(len(known), n) for known, n in names.items() if text.startswith(known)]

    assert readings("cardiotoxicity", beginnings) == (Reading(("cardio", "toxicity"), 9, False),)
    assert readings("hearttoxicity", beginnings) == (Reading(("heart", "toxicity"), 9, True),)


def test_words_of_three_letters_are_in_many_names() -> None:
    assert pieces_of("eyepain", {"eye": 3, "pain": 9}, least=4) == []
    assert pieces_of("eyepain", {"eye": 4, "pain": 9}, least=4) == ["eye pain"]
    assert pieces_of("HIVpain", {"hiv": 1, "pain": 9}, least=4) == ["HIV pain"]
    assert pieces_of("legarm", {"leg": 9, "arm": 9}) == []


@given(st.text(st.characters(exclude_categories=[]), max_size=70))
def test_any_string(text: str) -> None:
    speller = Speller.build(NAMES)
    apart = speller.take_apart(text)
    for other in (apart.clear, *apart.texts) if apart != Apart() else ():
        assert other.replace(" ", "") in ("", text.replace(" ", ""))
    assert len(apart.texts) <= MOST_READINGS


@given(st.text("aB1iIvVx of", max_size=60))
def test_many_ways_take_no_time(text: str) -> None:
    Speller.build([*NAMES, "ai", "aii", "iv a", "a i v x", "vix iax"]).take_apart(text)


@cases("text", "whole")
def test_a_prefix_is_written_to_a_known_word_alone(text: str, whole: str) -> None:
    speller = Speller.build(["Nontoxic goiter", "Preterm labor", "Overthe"])
    assert speller.without_gaps(text) == whole


def test_two_words_of_one_are_no_name_of_the_other_order() -> None:
    names = ["Glass eye", "Glass syndrome", "Eye pain", "Car sickness", "Sickness, morning"]
    linker = Linker.build(
        Terminology.build(Concept(f"G:{number}", name) for number, name in enumerate(names))
    )
    glasses, sick = linker.link(["eyeglass", "carsickness"])
    assert glasses.candidates[0].sieve == "search"
    assert sick.label == "Car sickness"
