"""From which score on the best candidate is an answer, and below which it is NIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.ranking.probability import fit_platt

# --- nil ---

STRATEGIES: tuple[str, ...] = ("false-positive", "true-positive", "weighted")
"""The three ways of DILBERT to choose a threshold."""

MOST_RIGHT = "most-right"
"""The threshold with which most of the mentions are right."""

LEARNED = "learned"
"""No threshold of a score: whether the best candidate or NIL is likelier, by several features."""

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_NOTHING_RIGHT = (
    "none of {n:,} mentions has a right candidate: there is nothing to choose by; give mentions "
    "whose concepts the terminology has"
)


def nil_threshold(
    scores: npt.ArrayLike, right: npt.ArrayLike, known: npt.ArrayLike, *, strategy: str
) -> float:
    """Choose the score below which a mention is NIL.

    Parameters
    ----------
    scores : array-like, shape (n,)
        Score of the best candidate of every mention, larger is better; −inf where there is none.
    right : array-like of bool, shape (n,)
        Whether the best candidate is right.
    known : array-like of bool, shape (n,)
        Whether the terminology has the mention's concept; False where NIL is right.
    strategy : str
        One of `STRATEGIES`, or `MOST_RIGHT`.

    Returns
    -------
    float
        The threshold; −inf where no mention is to be refused.

    Raises
    ------
    InvalidInput
        If there is no such strategy, the shapes differ, a score is NaN, or there is no right
        candidate to go by.

    Notes
    -----
    With the false positives (candidates of mentions that the terminology does not have) and the
    true positives (right candidates), the threshold is

    - ``false-positive``: the highest score of a false positive (the paper's minimum distance);
    - ``true-positive``: the lowest score of a true positive (the maximum distance);
    - ``weighted``: ``p · first + (1 − p) · second`` with ``p`` the share of true positives among
      both.

    ``most-right`` is not of the paper: of all scores the one with which most mentions are answered
    rightly, NIL included; the lowest of several.

    Differences
    -----------
    The paper compares Euclidean distances; here they are any scores (give negative distances for
    the paper's). It names the share of true positives as the weight of both thresholds; the second
    is taken to be that of false positives, so that they add up to one.

    References
    ----------
    Miftahutdinov et al. (2021), Drug and Disease Interpretation Learning with Biomedical Entity
    Representation Transformer, section 5.4.

    Examples
    --------
    >>> scores, right, known = [0.9, 0.6, 0.7, 0.4], [1, 1, 0, 0], [1, 1, 0, 0]
    >>> [round(nil_threshold(scores, right, known, strategy=s), 2) for s in STRATEGIES]
    [0.7, 0.6, 0.65]
    """
    if strategy not in {*STRATEGIES, MOST_RIGHT}:
        every = ", ".join((*STRATEGIES, MOST_RIGHT))
        raise InvalidInput(f"there is no strategy {strategy!r}; there are {every}")
    score, true, there = check_mentions(scores, right, known)
    positives = score[true & there]
    if not len(positives):
        raise InvalidInput(_NOTHING_RIGHT.format(n=len(score)))
    false = score[~there & np.isfinite(score)]
    lowest = float(positives.min())
    highest = float(false.max()) if len(false) else float("-inf")
    if strategy == "false-positive":
        return highest
    if strategy == "true-positive":
        return lowest
    if strategy == MOST_RIGHT:
        tried = np.unique(np.concatenate([[-np.inf], score]))
        return float(max(tried, key=lambda one: (nil_accuracy(score, true, there, one), -one)))
    if not len(false):
        return highest
    share = len(positives) / (len(positives) + len(false))
    return share * highest + (1 - share) * lowest


def nil_accuracy(
    scores: npt.ArrayLike, right: npt.ArrayLike, known: npt.ArrayLike, threshold: float
) -> float:
    """Return the share of mentions that are answered rightly, NIL included."""
    score, true, there = check_mentions(scores, right, known)
    if not len(score):
        raise InvalidInput("no mentions to evaluate: give at least one")
    # Nothing found is NIL whatever the threshold.
    answered = (score >= threshold) & (score > -np.inf)
    return float(np.where(there, true & answered, ~answered).mean())


def answer_odds(
    features: npt.ArrayLike, right: npt.ArrayLike, known: npt.ArrayLike, asked: npt.ArrayLike
) -> FloatArray:
    """Learn from mentions how much likelier than NIL the best candidate of others is.

    Notes
    -----
    A logistic regression, `canonym.ranking.probability.fit_platt`, of the mentions that tell the
    two apart: those with a right candidate, and those that the terminology does not have. A wrong
    candidate of a mention that it has is a mistake, whether it is answered or refused. Where
    nothing is to be refused, nothing is.
    """
    x, new = np.asarray(features, dtype=np.float64), np.asarray(asked, dtype=np.float64)
    empty = np.isnan(x).any(axis=1)
    _, true, there = check_mentions(np.where(empty, -np.inf, 0.0), right, known)
    if not (true & there & ~empty).any():
        raise InvalidInput(_NOTHING_RIGHT.format(n=len(x)))
    told = ~empty & (true | ~there)
    odds = np.full(len(new), -np.inf)
    here = ~np.isnan(new).any(axis=1)
    if there[told].all():
        odds[here] = np.inf
    else:
        odds[here] = fit_platt(x[told], there[told]).logit(new[here])
    return odds


def check_mentions(
    scores: npt.ArrayLike, right: npt.ArrayLike, known: npt.ArrayLike
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return what `nil_threshold` takes as arrays."""
    score = np.asarray(scores, dtype=np.float64)
    true, there = np.asarray(right, dtype=np.bool_), np.asarray(known, dtype=np.bool_)
    if score.ndim != 1 or not score.shape == true.shape == there.shape:
        raise InvalidInput(
            f"scores, right and known have the shapes {score.shape}, {true.shape} and "
            f"{there.shape}; one of each per mention is expected"
        )
    if np.isnan(score).any():
        raise InvalidInput("a score is NaN; numbers are expected, −inf where nothing was found")
    return score, true, there


# --- draws ---
# MODULE: How good the choice between a candidate and NIL is, learned from drawn mentions.

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
    """Learn from some mentions when NIL is likelier, try it on the others, and that repeatedly."""
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
