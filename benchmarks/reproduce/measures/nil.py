"""Thresholds for NIL: the score below which the best candidate is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.io.numbers import rounded, weighted_sum
from reproduce.packages import load

STRATEGIES: tuple[str, ...] = ("false-positive", "true-positive", "weighted")
"""DILBERT's three ways to choose a threshold."""

MOST_RIGHT = "most-right"
"""The threshold with the most right mentions."""

LEARNED = "learned"
"""No threshold, but a logistic regression of several features: see `answer_odds`."""

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

_NOTHING_RIGHT = (
    "none of {n:,} mentions has a right candidate: there is nothing to choose by; give mentions "
    "whose concepts the terminology has"
)

# Of weights: far beyond what a few thousand examples tell, and far above what rounding adds up to.
_DIGITS = 6


def nil_threshold(
    scores: npt.ArrayLike, right: npt.ArrayLike, known: npt.ArrayLike, *, strategy: str
) -> float:
    """Choose the score below which a mention is NIL; −inf where none has to be refused.

    `scores` ``(n,)`` are those of the best candidate of every mention, larger is better, −inf where
    there is none. `right` tells whether that candidate is right, `known` whether the terminology
    has the mention's concept: where it has not, NIL is right. `strategy` is one of `STRATEGIES`, or
    `MOST_RIGHT`. Raises `InvalidInput` if the strategy is unknown, the shapes differ, a score is
    NaN, or no candidate is right.

    False positives are candidates of mentions whose concept the terminology does not have, true
    positives are right candidates. The threshold is

    - ``false-positive``: the highest score of a false positive (the paper's minimum distance);
    - ``true-positive``: the lowest score of a true positive (the maximum distance);
    - ``weighted``: ``p · first + (1 − p) · second`` with ``p`` the share of true positives among
      both.

    ``most-right``, which is not in the paper, takes the score with the most right mentions, NIL
    included; the lowest of several.

    Differences
    -----------
    The paper compares Euclidean distances; here any scores do, such as negative distances. It names
    the share of true positives as the weight of both thresholds. Here the second weight is the
    share of false positives, so that the weights add up to one.

    References
    ----------
    Miftahutdinov et al. (2021), Drug and Disease Interpretation Learning with Biomedical Entity
    Representation Transformer, section 5.4.

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
    """Return the share of right mentions, NIL included; below `threshold` a mention is NIL."""
    score, true, there = check_mentions(scores, right, known)
    if not len(score):
        raise InvalidInput("no mentions to evaluate: give at least one")
    # Nothing found is NIL whatever the threshold.
    answered = (score >= threshold) & (score > -np.inf)
    return float(np.where(there, true & answered, ~answered).mean())


def answer_odds(
    features: npt.ArrayLike, right: npt.ArrayLike, known: npt.ArrayLike, asked: npt.ArrayLike
) -> FloatArray:
    """Return the log odds of the best candidate against NIL, for the features `(m, d)` of `asked`.

    `fit_platt` learns them from mentions with a right candidate, and from mentions whose concept
    the terminology does not have. A wrong candidate of a known concept
    is a mistake both as an answer and as NIL, so it is left out. A row of NaN has no candidate, and
    its odds are −inf.
    """
    x, new = np.asarray(features, dtype=np.float64), np.asarray(asked, dtype=np.float64)
    empty = np.isnan(x).any(axis=1)
    _, true, there = check_mentions(np.where(empty, -np.inf, 0.0), right, known)
    if not (true & there & ~empty).any():
        raise InvalidInput(_NOTHING_RIGHT.format(n=len(x)))
    useful = ~empty & (true | ~there)
    odds = np.full(len(new), -np.inf)
    here = ~np.isnan(new).any(axis=1)
    if there[useful].all():
        odds[here] = np.inf
    else:
        odds[here] = fit_platt(x[useful], there[useful]).of(new[here])
    return odds


def check_mentions(
    scores: npt.ArrayLike, right: npt.ArrayLike, known: npt.ArrayLike
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return the arguments of `nil_threshold` as arrays, checked."""
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


# --- repeated draws -------------------------------------------------------------------------------


class Draws(NamedTuple):
    """Thresholds of repeated draws, and accuracy on the other mentions, ``(repetitions,)``."""

    thresholds: FloatArray
    accuracy: FloatArray


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
    """Choose a threshold on some mentions and measure it on the others, repeatedly.

    `rng` draws `n_dev` mentions without replacement, `repetitions` times; the defaults are those of
    DILBERT. Arguments and errors are those of `nil_threshold`; fewer than ``n_dev + 1`` mentions
    are an `InvalidInput` too.
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
    """Learn `answer_odds` on some mentions and measure them on the others, repeatedly."""
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
    return Draws(thresholds, accuracy)


class LogOdds(NamedTuple):
    """Log odds ``x · weights + intercept``; `weights` is ``(d,)`` float64."""

    weights: FloatArray
    intercept: float

    def of(self, features: FloatArray) -> FloatArray:
        """Return the log odds ``(n,)`` for features ``(n, d)``."""
        return weighted_sum(features, self.weights) + self.intercept


def fit_platt(features: npt.ArrayLike, observed: npt.ArrayLike) -> LogOdds:
    """Fit a logistic regression to yes and no, whatever the scales of the features ``(n, d)``.

    Features are brought to mean 0 and deviation 1 for a ridge of 1. As in Platt (1999),
    Probabilistic outputs for support vector machines, the targets are ``(n₊ + 1) / (n₊ + 2)`` and
    ``1 / (n₋ + 2)`` for ``n₊`` times yes and ``n₋`` times no. Weights have six digits.
    """
    linear = load("sklearn.linear_model", "a learned threshold", "scikit-learn")
    x, y = np.asarray(features, dtype=np.float64), np.asarray(observed, dtype=np.bool_)
    yes = int(y.sum())
    targets = np.where(y, (yes + 1) / (yes + 2), 1 / (len(y) - yes + 2))
    centre, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale < 1e-12] = 1.0
    scaled = (x - centre) / scale
    # A target between 0 and 1 is the same as every observation twice, as 1 and as 0, with weights.
    fitted = linear.LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(
        np.vstack([scaled, scaled]),
        np.repeat([1, 0], len(y)),
        sample_weight=np.concatenate([targets, 1 - targets]),
    )
    # A feature that says nothing has a weight of 0, whatever rounding leaves of it.
    raw = rounded(fitted.coef_[0], _DIGITS) / scale
    weights = np.array([float(f"{weight:.{_DIGITS}g}") for weight in raw.tolist()])
    (shift,) = weighted_sum(centre[None], weights).tolist()
    return LogOdds(weights, round(float(fitted.intercept_[0]) - shift, _DIGITS) + 0.0)
