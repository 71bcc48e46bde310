"""DILBERT's strategies on a small hierarchy, and names of relatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from canonym import InvalidInput
from canonym.terminology.hierarchy import Hierarchy
from canonym.training.sampling.name_table import (
    NameTable,
    RelatedNames,
    check_hierarchy,
    names_below,
)
from canonym.training.sampling.strategies import TripletSampler

PAIRS = [
    ("disease", "top"),
    *((f"heart {i}", "heart") for i in range(4)),
    *((f"lung {i}", "lung") for i in range(3)),
    *((f"valve {i}", "valve") for i in range(6)),
    *((f"vessel {i}", "vessel") for i in range(2)),
    ("both", "valve"),
    ("both", "vessel"),
    *((f"asthma {i}", "asthma") for i in range(2)),
]
EDGES = [
    *(("heart", "top"), ("lung", "top"), ("valve", "heart"), ("vessel", "heart")),
    ("asthma", "lung"),
]
TABLE = NameTable.from_pairs(PAIRS)
HIERARCHY = Hierarchy.from_edges(EDGES)
MENTIONS = [("my valve", ["valve"]), ("a vessel", ["vessel"]), ("wheeze", ["asthma", "lung"])]
LINKED = TABLE.link(MENTIONS)


def sampler(**options: Any) -> TripletSampler:
    return TripletSampler(TABLE, LINKED, related=RelatedNames(TABLE, HIERARCHY), **options)


def texts(rows: Any) -> set[str]:
    return {TABLE.texts[row] for row in rows}


def owners(row: int) -> set[str]:
    return {TABLE.ids[concept] for concept in TABLE.concepts.of(row)}


def split(found: Any, mention: int) -> tuple[list[int], list[int]]:
    """Distinct positives and negatives of a mention in order; all pairs have to be there."""
    mine = found[found[:, 0] == mention]
    positives = list(dict.fromkeys(mine[:, 1].tolist()))
    negatives = list(dict.fromkeys(mine[:, 2].tolist()))
    assert Counter(map(tuple, mine[:, 1:].tolist())) == Counter(
        (p, n) for p in positives for n in negatives
    )
    return positives, negatives


# --- random ---------------------------------------------------------------------------------------


def test_random_sampling_takes_right_names_and_wrong_ones() -> None:
    found = sampler(n_positives=4, n_negatives=3).random(np.random.default_rng(0))
    for mention, (_, ids) in enumerate(MENTIONS):
        positives, negatives = split(found, mention)
        assert len(positives) == min(4, len(sampler().right_names(mention)))
        assert len(negatives) == 3
        assert all(owners(row) & set(ids) for row in positives)
        assert not any(owners(row) & set(ids) for row in negatives)


def test_fewer_names_than_wanted_are_all_taken() -> None:
    found = sampler().random(np.random.default_rng(0))
    positives, negatives = split(found, 1)
    assert texts(positives) == {"vessel 0", "vessel 1", "both"}
    assert len(negatives) == 5


def test_parents_are_further_positives() -> None:
    plain = sampler(n_positives=2).random(np.random.default_rng(0))
    found = sampler(n_positives=2, n_parents=3).random(np.random.default_rng(0))
    positives, negatives = split(found, 0)
    assert len(split(plain, 0)[0]) == 2
    assert all("valve" in owners(row) for row in positives[:2])
    assert all(owners(row) == {"heart"} for row in positives[2:])
    assert len(positives) == 5
    assert not set(positives) & set(negatives)
    # Of asthma or lung, the parent of one is the other: its names are right ones, not parents'.
    assert texts(split(found, 2)[0][2:]) == {"disease"}


def test_draws_depend_on_the_seed_alone() -> None:
    first, again, other = (sampler().random(np.random.default_rng(s)) for s in (1, 1, 2))
    assert (first == again).all()
    assert first.shape != other.shape or (first != other).any()


def test_a_terminology_of_right_names_alone_has_no_negatives() -> None:
    table = NameTable.from_pairs([("a", "A"), ("b", "A")])
    with pytest.raises(InvalidInput, match="every name of the terminology is a right one"):
        TripletSampler(table, table.link([("x", ["A"])])).random(np.random.default_rng(0))


# --- re-sampling ----------------------------------------------------------------------------------


def encoder(places: dict[str, float]) -> Any:
    """Points on an arc, at the angle given, so that cosines are known."""

    def encode(strings: Sequence[str]) -> Any:
        angles = np.array([places[text] for text in strings])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    return encode


PLACES = dict.fromkeys(TABLE.texts, 1.5) | {"my valve": 0.0, "a vessel": 0.5, "wheeze": 1.0}
PLACES |= {"valve 3": 0.3, "valve 1": 0.2, "vessel 0": 0.1, "asthma 0": 0.05, "lung 1": 0.15}
PLACES |= {"heart 2": 0.01, "vessel 1": 0.55}


def test_resampling_takes_the_nearest_right_names_and_what_is_ranked_above_them() -> None:
    found = sampler(n_positives=3, hard="above").resampled(
        encoder(PLACES), np.random.default_rng(0)
    )
    positives, negatives = split(found, 0)
    assert [TABLE.texts[row] for row in positives[:2]] == ["valve 1", "valve 3"]
    assert len(positives) == 3
    # "heart 2" is nearest of all, but of no training mention's concept.
    assert [TABLE.texts[row] for row in negatives] == ["asthma 0", "vessel 0", "lung 1"]
    # A right name is the nearest of the second mention: there is nothing to learn from.
    assert 1 not in found[:, 0]
    everywhere = sampler(n_negatives=2, hard="above").resampled(
        encoder(PLACES), np.random.default_rng(0), searched="all"
    )
    assert [TABLE.texts[row] for row in split(everywhere, 0)[1]] == ["heart 2", "asthma 0"]


@pytest.mark.parametrize(
    ("hard", "expected"),
    [
        ("behind", ["vessel 1", "lung 0", "lung 2"]),
        ("nearest", ["asthma 0", "vessel 0", "lung 1"]),
        ("above", ["asthma 0", "vessel 0", "lung 1"]),
    ],
)
def test_wrong_names_stand_behind_the_last_positive_nearest_or_above(
    hard: str, expected: list[str]
) -> None:
    chosen = sampler(n_positives=2, n_negatives=3, hard=hard)
    found = chosen.resampled(encoder(PLACES), np.random.default_rng(0))
    positives, negatives = split(found, 0)
    assert [TABLE.texts[row] for row in positives] == ["valve 1", "valve 3"]
    assert [TABLE.texts[row] for row in negatives] == expected
    # The nearest name of the second mention is right, so that nothing is above it.
    assert (1 in found[:, 0]) is (hard != "above")


def test_a_mention_without_a_right_name_among_its_neighbours_has_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from canonym.training.sampling import strategies as triplets

    monkeypatch.setattr(triplets, "_NEIGHBOURS", 2)  # "asthma 0" and "vessel 0" for "my valve"
    for hard, expected in (("behind", False), ("nearest", True), ("above", True)):
        found = sampler(hard=hard).resampled(encoder(PLACES), np.random.default_rng(0))
        assert (0 in found[:, 0]) is expected


def test_names_are_near_as_the_loss_compares_them() -> None:
    def encode(strings: Sequence[str], *, normalise: bool = True) -> Any:
        assert not normalise
        # "asthma 0" has the direction of the mention, but a length of its own.
        long = np.array([[9.0 if text == "asthma 0" else 1.0] for text in strings])
        return (encoder(PLACES)(strings) * long).astype(np.float32)

    chosen = sampler(n_negatives=2, hard="above", similarity="euclidean")
    found = chosen.resampled(encode, np.random.default_rng(0))
    assert [TABLE.texts[row] for row in split(found, 0)[1]] == ["vessel 0", "lung 1"]


def test_siblings_are_further_negatives() -> None:
    found = sampler(n_siblings=2, hard="above").resampled(encoder(PLACES), np.random.default_rng(0))
    positives, negatives = split(found, 0)
    assert [TABLE.texts[row] for row in negatives[:3]] == ["asthma 0", "vessel 0", "lung 1"]
    assert texts(negatives[3:]) <= {"vessel 0", "vessel 1"}  # not "both", which is right
    assert len(negatives) == len(set(negatives))
    assert not set(positives) & set(negatives)
    _, of_vessel = split(found, 1)
    assert len(of_vessel) == 2
    assert all(owners(row) == {"valve"} for row in of_vessel)
    # lung has the sibling heart, asthma none.
    assert all(owners(row) == {"heart"} for row in split(found, 2)[1][-2:])


def test_mentions_are_ranked_in_blocks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    from canonym.training.sampling import strategies as triplets

    whole = sampler().resampled(encoder(PLACES), np.random.default_rng(0))
    monkeypatch.setattr(triplets, "_MENTIONS", 1)
    assert (sampler().resampled(encoder(PLACES), np.random.default_rng(0)) == whole).all()


def test_a_perfect_model_leaves_nothing_to_resample() -> None:
    places = dict.fromkeys(TABLE.texts, 1.5) | {text: 0.0 for text, _ in MENTIONS}
    places |= {"valve 0": 0.0, "vessel 0": 0.0, "asthma 0": 0.0}
    above = sampler(hard="above")
    found = above.resampled(encoder(places), np.random.default_rng(0))
    assert found.shape == (0, 3)
    assert len(
        sampler(n_siblings=1, hard="above").resampled(encoder(places), np.random.default_rng(0))
    )


def test_names_of_parents_need_a_hierarchy() -> None:
    with pytest.raises(InvalidInput, match="no hierarchy was given"):
        TripletSampler(TABLE, LINKED, n_parents=2)


# --- relatives ------------------------------------------------------------------------------------


def test_cycles_and_missing_edges_are_errors() -> None:
    circle = Hierarchy.from_edges([*EDGES, ("top", "valve")])
    with pytest.raises(InvalidInput, match=r"cycles \(1\), such as heart → top → valve → heart:"):
        RelatedNames(TABLE, circle)
    allowed = RelatedNames(TABLE, circle, allow_cycles=True)
    valve = TABLE.ordinal("valve")
    assert valve is not None
    assert texts(allowed.parents([valve])) == {f"heart {i}" for i in range(4)}
    with pytest.raises(InvalidInput, match="the hierarchy has no edges"):
        check_hierarchy(Hierarchy.from_edges([], ids=["a"]))


def test_concepts_outside_of_the_hierarchy_have_no_relatives() -> None:
    partial = RelatedNames(TABLE, Hierarchy.from_edges([("valve", "elsewhere")]))
    assert partial.parents(range(TABLE.n_concepts)).tolist() == []
    assert partial.siblings(range(TABLE.n_concepts)).tolist() == []


def test_names_are_grouped_by_the_high_level_concept_above_them() -> None:
    found = names_below(TABLE, HIERARCHY, "top")
    assert list(found) == ["heart", "lung"]
    assert set(found["heart"]) == {text for text, id_ in PAIRS if id_ in {"valve", "vessel"}}
    assert set(found["lung"]) == {"asthma 0", "asthma 1"}
    # A name below two of them is in neither.
    shared = names_below(TABLE, Hierarchy.from_edges([*EDGES, ("vessel", "lung")]), "top")
    assert set(shared["heart"]) == {f"valve {i}" for i in range(6)}
    assert set(shared["lung"]) == {"asthma 0", "asthma 1"}


def test_high_level_concepts_are_the_largest_and_none_is_above_another() -> None:
    edges = [("valve", "heart"), ("asthma", "lung"), ("heart", "top"), ("lung", "top")]
    more = Hierarchy.from_edges([*edges, ("vessel", "x"), ("x", "top"), ("heart", "x")])
    # x is a parent of heart, and is left out.
    assert list(names_below(TABLE, more, "top")) == ["heart", "lung"]
    wide = Hierarchy.from_edges(
        [("valve", "A"), ("asthma", "B"), ("vessel", "C")] + [(each, "top") for each in "ABC"]
    )
    assert list(names_below(TABLE, wide, "top", n_concepts=2)) == ["A", "C"]
    with pytest.raises(InvalidInput, match="'lung' has 0 children with names of their own"):
        names_below(TABLE, HIERARCHY, "lung")
