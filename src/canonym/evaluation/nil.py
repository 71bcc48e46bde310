"""From which score on the best candidate is an answer, and below which it is NIL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.figures import Figure
from canonym.evaluation.measured import Measured
from canonym.evaluation.metrics import columns
from canonym.evaluation.outcome import Run
from canonym.evaluation.outcomes import Answer
from canonym.evaluation.statistics import aggregate
from canonym.ranking.probability import fit_platt
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds
from canonym.types import Document, Name, Record, Xref

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
        Of the best candidate of every mention, such as `canonym.linking.confidence.confidence_features` has them;
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


# --- draws ---
# MODULE: How good the choice between a candidate and NIL is, learned from drawn mentions.

draws_FloatArray = npt.NDArray[np.float64]
draws_BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class Draws(NamedTuple):
    """Thresholds chosen on repeated draws and how good they are on the other mentions.

    ``thresholds`` and ``accuracy`` are ``(repetitions,)`` float64; `mean` and `std` are those of
    the accuracies, the standard deviation that of a sample.
    """

    thresholds: draws_FloatArray
    accuracy: draws_FloatArray
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

    def choose(dev: IntArray) -> tuple[draws_FloatArray, float]:
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

    def choose(dev: IntArray) -> tuple[draws_FloatArray, float]:
        return answer_odds(x[dev], true[dev], there[dev], x), 0.0

    return _draw(choose, true, there, rng, n_dev, repetitions)


_Choose: TypeAlias = Callable[[IntArray], tuple[draws_FloatArray, float]]


def _draw(
    choose: _Choose,
    true: draws_BoolArray,
    there: draws_BoolArray,
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


# --- nil ---
# MODULE: NIL thresholds of an evaluated corpus, and corpora some of whose concepts are absent.


def leave_out(
    terminology: Terminology, documents: Iterable[Document], *, share: float, seed: int = 0
) -> tuple[Terminology, int]:
    """Take some of the concepts that mentions stand for out of a terminology.

    Parameters
    ----------
    terminology : Terminology
        Stays as it is.
    documents : iterable of Document
        Whose concepts are drawn from.
    share : float
        Of the distinct concepts, in (0, 1).
    seed : int
        Of the draw.

    Returns
    -------
    tuple of Terminology and int
        What is left, without relations, and how many concepts were taken.

    Raises
    ------
    InvalidInput
        If the share is none, or it leaves nothing to take or to keep.
    """
    ids = ConceptIds(terminology)
    found = {ids.find(id_) for d in documents for m in d.mentions for id_ in m.ids} - {None}
    concepts = sorted(id_ for id_ in found if id_)
    n = round(share * len(concepts))
    if not 0 < share < 1 or not 0 < n < len(concepts):
        raise InvalidInput(
            f"a share of {share} of the {len(concepts):,} concepts of mentions is to be absent; "
            "more than 0 and less than 1 is expected, and at least one concept on either side"
        )
    rng = np.random.default_rng(seed)
    gone = {concepts[place] for place in rng.choice(len(concepts), size=n, replace=False)}

    def left() -> Iterable[Record]:
        for concept in terminology.iter_concepts():
            if concept.id not in gone:
                yield replace(concept, label="")
        rest: Iterable[Name | Xref]
        for rest in (terminology.iter_names(), terminology.iter_xrefs()):
            yield from (record for record in rest if record.concept_id not in gone)

    return Terminology.build(left()), n


def measure_nil(
    run: Run,
    terminology: Terminology,
    *,
    reading: str | None = None,
    n_dev: int = 100,
    repetitions: int = 20,
    seed: int = 0,
) -> Measured:
    """Choose thresholds by DILBERT's strategies on draws of the mentions, and try them on the rest.

    Parameters
    ----------
    run : Run
        Under a protocol that asks mentions without a concept as well.
    terminology : Terminology
        The one that was searched.
    reading : str, optional
        When a candidate is right; the first of the protocol by default.
    n_dev, repetitions : int
        As `canonym.evaluation.nil.draw_thresholds` takes them.
    seed : int
        Of the draws, which are the same for all strategies.

    Returns
    -------
    Measured
        Mean accuracy, its t interval and its standard deviation over the repetitions by strategy,
        those of DILBERT, `canonym.evaluation.nil.MOST_RIGHT` and `canonym.evaluation.nil.LEARNED`, and
        ``"never"``: the accuracy of never answering NIL.

    Raises
    ------
    InvalidInput
        If there are too few mentions, or none of them is right.

    Notes
    -----
    A mention is right if it is answered and its best candidate is right, or refused and the
    terminology lacks its concept. Its score is that of its best candidate, of a composite mention
    that of its worst part. Where the run knows how sure it is, that is the score. What is learned
    from are the features that a confidence is taken from, of names alone their score and its
    margin.

    References
    ----------
    Miftahutdinov et al. (2021), section 5.4.
    """
    chosen = reading or run.protocol.readings[0]
    cases = run.cases[chosen]
    right = columns(cases, "accuracy@1")[:, 0] > 0.5
    scores = [case.score for case in cases]
    ids = {concept.id for concept in terminology.iter_concepts()}
    known = [
        bool(question.gold) and all(part & ids for part in question.gold)
        for question in run.questions
    ]
    right &= np.array(known)
    signs = _signs(run.answers)
    figures, spreads, thresholds = [], {}, {}
    for strategy in (*STRATEGIES, MOST_RIGHT, LEARNED):
        rng = np.random.default_rng(seed)
        drawn = (
            draw_with_features(signs, right, known, rng=rng, n_dev=n_dev, repetitions=repetitions)
            if strategy == LEARNED
            else draw_thresholds(
                scores,
                right,
                known,
                strategy=strategy,
                rng=rng,
                n_dev=n_dev,
                repetitions=repetitions,
            )
        )
        spread = aggregate(drawn.accuracy.tolist())
        n = len(cases) - n_dev
        figures.append(Figure("all", "", strategy, n, spread.mean, spread.low, spread.high))
        spreads[strategy] = spread.sd
        thresholds[strategy] = [float(one) for one in drawn.thresholds]
    share = float(right.mean())
    figures.append(Figure("all", "", "never", len(cases), share, float("nan"), float("nan")))
    absent = len(known) - sum(known)
    said = f"{absent:,} of {len(known):,} mentions have no concept in the terminology"
    return Measured(
        "nil",
        tuple(figures),
        "%",
        (said, f"thresholds are chosen on {n_dev} mentions, {repetitions} times"),
        spreads,
        {"thresholds": thresholds, "fingerprints": run.fingerprints},
    )


def _signs(answers: Sequence[Sequence[Answer]]) -> npt.NDArray[np.float64]:
    """Return features of the best candidate of every mention, NaN where there is none."""
    rows = [_weakest([_signs_of(part) for part in parts]) for parts in answers]
    n = max(map(len, rows), default=0) or 1
    return np.array([row or [np.nan] * n for row in rows], dtype=np.float64)


def _weakest(parts: Sequence[list[float]]) -> list[float]:
    """Return the part with the lowest score, which comes first."""
    return min(parts, default=[])


def _signs_of(answer: Answer) -> list[float]:
    if answer.signs or not answer.concepts:
        return list(answer.signs)
    best, *others = answer.concepts
    return [best.score, best.score - others[0].score if others else best.score]
