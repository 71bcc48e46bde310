"""Relations and distances of wrong concepts, in a small hierarchy."""

from __future__ import annotations

import math

import pytest

from canonym.errors import InvalidInput
from canonym.evaluation.hierarchy_distance import KINDS, hierarchy_errors, summarise_errors
from canonym.evaluation.outcomes import ScoredMention
from tests.tables import cases

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


@cases("gold", "predicted", "kind", "distance")
def test_kind_and_distance(gold: str, predicted: str, kind: str, distance: int | None) -> None:
    (error,) = hierarchy_errors([_case(gold, predicted)], PARENTS)
    assert (error.mention, error.predicted, error.kind, error.distance) == (
        *(0, predicted),
        *(kind, distance),
    )


@cases("gold", "ranked", "pairs")
def test_which_predictions_are_errors(
    gold: str, ranked: str, pairs: tuple[tuple[str, str], ...]
) -> None:
    errors = hierarchy_errors([_case("cat", "cat"), _case(gold, ranked)], PARENTS)
    assert [(error.predicted, error.gold) for error in errors] == [*pairs]
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
