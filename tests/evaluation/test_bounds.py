"""Which interval a figure gets, and that it never is a point."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.errors import InvalidInput
from canonym.evaluation import Case, bootstrap, bound, columns, wilson
from canonym.evaluation.figures import figures
from canonym.evaluation.statistics import SMALL


@pytest.mark.parametrize(
    ("values", "right", "n"),
    [
        (np.ones(200), 200, 200),
        (np.zeros(200), 0, 200),
        ([1.0] * 7 + [0.0] * 5, 7, 12),
        ([1.0] * 20 + [0.0] * (SMALL - 21), 20, SMALL - 1),
        ([[0, 0], [0, 0], [1, 1]], 1, 1),  # what does not count is no trial
        ([[0, 0], [1, 1], [0, 1]], 1, 2),
        ([[3, 3], [1, 1]], 2, 2),  # two mentions, not four parts
        ([[0, 2], [0, 3]], 0, 2),
        ([[2, 2], [2, 2]], 2, 2),  # an F1 of 1
        ([1.0], 1, 1),
    ],
)
def test_small_and_one_sided_samples_are_bounded_by_wilson(
    values: object, right: int, n: int
) -> None:
    found = bound(values)  # type: ignore[arg-type]
    assert found == wilson(right, n)
    assert found.low < found.high


@pytest.mark.parametrize(
    "values",
    [
        [1.0] * 20 + [0.0] * (SMALL - 20),
        [0.5, 0.0, 1.0],  # reciprocal ranks are no proportion
        [[2, 3], [1, 1]],
        [[1, 2], [1, 1]],
    ],
)
def test_everything_else_is_resampled(values: object) -> None:
    assert bound(values, rng=4) == bootstrap(values, rng=4)  # type: ignore[arg-type]


def test_level_draws_and_errors_are_handed_on() -> None:
    assert bound([1.0] * 5, level=0.5) == wilson(5, 5, level=0.5)
    values = [1.0] * 30 + [0.0] * 30
    assert bound(values, draws=50, level=0.8) == bootstrap(values, draws=50, level=0.8)
    with pytest.raises(InvalidInput, match="no mentions"):
        bound([])
    with pytest.raises(InvalidInput, match="level"):
        bound([1.0], level=2)


def test_what_is_not_defined_has_no_interval() -> None:
    assert all(np.isnan(number) for number in bound([[0, 0], [0, 0]]))


def test_the_figures_of_a_report_are_bounded_so() -> None:
    right = Case(gold=(frozenset({"A"}),), ranked=(("A",),))
    nil = Case(gold=(), ranked=())
    found = {
        figure.metric: figure
        for figure in figures({"strict": [right] * 3 + [nil]}, metrics=["accuracy@1", "nil-recall"])
        if figure.slice == "all"
    }
    assert found["accuracy@1"][4:] == wilson(4, 4)
    assert found["nil-recall"][4:] == wilson(1, 1)
    assert columns([right, nil], "nil-recall").tolist() == [[0, 0], [1, 1]]
