"""Numbers that come out the same on every processor, to the last bit.

NumPy takes its exponentials and logarithms from kernels that are written for each kind of
processor, and BLAS adds up in an order that suits it. Both round otherwise elsewhere. What is
learned, and what a threshold or an order goes by, is computed here instead: by operations that
IEEE 754 fixes (``+ − × ÷``, whole numbers, powers of two), in one order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

BY_BLAS = (
    "products of matrices in single precision: another kind of processor, or another number of "
    "threads, trains other last bits, and many steps make much of them"
)
"""What training rests on, for the files that it writes."""

SAME = 1e-6
"""What cosines of equal vectors may differ by in single precision."""

_Floats = npt.NDArray[np.float64]

# log 2 in two parts: products of whole numbers with the first one are exact.
_LOG_2 = 0.6931471805599453
_FIRST_PART = math.ldexp(math.floor(math.ldexp(_LOG_2, 32)), -32)
_REST = _LOG_2 - _FIRST_PART + 2.3190468138462996e-17
_LOWEST, _HIGHEST = -800.0, 709.0
_EXP_TERMS = tuple(1 / math.factorial(n) for n in range(13, -1, -1))
_LOG_TERMS = tuple(1 / n for n in range(23, 0, -2))


def exp(values: npt.ArrayLike) -> _Floats:
    """Return ``e`` to the power of numbers below 709, to a unit in the last place or two.

    >>> exp([0.0, 1.0, -np.inf]).round(12).tolist()
    [1.0, 2.718281828459, 0.0]
    """
    x = np.clip(np.asarray(values, dtype=np.float64), _LOWEST, _HIGHEST)
    twos = np.rint(x / _LOG_2)
    rest = x - twos * _FIRST_PART
    rest -= twos * _REST
    return np.asarray(np.ldexp(_polynomial(_EXP_TERMS, rest), twos.astype(np.int32)))


def log(values: npt.ArrayLike) -> _Floats:
    """Return the natural logarithm of numbers above 0, as good as `exp`; NaN stays.

    >>> log([1.0, 10.0]).round(12).tolist()
    [0.0, 2.302585092994]
    """
    part, twos = np.frexp(np.asarray(values, dtype=np.float64))
    low = part < math.sqrt(0.5)
    part, twos = np.where(low, 2 * part, part) - 1, twos - low
    # log(1 + f) = 2 artanh(s) with s = f / (2 + f), a series of odd powers.
    s = part / (2 + part)
    return np.asarray(2 * s * _polynomial(_LOG_TERMS, s * s) + twos * _REST + twos * _FIRST_PART)


def weighted_sum(features: npt.ArrayLike, weights: npt.ArrayLike) -> _Floats:
    """Return the product of a matrix ``(n, d)`` and a vector ``(d,)``, column after column.

    A row does not depend on how many there are.

    >>> weighted_sum([[1.0, 2.0], [3.0, 4.0]], [1.0, 0.5]).tolist()
    [2.0, 5.0]
    """
    table, shares = np.asarray(features, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    total = np.zeros(len(table))
    for column, share in zip(table.T, shares.tolist(), strict=True):
        total += share * column
    return total


def largest_product(vectors: npt.ArrayLike, others: npt.ArrayLike) -> float:
    """Return the largest product of a vector of each side, to six decimals; NaN without any.

    Products in double precision differ in the fifteenth decimal.

    >>> largest_product([[0.6, 0.8]], [[1.0, 0.0], [0.8, 0.6]])
    0.96
    """
    left, right = np.asarray(vectors, dtype=np.float64), np.asarray(others, dtype=np.float64)
    return round(float((left @ right.T).max()), 6) if len(left) and len(right) else math.nan


def first_largest(products: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the place of the largest number of each row: the first of those that are as good.

    Products in single precision that differ by less than `SAME` are those of equal vectors.

    >>> first_largest(np.array([[0.2, 0.9, 0.9000001], [0.5, 0.1, 0.3]])).tolist()
    [1, 0]
    """
    least = products.max(axis=1, keepdims=True) - SAME
    return np.asarray((products >= least).argmax(axis=1))


def rounded(values: npt.ArrayLike, decimals: int) -> _Floats:
    """Round to so many decimals; there is no −0.

    >>> rounded([0.123456, -0.000001], 4).tolist()
    [0.1235, 0.0]
    """
    return np.asarray(np.round(np.asarray(values, dtype=np.float64), decimals) + 0.0)


def _polynomial(terms: tuple[float, ...], x: _Floats) -> _Floats:
    """Return the polynomial with these factors, those of the highest power first."""
    values = np.full_like(x, terms[0])
    for term in terms[1:]:
        values *= x
        values += term
    return values


FloatArray = npt.NDArray[np.float64]


def sigmoid(logit: FloatArray) -> FloatArray:
    """Return ``1 / (1 + exp(−logit))`` of each number."""
    # Never the exponential of a large number.
    small = exp(-np.abs(logit))
    return np.asarray(np.where(logit >= 0, 1, small) / (1 + small))


def scattered(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scatter 64-bit values, so that near ones come apart: the end of SplitMix64, a bijection."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))
