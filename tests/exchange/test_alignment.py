"""Concepts of one terminology mapped to those of another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from canonym import Concept, Name, Terminology, Xref
from canonym.exchange.alignment import (
    FEATURES,
    map_terminologies,
    nearest_both_ways,
    propose,
)
from canonym.types import ConceptMapping, Relation
from tests.cli.running import rows, run

LEFT = (
    Concept("A:1", "Heart attack"),
    Name("Myocardial infarction", "A:1"),
    Concept("A:2", "Migraine with aura"),
    Concept("A:3", "Migraine"),
    Concept("A:4", "Xanthoma"),
    Concept("A:9", "Old migraine", deprecated=True),
    Relation("A:2", "is_a", "A:3"),
)
RIGHT = (
    Concept("B:1", "Myocardial Infarction"),
    Concept("B:2", "Migraine aura"),
    Concept("B:3", "Migraines"),
    Concept("B:4", "Zoster"),
    Concept("B:9", "old migraine"),
    Relation("B:2", "is_a", "B:3"),
)


def pairs(found: list[ConceptMapping]) -> list[tuple[str, str, str]]:
    return [(one.left, one.right, one.how) for one in found]


@pytest.fixture(scope="module")
def both() -> tuple[Terminology, Terminology]:
    return Terminology.build(LEFT), Terminology.build(RIGHT)


def test_the_nearest_of_both_sides_are_those_of_all_products() -> None:
    rng = np.random.default_rng(3)
    left = rng.normal(size=(2_100, 4)).astype(np.float32)
    right = rng.normal(size=(4_200, 4)).astype(np.float32)
    done: list[int] = []
    to_right, to_left = nearest_both_ways(left, right, done.append)
    products = left @ right.T
    rows_, columns = np.arange(len(left)), np.arange(len(right))
    assert np.allclose(products[rows_, to_right], products.max(axis=1))
    assert np.allclose(products[to_left, columns], products.max(axis=0))
    assert done == [1024, 2048, 2100]


def test_concepts_with_a_name_in_common_are_mapped(both: tuple[Terminology, Terminology]) -> None:
    found = map_terminologies(*both)
    assert pairs(found)[0] == ("A:1", "B:1", "name")
    assert found[0].name == "Myocardial infarction"
    assert ("A:3", "B:3", "name") in pairs(found)
    assert all(0.5 <= one.confidence <= 1 for one in found)
    assert not {"A:9", "A:4"} & {one.left for one in found}


def test_a_concept_has_one_partner_unless_many_are_wanted(
    both: tuple[Terminology, Terminology],
) -> None:
    one = map_terminologies(*both, min_confidence=0.0)
    many = map_terminologies(*both, min_confidence=0.0, many=True)
    assert len({each.left for each in one}) == len(one) == len({each.right for each in one})
    assert set(one) < set(many)
    assert map_terminologies(*both, min_confidence=1.0) == []


def test_cross_references_raise_the_confidence() -> None:
    left = [*LEFT, Xref("A:4", "b:4"), Xref("A:2", "UMLS_CUI:C7")]
    right = [*RIGHT, Xref("B:2", "UMLS:C7")]
    with Terminology.build(left) as one, Terminology.build(right) as other:
        found = {each[:2]: each for each in map_terminologies(one, other, min_confidence=0)}
        without = map_terminologies(one, other, min_confidence=0, use_xrefs=False)
        plain = {each[:2]: each for each in without}

    def odds(each: ConceptMapping) -> float:
        return each.confidence / (1 - each.confidence)

    assert odds(found["A:2", "B:2"]) == pytest.approx(5 * odds(plain["A:2", "B:2"]))
    assert found["A:4", "B:4"].how == "xref"


def test_a_cross_reference_makes_nothing_equal_of_what_contradicts() -> None:
    left = [Concept("A:1", "Type 1 diabetes"), Concept("A:2", "Gout"), Xref("A:1", "B:1")]
    right = [Concept("B:1", "Type 2 diabetes"), Concept("B:2", "Podagra"), Xref("B:2", "A:2")]
    with Terminology.build(left) as one, Terminology.build(right) as other:
        mapped = map_terminologies(one, other, min_confidence=0)
    hows = [(each.how, each.relation) for each in mapped]
    assert hows == [("xref", "related"), ("xref", "equal")]


def test_features_say_what_speaks_for_a_pair(both: tuple[Terminology, Terminology]) -> None:
    found = propose(*both)
    of = {
        (found.left_ids[a], found.right_ids[b]): dict(zip(FEATURES, row, strict=True))
        for (a, b), row in zip(found.pairs, found.features.tolist(), strict=True)
    }
    assert of["A:1", "B:1"]["a label equals a name"] == 1
    assert of["A:3", "B:3"]["equal labels"] == 1
    aura = of["A:2", "B:2"]
    assert (aura["neighbours agree"], aura["neighbours disagree"]) == (1, 0)
    assert 0.5 < aura["similarity"] < 1
    assert aura["margin on the left"] > 0


def test_nothing_is_mapped_to_an_empty_side() -> None:
    retired = [Concept("A:1", "Heart attack", deprecated=True)]
    with Terminology.build(retired) as one, Terminology.build(RIGHT) as other:
        assert map_terminologies(one, other) == map_terminologies(other, one) == []


def test_the_command_writes_sssom(tmp_path: Path) -> None:
    for name, records in (("a", LEFT), ("b", RIGHT)):
        Terminology.build(records, tmp_path / f"{name}.db").close()
    out = tmp_path / "map.sssom.tsv"
    arguments = ("map", str(tmp_path / "a.db"), str(tmp_path / "b.db"), "-o", str(out))
    done = run(*arguments, "--license", "https://l")
    text = out.read_text()
    head, _, table = text.partition("subject_id\t")
    with Terminology(tmp_path / "a.db") as one, Terminology(tmp_path / "b.db") as other:
        assert f"canonym_subjects={one.digest} canonym_objects={other.digest}" in head
    assert '#license: "https://l"\n' in head
    assert '#  B: "https://bioregistry.io/B:"\n' in head
    first = rows("subject_id\t" + table)[0]
    assert (first["subject_id"], first["object_label"]) == ("A:1", "Myocardial Infarction")
    assert first["mapping_justification"] == "semapv:LexicalMatching"
    assert first["match_string"] == "Myocardial infarction"
    assert f"{len(table.splitlines()) - 1} pairs are in" in done.stderr
    assert "exists already" in run(*arguments, code=2).stderr
    run(*arguments, "--overwrite", "--min-confidence", "1")
    assert len([row for row in out.read_text().splitlines() if row[0] != "#"]) == 1
    missing = run("map", str(tmp_path / "c.db"), str(tmp_path / "b.db"), "-o", str(out), code=2)
    assert "c.db" in missing.stderr or "exists already" in missing.stderr
