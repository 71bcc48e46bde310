"""Thresholds for NIL, by hand and over draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import InvalidInput
from reproduce.measures.nil import (
    MOST_RIGHT,
    STRATEGIES,
    answer_odds,
    draw_thresholds,
    draw_with_features,
    nil_accuracy,
    nil_threshold,
)

SCORES = [0.95, 0.80, 0.70, 0.60, 0.85, 0.75, 0.20]
RIGHT = [True, True, False, True, False, False, False]
KNOWN = [True, True, True, True, False, False, False]


def draw(seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    known = rng.random(n) < 0.7
    right = known & (rng.random(n) < 0.8)
    return rng.normal(np.where(right, 0.8, 0.5), 0.15), right, known


def test_the_three_thresholds_of_a_hand_made_case() -> None:
    found = [nil_threshold(SCORES, RIGHT, KNOWN, strategy=strategy) for strategy in STRATEGIES]
    assert found == pytest.approx([0.85, 0.60, (3 * 0.85 + 3 * 0.60) / 6])


@given(st.integers(0, 1000))
def test_no_threshold_is_right_more_often(seed: int) -> None:
    scores, right, known = draw(seed, 40)
    found = nil_threshold(scores, right, known, strategy=MOST_RIGHT)
    best = nil_accuracy(scores, right, known, found)
    others = [nil_accuracy(scores, right, known, one) for one in (-np.inf, *scores)]
    assert best == max(others)
    lower = [one for one in scores if one < found]
    assert all(nil_accuracy(scores, right, known, one) < best for one in lower)


def test_the_lowest_of_equal_thresholds_is_taken() -> None:
    assert nil_threshold(SCORES, RIGHT, KNOWN, strategy=MOST_RIGHT) == 0.60
    assert nil_threshold([0.9, 0.2], [1, 1], [1, 1], strategy=MOST_RIGHT) == float("-inf")


def test_wrong_candidates_of_known_concepts_play_no_role() -> None:
    scores = [*SCORES, 0.99, 0.01]
    right, known = [*RIGHT, False, False], [*KNOWN, True, True]
    for strategy in STRATEGIES:
        assert nil_threshold(scores, right, known, strategy=strategy) == pytest.approx(
            nil_threshold(SCORES, RIGHT, KNOWN, strategy=strategy)
        )


@given(st.integers(0, 1000))
def test_thresholds_are_those_of_distances(seed: int) -> None:
    scores, right, known = draw(seed, 60)
    distance = 1 - scores
    first = min(distance[i] for i in range(60) if not known[i])
    second = max(distance[i] for i in range(60) if known[i] and right[i])
    n_true, n_false = int((known & right).sum()), int((~known).sum())
    third = (n_true * first + n_false * second) / (n_true + n_false)
    for strategy, wanted in zip(STRATEGIES, (first, second, third), strict=True):
        found = nil_threshold(scores, right, known, strategy=strategy)
        assert 1 - found == pytest.approx(wanted)
        assert nil_threshold(-distance, right, known, strategy=strategy) == pytest.approx(-wanted)


def test_accuracy_counts_nil_as_an_answer() -> None:
    # From 0.75 on: two right, two refused wrongly, two answered wrongly, one refused rightly.
    assert nil_accuracy(SCORES, RIGHT, KNOWN, 0.75) == pytest.approx(3 / 7)
    assert nil_accuracy(SCORES, RIGHT, KNOWN, 0.9) == pytest.approx(4 / 7)
    assert nil_accuracy(SCORES, RIGHT, KNOWN, float("-inf")) == pytest.approx(3 / 7)
    assert nil_accuracy([float("-inf")] * 2, [False] * 2, [True, False], float("-inf")) == 0.5


def test_without_false_positives_nothing_is_refused() -> None:
    for strategy in ("false-positive", "weighted"):
        threshold = nil_threshold([0.9, 0.2], [1, 0], [1, 1], strategy=strategy)
        assert threshold == float("-inf")
    assert nil_threshold([0.9, -np.inf], [1, 0], [1, 0], strategy="weighted") == float("-inf")


def test_draws_are_repeated_and_evaluated_on_the_rest() -> None:
    scores, right, known = draw(3)
    draws = draw_thresholds(scores, right, known, strategy="weighted", rng=np.random.default_rng(5))
    assert draws.thresholds.shape == draws.accuracy.shape == (20,)
    rng = np.random.default_rng(5)
    order = rng.permutation(200)
    dev, rest = order[:100], order[100:]
    first = nil_threshold(scores[dev], right[dev], known[dev], strategy="weighted")
    assert draws.thresholds[0] == first
    assert draws.accuracy[0] == nil_accuracy(scores[rest], right[rest], known[rest], first)
    assert len(set(draws.thresholds)) > 5
    again = draw_thresholds(scores, right, known, strategy="weighted", rng=np.random.default_rng(5))
    assert again.accuracy.tolist() == draws.accuracy.tolist()
    once = draw_thresholds(
        scores, right, known, strategy="true-positive", rng=rng, n_dev=50, repetitions=1
    )
    assert len(once.accuracy) == 1


@pytest.mark.parametrize(
    ("arguments", "options", "told"),
    [
        (([0.5], [True], [True]), {"strategy": "mean"}, "there is no strategy 'mean'"),
        (([0.5], [False], [True]), {}, "none of 1 mentions has a right candidate"),
        (([0.5], [True, False], [True]), {}, "one of each per mention"),
        (([float("nan")], [True], [True]), {}, "a score is NaN"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments: Any, options: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        nil_threshold(*arguments, **{"strategy": "weighted", **options})


def test_draws_that_cannot_be_made_are_refused() -> None:
    scores, right, known = draw(3)
    for options, told in (({"n_dev": 200}, "are to be drawn"), ({"repetitions": 0}, "at least 1")):
        with pytest.raises(InvalidInput, match=told):
            draw_thresholds(
                scores, right, known, strategy="weighted", rng=np.random.default_rng(0), **options
            )
    with pytest.raises(InvalidInput, match="no mentions"):
        nil_accuracy([], [], [], 0.5)


def described(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two features that tell known from unknown together and hardly alone."""
    rng = np.random.default_rng(seed)
    known = rng.random(n) < 0.6
    right = known & (rng.random(n) < 0.8)
    shared = rng.normal(size=n)
    first = shared + np.where(known, 0.5, -0.5) + rng.normal(size=n) / 10
    return np.stack([first, 1000 * shared], axis=1), right, known


def test_features_tell_what_a_threshold_of_one_of_them_does_not() -> None:
    x, right, known = described(0)
    rng = np.random.default_rng
    learned = draw_with_features(x, right, known, rng=rng(1))
    score = draw_thresholds(x[:, 0], right, known, strategy=MOST_RIGHT, rng=rng(1))
    assert learned.accuracy.shape == (20,)
    assert learned.accuracy.mean() > score.accuracy.mean() + 0.1
    # Nothing can be done about wrong candidates of concepts that are there.
    assert learned.accuracy.mean() == pytest.approx(1 - (known & ~right).mean(), abs=0.02)
    again = draw_with_features(x, right, known, rng=rng(1))
    assert again.accuracy.tolist() == learned.accuracy.tolist()


def test_wrong_candidates_of_known_concepts_teach_nothing() -> None:
    x, right, known = described(1)
    told = right | ~known
    asked = x[:50]
    found = answer_odds(x, right, known, asked)
    assert found.tolist() == answer_odds(x[told], right[told], known[told], asked).tolist()
    assert found[known[:50]].min() > found[~known[:50]].max() - 2


def test_without_a_candidate_it_is_nil_and_without_nil_all_is_answered() -> None:
    x, right, known = described(2)
    x[3] = np.nan
    assert answer_odds(x, right, known, x)[3] == -np.inf
    odds = answer_odds(x[known], right[known], known[known], x)
    assert odds[3] == -np.inf
    assert (np.delete(odds, 3) == np.inf).all()


def test_features_that_cannot_be_used_are_refused() -> None:
    x, right, known = described(3)
    with pytest.raises(InvalidInput, match="none of 400 mentions has a right candidate"):
        answer_odds(x, np.zeros(400, bool), known, x)
    with pytest.raises(InvalidInput, match="a row per mention is expected"):
        draw_with_features(x[:, 0], right, known, rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="one of each per mention"):
        draw_with_features(x, right[1:], known, rng=np.random.default_rng(0))
