"""Hierarchies against a naive model, with cycles, gaps and many concepts."""

from __future__ import annotations

import time
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.terminology import Hierarchy, Terminology
from canonym.terminology.hierarchy import Adjacency
from canonym.types import Concept, Relation, Xref

#        animal
#       /      \
#     pet      bird
#    /   \    /    \
#  cat    parrot   owl
PETS = [
    ("pet", "animal"),
    ("bird", "animal"),
    ("cat", "pet"),
    ("parrot", "pet"),
    ("parrot", "bird"),
    ("owl", "bird"),
]


@pytest.fixture(scope="module")
def pets() -> Hierarchy:
    return Hierarchy.from_edges(PETS)


def test_neighbours(pets: Hierarchy) -> None:
    assert repr(pets) == "<Hierarchy: 6 concepts, 6 edges>"
    assert pets.ids == ("pet", "animal", "bird", "cat", "parrot", "owl")
    assert pets.parents("parrot") == ("pet", "bird")
    assert pets.children("pet") == ("cat", "parrot")
    assert pets.siblings("parrot") == ("cat", "owl")
    assert pets.siblings("animal") == ()
    assert pets.roots() == ("animal",)
    assert "cat" in pets
    assert "dog" not in pets


def test_everything_above_and_below_nearest_first(pets: Hierarchy) -> None:
    assert pets.ancestors("parrot") == ("pet", "bird", "animal")
    assert pets.ancestors("animal") == ()
    assert pets.descendants("animal") == ("pet", "bird", "cat", "parrot", "owl")
    assert pets.descendants("owl") == ()


def test_distances(pets: Hierarchy) -> None:
    assert pets.distance("cat", "cat") == 0
    assert pets.distance("cat", "animal") == pets.distance("animal", "cat") == 2
    assert pets.distance("cat", "parrot") == 2
    assert pets.distance("cat", "owl") == 4


def test_concepts_without_a_common_ancestor() -> None:
    two = Hierarchy.from_edges([("a", "b"), ("c", "d")])
    assert two.distance("a", "c") is None


def test_unknown_ids_are_named_with_an_example(pets: Hierarchy) -> None:
    for ask in (pets.parents, pets.children, pets.siblings, pets.ancestors):
        with pytest.raises(InvalidInput, match=r"'dog' is no concept .* ids look like 'pet'"):
            ask("dog")
    with pytest.raises(InvalidInput, match=r"is no concept of the hierarchy$"):
        Hierarchy.from_edges([]).parents("dog")


def test_edges_of_strangers_dangle_and_repeated_edges_count_once() -> None:
    edges = [("a", "b"), ("a", "b"), ("a", "z"), ("y", "b")]
    hierarchy = Hierarchy.from_edges(iter(edges), ["c", "b", "a"])
    assert hierarchy.dangling() == (("a", "z"), ("y", "b"))
    assert (hierarchy.n_concepts, hierarchy.n_edges) == (3, 1)
    assert hierarchy.roots() == ("c", "b")
    assert hierarchy.parents("a") == ("b",)
    with pytest.raises(InvalidInput, match="1 of 3 are repeated"):
        Hierarchy.from_edges(edges, ["a", "b", "a"])


# --- cycles ---------------------------------------------------------------------------------------


def test_cycles_are_found_once_per_tangle() -> None:
    edges = [
        ("a", "b"),
        ("b", "c"),
        ("c", "a"),
        ("c", "b"),
        ("a", "top"),
        ("below", "a"),
        ("self", "self"),
        ("x", "y"),
        ("y", "x"),
    ]
    hierarchy = Hierarchy.from_edges(edges)
    assert hierarchy.cycles() == [("a", "b", "c"), ("self",), ("x", "y")]
    assert Hierarchy.from_edges(PETS).cycles() == []
    assert Hierarchy.from_edges([]).cycles() == []


def test_cycles_do_no_harm() -> None:
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "a"), ("b", "top"), ("x", "y"), ("y", "x")])
    assert hierarchy.ancestors("a") == ("b", "top")
    assert hierarchy.descendants("top") == ("b", "a")
    assert hierarchy.distance("x", "y") == 1
    assert hierarchy.siblings("a") == ()
    assert hierarchy.roots() == ("top",)


# --- a naive model --------------------------------------------------------------------------------

NODES = "abcdefg"
EDGES = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=14)


def naive_distances(edges: list[tuple[str, str]], start: str) -> dict[str, int]:
    distances = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for child, parent in edges:
            if child == node and parent not in distances:
                distances[parent] = distances[node] + 1
                queue.append(parent)
    return distances


@given(EDGES)
@settings(max_examples=60, deadline=None)
def test_a_naive_model_agrees(edges: list[tuple[str, str]]) -> None:
    hierarchy = Hierarchy.from_edges(edges, NODES)
    up = {node: naive_distances(edges, node) for node in NODES}
    parents = {node: {parent for child, parent in edges if child == node} for node in NODES}
    children = {node: {child for child, parent in edges if parent == node} for node in NODES}
    on_cycles = set()
    for node in NODES:
        assert set(hierarchy.parents(node)) == parents[node]
        assert set(hierarchy.children(node)) == children[node]
        together = {child for parent in parents[node] for child in children[parent]}
        assert set(hierarchy.siblings(node)) == together - {node}
        ancestors = hierarchy.ancestors(node)
        assert set(ancestors) == set(up[node]) - {node}
        assert [up[node][each] for each in ancestors] == sorted(
            up[node][each] for each in ancestors
        )
        assert set(hierarchy.descendants(node)) == {
            each for each in NODES if each != node and node in up[each]
        }
        for other in NODES:
            common = set(up[node]) & set(up[other])
            shortest = min((up[node][each] + up[other][each] for each in common), default=None)
            assert hierarchy.distance(node, other) == shortest
        if any(node in up[parent] for parent in parents[node]):
            on_cycles.add(node)
    cycles = hierarchy.cycles()
    for cycle in cycles:
        for child, parent in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            assert (child, parent) in edges
        assert len(set(cycle)) == len(cycle)
    # One cycle per tangle: the nodes on cycles, grouped by who is above whom.
    tangles = {frozenset(o for o in on_cycles if o in up[n] and n in up[o]) for n in on_cycles}
    assert len(cycles) == len(tangles)
    assert {next(t for t in tangles if cycle[0] in t) for cycle in cycles} == tangles


def test_neighbours_of_several_nodes() -> None:
    graph = Adjacency.build(np.array([2, 0, 2], np.int32), np.array([1, 2, 0], np.int32), 4)
    assert (graph.n_nodes, graph.counts.tolist()) == (4, [1, 0, 2, 0])
    assert graph.of_all(np.array([2, 1, 0])).tolist() == [0, 1, 2]
    assert graph.of_all(np.array([1, 3])).tolist() == []
    assert graph.of_all(np.array([], dtype=np.int32)).tolist() == []


# --- from a terminology ---------------------------------------------------------------------------


def test_ordinals_are_those_of_the_terminology_and_alternative_ids_count() -> None:
    terminology = Terminology.build(
        [
            Concept("X:3", "c"),
            Concept("X:1", "a"),
            Concept("X:2", "b"),
            Xref("X:1", "X:9", "alternative"),
            Xref("X:2", "X:9", "alternative"),
            Xref("X:3", "X:1", "alternative"),
            Xref("X:77", "X:8", "alternative"),
            Xref("X:3", "Y:1"),
            Relation("X:2", "is_a", "X:9"),
            Relation("X:3", "is_a", "X:1"),
            Relation("X:3", "part_of", "X:2"),
            Relation("X:3", "is_a", "X:404"),
            Relation("X:3", "is_a", "Y:1"),
        ]
    )
    hierarchy = Hierarchy.from_terminology(terminology)
    assert hierarchy.ids == ("X:3", "X:1", "X:2")
    assert hierarchy.parents("X:2") == hierarchy.parents("X:3") == ("X:1",)
    assert hierarchy.children("X:9") == ("X:3", "X:2")  # the alternative of the first that has it
    assert hierarchy.dangling() == (("X:3", "X:404"), ("X:3", "Y:1"))
    assert "X:8" not in hierarchy
    assert terminology.resolve("X:9") == "X:1"


@pytest.mark.no_cover
def test_two_hundred_thousand_concepts_take_seconds() -> None:
    rng = np.random.default_rng(0)
    n = 200_000
    parents = (np.arange(1, n) * rng.random(n - 1)).astype(np.int32)
    ids = [f"X:{i}" for i in range(n)]
    started = time.process_time()
    hierarchy = Hierarchy(ids, ((ids[i + 1], ids[p]) for i, p in enumerate(parents.tolist())))
    assert hierarchy.cycles() == []
    assert len(hierarchy.descendants("X:0")) == n - 1
    assert time.process_time() - started < 30
    assert hierarchy.up.ends.dtype == np.int32
