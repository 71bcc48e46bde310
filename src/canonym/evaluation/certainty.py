"""Calibration of confidence, and errors among the surest mentions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.ranking.reliability import FloatArray, Reliability, check_scores, ece, reliability

__all__ = ["Reliability", "RiskCoverage", "ece", "reliability", "risk_coverage"]


class RiskCoverage(NamedTuple):
    """Share of wrong answers for every share of answered mentions, surest first."""

    coverage: FloatArray  # (n,) float64: ``i / n``
    risk: FloatArray  # (n,) float64: the mean error of the ``i`` surest mentions
    area: float  # AURC, the mean risk over all coverages; smaller is better
    excess: float  # E-AURC, the area minus that of the best order of the same errors; 0 is perfect


def risk_coverage(score: npt.ArrayLike, right: npt.ArrayLike) -> RiskCoverage:
    """Measure the share of errors while the least sure mentions are refused.

    Parameters
    ----------
    score : array-like, shape (n,)
        Confidence on any scale; larger is surer.
    right : array-like, shape (n,)
        Whether each mention is right: bool, or a share in [0, 1].

    Returns
    -------
    RiskCoverage
        The curve and its area.

    Raises
    ------
    InvalidInput
        If there are no mentions, the lengths differ, or a number is out of range.

    Notes
    -----
    ``AURC = (1/n) Σ_i risk(i)``, where ``risk(i)`` is the mean error of the ``i`` surest mentions.
    Mentions of equal score get the expectation over their orders. The order of the mentions thus
    plays no role. The best order has the smallest errors first.

    References
    ----------
    Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
    classifiers.
    """
    sure, value = check_scores(score, right)
    error = 1.0 - value
    _, group, sizes = np.unique(-sure, return_inverse=True, return_counts=True)
    total = np.bincount(group, weights=error)
    risk = _running_mean(np.repeat(total / sizes, sizes))
    best = float(_running_mean(np.sort(error)).mean())
    n = len(sure)
    area = float(risk.mean())
    return RiskCoverage(np.arange(1, n + 1) / n, risk, area, max(area - best, 0.0))


def _running_mean(values: FloatArray) -> FloatArray:
    return np.asarray(np.cumsum(values) / np.arange(1, len(values) + 1))
