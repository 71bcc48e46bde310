"""Exact search whose rows are proposed by products of 16 bits, where the processor has them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from canonym.indexes.exact import Exact
from canonym.types import Float32Array, Int32Array

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["HalfProducts", "nearest_index"]

# bfloat16 keeps 8 bits: a number is off by 2^-9 of itself at most. So are both factors, which for
# vectors of length one adds up to 2^-8 and a little, and the product once more.
_ERROR = 2**-8 + 2**-18 + 2**-9 + 1e-5
_TRIED = 16_384


class HalfProducts(Exact):
    """As `canonym.indexes.exact.Exact`, with the same answers to the last bit.

    Notes
    -----
    Rows within twice the error of bfloat16 below the k-th score are scored again, in double
    precision, as all proposed rows are: which rows and scores come out does not depend on how they
    were proposed.
    """

    slack = 2 * _ERROR

    def __init__(self, vectors: Float32Array) -> None:
        super().__init__(vectors)
        self._half = _half(vectors)

    def product(self, queries: Float32Array, rows: slice | Int32Array) -> Float32Array:
        """Return products that are off by half of `slack` at most."""
        return np.asarray((_half(queries) @ self._half[rows].T).float().numpy())


def nearest_index(vectors: Float32Array) -> Exact:
    """Return an index of unit vectors that proposes rows in the way that is faster here.

    Parameters
    ----------
    vectors : ndarray, shape (n_rows, d), float32
        Vectors of length one, or zero.

    Returns
    -------
    Exact
        Tried on some rows: processors without products of 16 bits emulate them, slowly. The answers
        are the same either way.
    """
    if len(vectors) < _TRIED:
        return Exact(vectors)
    some = vectors[:_TRIED]
    seconds = {
        kind: min(_seconds(index, some) for _ in range(3))
        for kind, index in ((Exact, Exact(some)), (HalfProducts, HalfProducts(some)))
    }
    return min(seconds, key=seconds.__getitem__)(vectors)


def _seconds(index: Exact, some: Float32Array) -> float:
    start = time.perf_counter()
    index.product(some[:256], slice(None))
    return time.perf_counter() - start


def _half(vectors: Float32Array) -> Tensor:
    import torch

    return torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32)).to(torch.bfloat16)
