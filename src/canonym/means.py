"""Concepts as the means of their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.vectors import Vectors, index_of, join_vectors, mean_vectors, take_vectors
from canonym.types import Int32Array

__all__ = ["ConceptVectors", "average"]


class ConceptVectors(NamedTuple):
    """A vector per concept: ``owners`` are their ordinals, rising; one index per encoder."""

    owners: Int32Array
    indexes: tuple[Exact | Inverted, ...]


def average(
    indexes: Sequence[Sequence[Exact | Inverted]], owners: Int32Array, rows: npt.NDArray[np.intp]
) -> ConceptVectors:
    """Average rows by their concept.

    Parameters
    ----------
    indexes : sequence of sequence of Exact or Inverted
        For every encoder the indexes whose rows are numbered through.
    owners : ndarray, int32
        The concept of every row.
    rows : ndarray, int
        The rows that count, rising.

    Returns
    -------
    ConceptVectors
        Of the concepts that have such a row.
    """
    concepts, groups = np.unique(owners[rows], return_inverse=True)
    means = tuple(
        index_of(mean_vectors(_stored(parts, rows), groups.astype(np.int32), len(concepts)))
        for parts in indexes
    )
    return ConceptVectors(concepts.astype(np.int32), means)


def _stored(parts: Sequence[Exact | Inverted], rows: npt.NDArray[np.intp]) -> Vectors:
    found: list[Vectors] = []
    start = 0
    for part in parts:
        mine = rows[(rows >= start) & (rows < start + part.n_rows)] - start
        found.append(take_vectors(part.vectors, mine))
        start += part.n_rows
    return join_vectors(found)
