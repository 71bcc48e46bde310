"""Relations and distances of wrong concepts, in a small hierarchy."""

from __future__ import annotations

import math

import pytest

from canonym.errors import InvalidInput
from canonym.evaluation.hierarchy_distance import KINDS, hierarchy_errors, summarise_errors
from canonym.evaluation.outcomes import ScoredMention

#        root
#       /    \
#     pet    wild
#    /   \      \
#  dog   cat    wolf
#   |            |
# poodle       cub
PARENTS = {
    "poodle": ["dog"],
    "dog": ["pet"],
    "cat": ["pet"],
    "pet": ["root"],
    "wild": ["root"],
    "wolf": ["wild"],
    "cub": ["wolf"],
}


def _case(gold: str, ranked: str) -> ScoredMention:
    parts = tuple(frozenset(part.split(",")) for part in gold.split("|")) if gold else ()
    return ScoredMention(gold=parts, ranked=tuple((first,) for first in ranked.split("|") if first))


@pytest.mark.parametrize(
    ("gold", "predicted", "kind", "distance"),
    [
        ("poodle", "dog", "parent", 1),
        ("dog", "poodle", "child", 1),
        ("dog", "cat", "sibling", 2),
        ("poodle", "pet", "ancestor", 2),
        ("poodle", "root", "ancestor", 3),
        ("root", "cub", "descendant", 3),
        ("poodle", "cub", "elsewhere", 6),
        ("poodle", "cat", "elsewhere", 3),
        ("poodle", "stone", "elsewhere", None),
        ("stone", "sand", "elsewhere", None),
        # The nearest of several right concepts, by kind and then by distance.
        ("cub,poodle", "dog", "parent", 1),
        ("cub,poodle", "stone", "elsewhere", None),
        ("cub,poodle", "cat", "elsewhere", 3),
    ],
)
def test_kind_and_distance(gold: str, predicted: str, kind: str, distance: int | None) -> None:
    (error,) = hierarchy_errors([_case(gold, predicted)], PARENTS)
    assert (error.mention, error.predicted, error.kind, error.distance) == (
        *(0, predicted),
        *(kind, distance),
    )


@pytest.mark.parametrize(
    ("gold", "ranked", "pairs"),
    [
        ("dog", "dog", []),
        ("", "dog", []),
        ("dog", "", []),
        ("dog|wolf", "wolf|dog", []),
        ("dog|wolf", "wolf|cat", [("cat", "dog")]),
        ("dog|wolf", "wolf", []),
        # The second right one has no part left: what it is to the part that was missed counts.
        ("dog|wolf", "dog|dog", [("dog", "wolf")]),
        ("dog", "dog|dog", []),
        ("dog", "dog|cat", [("cat", "dog")]),
        ("dog", "cat|poodle", [("cat", "dog"), ("poodle", "dog")]),
        # Greedy pairing would give the dog to the first part and leave nothing for the cat.
        ("dog,cat|dog", "dog|cat", []),
    ],
)
def test_which_predictions_are_errors(gold: str, ranked: str, pairs: list[tuple[str, str]]) -> None:
    errors = hierarchy_errors([_case("cat", "cat"), _case(gold, ranked)], PARENTS)
    assert [(error.predicted, error.gold) for error in errors] == pairs
    assert all(error.mention == 1 for error in errors)


def test_cycles_and_several_parents() -> None:
    parents = {"a": ["b", "d"], "b": ["c"], "c": ["a"]}
    errors = hierarchy_errors([_case("a", "c"), _case("a", "d"), _case("d", "c")], parents)
    assert [(error.kind, error.distance) for error in errors] == [
        *(("child", 1), ("parent", 1), ("descendant", 2)),
    ]


def test_summary() -> None:
    cases = [_case("poodle", "dog"), _case("poodle", "cub"), _case("poodle", "stone")]
    summary = summarise_errors(hierarchy_errors(cases, PARENTS))
    assert list(summary.counts) == list(KINDS)
    assert summary.counts == dict.fromkeys(KINDS, 0) | {"parent": 1, "elsewhere": 2}
    assert summary[1:] == (3, 3.5, 1)
    empty = summarise_errors([])
    assert empty.n == empty.n_unconnected == sum(empty.counts.values()) == 0
    assert math.isnan(empty.mean_distance)


def test_no_cases_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="no mentions to evaluate"):
        hierarchy_errors([], PARENTS)
