"""Points of curves: risk against coverage, calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from canonym.evaluation.calibration import ece, reliability, risk_coverage
from canonym.evaluation.metrics import columns, ratio
from canonym.evaluation.outcomes import Case, tally
from canonym.evaluation.statistics import wilson

# MODULE: The curves of a report as numbers: candidates, confidence, and what refusing buys.

_POINTS = 100  # of a curve that has one per mention


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Mentions of about the same score: the bin, their number, their mean score and accuracy.

    The interval is Wilson's, at 95 %; the numbers of an empty bin are NaN.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float


@dataclass(frozen=True, slots=True)
class Trust:
    """Whether scores can be read as probabilities.

    Parameters
    ----------
    reading : str
        What counts as right.
    ece : float
        Expected calibration error, in [0, 1]; NaN where scores are not between 0 and 1.
    bins : tuple of ConfidenceBin
        Ten of equal width; none where scores are not between 0 and 1.
    low, high : float
        Smallest and largest score.
    """

    reading: str
    ece: float
    bins: tuple[ConfidenceBin, ...]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """What refusing the least sure mentions buys.

    Parameters
    ----------
    reading : str
        What counts as right.
    coverage, risk : tuple of float
        At most a hundred points of the curve: the share of mentions answered, and the share of
        those that is wrong.
    area, excess : float
        AURC and E-AURC over all points.
    """

    reading: str
    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float
    excess: float


def measure_recall(cases: Mapping[str, Sequence[Case]], k: int) -> dict[str, tuple[float, ...]]:
    """Return recall@1 … recall@k of the candidates of every reading, NaN without gold parts."""
    found = {}
    for reading, some in cases.items():
        counts = tally(some)
        found[reading] = tuple(
            ratio(columns(counts, f"recall@{place}")) for place in range(1, k + 1)
        )
    return found


def measure_trust(cases: Sequence[Case], reading: str) -> Trust:
    """Compare the scores of mentions with their accuracy, in ten bins of equal width."""
    score = np.array([case.score for case in cases])
    right = columns(cases, "accuracy@1")[:, 0]
    low, high = float(score.min()), float(score.max())
    # A cosine in single precision may pass 1 by a rounding error.
    score = np.where((score > 1) & (score < 1 + 1e-4), 1.0, score)
    if score.min() < 0 or score.max() > 1:
        return Trust(reading, float("nan"), (), low, high)
    table = reliability(score, right)
    bins = []
    for i, n in enumerate(table.counts.tolist()):
        accuracy = float(table.accuracy[i])
        interval = wilson(round(accuracy * n), n) if n else (float("nan"),) * 3
        bins.append(
            ConfidenceBin(
                float(table.edges[i]),
                float(table.edges[i + 1]),
                n,
                float(table.confidence[i]),
                accuracy,
                interval[1],
                interval[2],
            )
        )
    return Trust(reading, ece(score, right), tuple(bins), low, high)


def measure_refusal(cases: Sequence[Case], reading: str) -> Refusal:
    """Follow the errors while ever less sure mentions are answered."""
    score = [case.score for case in cases]
    curve = risk_coverage(score, columns(cases, "accuracy@1")[:, 0])
    n = len(curve.coverage)
    chosen = np.unique(np.ceil(np.arange(1, _POINTS + 1) * n / _POINTS).astype(int)) - 1
    return Refusal(
        reading,
        tuple(curve.coverage[chosen].tolist()),
        tuple(curve.risk[chosen].tolist()),
        curve.area,
        curve.excess,
    )
