"""How near all names of a concept are to a string."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from canonym import Concept, Linker, Name, Relation, Terminology
from canonym.linking.features import DEPTH, MEAN, SECOND, WIDTH, closeness, with_closeness


@pytest.fixture(scope="module")
def linker() -> Linker:
    records = [
        Concept("X:1", "Myocardial infarction"),
        Name("heart attack", "X:1"),
        Name("cardiac infarct", "X:1"),
        Concept("X:2", "Panic attack"),
        *(Name(f"fever {number}", "X:3") for number in range(100)),
        Concept("X:3", "Fever"),
    ]
    return Linker.build(Terminology.build(records), encoders=["default", "chargrams"])


def test_they_are_what_the_encoders_say(linker: Linker) -> None:
    lookup = linker.lookup
    found = closeness(lookup.searchers, lookup.names(), ["heart attacks"], [[0, 1]])[0]
    names = [name.text for name in linker.terminology.names("X:1")]
    one, name = lookup.searchers.coders[0], lookup.searchers.names[0]
    vectors = np.asarray(one.encode(["heart attacks", *names]), dtype=np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors[1:] @ vectors[0]
    assert found[0][name] == pytest.approx(cosines.max(), abs=1e-3)
    assert found[0][name + MEAN] == pytest.approx(cosines.mean(), abs=1e-3)
    assert (found[0][WIDTH], found[1][WIDTH]) == (3, 1)
    assert SECOND not in found[1]
    assert found[0][SECOND] < found[0][name]
    assert found[1][name] == found[1][name + MEAN]


def test_no_more_names_than_that_are_looked_at(linker: Linker) -> None:
    lookup = linker.lookup
    found = closeness(lookup.searchers, lookup.names(), ["fever"], [[2]])[0][0]
    assert found[WIDTH] == 64


def test_synonyms_added_later_count(tmp_path: Path) -> None:
    records = [Concept("X:1", "Myocardial infarction"), Concept("X:2", "Fever")]
    linker = Linker.build(
        Terminology.build(records, tmp_path / "t.db"), encoders=["default"], folder=tmp_path / "i"
    )
    link = linker.link(["coronary"])[0]
    before = with_closeness(linker.lookup, link)
    linker.add_synonym("coronary thrombosis", "X:1")
    after = with_closeness(linker.lookup, link)
    widths = [{one.id: one.near[WIDTH] for one in found.candidates} for found in (before, after)]
    assert widths == [{"X:1": 1, "X:2": 1}, {"X:1": 2, "X:2": 1}]


def test_composite_links_have_it_by_part(linker: Linker) -> None:
    link = linker.link(["heart and panic attacks"])[0]
    found = with_closeness(linker.lookup, link)
    for part in found.parts or (found,):
        assert all(WIDTH in one.near for one in part.candidates)
    assert linker.link(["heart attack"])[0].candidates[0].near == {}


def test_a_concept_without_names_says_nothing(tmp_path: Path) -> None:
    records = [Concept("X:1", ""), Concept("X:2", "Fever"), Concept("X:3", "Ague")]
    linker = Linker.build(
        Terminology.build(records, tmp_path / "t.db"), encoders=["default"], folder=tmp_path / "i"
    )
    lookup = linker.lookup
    one, two, three = closeness(lookup.searchers, lookup.names(), ["fever"], [[0, 1, 2]])[0]
    assert one == {}
    assert two[WIDTH] == three[WIDTH] == 1
    assert two["default"] == pytest.approx(1, abs=1e-3)
    assert three["default"] < two["default"]


def test_depths_are_those_of_the_hierarchy(linker: Linker) -> None:
    records = [
        *(Concept(f"X:{number}", f"fever {number}") for number in (1, 2, 3, 4)),
        Relation("X:1", "is_a", "X:2"),
        Relation("X:2", "is_a", "X:3"),
    ]
    deep = Linker.build(Terminology.build(records), encoders=["default"])
    found = with_closeness(deep.lookup, deep.link(["fever"], k=4)[0])
    depths = {one.id: one.near[DEPTH] for one in found.candidates}
    assert depths == {
        "X:1": pytest.approx(math.log(3)), "X:2": pytest.approx(math.log(2)), "X:3": 0, "X:4": 0,
    }  # fmt: skip
    flat = with_closeness(linker.lookup, linker.link(["fever"])[0])
    assert not any(DEPTH in one.near for one in flat.candidates)


def test_nothing_is_nothing(linker: Linker) -> None:
    lookup = linker.lookup
    assert closeness(lookup.searchers, lookup.names(), [], []) == []
    assert closeness(lookup.searchers, lookup.names(), ["x"], [[]]) == [[]]
    empty = linker.link(["?"])[0]
    assert with_closeness(lookup, empty) == empty


def test_without_an_encoder_names_are_counted() -> None:
    plain = Linker.build(Terminology.build([Concept("X:1", "Fever")]), encoders=[])
    link = with_closeness(plain.lookup, plain.link(["fever"])[0])
    assert link.candidates[0].near == {WIDTH: 1}
