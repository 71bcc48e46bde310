from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from canonym.evaluation.outcomes import ScoredMention, match_parts, tally

RELAXED = settings(deadline=None, max_examples=60)

IDS = st.sampled_from("ABCDE")
PARTS = st.lists(st.frozensets(IDS, min_size=1, max_size=3), max_size=4)
RANKINGS = st.lists(st.lists(IDS, min_size=1, max_size=4), max_size=4)


def _by_trying(gold: list[frozenset[str]], ranked: list[list[str]], k: int) -> int:
    """Size of the largest matching, over every way to give gold parts to rankings."""
    size = max(len(gold), len(ranked))
    padded = [*gold, *[frozenset[str]()] * (size - len(gold))]
    return max(
        sum(bool(set(ranking[:k]) & part) for part, ranking in zip(chosen, ranked, strict=False))
        for chosen in itertools.permutations(padded)
    )


@RELAXED
@given(PARTS, RANKINGS)
def test_matching_finds_as_many_parts_as_trying_everything(
    gold: list[frozenset[str]], ranked: list[list[str]]
) -> None:
    found = match_parts(gold, ranked)
    assert list(found) == sorted(found)
    for k in range(6):
        assert sum(place <= k for place in found) == _by_trying(gold, ranked, k)


@pytest.mark.parametrize(
    ("gold", "ranked", "expected"),
    [
        ([{"A"}], [["B", "A", "A"]], (2,)),
        ([{"A"}], [["A", "A"]], (1,)),
        ([{"A"}], [["B"]], ()),
        ([{"A"}], [["B", "A"], ["A"]], (1,)),
        ([{"A"}, {"B"}], [["A", "B"]], (1,)),
        ([{"A"}, {"A"}], [["A"], ["A"]], (1, 1)),
        # The first ranking suits both parts, the second only the first: the matching has to give
        # way.
        ([{"A"}, {"A", "B"}], [["A", "B"], ["C", "A"]], (1, 2)),
        ([{"A", "B"}, {"A"}], [["A"], ["B"]], (1, 1)),
        ([], [["A"]], ()),
        ([{"A"}], [], ()),
    ],
)
def test_matching_by_hand(
    gold: list[set[str]], ranked: list[list[str]], expected: tuple[int, ...]
) -> None:
    assert match_parts(gold, ranked) == expected


def test_parts_without_ids_are_passed_over() -> None:
    a = frozenset({"A"})
    case = ScoredMention(gold=(a, frozenset()), ranked=((), ("A",)))
    assert not case.nil
    assert not case.predicted_nil
    counts = tally([case, ScoredMention(gold=(frozenset(),), ranked=((),))])
    assert counts.n_gold.tolist() == [1, 0]
    assert counts.n_predicted.tolist() == [1, 0]
    assert counts.mentions.tolist() == [0]
    assert counts.n == 2


def test_candidates_are_what_is_ranked_unless_given() -> None:
    a = frozenset({"A"})
    counts = tally(
        [
            ScoredMention(gold=(a,), ranked=(("B", "A"),)),
            ScoredMention(gold=(a,), ranked=(), candidates=(("C", "B", "A"),)),
        ]
    )
    assert counts.places.tolist() == [2]
    assert counts.candidate_mentions.tolist() == [0, 1]
    assert counts.candidate_places.tolist() == [2, 3]
    assert counts.places.dtype == np.int64


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gold": ("A",)}, "each part is a set"),
        ({"gold": (frozenset({""}),)}, "no concept id"),
        ({"gold": (frozenset({1}),)}, "no concept id"),
        ({"ranked": ("A",)}, "a tuple of ids"),
        ({"ranked": ({"A", "B"},)}, "a tuple of ids"),
        ({"ranked": (("A", ""),)}, "no concept id"),
        ({"candidates": ("A",)}, "a tuple of ids"),
        ({"length": -1}, "length is -1"),
        ({"frequency": -2}, "frequency is -2"),
    ],
)
def test_cases_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        ScoredMention(**({"gold": (), "ranked": ()} | options))  # type: ignore[arg-type]


def test_no_cases_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="no mentions to evaluate"):
        tally([])
