"""Reliability of confidence: accuracy in bins of confidence, and the calibration error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Reliability(NamedTuple):
    """Confidence against accuracy in bins.

    Attributes
    ----------
    edges : ndarray, shape (n_bins + 1,), float64
        Bin ``i`` holds the confidences in ``(edges[i], edges[i + 1]]``. The first bin holds its
        lower edge too.
    counts : ndarray, shape (n_bins,), int64
        Mentions in each bin.
    confidence, accuracy : ndarray, shape (n_bins,), float64
        Means of each bin, in [0, 1]; NaN for an empty bin.
    """

    edges: FloatArray
    counts: IntArray
    confidence: FloatArray
    accuracy: FloatArray


def reliability(
    confidence: npt.ArrayLike, right: npt.ArrayLike, *, n_bins: int = 10, binning: str = "width"
) -> Reliability:
    """Compare confidence with accuracy, bin by bin.

    Parameters
    ----------
    confidence : array-like, shape (n,)
        Calibrated confidence in [0, 1].
    right : array-like, shape (n,)
        Whether each mention is right: bool, or a share in [0, 1].
    n_bins : int
        Number of bins.
    binning : str
        ``"width"`` makes bins of equal width. ``"mass"`` makes bins of equally many mentions, as
        far as ties allow: mentions of equal confidence share a bin, so there may be fewer bins.

    Returns
    -------
    Reliability
        Edges, counts and means of the bins.

    Raises
    ------
    InvalidInput
        If there are no mentions, the lengths differ, a number is out of range, or an option is
        invalid.

    References
    ----------
    Guo et al. (2017), On calibration of modern neural networks. Nguyen & O'Connor (2015), Posterior
    calibration and exploratory analysis for natural language processing models, for equal mass.
    """
    sure, value = check_scores(confidence, right)
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
    counts = np.bincount(bins, minlength=len(edges) - 1)
    return Reliability(edges, counts, _means(bins, sure, counts), _means(bins, value, counts))


def ece(
    confidence: npt.ArrayLike, right: npt.ArrayLike, *, n_bins: int = 10, binning: str = "width"
) -> float:
    """Return the expected calibration error, in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    confidence, right, n_bins, binning
        See `reliability`.

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


def check_scores(score: npt.ArrayLike, right: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return scores, and how right each mention is, as arrays; raise `InvalidInput` otherwise."""
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


def _means(bins: IntArray, values: FloatArray, counts: IntArray) -> FloatArray:
    sums = np.bincount(bins, weights=values, minlength=len(counts))
    empty = np.full(len(counts), np.nan)
    return np.asarray(np.divide(sums, counts, out=empty, where=counts > 0))
