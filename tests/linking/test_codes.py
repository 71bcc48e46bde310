"""Ids and codes in the place of names."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest

from canonym import Concept, Document, Linker, Mention, Name, Terminology, Xref
from canonym.errors import InvalidInput
from canonym.exchange.auto_accept import can_auto_accept
from canonym.exchange.mappings import mappings_of
from canonym.linking.codes import AGREED, DOUBTED, UNCONFIRMED, agreement_of
from canonym.linking.evidence import EVIDENCE
from canonym.linking.explanation import explain
from canonym.linking.judge import MENTIONS, fit_judge
from canonym.terminology.sqlite_file import Database
from canonym.types import Link, Step
from tests.linkers import concepts, linker_of
from tests.tables import cases, tables

TABLES = tables(__file__)

TERMINOLOGIES = {name: concepts(*lines) for name, lines in TABLES["terminologies"].items()}
TERMINOLOGIES["hpo"] += [
    Xref("HP:0001250", "HP:0002279", "alternative"),
    Xref("HP:0001250", "UMLS:C0036572"),
    Concept("HP:0000057", "Old clitoris", deprecated=True, replaced_by=("HP:0008665",)),
    Concept("HP:0040001", "Two of one", deprecated=True, replaced_by=("HP:0001250", "HP:0001251")),
    Concept("HP:0040002", "Gone for good", deprecated=True),
    Concept("HP:0040003", "Twice replaced", deprecated=True, replaced_by=("HP:0000057",)),
]

# --- what is an id --------------------------------------------------------------------------------

IDS, LABELLED, UNKNOWN = (TABLES[name] for name in ("ids", "labelled", "unknown"))
UNCERTAIN, DISAGREEING = TABLES["uncertain"], TABLES["disagreeing"]
NO_IDS = [(*row, None)[:3] for row in TABLES["no_ids"]]


@functools.cache
def linker(name: str) -> Linker:
    return Linker.build(Terminology.build(TERMINOLOGIES[name]), encoders=["chargrams"])


@pytest.fixture(scope="module", autouse=True)
def _forget() -> Iterator[None]:
    yield
    linker.cache_clear()


def _link(name: str, mention: str) -> Link:
    return linker(name).link([mention])[0]


@pytest.mark.parametrize(("name", "mention", "expected"), [*IDS, *LABELLED])
def test_an_id_is_the_concept(name: str, mention: str, expected: str) -> None:
    link = _link(name, mention)
    assert (link.id, link.score) == (expected, AGREED)
    assert (link.candidates[0].sieve, link.candidates[0].name) == ("id", link.label)
    assert can_auto_accept(link)
    assert len(link.candidates) == 1  # nothing is similar to an id


@pytest.mark.parametrize(("name", "mention", "expected"), UNCERTAIN)
def test_a_code_beside_other_words_is_not_certain(name: str, mention: str, expected: str) -> None:
    link = _link(name, mention)
    assert (link.id, link.score, link.candidates[0].sieve) == (expected, UNCONFIRMED, "id")
    assert not can_auto_accept(link)


@pytest.mark.parametrize(("name", "mention"), DISAGREEING)
def test_a_code_and_a_label_that_disagree_are_nothing(name: str, mention: str) -> None:
    link = _link(name, mention)
    assert link.nil
    assert not can_auto_accept(link)
    assert link.reason.startswith("the code ")
    assert {one.score for one in link.candidates} == {DOUBTED}


@pytest.mark.parametrize(("name", "mention", "reason"), UNKNOWN)
def test_a_code_that_no_concept_has_is_not_searched(name: str, mention: str, reason: str) -> None:
    link = _link(name, mention)
    assert link.nil
    assert not link.candidates
    assert link.reason == reason


@pytest.mark.parametrize(("name", "mention", "expected"), NO_IDS)
def test_what_looks_like_a_code_is_none(name: str, mention: str, expected: str | None) -> None:
    link = _link(name, mention)
    assert all(one.sieve != "id" for one in link.candidates)
    assert expected is None or link.candidates[0].id == expected


def test_the_table_is_long_enough() -> None:
    lengths = map(len, (IDS, LABELLED, UNCERTAIN, DISAGREEING, UNKNOWN, NO_IDS))
    assert sum(lengths) >= 200
    assert len(NO_IDS) >= 40


# --- steps and explanations -----------------------------------------------------------------------


def test_steps_say_what_was_read() -> None:
    assert _link("icd", "ICD10CM:I10").steps == ()
    assert _link("icd", "e119").steps == (Step("code", "e119", "ICD10CM:E11.9"),)
    assert _link("hpo", "hp_0000057").steps == (
        Step("code", "hp_0000057", "HP:0000057"),
        Step("replaced", "HP:0000057", "HP:0008665"),
    )
    assert _link("hpo", "HP:0002279").steps == (Step("code", "HP:0002279", "HP:0001250"),)


def test_an_explanation_names_the_id() -> None:
    lines = explain(_link("icd", "M109"))
    assert lines[:3] == [
        "step: code turned 'M109' into 'ICD10CM:M10.9'",
        "id: ICD10CM:M10.9, which is 'Gout, unspecified'",
        "sieve: id (the mention is an id of the concept)",
    ]
    assert any(
        "not a name of the concept" in line for line in explain(_link("icd", "M10.9 - podagra"))
    )


# --- names and ids --------------------------------------------------------------------------------


def test_a_bare_code_of_two_concepts_is_tied() -> None:
    terminology = Terminology.build([Concept("A:0001816", "one"), Concept("B:0001816", "other")])
    link = Linker.build(terminology, encoders=[]).link(["0001816"])[0]
    assert [one.id for one in link.candidates] == ["A:0001816", "B:0001816"]
    assert not can_auto_accept(link)
    with pytest.raises(InvalidInput, match="may be A:0001816 or B:0001816"):
        terminology.concept("0001816")


def test_an_alternative_id_of_two_concepts_is_tied() -> None:
    records = [Concept("A:1", "one"), Concept("A:2", "other")]
    xrefs = [Xref(f"A:{n}", "UMLS:C0000001", "alternative") for n in (1, 2)]
    link = Linker.build(Terminology.build([*records, *xrefs]), encoders=[]).link(["C0000001"])[0]
    assert [one.id for one in link.candidates] == ["A:1", "A:2"]
    assert not can_auto_accept(link)


def test_a_cross_reference_is_no_id() -> None:
    assert _link("hpo", "UMLS:C0036572").nil


def test_the_exact_id_goes_before_a_near_one() -> None:
    records = [Concept("M10.9", "gout"), Concept("M109", "a room"), Concept("m109", "a galaxy")]
    linked = Linker.build(Terminology.build(records), encoders=[]).link(["M109", "m109", "M10.9"])
    assert [link.id for link in linked] == ["M109", "m109", "M10.9"]


def test_an_added_name_goes_before_a_bare_code_and_not_before_a_curie() -> None:
    records = [Concept("ICD10CM:I10", "hypertension"), Concept("ICD10CM:J45", "asthma")]
    linker = Linker.build(Terminology.build(records), encoders=[])
    linker.synonyms.add("I10", "j45")
    linker.synonyms.add("ICD10CM:I10", "ICD10CM:J45")
    linked = linker.link(["I10", "ICD10CM:I10"])
    assert [(link.id, link.candidates[0].sieve) for link in linked] == [
        ("ICD10CM:J45", "verbatim"),
        ("ICD10CM:I10", "id"),
    ]


def test_a_code_that_is_a_word_of_names_is_none() -> None:
    terminology = Terminology.build(TERMINOLOGIES["icd"])
    assert terminology.is_word_of_others("b12", "ICD10CM:B12")
    assert terminology.is_word_of_others("B12")
    assert not terminology.is_word_of_others("I10", "ICD10CM:I10")
    own = Terminology.build([Concept("X:B12", "B12 - a code in its own name")])
    assert Linker.build(own, encoders=[]).link(["B12"])[0].id == "X:B12"


# --- filters --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filtered() -> Linker:
    records = [
        Concept("ICD10CM:I10", "hypertension", types=("disease",), source="one"),
        Name("hipertensi\u00f3n", "ICD10CM:I10", language="es"),
        Concept("ICD10CM:I11", "made up", types=("finding",), source="two"),
    ]
    return Linker.build(Terminology.build(records), encoders=["chargrams"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "ICD10CM:I10"),
        ({"types": ["disease"]}, "ICD10CM:I10"),
        ({"types": ["finding"]}, None),
        ({"sources": ["two"]}, None),
        ({"languages": ["es"]}, "ICD10CM:I10"),
        ({"ids": ["i10"]}, "ICD10CM:I10"),
        ({"ids": ["I11"]}, None),
        ({"min_score": 1.0}, "ICD10CM:I10"),
        ({"seed": 3}, "ICD10CM:I10"),
        ({"context": False}, "ICD10CM:I10"),
    ],
)
@pytest.mark.parametrize("mention", ["I10", "ICD10CM:I10", "I10 - hypertension"])
def test_ids_stay_within_filters(
    filtered: Linker, mention: str, options: dict[str, Any], expected: str | None
) -> None:
    link = filtered.link([mention], **options)[0]
    if expected is not None:
        assert link.id == expected
    else:
        assert all(one.sieve == "search" for one in link.candidates)
        assert mention != "I10" or link.nil


def test_a_forbidden_concept_is_not_found_by_its_id() -> None:
    linker = Linker.build(Terminology.build(TERMINOLOGIES["icd"]), encoders=["chargrams"])
    linker.synonyms.forbid("i10", "i10")
    link = linker.link(["I10"])[0]
    assert link.nil
    assert "left out by a filter, or forbidden" in link.reason
    assert linker.link(["ICD10CM:I10"])[0].id == "ICD10CM:I10"
    linker.synonyms.allow("I10", "ICD-10 I10")
    assert linker.link(["I10"])[0].id == "ICD10CM:I10"


def test_an_index_without_sieves_knows_no_ids() -> None:
    terminology = Terminology.build(TERMINOLOGIES["icd"])
    link = Linker.build(terminology, encoders=["chargrams"], sieves=[]).link(["I10"])[0]
    assert all(one.sieve == "search" for one in link.candidates)


# --- batches --------------------------------------------------------------------------------------


def test_companions_change_nothing() -> None:
    mentions = [mention for name, mention, _ in (*IDS, *LABELLED, *NO_IDS) if name == "icd"]
    together = linker("icd").link(mentions)
    fresh = Linker.build(Terminology.build(TERMINOLOGIES["icd"]), encoders=["chargrams"])
    assert [link.to_dict() for link in together] == [
        fresh.link([mention])[0].to_dict() for mention in mentions
    ]


def test_a_batch_takes_few_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        Concept(f"ICD10CM:A{n:02}.{m}", f"made up {n} {m}") for n in range(99) for m in range(9)
    ]
    terminology = Terminology.build(records)
    terminology.find_codes(["A01.1"])  # the forms of ids are read once
    queries: list[str] = []
    batches = Database.batches

    def counted(self: Database, sql: str, *rest: Any, **more: Any) -> Iterator[list[Any]]:
        queries.append(sql)
        return batches(self, sql, *rest, **more)

    monkeypatch.setattr(Database, "batches", counted)
    hits = terminology.find_codes([f"a{n:02}1" for n in range(99)])
    assert len(hits) == 99
    assert len(queries) == 2  # concepts, and alternative ids of the rest
    queries.clear()
    assert terminology.find_codes(["heart attack", "infarction of the heart"]) == {}
    assert queries == []


# --- confidence, export --------------------------------------------------------------------


def test_an_id_needs_no_learned_confidence() -> None:
    linker = Linker.build(Terminology.build(TERMINOLOGIES["icd"]), encoders=["chargrams"])
    n = len(EVIDENCE)
    linker.judge = fit_judge(
        [[float(i % 2)] * n for i in range(40)], [bool(i % 2) for i in range(40)], source=MENTIONS
    )
    sure, unsure, denied, name = linker.link(
        ["I10", "M10.9 - podagra", "M10.9 - asthma", "asthma"], min_confidence=0.6
    )
    assert sure.confidence == 1 - 1 / 42
    assert (unsure.id, unsure.confidence) == ("ICD10CM:M10.9", UNCONFIRMED)
    assert (denied.id, denied.confidence) == (None, DOUBTED / 2)
    assert name.confidence is not None


def test_an_id_comes_first() -> None:
    linker = Linker.build(Terminology.build(TERMINOLOGIES["icd"]), encoders=["chargrams"])
    link = linker.link(["M10.9 - gout"])[0]
    assert (link.id, link.score) == ("ICD10CM:M10.9", 1.0)
    assert can_auto_accept(link)


def test_a_mapping_by_an_id_is_exact_and_not_lexical() -> None:
    (mapping,) = mappings_of(_link("icd", "e119"))
    assert (mapping.by_id, mapping.by_string, mapping.supported) == (True, False, "equal")
    assert mapping.evidence.startswith("id: ICD10CM:E11.9, score 1, confidence 0.9999")
    (unsure,) = mappings_of(_link("icd", "M10.9 - podagra"))
    assert unsure.supported == "close"
    (nothing,) = mappings_of(_link("icd", "M10.9 - asthma"))
    assert nothing.candidate is None


def test_ids_in_a_document_are_other_mentions() -> None:
    document = Document("1", "I10 and E11.9", (Mention("I10", 0, 3), Mention("E11.9", 8, 13)))
    assert linker("icd").link_document(document)[1].id == "ICD10CM:E11.9"


# --- labels ---------------------------------------------------------------------------------------


@cases("label", "name", "expected")
def test_labels_agree_with_names(label: str, name: str, expected: str) -> None:
    assert agreement_of(label, [name]) == expected


@cases("mention", "status")
def test_a_label_beside_a_code_says_a_status(mention: str, status: tuple[str, ...]) -> None:
    records = [Concept("ICD10CM:A41.9", "Sepsis, unspecified organism"), Concept("X:1", "Gout")]
    (link,) = linker_of(records).link([mention])
    (mapping,) = mappings_of(link)
    assert (link.candidates[0].id, link.status) == ("ICD10CM:A41.9", status)
    assert mapping.relation == ("related" if status else "equal")


@pytest.mark.parametrize("mention", ["A41.9 without complications", "A41.9 - sepsis, no shock"])
def test_what_a_label_denies_is_no_status_of_the_code(mention: str) -> None:
    records = [Concept("ICD10CM:A41.9", "Sepsis, unspecified organism"), Concept("X:1", "Gout")]
    (link,) = linker_of(records).link([mention])
    assert link.status == ()
