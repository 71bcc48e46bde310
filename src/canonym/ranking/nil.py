"""From which score on the best candidate is an answer, and below which it is NIL."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.ranking.probability import fit_platt

__all__ = [
    "LEARNED",
    "MOST_RIGHT",
    "STRATEGIES",
    "answer_odds",
    "check_mentions",
    "nil_accuracy",
    "nil_threshold",
]

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
    """Return the share of mentions that are answered rightly, NIL included.

    Parameters
    ----------
    scores, right, known
        As `nil_threshold` takes them.
    threshold : float
        Mentions whose best candidate scores less are NIL.
    """
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

    Parameters
    ----------
    features : array-like, shape (n, d)
        Of the best candidate of every mention, such as `canonym.confidence.features_of` has them;
        a row of NaN where there is none.
    right, known : array-like of bool, shape (n,)
        As `nil_threshold` takes them.
    asked : array-like, shape (m, d)
        Features of the mentions that are asked.

    Returns
    -------
    ndarray, shape (m,), float64
        Logarithm of the odds; below 0 is NIL, and −inf where there is no candidate.

    Raises
    ------
    InvalidInput
        If there is no right candidate to go by.

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
    """Return what `nil_threshold` takes as arrays.

    Raises
    ------
    InvalidInput
        If the shapes differ, or a score is NaN.
    """
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
