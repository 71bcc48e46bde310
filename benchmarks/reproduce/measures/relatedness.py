"""Relatedness of terms: correlation of cosines with the ratings of people.

The reader takes the benchmarks as released: MayoSRS and UMNSRS (commas, with a header), UMNSRS
without a header (tabs: term, term, mean rating), and EHR-RelB (tabs, with a header).

References
----------
Pakhomov et al. (2011), Towards a framework for developing semantic relatedness reference standards.
Pakhomov et al. (2016), Corpus domain effects on distributional semantic modeling of medical terms.
Schulz et al. (2020), Biomedical concept relatedness: a large EHR-based benchmark.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.evaluation.statistics import percentile_interval, resample_counts
from canonym.io.streams import open_text
from canonym.io.tables import announced_delimiter
from canonym.types import Encoder, Float32Array, SparseVectors

__all__ = ["Pair", "Relatedness", "read_relatedness", "relatedness", "spearman"]

FloatArray = npt.NDArray[np.float64]

_HEADERS: tuple[tuple[str, str, str], ...] = (
    ("mean", "term1", "term2"),
    ("mean_rating", "snomed_label_1", "snomed_label_2"),
)
"""Columns of rating, first and second term, in lower case."""


class Pair(NamedTuple):
    """Two terms, and the relatedness that people gave them; larger is more."""

    first: str
    second: str
    rating: float


class Relatedness(NamedTuple):
    """Agreement of an encoder with people.

    Attributes
    ----------
    rho : float
        Spearman's rank correlation, in [−1, 1]; NaN if ratings or scores are all equal.
    low, high : float
        Its bootstrap interval over the pairs.
    n : int
        All pairs.
    missing : int
        Pairs with a term without a vector; they count with cosine 0.
    scores : ndarray, shape (n,), float64
        Cosine of each pair.
    """

    rho: float
    low: float
    high: float
    n: int
    missing: int
    scores: FloatArray


def read_relatedness(path: str | Path, *, encoding: str = "utf-8") -> list[Pair]:
    """Read a benchmark of relatedness in one of its three released layouts.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed. Its first line tells the layout.
    encoding : str
        Encoding of the text.

    Returns
    -------
    list of Pair
        In the order of the file; repeated pairs are kept.

    Raises
    ------
    ReadError
        If the layout is unknown, a row has too few cells, a term is empty, or a rating is no finite
        number.
    """
    with open_text(path, encoding=encoding) as lines:
        filled = [(line, number) for number, line in enumerate(lines, start=1) if line.strip()]
    if not filled:
        raise ReadError(path, "holds blank lines only: pairs of terms with a rating are expected")
    named = announced_delimiter(filled[0][0])
    filled = filled[1:] if named and len(filled) > 1 else filled
    delimiter = named or ("\t" if "\t" in filled[0][0] else ",")
    rows = _rows(path, filled, delimiter)
    head = [cell.strip().lower() for cell in rows[0][0]]
    for names in _HEADERS:
        if set(names) <= set(head):
            places = [head.index(name) for name in names]
            rows = rows[1:]
            break
    else:
        if delimiter != "\t" or len(head) != 3 or _number(head[2]) is None:
            raise ReadError(
                path,
                "this is neither MayoSRS or UMNSRS (columns Mean, TERM1, TERM2), nor EHR-RelB "
                "(mean_rating, snomed_label_1, snomed_label_2), nor three tab-separated cells "
                "(term, term, rating)",
                line=filled[0][1],
            )
        places = [2, 0, 1]
    if not rows:
        raise ReadError(path, "holds a header but no pairs")
    return [_pair(path, cells, places, number) for cells, number in rows]


def _rows(
    path: str | Path, lines: Sequence[tuple[str, int]], delimiter: str
) -> list[tuple[list[str], int]]:
    found = []
    for line, number in lines:
        try:
            (cells,) = csv.reader([line], delimiter=delimiter, strict=True)
        except csv.Error as error:
            raise ReadError(path, f"the quotes are unbalanced ({error})", line=number) from error
        found.append((cells, number))
    return found


def _pair(path: str | Path, cells: Sequence[str], places: Sequence[int], line: int) -> Pair:
    if len(cells) <= max(places):
        raise ReadError(
            path, f"{len(cells)} cells; at least {max(places) + 1} are expected", line=line
        )
    written, first, second = (cells[place].strip() for place in places)
    rating = _number(written)
    if rating is None:
        raise ReadError(path, f"the rating is {written!r}; a number is expected", line=line)
    if not first or not second:
        raise ReadError(path, "a term is empty; two terms are expected", line=line)
    return Pair(first, second, rating)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return Spearman's rank correlation, ties sharing the mean of their ranks.

    Notes
    -----
    Pearson's correlation of the ranks; without ties ``1 − 6 Σd² / (n (n² − 1))``.
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != two.shape or len(one) < 2:
        raise InvalidInput(
            f"the numbers have shapes {one.shape} and {two.shape}; expected as many on both sides, "
            "at least two"
        )
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        raise InvalidInput("a number is not finite; leave out pairs without a score")
    return float(_correlations(np.ones((1, len(one))), one, two)[0])


def _correlations(weights: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Correlate the ranks in samples in which item ``i`` occurs ``weights[:, i]`` times."""
    n = weights.sum(axis=1, keepdims=True)
    # The mean of the ranks 1 … n is (n + 1) / 2, ties or not.
    x, y = (_ranks(weights, side) - (n + 1) / 2 for side in (first, second))
    products = (weights * x * y).sum(axis=1)
    scale = np.sqrt((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))
    undefined = np.full(len(weights), np.nan)
    return np.asarray(np.divide(products, scale, out=undefined, where=scale > 0))


def _ranks(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Rank items by value in every sample; equal values share the mean of their ranks."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.add.reduceat(weights[:, order], starts, axis=1)
    middle = np.cumsum(sizes, axis=1) - sizes + (sizes + 1) / 2
    return np.asarray(middle[:, group])


def relatedness(
    encoders: Encoder | Sequence[Encoder],
    pairs: Iterable[Pair],
    *,
    weights: Sequence[float] | None = None,
    draws: int = 10_000,
    level: float = 0.95,
    rng: np.random.Generator | int = 0,
) -> Relatedness:
    """Correlate the cosines of pairs of terms with the ratings of people.

    Parameters
    ----------
    encoders : Encoder or sequence of Encoder
        Dense or sparse; vectors may have any length. The cosines of several are averaged.
    pairs : iterable of Pair
        See `read_relatedness`; at least two.
    weights : sequence of float, optional
        Of the encoders in that mean, 1 by default.
    draws : int
        Bootstrap samples of the pairs.
    level : float
        Confidence in (0, 1).
    rng : numpy.random.Generator or int
        The generator, or the seed of one.

    Returns
    -------
    Relatedness
        Spearman's correlation with its interval.

    Raises
    ------
    InvalidInput
        If there are fewer than two pairs, or weights or an option are invalid.

    Notes
    -----
    A pair without a vector counts, since leaving it out would flatter encoders that know few words.
    With several encoders a pair is missing if none has vectors of both terms.
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
        raise InvalidInput(
            f"the weights are {factors}, encoders {len(several)}; as many weights as encoders are "
            "expected, at least 0 and not all of them 0"
        )
    scores, known = np.zeros(len(pairs)), np.zeros(len(pairs), dtype=bool)
    for encoder, factor in zip(several, factors, strict=True):
        cosines, there = _cosines(encoder.encode(terms), first, second)
        scores, known = scores + factor / sum(factors) * cosines, known | there
    scores = np.round(scores, 7)  # no finer than float32, so that pairs of equal terms tie
    ratings = np.array([pair.rating for pair in pairs])
    samples = resample_counts(len(pairs), draws, rng)
    drawn = [_correlations(counts, ratings, scores) for counts in samples]
    low, high = percentile_interval(np.concatenate(drawn), level)
    rho, missing = spearman(ratings, scores), int((~known).sum())
    return Relatedness(rho, low, high, len(pairs), missing, scores)


def _cosines(
    vectors: Float32Array | SparseVectors,
    first: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64],
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    if isinstance(vectors, SparseVectors):
        from scipy.sparse import csr_array

        table = csr_array(
            (vectors.data.astype(np.float64), vectors.indices, vectors.indptr),
            shape=(vectors.n_rows, vectors.n_columns),
        )
        squares = np.asarray(table.multiply(table).sum(axis=1)).ravel()
        products = np.asarray(table[first].multiply(table[second]).sum(axis=1)).ravel()
    else:
        wide = np.asarray(vectors, dtype=np.float64)
        squares = (wide * wide).sum(axis=1)
        products = (wide[first] * wide[second]).sum(axis=1)
    scale = np.sqrt(squares[first] * squares[second])
    return np.divide(products, scale, out=np.zeros(len(products)), where=scale > 0), scale > 0
