"""What is certain is meant: names that differ by a sign, and what may be said of them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym import Concept, Linker, Mention, Name, Terminology
from canonym.exchange.auto_accept import can_auto_accept
from canonym.exchange.mappings import Origin, mappings_of
from canonym.exchange.sssom import SssomWriter
from canonym.export import links_to_rows
from tests.linkers import linked
from tests.tables import cases, tables

SIGNED = tables(__file__)["signed"]
NAMES = [
    "Hypertension", "Hypotension", "high blood pressure", "reduction in blood pressure",
    "Hepatitis B", "Hepatitis C", "Left knee pain", "Right knee pain", "Severe asthma", "Asthma",
    "Jaundice", "Heart attack", "Myocardial infarction", "Vitamin D", "Vitamin K",
    "Type 1 diabetes", "Type 2 diabetes",
]  # fmt: skip


def linker_of(names: Sequence[str]) -> Linker:
    return Linker.build(
        Terminology.build(Concept(f"T:{n}", name) for n, name in enumerate(names, start=1))
    )


@pytest.fixture(scope="module")
def signed() -> Linker:
    return linker_of([name for pair in SIGNED for name in pair])


@pytest.fixture(scope="module")
def linker() -> Linker:
    return linker_of(NAMES)


@pytest.mark.parametrize("name", [name for pair in SIGNED for name in pair])
def test_a_name_is_found_as_it_is_written(signed: Linker, name: str) -> None:
    best = signed.link([name])[0].candidates[0]
    assert (best.name, best.sieve, best.against.contradictions) == (name, "verbatim", ())


@pytest.mark.parametrize(("one", "other"), SIGNED)
def test_the_other_sign_alone_is_no_exact_match(one: str, other: str) -> None:
    for asked, there in ((one, other), (other, one)):
        link = linker_of([there, "unrelated"]).link([asked])[0]
        best = link.candidates[0]
        assert best.against.contradictions, (asked, best)
        (claim,) = mappings_of(link)
        assert claim.supported != "equal"
        assert not can_auto_accept(link)


def test_a_row_says_what_the_name_contradicts() -> None:
    links = linker_of(["HER2- breast cancer", "Gout"]).link(["HER2+ breast cancer", "gout"])
    first, second = links_to_rows(links, k=1)
    assert first["reason"] == "contradicts the mention by sign: 'positive', not 'negative'"
    assert (first["nil"], second["reason"]) == (False, "")


def test_a_corrected_spelling_is_close_however_sure() -> None:
    linker = linker_of(["Myocardial infarction", "Myocardial rupture", "Cerebral infarction"])
    link = linker.link(["myocradial infarction"])[0]
    assert (link.label, link.steps[-1].name) == ("Myocardial infarction", "correction")
    for confidence, claim in ((0.99, "close"), (0.6, "close"), (0.2, "related")):
        (mapping,) = mappings_of(replace(link, confidence=confidence))
        assert mapping.supported == claim


@pytest.mark.parametrize(
    ("written", "name"),
    [("Anaemia", "anemia"), ("colour blindness", "Color blindness"), ("Oedema", "edema")],
)
def test_the_spelling_of_another_country_is_no_correction(written: str, name: str) -> None:
    (mapping,) = mappings_of(linker_of([name, "unrelated"]).link([written])[0])
    assert (mapping.by_string, mapping.supported) == (True, "equal")


def test_a_written_sign_is_the_word_for_it(signed: Linker) -> None:
    links = signed.link(["PD-L1 positive tumours", "PD-L1-negative tumor", "gram-negative rods"])
    assert [link.label for link in links] == ["PD-L1+ tumor", "PD-L1- tumor", "Gram - rods"]
    assert {link.candidates[0].sieve for link in links} == {"normalised"}


def test_names_are_equal_but_for_case_where_no_other_is(signed: Linker) -> None:
    assert signed.link(["pd-l1+ TUMOR"])[0].label == "PD-L1+ tumor"


def test_a_preference_of_the_caller_goes_before_the_writing() -> None:
    records = [
        Concept("H:1", "SHH", types=("Homo sapiens",)),
        Concept("M:1", "Shh", types=("Mus musculus",)),
    ]
    linker = Linker.build(Terminology.build(records), encoders=[])
    assert [linker.link([text])[0].id for text in ("SHH", "Shh")] == ["H:1", "M:1"]
    assert linker.link(["SHH"], prefer=["Mus musculus"])[0].id == "M:1"


@cases("mention", "predicate")
def test_the_predicate_is_what_the_words_allow(
    linker: Linker, mention: str, predicate: str
) -> None:
    link = linker.link([Mention(mention)], min_confidence=0)[0]
    stream = io.StringIO()
    writer = SssomWriter(stream, Origin("1", "f"))
    # However sure an index is, words decide what may be said.
    writer.add(claim._replace(confidence=0.99) for claim in mappings_of(link))
    writer.close()
    assert stream.getvalue().splitlines()[-1].split("\t")[2] == predicate


def test_what_speaks_against_a_candidate_is_in_its_dict(linker: Linker) -> None:
    found = linker.link(["hepatitis D"])[0].candidates[0].to_dict()["against"]
    assert found["relation"] == "related"
    assert found["contradictions"][0]["kind"] == "letter"
    assert "against" not in linker.link(["asthma"])[0].candidates[0].to_dict()


def test_a_confidence_is_bounded_by_a_contradiction() -> None:
    records = [Concept(f"T:{n}", f"stage {n} ulcer of the heel") for n in range(1, 400)]
    records += [Name(f"heel ulcer, stage {n}", f"T:{n}") for n in range(1, 400)]  # type: ignore[list-item]
    linker = Linker.build(Terminology.build(records))
    right, wrong = linker.link(["stage 7 ulcer of the heel", "stage 888 ulcer of the heel"])
    assert right.confidence is not None
    assert wrong.confidence is not None
    assert wrong.confidence <= 0.5 < right.confidence


MENTIONS = [
    *NAMES, "hypotension", "low blood pressure", "reduced blood pressure", "hepatitis b", "asthmaa",
    "heart atack", "hart attack", "vitaminD", "asthma and jaundice", "type 1 and type 2 diabetes",
    "nonsense", "", "HEPATITIS C", "severe jaundice", "no jaundice",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(MENTIONS), min_size=1, max_size=12),
    st.integers(min_value=1, max_value=7),
)
@settings(max_examples=60, deadline=None)
def test_a_link_depends_on_its_mention_alone(
    alone: dict[str, object], linker: Linker, mentions: list[str], batch: int
) -> None:
    for text, link in zip(mentions, linker.link(mentions, batch=batch), strict=True):
        assert link.to_dict() == alone[text]


@pytest.fixture(scope="module")
def alone(linker: Linker) -> dict[str, object]:
    return {text: Linker.load(linker.folder).link([text])[0].to_dict() for text in MENTIONS}


@cases("mention", "name")
def test_the_name_of_another_thing_never_looks_certain(mention: str, name: str) -> None:
    others = ["Eye pain", "Coumarin derivative", "Digitoxin level", "Asthma"]
    others += ["Nuclear palsy", "Serous fluid", "Infection of the ear", "Sucrose level"]
    link, confidence = linked(linker_of([name, *others]), mention)
    assert confidence < 0.8
    assert not can_auto_accept(link)


@cases("mention", "name")
def test_an_ordinary_name_in_another_writing_is_certain(mention: str, name: str) -> None:
    others = ["Labor pain", "Goiter", "Pneumonia of newborn", "Amoxicillin allergy", "Gall stone"]
    others += ["Diarrhea of travellers", "Childhood schizophrenia", "Chloramphenicol allergy"]
    link, confidence = linked(linker_of([name, *others]), mention)
    assert (link.id, link.nil) == ("T:1", False)
    assert confidence >= 0.8
