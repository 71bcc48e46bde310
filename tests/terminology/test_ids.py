from __future__ import annotations

import pytest

from canonym import Concept, Terminology, Xref
from canonym.terminology.ids import ConceptIds


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    return Terminology.build(
        [
            Concept("MESH:D003920", "diabetes"),
            Concept("MESH:C535338", "rare"),
            Concept("OMIM:145250", "family"),
            Concept("HP:1", "sign"),
            Concept("plain7", "without prefix"),
            Xref("MESH:C535338", "OMIM:613097", "alternative"),
            Xref("MESH:D003920", "UMLS:C1", "xref"),
        ]
    )


@pytest.mark.parametrize(
    ("written", "concept"),
    [
        ("MESH:D003920", "MESH:D003920"),
        ("D003920", "MESH:D003920"),
        ("145250", "OMIM:145250"),
        ("1", "HP:1"),
        ("mesh:D003920", "MESH:D003920"),
        ("X:plain7", "plain7"),
        ("613097", "MESH:C535338"),
        ("OMIM:613097", "MESH:C535338"),
        ("D999999", None),
        ("OMIM:D003920", None),  # another prefix is another concept
        ("UMLS:C1", None),  # a cross-reference is no alternative
    ],
)
def test_ids_are_found_with_and_without_prefix(
    terminology: Terminology, written: str, concept: str | None
) -> None:
    assert ConceptIds(terminology).concept(written) == concept


def test_the_census_counts_how_every_id_was_understood(terminology: Terminology) -> None:
    ids = ConceptIds(terminology)
    for written in ["MESH:D003920", "D003920", "D003920", "X:plain7", "mesh:D003920", "613097"]:
        ids.concept(written)
    for written in ["D9", "D8", "D8"]:
        ids.concept(written)
    ids.find("D7")  # looked up, not met
    census = ids.census()
    assert (census.n, census.as_written, census.prefix_added) == (9, 1, 2)
    assert (census.prefix_removed, census.prefix_changed, census.alternative) == (1, 1, 1)
    assert census.unknown == {"D8": 2, "D9": 1}
    assert census.n_unknown == 3
    assert census.prefixes == {"": 6, "MESH": 1, "X": 1, "mesh": 1}
    assert census.mixed
    assert census.to_dict()["unknown"] == {"D8": 2, "D9": 1}
    assert census.to_dict()["mixed"] is True
    first, second = census.remarks()
    assert "3 of 9 ids (2 different ones) are not in the terminology: D8, D9" in first
    assert "6 without one" in second
    assert "1 MESH:" in second


def test_a_clean_census_has_nothing_to_remark(terminology: Terminology) -> None:
    ids = ConceptIds(terminology)
    census = ids.census(["MESH:D003920", "MESH:C535338"])
    assert census.n == 2
    assert not census.mixed
    assert census.remarks() == []
    assert ids.census().n == 0


def test_only_five_unknown_ids_are_shown(terminology: Terminology) -> None:
    census = ConceptIds(terminology).census([f"D{i}" for i in range(6)])
    assert census.remarks()[0].endswith("D0, D1, D2, D3, D4, …")
