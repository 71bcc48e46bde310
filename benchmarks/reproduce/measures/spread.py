"""The spread of several runs, and the ranks of systems over several corpora."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.statistics import FloatArray, check_level


class Spread(NamedTuple):
    """Several runs: mean, standard deviation (n − 1), interval of the mean, number of runs."""

    mean: float
    sd: float
    low: float
    high: float
    n: int


def aggregate(values: Sequence[float], *, level: float = 0.95) -> Spread:
    """Return mean, deviation and t interval over the folds of a cross-validation, or over seeds.

    `values` has one number per fold or seed, `level` is the confidence in (0, 1). Raises
    `InvalidInput` if there are fewer than two values, one is not finite, or `level` is out of its
    range.

    ``mean ± t_{n−1} · sd / √n``. Folds share training data and seeds share all data. The interval
    thus shows the influence of fold or seed, not that of another corpus.
    """
    from scipy.special import stdtrit

    check_level(level)
    table = np.asarray(values, dtype=np.float64)
    if not np.isfinite(table).all():
        raise InvalidInput(f"{list(values)} are not all finite; leave out what has no value")
    if table.ndim != 1 or len(table) < 2:
        raise InvalidInput(
            f"{table.size} values have no spread; give one per fold or seed, at least two"
        )
    n, mean, sd = len(table), float(table.mean()), float(table.std(ddof=1))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * sd / math.sqrt(n)
    return Spread(mean, sd, mean - half, mean + half, n)


def average_ranks(values: npt.ArrayLike) -> FloatArray:
    """Rank systems on each corpus, and average the ranks of each system.

    `values` ``(n_systems, n_corpora)`` has one figure for each system on each corpus; larger is
    better, in any unit. Ranks ``(n_systems,)`` go from 1, best on every corpus, to ``n_systems``;
    equal systems share the mean of their places. Raises `InvalidInput` if there is no system or no
    corpus, or a figure is missing.

    Xu and Bethard (2021), section 5: the systems for the test are those of the best average rank.

    >>> average_ranks([[80, 60], [70, 60], [90, 50]]).tolist()
    [1.75, 2.25, 2.0]
    """
    from scipy.stats import rankdata

    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise InvalidInput(
            f"figures have shape {table.shape}; expected (n_systems, n_corpora), at least one each"
        )
    if not np.isfinite(table).all():
        system, corpus = (int(place) for place in np.argwhere(~np.isfinite(table))[0])
        raise InvalidInput(
            f"system {system} has no figure on corpus {corpus}: rank the systems that were "
            "measured on every corpus"
        )
    return np.asarray(rankdata(-table, axis=0).mean(axis=1))
