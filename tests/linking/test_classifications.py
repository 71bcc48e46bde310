"""Names of a classification: its rests, its screenings and histories, and siblings by a detail."""

from __future__ import annotations

import pytest

from canonym import Concept, Linker, Name, Relation, Terminology
from canonym.linking.explanation import explain
from tests.linkers import SURE, concepts, linked, linker_of, sure_id
from tests.linking.bounds import LONE_SLIP
from tests.tables import cases, tables

TABLES = tables(__file__)
RECORDS = concepts(*TABLES["classes"])


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(RECORDS))


@cases("mention", "id")
def test_the_rest_of_a_class_is_found_as_the_terminology_calls_it(
    linker: Linker, mention: str, id: str
) -> None:
    assert sure_id(linker, mention) == id


@cases("mention", "id")
def test_a_cancer_of_stage_0_is_one_in_situ(linker: Linker, mention: str, id: str) -> None:
    assert sure_id(linker, mention) == id


def test_the_rest_of_a_class_is_not_what_is_unspecified(linker: Linker) -> None:
    link, confidence = linked(linker, "Bursitis NEC")
    assert link.id == "C:4"
    assert confidence <= 0.5
    assert linked(linker, "Tendinitis NEC")[1] > SURE  # a class as a whole is broader


@cases("mention", "id", "status")
def test_a_status_is_part_of_the_concept_that_says_it(
    linker: Linker, mention: str, id: str, status: tuple[str, ...]
) -> None:
    link, confidence = linked(linker, mention)
    assert (link.id, link.status) == (id, status)
    assert confidence > SURE


def test_what_names_say_and_a_mention_does_not_is_left_open(linker: Linker) -> None:
    link, confidence = linked(linker, "subarachnoid hemorrhage")
    assert link.id in ("C:20", "C:21")
    assert confidence <= 0.5
    (step,) = [step for step in link.steps if step.name == "one of several"]
    assert {*step.after.split(" | ")} == {"traumatic", "nontraumatic"}
    assert f"'subarachnoid hemorrhage' may mean: {step.after}" in list(explain(link))
    assert linked(linker, "traumatic subarachnoid hemorrhage")[1] > SURE


def test_a_detail_is_not_left_out_where_a_near_name_says_it(linker: Linker) -> None:
    assert linked(linker, "Conductive hearing loss, severe")[0].id == "C:22"
    assert linked(linker, "Conductive hearing loss, severe")[1] > SURE
    assert linked(linker, "Conductive hearing loss, unilateral")[1] < SURE


@cases("mention")
def test_what_a_name_contradicts_is_not_certain(linker: Linker, mention: str) -> None:
    assert linked(linker, mention)[1] < SURE


@cases("mention", "id")
def test_another_order_may_say_the_same(linker: Linker, mention: str, id: str) -> None:
    assert linked(linker, mention)[0].id == id


def test_a_name_that_contradicts_does_not_say_a_detail() -> None:
    melanomas = [Concept("M:1", "Melanoma"), Concept("M:2", "Stage 0 melanoma")]
    linker = Linker.build(Terminology.build(melanomas))
    for mention, id in (("melanoma stage IIIb", "M:1"), ("stage 0 melanoma", "M:2")):
        assert sure_id(linker, mention) == id


def test_the_nearest_name_may_be_the_same_but_for_its_qualifiers() -> None:
    records = [
        Concept("O:1", "Osteoarthritis"),
        Concept("O:2", "Knee"),
        Name("Gonarthrosis", "O:2"),
    ]
    records.append(Concept("O:3", "Osteoarthritis NOS"))
    assert sure_id(linker_of(records), "severe osteoarthritis") == "O:1"


def test_a_category_and_its_only_kind_are_no_rivals() -> None:
    alike = [Concept("K:1", "Noise effects on the ear"), Concept("K:2", "Noise effects on the ear")]
    (apart,) = Linker.build(Terminology.build(alike)).link(["noise effects on the ear"])
    alike.append(Relation("K:2", "is_a", "K:1"))
    (kin,) = Linker.build(Terminology.build(alike)).link(["noise effects on the ear"])
    assert apart.confidence is not None
    assert kin.confidence is not None
    assert apart.confidence < SURE < kin.confidence
    assert [candidate.context for candidate in kin.candidates] == [{}, {"kin": 1.0}]


def test_the_general_concept_goes_before_those_below_it_that_say_more() -> None:
    eyes = ("right eye", "left eye", "bilateral")
    records = [Concept("E:1", "Mooren's corneal ulcer"), Concept("E:9", "Peptic ulcer")]
    for n, eye in enumerate(eyes, start=2):
        records.append(Concept(f"E:{n}", f"Mooren's corneal ulcer, {eye}"))
        records.append(Relation(f"E:{n}", "is_a", "E:1"))
    linker = Linker.build(Terminology.build(records))
    (link,) = linker.link(["Mooren ulcer"], k=8)
    assert link.id == "E:1"
    kin = {candidate.id for candidate in link.candidates if "kin" in candidate.context}
    assert kin == {"E:2", "E:3", "E:4"}
    assert linker.link(["Mooren ulcer, left eye"])[0].id == "E:3"
    apart = [record for record in records if isinstance(record, Concept)]
    (alone,) = Linker.build(Terminology.build(apart)).link(["Mooren ulcer"])
    assert alone.confidence is not None
    assert link.confidence is not None
    assert alone.confidence < link.confidence


@cases("mention", "confident")
def test_a_carcinoma_is_a_cancer(linker: Linker, mention: str, confident: bool) -> None:
    link, confidence = linked(linker, mention)
    assert (link.id == "C:12" and confidence > SURE) is confident


def test_where_a_cancer_spread_to_is_a_concept_of_its_own() -> None:
    records = [
        *(Concept("S:1", "Breast cancer"), Concept("S:2", "Melanoma")),
        Concept("S:3", "Secondary malignant neoplasm of breast"),
        Concept("S:4", "Secondary malignant neoplasm of liver"),
    ]
    records += [Concept("S:5", "Brain metastasis"), Name("liver metastasis", "S:4")]
    records.append(Name("breast metastasis", "S:3"))
    linker = Linker.build(Terminology.build(records))
    for mention, ids in (
        ("breast cancer metastatic to the liver", ("S:1", "S:4")),
        ("melanoma, metastatic to liver", ("S:2", "S:4")),
        ("breast cancer with mets to liver", ("S:1", "S:4")),
        ("melanoma metastatic to the breast, liver and brain", ("S:2", "S:3", "S:4", "S:5")),
        ("metastases to the liver", ("S:4",)),
    ):
        (link,) = linker.link([mention])
        assert link.ids == ids


@pytest.mark.parametrize(("mention", "id"), [("TLR-9", "G:1"), ("VEGF-C", "G:2"), ("IL-8", "G:3")])
def test_a_symbol_may_be_written_with_a_hyphen(mention: str, id: str) -> None:
    genes = [Concept("G:1", "TLR9"), Concept("G:2", "VEGFC"), Concept("G:3", "IL8")]
    assert sure_id(linker_of(genes), mention) == id


def test_a_word_that_stands_alone_may_be_no_slip() -> None:
    drugs = ["Azithromycin", "Azithromycin tablet", "Ibuprofen", "Ibuprofen lysine", "Serine"]
    records = [Concept(f"D:{n}", name) for n, name in enumerate(drugs)]
    linker = Linker.build(Terminology.build(records))
    alone, beside = linked(linker, "azythromycin"), linked(linker, "azythromycin tablet")
    assert (alone[0].id, beside[0].id) == ("D:0", "D:1")
    assert SURE < alone[1] <= LONE_SLIP < beside[1]
