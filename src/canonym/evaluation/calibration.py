"""Whether confidence can be believed, and what refusing unsure mentions buys."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.outcomes import IntArray

__all__ = ["Reliability", "RiskCoverage", "ece", "reliability", "risk_coverage"]

FloatArray = npt.NDArray[np.float64]


class Reliability(NamedTuple):
    """Confidence against accuracy in bins.

    Attributes
    ----------
    edges : ndarray, shape (n_bins + 1,), float64
        Bin ``i`` holds the confidences in ``(edges[i], edges[i + 1]]``, the first one its lower
        edge too.
    counts : ndarray, shape (n_bins,), int64
        Mentions in each bin.
    confidence, accuracy : ndarray, shape (n_bins,), float64
        Means of each bin, in [0, 1]; NaN for an empty bin.
    """

    edges: FloatArray
    counts: IntArray
    confidence: FloatArray
    accuracy: FloatArray


class RiskCoverage(NamedTuple):
    """What share of mentions is answered, surest first, and how many of those are wrong.

    Attributes
    ----------
    coverage, risk : ndarray, shape (n,), float64
        ``i / n``, and the mean error of the ``i`` surest mentions.
    area : float
        AURC, the mean risk over all coverages; smaller is better.
    excess : float
        E-AURC: `area` minus that of the best order of the same errors; 0 is perfect.
    """

    coverage: FloatArray
    risk: FloatArray
    area: float
    excess: float


def reliability(
    confidence: npt.ArrayLike, right: npt.ArrayLike, *, n_bins: int = 10, binning: str = "width"
) -> Reliability:
    """Compare confidence with accuracy, bin by bin.

    Parameters
    ----------
    confidence : array-like, shape (n,)
        Calibrated confidence in [0, 1].
    right : array-like, shape (n,)
        Whether the mention is right: bool, or a value in [0, 1].
    n_bins : int
        Bins wanted.
    binning : str
        ``"width"``: bins of equal width; ``"mass"``: of as many mentions each, as far as mentions
        of equal confidence, which always share a bin, allow. Then there may be fewer bins.

    Returns
    -------
    Reliability
        A bin each.

    Raises
    ------
    InvalidInput
        If there are no mentions, the lengths differ, a number is out of range, or an option cannot
        be used.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks. Nguyen & O'Connor (2015), Posterior
    calibration and exploratory analysis for natural language processing models, for equal mass.
    """
    sure, value = _check(confidence, right)
    if not ((sure >= 0) & (sure <= 1)).all():
        raise InvalidInput(
            f"confidence goes from {sure.min():g} to {sure.max():g}; between 0 and 1 is expected: "
            "calibrate the scores first"
        )
    if n_bins < 1:
        raise InvalidInput(f"n_bins is {n_bins}; at least 1 is expected")
    if binning == "width":
        edges = np.arange(n_bins + 1) / n_bins
    elif binning == "mass":
        ordered = np.sort(sure)
        ends = ordered[np.ceil(len(sure) * np.arange(1, n_bins + 1) / n_bins).astype(int) - 1]
        edges = np.concatenate([[0.0], np.unique(ends)])
        edges[-1] = 1.0
    else:
        raise InvalidInput(f"there is no binning {binning!r}; there are width and mass")
    bins = np.maximum(np.searchsorted(edges, sure, side="left") - 1, 0)
    m = len(edges) - 1
    counts = np.bincount(bins, minlength=m)
    return Reliability(edges, counts, _means(bins, sure, counts), _means(bins, value, counts))


def ece(
    confidence: npt.ArrayLike, right: npt.ArrayLike, *, n_bins: int = 10, binning: str = "width"
) -> float:
    """Return the expected calibration error, in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    confidence, right, n_bins, binning
        As `reliability` takes them.

    Returns
    -------
    float
        ``Σ_b (n_b / n) |accuracy_b − confidence_b|``.

    Raises
    ------
    InvalidInput
        As `reliability` does.

    References
    ----------
    Naeini et al. (2015), Obtaining well calibrated probabilities using Bayesian binning.

    Examples
    --------
    >>> ece([0.75, 0.75, 0.75, 0.75], [True, True, True, False])
    0.0
    """
    table = reliability(confidence, right, n_bins=n_bins, binning=binning)
    filled = table.counts > 0
    gaps = np.abs(table.accuracy - table.confidence)[filled]
    return float((table.counts[filled] * gaps).sum() / table.counts.sum())


def risk_coverage(score: npt.ArrayLike, right: npt.ArrayLike) -> RiskCoverage:
    """Follow the share of errors while ever less sure mentions are answered.

    Parameters
    ----------
    score : array-like, shape (n,)
        Confidence of any scale; larger is surer.
    right : array-like, shape (n,)
        Whether the mention is right: bool, or a value in [0, 1].

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
    ``AURC = (1/n) Σ_i risk(i)`` with ``risk(i)`` the mean error of the ``i`` surest. Among mentions
    of equal score the expectation over their orders is taken, so a constant score has the overall
    error everywhere and the order of the mentions plays no role. The best order has the smallest
    errors first.

    References
    ----------
    Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
    classifiers.
    """
    sure, value = _check(score, right)
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


def _means(bins: IntArray, values: FloatArray, counts: IntArray) -> FloatArray:
    sums = np.bincount(bins, weights=values, minlength=len(counts))
    empty = np.full(len(counts), np.nan)
    return np.asarray(np.divide(sums, counts, out=empty, where=counts > 0))


def _check(score: npt.ArrayLike, right: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    sure, value = np.asarray(score, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if sure.ndim != 1 or sure.shape != value.shape:
        raise InvalidInput(
            f"the scores have shape {sure.shape} and what is right {value.shape}; one number per "
            "mention is expected in both"
        )
    if not len(sure):
        raise InvalidInput("no mentions to evaluate: give at least one")
    if not np.isfinite(sure).all():
        row = int(np.flatnonzero(~np.isfinite(sure))[0])
        raise InvalidInput(f"score {row} is {sure[row]}; finite numbers are expected")
    if not ((value >= 0) & (value <= 1)).all():
        raise InvalidInput("what is right holds a number outside 0 to 1; give bool or shares")
    return sure, value
