"""Terminologies joined, and variants of names."""

from __future__ import annotations

import numpy as np

from canonym.types import Concept, Name, Relation, Xref
from models.synonyms import (
    SynonymPool,
    Synonyms,
    WordSwaps,
    add_variants,
    icd_variants,
    without_residue,
)
from tests.tables import cases


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


def test_concepts_held_out_go_with_all_they_are_joined_with() -> None:
    pool = SynonymPool()
    pool.add("a", [Concept("A:1", "heart attack"), Name("coronary", "A:1"), Concept("A:2", "flu")])
    pool.add("b", [Concept("B:1", "Heart attack"), Name("infarct", "B:1")])
    pool.add("b", [Concept("B:2", "influenza"), Name("Coronary", "B:2"), Name("grippe", "B:2")])
    pool.join_names()
    assert pool.leave_out(["A:1", "X:9"]) == 1
    assert "A:2" in pool
    assert not {"A:1", "B:1"} & {id_ for id_ in ("A:1", "B:1") if id_ in pool}
    # Nor is a name of it learned as that of another concept.
    assert sorted(pool.synonyms().names) == ["flu", "grippe", "influenza"]
    assert pool.concept_of("B:1") is None


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


@cases("name", "expected")
def test_residue_is_cut_off(name: str, expected: str) -> None:
    assert without_residue(name) == expected


@cases("name", "expected")
def test_conventions_of_icd(name: str, expected: tuple[str, ...]) -> None:
    assert tuple(icd_variants(name)) == expected


def words(*names: str) -> list[tuple[str, ...]]:
    return [tuple(sorted(name.split())) for name in names]


NAMES = words(
    "kidney stone", "renal stone",
    "kidney failure", "renal failure",
    "acute nephritis", "chronic nephritis",
    "acute gout", "chronic gout",
    "acute hives", "chronic hives",
    "chronic hepatitis", "acute hepatitis",
)  # fmt: skip
CONCEPTS = np.array([0, 0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 7])


def test_a_swap_holds_more_often_than_not() -> None:
    swaps = WordSwaps(NAMES, CONCEPTS)
    assert dict(swaps.swaps) == {"kidney": ["renal"], "renal": ["kidney"]}
    assert swaps.counts == {("kidney", "renal"): 2, ("acute", "chronic"): 2}
    assert WordSwaps(NAMES, CONCEPTS, share=0.5).swaps["acute"] == ["chronic"]


def test_concepts_of_different_sources_are_no_contrast() -> None:
    sources = np.array([1, 1, 1, 2, 1, 1, 1, 2])
    assert WordSwaps(NAMES, CONCEPTS, sources).swaps["acute"] == ["chronic"]
    same = np.ones(8, int)
    assert "acute" not in WordSwaps(NAMES, CONCEPTS, same).swaps


def test_rare_sightings_of_common_words_do_not_count() -> None:
    names = [
        *NAMES,
        *words(*(f"renal x{n}" for n in range(60)), *(f"kidney y{n}" for n in range(60))),
    ]
    concepts = np.concatenate((CONCEPTS, np.arange(120) + 10))
    assert not WordSwaps(names, concepts).swaps
    assert WordSwaps(names, concepts, rate=0.01).swaps["renal"] == ["kidney"]
    assert not WordSwaps(NAMES, CONCEPTS, least=3).swaps


def test_long_names_and_short_words_are_passed_over() -> None:
    names = words("a b c d e kidney", "a b c d e renal", "ox x", "ox y", "ox1 zz", "ox2 zz", "lone")
    assert not WordSwaps(names * 2, np.array([0, 0, 1, 1, 2, 2, 3, 5, 5, 6, 6, 7, 7, 8])).counts


def test_variants_swap_one_word_commonest_first() -> None:
    names = [
        *NAMES,
        *words("stone pain", "stone ache", "back pain", "back ache", "ear pain", "ear ache"),
    ]
    concepts = np.concatenate((CONCEPTS, [10, 10, 11, 11, 12, 12]))
    swaps = WordSwaps(names, concepts)
    assert swaps.variants("renal colic pain") == ["renal colic ache", "kidney colic pain"]
    assert swaps.variants("pain or ache") == []
    assert swaps.variants("gout") == []
