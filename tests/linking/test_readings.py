"""An abbreviation alone in a list: what else it may stand for, and how sure a link is then."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym import Concept, Linker, Name, Relation, Terminology
from canonym.exchange.mappings import mappings_of
from canonym.linking.explanation import explain
from canonym.types import OTHER_READINGS, Link
from tests.linkers import concepts, linked, linker_of
from tests.linking.bounds import CONTRADICTED, SAME_WORDS, UNUSUAL, USUAL
from tests.tables import tables

RECORDS = [*concepts(*tables(__file__)["concepts"]), Relation("T:6", "is_a", "T:5")]


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    folder = tmp_path_factory.mktemp("readings") / "index"
    return Linker.build(Terminology.build(RECORDS), folder=folder)


def said(link: Link) -> list[str]:
    return [step.after for step in link.steps if step.name == OTHER_READINGS]


def test_what_an_abbreviation_usually_stands_for_is_laid_beside_it(linker: Linker) -> None:
    (link,) = linker.link(["CP"], k=3)
    assert [candidate.id for candidate in link.candidates] == ["T:1", "T:2", "T:3"]
    assert said(link) == ["chest pain | cleft palate"]
    assert link.confidence == UNUSUAL
    says = "'CP' may also stand for: chest pain | cleft palate (by readings.CP.1, readings.CP.4)"
    assert says in explain(link)
    (mapping,) = mappings_of(link)
    assert mapping.supported == "related"  # though the name is the same, letter by letter
    for written in ("cp", "h/o CP"):
        assert said(linker.link([written])[0])


def test_a_short_form_beside_other_words_is_no_surer(linker: Linker) -> None:
    side, familial = linker.link(["R CP", "familial PD"], min_confidence=0)
    assert (side.candidates[0].id, said(side)) == ("T:1", ["chest pain | cleft palate"])
    assert side.confidence is not None
    assert side.confidence <= UNUSUAL
    assert not said(familial)  # its label says the usual reading


def test_the_only_reading_of_an_abbreviation_counts_as_well(linker: Linker) -> None:
    (link,) = linker.link(["HLH"], k=2)
    assert [candidate.id for candidate in link.candidates] == ["T:17", "T:18"]
    assert link.confidence == UNUSUAL


def test_a_type_of_diabetes_is_a_reading(linker: Linker) -> None:
    (link,) = linker.link(["DM2"], k=2)
    assert [candidate.id for candidate in link.candidates] == ["T:19", "T:20"]
    assert link.confidence == UNUSUAL


def test_a_reading_that_no_name_has_counts_as_well(linker: Linker) -> None:
    (drug,) = linker.link(["PCP"])
    assert (drug.candidates[0].id, drug.confidence) == ("T:8", UNUSUAL)
    assert said(drug) == ["Pneumocystis pneumonia"]


@pytest.mark.parametrize("mention", ["severe PCP", "PCP, recurrent", "Dx: mild PCP"])
def test_a_detail_beside_it_makes_it_no_clearer(linker: Linker, mention: str) -> None:
    link, confidence = linked(linker, mention)
    assert link.candidates[0].id == "T:8"
    assert confidence <= UNUSUAL
    assert said(link) == ["Pneumocystis pneumonia"]


def test_a_detail_may_tell_that_another_reading_is_meant(linker: Linker) -> None:
    severe, left, single = linker.link(["severe PD", "PD, left", "severe RLS"], k=2)
    for link in (severe, left):
        assert [candidate.id for candidate in link.candidates] == ["T:6", "T:7"]
        assert said(link) == ["panic disorder"]
        assert link.confidence == USUAL
    assert single.id == "T:9"
    assert single.confidence is not None
    assert single.confidence > USUAL


@pytest.mark.parametrize(
    ("mention", "id"),
    [
        ("RLS", "T:9"),  # of one reading
        ("MCI", "T:15"),  # the label says more than the reading
        ("NS", "T:10"),  # no reading is known
        ("CP (cerebral palsy)", "T:1"),
        ("cerebral palsy", "T:1"),
    ],
)
def test_other_short_forms_stay_as_they_are(linker: Linker, mention: str, id: str) -> None:
    (link,) = linker.link([mention], min_confidence=0)
    assert link.candidates[0].id == id
    assert not said(link)
    assert link.confidence is not None
    assert link.confidence > UNUSUAL


def test_the_usual_reading_counts_where_the_abbreviation_is_no_name(linker: Linker) -> None:
    usual, negated, small, other = linker.link(["MI", "no MI", "mi", "SD"])
    assert usual.id == "T:16"
    assert usual.searched == "myocardial infarction"
    assert usual.confidence == USUAL
    assert "mitral insufficiency" in said(usual)[0]
    assert (negated.nil, negated.status) == (True, ("negated",))
    assert small.nil  # in small letters it may be a word
    assert other.nil  # no reading is known


def test_a_name_that_somebody_added_is_meant(tmp_path: Path) -> None:
    linker = Linker.build(Terminology.build(RECORDS), folder=tmp_path / "index")
    linker.synonyms.add("TS", "T:13")
    (link,) = linker.link(["TS"])
    assert (link.id, said(link)) == ("T:13", [])


@pytest.mark.parametrize("mention", ["ASD", "asd", "severe ASD"])
def test_no_reading_is_usual_where_specialties_differ(mention: str) -> None:
    records = [Concept("A:1", "Autism spectrum disorder"), Name("ASD", "A:1")]
    (alone,) = linker_of(records).link(["ASD"])
    assert alone.confidence is not None
    assert alone.confidence <= USUAL  # notes mean the heart, which this terminology lacks
    records.append(Concept("A:2", "Atrial septal defect"))
    (link,) = linker_of(records).link([mention], k=2)
    assert {candidate.id for candidate in link.candidates} == {"A:1", "A:2"}
    assert link.confidence is not None
    assert link.confidence <= USUAL


def test_a_capital_s_at_the_end_is_no_plural(linker: Linker) -> None:
    protein, syndrome, plural = linker.link(["CRP", "CRPS", "PVC"])
    assert protein.candidates[0].against.contradictions[0].kind == "letter"
    assert protein.confidence is not None
    assert protein.confidence <= CONTRADICTED
    assert (syndrome.id, syndrome.candidates[0].against.contradictions) == ("T:11", ())
    assert (plural.id, plural.candidates[0].against.contradictions) == ("T:12", ())


def test_a_name_with_the_same_words_is_likely_beside_one_with_fewer(tmp_path: Path) -> None:
    pain = [Concept("P:1", "Pain in right knee"), Concept("P:2", "Pain in knee")]
    pain += [Concept("P:3", "Pain in left knee"), Name("knee pain", "P:2")]
    linker = Linker.build(Terminology.build(pain), folder=tmp_path / "index")
    for mention in ("right knee pain", "R knee pain", "knee pain (R)"):
        link, confidence = linked(linker, mention)
        assert link.id == "P:1"
        assert confidence >= SAME_WORDS


def test_a_short_form_that_is_near_a_name_of_its_rarest_reading_is_nil(tmp_path: Path) -> None:
    concepts = [Concept("L:1", "Leukocyte adhesion deficiency"), Name("LAD-I", "L:1")]
    linker = Linker.build(Terminology.build(concepts), folder=tmp_path / "index")
    (link,) = linker.link(["LAD"])
    assert link.nil
    assert link.reason == "it usually stands for left anterior descending artery"
    (cough,) = linker.link(["Robitussin DM"])
    assert "diabetes" not in (cough.searched or "")
