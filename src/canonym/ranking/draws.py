"""How good the choice between a candidate and NIL is, learned from drawn mentions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.ranking.nil import answer_odds, check_mentions, nil_accuracy, nil_threshold

__all__ = ["Draws", "draw_thresholds", "draw_with_features"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class Draws(NamedTuple):
    """Thresholds chosen on repeated draws and how good they are on the other mentions.

    ``thresholds`` and ``accuracy`` are ``(repetitions,)`` float64; `mean` and `std` are those of
    the accuracies, the standard deviation that of a sample.
    """

    thresholds: FloatArray
    accuracy: FloatArray
    mean: float
    std: float


def draw_thresholds(
    scores: npt.ArrayLike,
    right: npt.ArrayLike,
    known: npt.ArrayLike,
    *,
    strategy: str,
    rng: np.random.Generator,
    n_dev: int = 100,
    repetitions: int = 20,
) -> Draws:
    """Choose a threshold on some mentions, try it on the others, and that repeatedly.

    Parameters
    ----------
    scores, right, known, strategy
        As `nil_threshold` takes them.
    rng : Generator
        Draws the mentions to choose by.
    n_dev : int
        How many of them are drawn each time, without putting back.
    repetitions : int
        How often.

    Returns
    -------
    Draws
        The thresholds, and the accuracy of each on the mentions that were not drawn.

    Raises
    ------
    InvalidInput
        As `nil_threshold` does, or if fewer than ``n_dev + 1`` mentions are given.

    Notes
    -----
    The defaults are those of DILBERT: 100 mentions, 20 repetitions.
    """
    score, true, there = check_mentions(scores, right, known)

    def choose(dev: IntArray) -> tuple[FloatArray, float]:
        return score, nil_threshold(score[dev], true[dev], there[dev], strategy=strategy)

    return _draw(choose, true, there, rng, n_dev, repetitions)


def draw_with_features(
    features: npt.ArrayLike,
    right: npt.ArrayLike,
    known: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_dev: int = 100,
    repetitions: int = 20,
) -> Draws:
    """Learn from some mentions when NIL is likelier, try it on the others, and that repeatedly.

    Parameters
    ----------
    features : array-like, shape (n, d)
        Of the best candidate of every mention; a row of NaN where there is none.
    right, known, rng, n_dev, repetitions
        As `draw_thresholds` takes them.

    Returns
    -------
    Draws
        Thresholds are those of the logarithm of the odds, 0.

    Raises
    ------
    InvalidInput
        As `draw_thresholds` and `answer_odds` do.
    """
    x = np.asarray(features, dtype=np.float64)
    if x.ndim != 2:
        raise InvalidInput(f"features have the shape {x.shape}; a row per mention is expected")
    found = np.where(np.isnan(x).any(axis=1), -np.inf, 0.0)
    _, true, there = check_mentions(found, right, known)

    def choose(dev: IntArray) -> tuple[FloatArray, float]:
        return answer_odds(x[dev], true[dev], there[dev], x), 0.0

    return _draw(choose, true, there, rng, n_dev, repetitions)


_Choose: TypeAlias = Callable[[IntArray], tuple[FloatArray, float]]


def _draw(
    choose: _Choose,
    true: BoolArray,
    there: BoolArray,
    rng: np.random.Generator,
    n_dev: int,
    repetitions: int,
) -> Draws:
    """Let scores and a threshold be chosen on some mentions, and try them on the others."""
    if not 1 <= n_dev < len(true):
        raise InvalidInput(
            f"{n_dev} of {len(true):,} mentions are to be drawn; at least one, and not all, is "
            "expected"
        )
    if repetitions < 1:
        raise InvalidInput(f"repetitions is {repetitions}; at least 1 is expected")
    thresholds, accuracy = np.empty(repetitions), np.empty(repetitions)
    for turn in range(repetitions):
        order = rng.permutation(len(true))
        dev, rest = order[:n_dev], order[n_dev:]
        score, thresholds[turn] = choose(dev)
        accuracy[turn] = nil_accuracy(score[rest], true[rest], there[rest], thresholds[turn])
    std = float(accuracy.std(ddof=1)) if repetitions > 1 else 0.0
    return Draws(thresholds, accuracy, float(accuracy.mean()), std)
