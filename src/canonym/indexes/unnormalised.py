"""Dense vectors of any length, searched exactly by inner product or by Euclidean distance.

Papers compare vectors in three ways. Scores are similarities all the same: larger is better, and 1
is the score of the query itself. Ranks are those of the inner product, or of the distance.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes import BoolArray
from canonym.indexes.exact import Exact, Propose, finite
from canonym.indexes.selection import SLACK
from canonym.io.arrays import spans
from canonym.types import Float32Array

_BLOCK = 1 << 14


class _Unnormalised(Exact):
    """What both have in common: vectors keep their lengths."""

    @classmethod
    def build(cls, vectors: Float32Array) -> _Unnormalised:
        """Make an index of finite vectors, which stay as they are."""
        return cls(finite(vectors))

    @functools.cached_property
    def _halves(self) -> Float32Array:
        """Half of the squared length of every row, ``(n_rows,)``."""
        halves = np.empty(self.n_rows, dtype=np.float32)
        for span in spans(self.n_rows, _BLOCK):
            block = np.asarray(self.vectors[span], dtype=np.float64)
            halves[span] = np.einsum("ij,ij->i", block, block) / 2
        return halves

    @functools.cached_property
    def _longest(self) -> float:
        """Length of the longest row, or a little more."""
        if self._codes is not None:
            _, error, length = self._codes.bounds.tolist()
            return float(error + length)
        return float(np.sqrt(2 * self._halves.max(initial=0)) * (1 + SLACK))


class Inner(_Unnormalised):
    """Inner product with every row, as a share of the query's product with itself.

    Notes
    -----
    ``⟨q, x⟩ / ⟨q, q⟩`` orders rows as ``⟨q, x⟩`` does. The query itself scores 1. A longer row in
    its direction scores more. A query of zeros scores 0 with every row.
    """

    def _ready(self, queries: Float32Array) -> Float32Array:
        queries = finite(queries)
        squares = np.einsum("ij,ij->i", queries, queries, dtype=np.float64)[:, None]
        scaled = np.divide(queries, squares, out=np.zeros(queries.shape), where=squares > 0)
        return np.asarray(scaled, dtype=np.float32)

    def _slack(self, queries: Float32Array) -> Float32Array:
        lengths = np.linalg.norm(queries, axis=1)
        return np.asarray(SLACK * np.maximum(lengths * self._longest, 1), dtype=np.float32)


class Euclidean(_Unnormalised):
    """Nearness by Euclidean distance to every row.

    Codes of whole numbers are not used: the products are those of the vectors.

    Notes
    -----
    ``1 / (1 + d)`` with ``d = ‖q − x‖``. Rows are proposed by ``⟨q, x⟩ − ‖x‖² / 2``, which is
    ``(‖q‖² − d²) / 2``.
    """

    def _ready(self, queries: Float32Array) -> Float32Array:
        return finite(queries)

    def _directed(self, queries: Float32Array) -> BoolArray:
        return np.ones(len(queries), dtype=np.bool_)  # zeros have a distance as well

    def _slack(self, queries: Float32Array) -> Float32Array:
        farthest = np.linalg.norm(queries, axis=1) + self._longest
        return np.asarray(SLACK * np.maximum(farthest**2, 1), dtype=np.float32)

    def _products(self, queries: Float32Array, rows: Any) -> Float32Array:
        return np.asarray(super()._products(queries, rows) - self._halves[rows])

    @staticmethod
    def _similarities(queries: npt.NDArray[np.float64], rows: Float32Array) -> Any:
        queries -= rows
        queries *= queries
        return 1 / (1 + np.sqrt(queries.sum(axis=1)))

    def _plan(self, n_queries: int, k: int, allowed: BoolArray | None) -> tuple[Propose, bool]:
        del n_queries  # no number of them makes codes pay
        return self._plain_plan(k, allowed), False

    def save(self, folder: Any) -> None:
        """Write ``vectors.npy`` to an existing folder."""
        np.save(folder / "vectors.npy", np.asarray(self.vectors))


def check_kind(kind: str, similarity: str) -> None:
    """Refuse an approximate index for vectors that are not compared by cosine."""
    if kind == "ivf" and similarity != "cosine":
        raise InvalidInput(
            f"kind is 'ivf', and an encoder compares its vectors by {similarity!r}: lists of "
            "similar names are made for cosines; choose kind 'exact' or 'auto', or the similarity "
            "'cosine'"
        )
