"""The spread of runs against SciPy's t interval, and average ranks against sorted lists."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from reproduce.measures.spread import aggregate, average_ranks


def test_runs_are_aggregated_by_t() -> None:
    from scipy.stats import t

    folds = [58.1, 59.0, 57.2, 60.3, 58.8]
    found = aggregate(folds, level=0.9)
    low, high = t.interval(0.9, 4, np.mean(folds), np.std(folds, ddof=1) / math.sqrt(5))
    assert found == pytest.approx((np.mean(folds), np.std(folds, ddof=1), low, high, 5))
    assert aggregate([1, 1]) == (1, 0, 1, 1, 2)


@pytest.mark.parametrize(
    ("values", "said"),
    [([1.0], "1 values have no spread"), ([], "0 values"), ([1, math.inf], "not all finite")],
)
def test_aggregate_refuses(values: list[float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        aggregate(values)


@given(
    st.integers(1, 6).flatmap(
        lambda corpora: st.lists(
            st.lists(st.integers(0, 4), min_size=corpora, max_size=corpora), min_size=1, max_size=9
        )
    )
)
def test_average_ranks_are_the_mean_places_of_sorted_lists(table: list[list[int]]) -> None:
    places = [[Fraction(0)] * len(column) for column in zip(*table, strict=True)]
    for corpus, column in enumerate(zip(*table, strict=True)):
        ordered = sorted(column, reverse=True)
        for system, value in enumerate(column):
            taken = [place for place, one in enumerate(ordered, start=1) if one == value]
            places[corpus][system] = Fraction(sum(taken), len(taken))
    means = [sum(one) / len(places) for one in zip(*places, strict=True)]
    assert average_ranks(table) == pytest.approx([float(mean) for mean in means])


def test_the_published_rank_of_a_search_comes_out() -> None:
    # Xu and Bethard, section 5: last of 14 on four corpora and 12th on one is 13.6.
    table = [[float(system)] * 5 for system in range(14)]
    table[0][4] = 2.5  # better than two others there
    assert average_ranks(table)[0] == pytest.approx(13.6)


def test_average_ranks_sum_to_those_of_all_places() -> None:
    assert average_ranks(np.zeros((14, 3))).tolist() == [7.5] * 14


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], r"shape \(0,\)"),
        ([1.0, 2.0], r"shape \(2,\)"),
        ([[], []], r"shape \(2, 0\)"),
        ([[1, 2], [3, math.nan]], "system 1 has no figure on corpus 1"),
    ],
)
def test_average_ranks_need_a_figure_for_each_pair(table: list[object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        average_ranks(table)
