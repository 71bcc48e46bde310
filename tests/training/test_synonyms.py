"""Joining terminologies: what is joined, what is kept apart, what comes out."""

from __future__ import annotations

import numpy as np

from canonym.types import Concept, Name, Relation, Xref
from models.mixture import add_variants
from models.synonyms import SynonymPool, Synonyms


def groups(synonyms: Synonyms) -> set[frozenset[str]]:
    found: dict[int, set[str]] = {}
    for name, concept in zip(synonyms.names, synonyms.concepts.tolist(), strict=True):
        found.setdefault(concept, set()).add(name)
    return {frozenset(names) for names in found.values()}


def test_equal_labels_join_two_sources() -> None:
    pool = SynonymPool()
    pool.add("a", [Concept("A:1", "Infarction of Heart"), Name("MI", "A:1"), Concept("A:2", "Flu")])
    pool.add("b", [Concept("B:1", "heart infarctions"), Concept("B:2", "flu")])
    assert pool.join_names() == 1  # "flu" is too short to go by
    synonyms = pool.synonyms()
    assert groups(synonyms) == {
        frozenset({"Infarction of Heart", "MI", "heart infarctions"}),
        frozenset({"Flu"}),
        frozenset({"flu"}),
    }
    assert synonyms.n_concepts == 3
    assert synonyms.sources.tolist() == [3, 1, 2]
    assert synonyms.weights.tolist() == [2, 1, 1]
    assert synonyms.concepts.dtype == np.int32


def test_a_name_joins_the_concept_that_has_it_as_label() -> None:
    pool = SynonymPool()
    pool.add("a", [Concept("A:1", "Renal stone"), Name("Nephrolith", "A:1")])
    pool.add(
        "b", [Concept("B:1", "Calculus"), Name("nephrolith", "B:1"), Name("renal stone", "B:1")]
    )
    assert pool.join_names() == 1
    assert groups(pool.synonyms()) == {
        frozenset({"Renal stone", "Nephrolith", "Calculus"}),  # equal names once
    }


def test_a_residual_class_is_joined_to_what_it_is_the_residue_of() -> None:
    pool = SynonymPool()
    pool.add("a", [Concept("A:1", "Hip Fractures")])
    pool.add("b", [Concept("B:1", "Fracture of neck of femur"), Name("Fracture of hip NOS", "B:1")])
    assert pool.join_names() == 1


def test_concepts_of_one_source_are_never_joined() -> None:
    pool = SynonymPool()
    pool.add("a", [Concept("A:1", "Stroke, acute"), Concept("A:2", "acute stroke")])
    pool.add("b", [Concept("B:1", "Acute stroke")])
    assert pool.join_names() == 1
    assert len(groups(pool.synonyms())) == 2
    assert pool.join_names() == 0


def test_a_source_that_repeats_itself_may_be_joined() -> None:
    pool = SynonymPool()
    pool.add("a", [Concept("A:1", "Heart Attack")])
    topics = [Concept("T:1", "heart attack"), Concept("T:2", "Heart attacks"), Name("MI", "T:2")]
    pool.add("topics", topics, exclusive=False)
    assert pool.join_names() == 2
    assert groups(pool.synonyms()) == {frozenset({"Heart Attack", "Heart attacks", "MI"})}


def test_references_join() -> None:
    pool = SynonymPool()
    pool.add("mesh", [Concept("MESH:D1", "One"), Concept("MESH:D2", "Two")])
    pool.add("doid", [Concept("DOID:1", "uno"), Xref("DOID:1", "MSH:D1"), Xref("DOID:1", "U:7")])
    pool.add("hpo", [Concept("HP:1", "dos"), Xref("HP:1", "U:7"), Xref("HP:1", "MSH:D2")])
    assert pool.join_xrefs({"MSH": "MESH"}) == 2
    # HP:1 met DOID:1 at U:7, and with it MESH:D1; MESH:D2 is another concept of MeSH.
    assert groups(pool.synonyms()) == {frozenset({"One", "uno", "dos"}), frozenset({"Two"})}


def test_alternative_ids_are_one_concept_even_in_one_source() -> None:
    pool = SynonymPool()
    pool.add("a", [Concept("A:1", "One"), Concept("A:2", "Two")], weight=0.5)
    again = [Xref("A:2", "A:1", "alternative"), Xref("A:1", "A:1", "alternative")]
    pool.add("a", [*again, Name("deux", "A:2")])
    synonyms = pool.synonyms()
    assert groups(synonyms) == {frozenset({"One", "Two", "deux"})}
    assert synonyms.weights.tolist() == [1]


def test_what_is_left_out() -> None:
    pool = SynonymPool()
    records = [
        Concept("A:1", "One"),
        Concept("A:0", "old", deprecated=True),
        Name("too broad", "A:1", "broad"),
        Name("eins", "A:1", language="de"),
        Name("?!", "A:1"),
        Name("ONE", "A:1"),
        Name("narrow", "A:1", "narrow"),
        Relation("A:1", "is_a", "A:0"),
    ]
    pool.add("a", records)
    assert groups(pool.synonyms()) == {frozenset({"One", "narrow"})}


def test_variants_are_added() -> None:
    concepts = np.array([0, 0, 1, 1, 2, 3], dtype=np.int32)
    names = [
        "kidney stone", "renal stone", "kidney failure", "renal failure", "Renal colic NOS",
        "renal pelvis of the very long name",
    ]  # fmt: skip
    sources, weights = np.ones(4, np.int64), np.array([1, 1, 1, 1.0])
    more = add_variants(Synonyms(names, concepts, sources, weights))
    assert more.names[:6] == names
    added = list(zip(more.names[6:], more.concepts[6:].tolist(), strict=True))
    assert added == [("renal colic", 2), ("kidney colic", 2)]
    rare = Synonyms(names, concepts, sources, weights / 2)
    assert add_variants(rare).names == names
    assert len(add_variants(rare, most=0, least_weight=0.5).names) == 7
