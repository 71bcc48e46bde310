"""Pairs of names with ratings of people: the correlation of an encoder's cosines with them.

MayoSRS (Pakhomov et al. 2011), UMNSRS (Pakhomov et al. 2016) and EHR-RelB (Schulz et al. 2020) are
read as released, and so are lines of two names and a rating.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.evaluation.statistics import FloatArray, percentile_interval, resample_counts
from canonym.io.streams import open_text
from canonym.io.tables import announced_delimiter, quoted_rows
from canonym.types import Encoder, Float32Array, SparseVectors

# Columns of rating, first and second name.
_HEADERS = (("mean", "term1", "term2"), ("mean_rating", "snomed_label_1", "snomed_label_2"))


class Pair(NamedTuple):
    """Two names, and the relatedness that people gave them; larger is more."""

    first: str
    second: str
    rating: float


class Relatedness(NamedTuple):
    """Spearman's correlation in [−1, 1] with its bootstrap interval, NaN where all are equal.

    `missing` pairs have a name without a vector, and count with cosine 0; `scores` are cosines.
    """

    rho: float
    low: float
    high: float
    n: int
    missing: int
    scores: FloatArray


def read_pairs(path: str | Path, *, encoding: str = "utf-8") -> list[Pair]:
    """Read pairs of names with a rating, in the order of the file, between tabs or commas.

    The columns are those of MayoSRS and UMNSRS (Mean, TERM1, TERM2) or of EHR-RelB (mean_rating,
    snomed_label_1, snomed_label_2); without a header, name, name and rating. Raises `ReadError`.
    """
    with open_text(path, encoding=encoding) as stream:
        lines = list(stream)
    first = next((line for line in lines if line.strip()), "")
    announced = announced_delimiter(first)
    before = lines.index(first) + 1 if announced else 0
    delimiter = announced or ("\t" if "\t" in first else ",")
    rows = list(quoted_rows(lines[before:], path, delimiter, before=before))
    head = [cell.strip().lower() for cell in rows[0][0]] if rows else []
    named = next((names for names in _HEADERS if set(names) <= set(head)), None)
    places = [head.index(name) for name in named] if named else [2, 0, 1]
    rows = rows[1:] if named else rows
    if not rows:
        raise ReadError(path, "holds no pairs: two names and a rating are expected in each line")
    return [_pair(path, cells, places, line) for cells, line in rows]


def _pair(path: str | Path, cells: Sequence[str], places: Sequence[int], line: int) -> Pair:
    rating, first, second = (cells[n].strip() if n < len(cells) else "" for n in places)
    with suppress(ValueError):
        if first and second and math.isfinite(float(rating)):
            return Pair(first, second, float(rating))
    raise ReadError(
        path,
        f"two names and a number are expected, found {', '.join(map(repr, cells[:6]))}; a header "
        "has Mean, TERM1, TERM2 or mean_rating, snomed_label_1, snomed_label_2",
        line=line,
    )


def relatedness(
    encoders: Encoder | Sequence[Encoder],
    pairs: Iterable[Pair],
    *,
    weights: Sequence[float] | None = None,
    draws: int = 10_000,
    rng: np.random.Generator | int = 0,
) -> Relatedness:
    """Correlate the cosines of at least two pairs of names with the ratings of people.

    Cosines of several encoders, dense or sparse, are averaged by `weights`. A pair without a vector
    counts, since leaving it out would flatter encoders that know few words. The interval of 95 %
    is that of `draws` bootstrap samples of the pairs.
    """
    pairs = list(pairs)
    if len(pairs) < 2:
        raise InvalidInput(f"{len(pairs)} pairs to evaluate: give at least two")
    terms = sorted({term for pair in pairs for term in pair[:2]})
    row = {term: i for i, term in enumerate(terms)}
    first, second = np.array([[row[one], row[other]] for one, other, _ in pairs]).T
    several = [encoders] if isinstance(encoders, Encoder) else list(encoders)
    factors = [1.0] * len(several) if weights is None else list(weights)
    if len(factors) != len(several) or not sum(factors) > 0 or min(factors) < 0:
        expected = "as many weights as encoders are expected, at least 0 and not all of them 0"
        raise InvalidInput(f"the weights are {factors}, encoders {len(several)}; {expected}")
    scores, known = np.zeros(len(pairs)), np.zeros(len(pairs), dtype=bool)
    for encoder, factor in zip(several, factors, strict=True):
        cosines, there = _cosines(encoder.encode(terms), first, second)
        scores, known = scores + factor / sum(factors) * cosines, known | there
    scores = np.round(scores, 7)  # no finer than float32, so that pairs of equal terms tie
    ratings = np.array([pair.rating for pair in pairs])
    samples = resample_counts(len(pairs), draws, rng)
    drawn = np.concatenate([_correlations(counts, ratings, scores) for counts in samples])
    rho = float(_correlations(np.ones((1, len(pairs))), ratings, scores)[0])
    low, high = percentile_interval(drawn, 0.95)
    return Relatedness(rho, low, high, len(pairs), int((~known).sum()), scores)


def _correlations(weights: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Correlate the ranks in samples in which item ``i`` occurs ``weights[:, i]`` times."""
    n = weights.sum(axis=1, keepdims=True)
    # The mean of the ranks 1 … n is (n + 1) / 2, ties or not.
    x, y = (_ranks(weights, side) - (n + 1) / 2 for side in (first, second))
    products = (weights * x * y).sum(axis=1)
    scale = np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))
    return np.asarray(np.divide(products, scale, out=np.full(len(n), np.nan), where=scale > 0))


def _ranks(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Rank items by value in every sample; equal values share the mean of their ranks."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(sizes, axis=1) - sizes + (sizes + 1) / 2
    return np.asarray(middle[:, group])


def _cosines(
    vectors: Float32Array | SparseVectors,
    first: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64],
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return the cosines of pairs of rows, 0 without a vector, and which have both vectors."""
    if isinstance(vectors, SparseVectors):
        from scipy.sparse import csr_array

        shape = (vectors.n_rows, vectors.n_columns)
        table = csr_array((vectors.data.astype(np.float64), *vectors[1::-1]), shape=shape)
        squares = np.asarray(table.multiply(table).sum(axis=1)).ravel()
        products = np.asarray(table[first].multiply(table[second]).sum(axis=1)).ravel()
    else:
        wide = np.asarray(vectors, dtype=np.float64)
        squares, products = (wide * wide).sum(axis=1), (wide[first] * wide[second]).sum(axis=1)
    scale = np.sqrt(squares[first] * squares[second])
    return np.divide(products, scale, out=np.zeros(len(products)), where=scale > 0), scale > 0
