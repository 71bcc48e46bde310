"""Fitting a table of which names are sums: how it begins, and one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.training.groups import SynonymGroups
from canonym.training.row_adam import RowAdam
from canonym.types import Float32Array, Int32Array

__all__ = ["initial_table", "make_step"]

_BLOCK = 2048


def initial_table(groups: SynonymGroups, rng: np.random.Generator) -> Float32Array:
    """Return random vectors whose length is the inverse document frequency, at most 1."""
    n_buckets, dimensions = groups.encoder.table.shape
    counts = np.zeros(n_buckets)
    texts = groups.texts
    for start in range(0, len(texts), _BLOCK):
        counts += np.bincount(groups.hashed(texts[start : start + _BLOCK])[1], minlength=n_buckets)
    idf = np.log((len(texts) + 1) / (np.minimum(counts, len(texts)) + 1))
    table = rng.standard_normal((n_buckets, dimensions), dtype=np.float32)
    table *= (idf / max(idf.max(), 1e-12) / np.sqrt(dimensions))[:, None].astype(np.float32)
    return table


def make_step(
    optimiser: RowAdam,
    features: tuple[npt.NDArray[np.int64], Int32Array],
    *,
    rate: float,
    loss: Callable[[Float32Array], tuple[float, npt.NDArray[Any]]],
    dropout: float | npt.NDArray[np.float64],
    rng: np.random.Generator,
) -> float:
    """Make one step on a batch.

    Parameters
    ----------
    optimiser : RowAdam
        Holds the table.
    features : tuple
        Those of `canonym.encoders.hashing.hash_features` of `n` texts.
    rate : float
        Multiplies the learning rate.
    loss : callable
        Takes the L2-normalised vectors of the texts, gives the loss and its gradient by them.
    dropout : float or (n,) float
        Share of the features of each text that are left out.
    rng : numpy.random.Generator
        Chooses them.

    Returns
    -------
    float
        The loss.
    """
    from scipy.sparse import csr_array

    indptr, buckets = features
    n = len(indptr) - 1
    owners = np.repeat(np.arange(n), np.diff(indptr))
    least = dropout if isinstance(dropout, float) else dropout[owners]
    kept = rng.random(len(buckets)) >= least
    buckets, owners = buckets[kept], owners[kept]
    seen = np.zeros(len(optimiser.table), dtype=bool)
    seen[buckets] = True
    touched = np.flatnonzero(seen)
    places = np.empty(len(seen), dtype=np.int32)
    places[touched] = np.arange(len(touched), dtype=np.int32)
    starts = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(np.bincount(owners, minlength=n), out=starts[1:])
    ones = np.ones(len(buckets), dtype=np.float32)
    matrix = csr_array((ones, places[buckets], starts), shape=(n, len(touched)))
    sums = matrix @ optimiser.table[touched]
    norms = np.sqrt(np.square(sums).sum(axis=1, keepdims=True) + 1e-12)
    vectors = sums / norms
    value, gradient = loss(vectors)
    # Through the normalisation, then back onto the rows of the table.
    gradient -= vectors * (gradient * vectors).sum(axis=1, keepdims=True)
    gradient /= norms
    optimiser.update(touched, matrix.T @ gradient, rate)
    return value
