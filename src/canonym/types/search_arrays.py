"""The arrays between the parts: vectors in, rows and scores out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = [
    "BoolArray",
    "Encoder",
    "Float32Array",
    "Hits",
    "Int32Array",
    "Searchable",
    "SparseVectors",
]

BoolArray = npt.NDArray[np.bool_]
Int32Array = npt.NDArray[np.int32]
Float32Array = npt.NDArray[np.float32]


class Hits(NamedTuple):
    """Nearest rows of a batch of queries.

    ``rows`` is ``(n, k)`` int32 and ``scores`` ``(n, k)`` float32, falling; larger is better.
    Places that could not be filled hold row −1 and score −inf.
    """

    rows: Int32Array
    scores: Float32Array


class SparseVectors(NamedTuple):
    """A batch of sparse vectors in compressed rows.

    Vector ``i`` has the values ``data[indptr[i]:indptr[i + 1]]`` (float32) in the columns
    ``indices[indptr[i]:indptr[i + 1]]`` (int32, rising); ``n_columns`` is its width.
    """

    indptr: npt.NDArray[np.int64]
    indices: Int32Array
    data: Float32Array
    n_columns: int

    @property
    def n_rows(self) -> int:
        """Number of vectors."""
        return len(self.indptr) - 1


class Searchable(Protocol):
    """Something to be searched; ``queries`` are vectors of the matching encoder."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def search(self, queries: Any, k: int, *, allowed: BoolArray | None = None) -> Hits:
        """Return the `k` nearest allowed rows of every query."""

    def score(self, queries: Any, rows: Int32Array) -> Float32Array:
        """Score chosen rows, ``(n, m)`` int32 with −1 where empty, for every query."""


@runtime_checkable
class Encoder(Protocol):
    """Turns strings into vectors: one method, and a folder to be saved in."""

    def encode(self, names: Sequence[str]) -> Float32Array | SparseVectors:
        """Encode `names`: ``(n, d)`` float32, or `SparseVectors` of ``n`` rows."""
        ...
