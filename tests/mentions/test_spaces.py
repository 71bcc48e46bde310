"""Names are found but for their spaces, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym import Concept, Linker, Name, Terminology
from canonym.mentions.prepare import Preparation
from canonym.text import STRONG, normalise
from canonym.text.spaces import are_joints, joined, with_prefixes_joined
from tests.tables import cases, tables

NAMES = tables(__file__)["names"]


@pytest.fixture(scope="module")
def linker() -> Linker:
    records = [Concept(f"G:{number}", name) for number, name in enumerate(NAMES)]
    records.append(Concept("G:900", "Vitamine"))  # as German writes it
    return Linker.build(Terminology.build([*records, Name("Avitaminosis", "G:4")]))


@cases("text", "name")
def test_names_are_found_but_for_spaces(linker: Linker, text: str, name: str) -> None:
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
def test_what_is_one_word_stays(linker: Linker, text: str) -> None:
    (link,) = linker.link([text])
    assert all(step.name != "space" for step in link.steps)


def test_letters_that_make_no_name_stay(linker: Linker) -> None:
    for text in ("Asystole", "Aheart", "tumorv", "feverc"):
        (link,) = linker.link([text])
        assert (link.searched, link.steps) == (text, ())


def test_a_capital_s_is_no_plural() -> None:
    names = ["Protein", "Protein C", "Protein C deficiency", "Vitamins", "Vitamin K"]
    linker = Linker.build(Terminology.build(Concept(f"X:{n}", one) for n, one in enumerate(names)))
    (link,) = linker.link(["proteinS"])
    assert link.candidates[0].sieve == "search"
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


def test_a_space_goes_before_a_slip() -> None:
    names = ["Arm pain", "Leg pain", "Armpaint", "Armpaint allergy"]
    linker = Linker.build(Terminology.build(Concept(f"X:{n}", one) for n, one in enumerate(names)))
    (link,) = linker.link(["armpain"])
    assert (link.candidates[0].label, link.steps[0].name) == ("Arm pain", "space")


# --- spaces ---------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=[]), max_size=70))
def test_any_string(text: str) -> None:
    form = normalise(text, STRONG)
    assert joined([form])[0].replace(" ", "") == form.replace(" ", "")


@given(st.lists(st.text("aB1iIvVxof", min_size=1), min_size=3, max_size=9))
def test_names_with_the_same_spaces_have_no_joints(words: list[str]) -> None:
    form = " ".join(words).lower()
    assert are_joints(form, form, form, form)


def test_digits_stay_apart() -> None:
    assert joined(["trisomy 1 2", "trisomy 12", "il 2 r"]) == ["trisomy1 2", "trisomy12", "il2r"]


@cases("text", "whole")
def test_a_prefix_is_written_to_a_known_word_alone(text: str, whole: str) -> None:
    known = {"nontoxic", "preterm", "overthe"}
    assert with_prefixes_joined(text, known.__contains__) == whole


def test_two_words_of_one_are_no_name_of_the_other_order() -> None:
    names = ["Glass eye", "Glass syndrome", "Eye pain", "Car sickness", "Sickness, morning"]
    linker = Linker.build(
        Terminology.build(Concept(f"G:{number}", name) for number, name in enumerate(names))
    )
    glasses, sick = linker.link(["eyeglass", "carsickness"])
    assert glasses.candidates[0].sieve == "search"
    assert sick.label == "Car sickness"


def test_a_search_without_any_help_reads_no_spaces() -> None:
    (part,) = Preparation().prepare("proteinS deficiency").parts
    assert part.readings == ()
