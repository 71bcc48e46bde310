"""The concept of a side, below the one that names no side."""

from __future__ import annotations

import pytest

from canonym import Linker, Relation, Terminology
from tests.linkers import concepts
from tests.tables import cases, tables

SIDES = ("right", "left")
TABLES = tables(__file__)
SIDED = [[cell.format(side) for cell in row] for side in SIDES for row in TABLES["sided"]]
RECORDS = [
    *concepts(*TABLES["concepts"], *(f"{id_}|{label}" for id_, _, label in SIDED)),
    *(Relation(id_, "is_a", above) for id_, above in TABLES["below"]),
    *(Relation(id_, "is_a", above) for id_, above, _ in SIDED),
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


def test_a_side_of_another_organ_is_not_that_of_the_mention() -> None:
    records = [
        *concepts(
            "T|Neoplasms of unspecified behavior",
            "B|Neoplasm of unspecified behavior of brain|brain tumor",
            "K|Neoplasm of unspecified behavior of left kidney",
        ),
        Relation("B", "is_a", "T"),
        Relation("K", "is_a", "T"),
    ]
    (link,) = Linker.build(Terminology.build(records)).link(["left brain tumor"])
    assert link.id == "B"


def test_a_side_that_a_filter_leaves_out_is_not_taken(linker: Linker) -> None:
    (link,) = linker.link(["left ankle sprain"], ids=["A", "B"], min_confidence=0)
    assert link.id == "A"
