"""The concept of a side, below the one that names no side."""

from __future__ import annotations

import pytest

from canonym import Concept, Linker, Name, Relation, Terminology
from canonym.types import Record
from tests.tables import cases

SIDES = ("right", "left")
RECORDS: list[Record] = [
    *(Concept("A", "Sprain of ankle"), Concept("A.4", "Sprain of unspecified site of ankle")),
    *(Concept("A.9", "Sprain of deltoid ligament of ankle"), Name("ankle sprain", "A")),
    *(Concept("B", "Carpal tunnel syndrome"), Concept("C", "Malignant neoplasm of breast")),
    *(Concept("D", "Trigger finger"), Concept("E", "Foot ulcer"), Concept("F", "Otalgia")),
    *(Name("ear pain", "F"), Name("breast cancer", "C"), Concept("G", "Pain in knee")),
    *(Concept("H", "Cryptorchidism"), Name("undescended testes", "H")),
    *(Concept("H.b", "Bilateral cryptorchidism"), Concept("J", "Left heart failure")),
    *(Concept("K", "Eye disorders"), Concept("K.9", "Unspecified cataract")),
    *(Relation("K.9", "is_a", "K"), Name("cataract", "K.9"), Concept("L", "Ear noises")),
    *(Concept("L.9", "Tinnitus, unspecified ear"), Concept("L.3", "Tinnitus, bilateral")),
    *(Relation("L.9", "is_a", "L"), Relation("L.3", "is_a", "L"), Name("tinnitus", "L.9")),
    *(Relation("A.4", "is_a", "A"), Relation("A.9", "is_a", "A"), Relation("H.b", "is_a", "H")),
    *(
        record
        for side in SIDES
        for id_, above, label in (
            ("A.4.{}", "A.4", "Sprain of unspecified ligament of {} ankle"),
            ("A.9.{}", "A.9", "Sprain of deltoid ligament of {} ankle"),
            ("B.{}", "B", "Carpal tunnel syndrome, {} upper limb"),
            ("C.f.{}", "C", "Malignant neoplasm of unspecified site of {} female breast"),
            ("C.m.{}", "C", "Malignant neoplasm of unspecified site of {} male breast"),
            ("D.1.{}", "D", "Trigger thumb, {} thumb"),
            ("D.2.{}", "D", "Trigger finger, {} index finger"),
            ("E.{}", "E", "Foot ulcer of {} foot"),
            ("E.{}.9", "E.{}", "Foot ulcer of {} foot with unspecified severity"),
            ("F.{}", "F", "Otalgia, {} ear"),
            ("G.{}", "G", "Pain in {} knee"),
            ("K.1.{}", "K", "Unspecified traumatic cataract, {} eye"),
        )
        for record in (
            Concept(id_.format(side), label.format(side)),
            Relation(id_.format(side), "is_a", above.format(side)),
        )
    ),
]


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build(RECORDS))


@pytest.mark.parametrize("side", SIDES)
@cases("mention", "id")
def test_the_concept_of_a_side_goes_before_the_one_above(
    linker: Linker, mention: str, id: str, side: str
) -> None:
    (link,) = linker.link([mention.format(side)], min_confidence=0)
    assert link.id == id.format(side)


def test_a_letter_and_both_are_sides(linker: Linker) -> None:
    links = linker.link(
        ["L ankle sprain", "Rt ear pain", "bilateral undescended testes", "ear pain (R)"]
    )
    assert [link.id for link in links] == ["A.4.left", "F.right", "H.b", "F.right"]
    step = links[0].steps[-1]
    above, below = "Sprain of ankle", "Sprain of unspecified ligament of left ankle"
    assert (step.name, step.before, step.after) == ("side", above, below)
    assert [candidate.id for candidate in links[0].candidates[:2]] == ["A.4.left", "A"]


def test_a_sibling_that_leaves_the_side_unspecified_is_not_meant(linker: Linker) -> None:
    links = linker.link(["tinnitus, both ears", "bilateral tinnitus", "tinnitus"])
    assert [link.id for link in links] == ["L.3", "L.3", "L.9"]


@cases("mention", "id")
def test_what_could_be_either_stays_above(linker: Linker, mention: str, id: str) -> None:
    links = linker.link([mention], min_confidence=0)
    assert {part.id for link in links for part in (link.parts or (link,))} <= {id, "A.4.left"}


@cases("mention")
def test_a_side_of_something_else_is_not_that_of_the_mention(linker: Linker, mention: str) -> None:
    (link,) = linker.link([mention], min_confidence=0)
    ids = {part.id for part in link.parts or (link,)}
    assert not ids & {"F.left", "F.right"}
    assert "F" in ids


def test_a_side_that_a_filter_leaves_out_is_not_taken(linker: Linker) -> None:
    (link,) = linker.link(["left ankle sprain"], ids=["A", "B"], min_confidence=0)
    assert link.id == "A"
