"""Concepts that a relation joins, to bring names of both into a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.training.groups import SynonymGroups

__all__ = ["Relatives"]

_SHARE = 0.25  # of the names of a batch that bring a name of a related concept along


class Relatives:
    """Which concepts are related, in either direction, whatever the relation.

    Parameters
    ----------
    groups : SynonymGroups
        The names of the concepts.
    pairs : (n, 2) int
        Concepts that are related; those without a name do not count.

    Raises
    ------
    InvalidInput
        If they are no pairs of whole numbers.
    """

    def __init__(self, groups: SynonymGroups, pairs: npt.NDArray[Any]) -> None:
        from scipy.sparse import csr_array

        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
            raise InvalidInput(
                f"related concepts of shape {pairs.shape} and type {pairs.dtype} were given; pairs "
                "of whole numbers are expected"
            )
        self.groups = groups
        n = len(groups.sizes)
        there = ((pairs >= 0) & (pairs < n)).all(axis=1) & (pairs[:, 0] != pairs[:, 1])
        named = pairs[there][(groups.sizes[pairs[there]] > 0).all(axis=1)]
        both = np.concatenate((named, named[:, ::-1]))
        ones = np.ones(len(both), dtype=bool)  # numbers would be added up where a pair is repeated
        self._joined = csr_array((ones, (both[:, 0], both[:, 1])), shape=(n, n))
        self._counts = np.diff(self._joined.indptr)

    def along(self, rows: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return the rows with a name of a related concept for some of them."""
        some = rows[rng.random(len(rows)) < _SHARE]
        concepts = self.groups.concepts[some]
        concepts = concepts[self._counts[concepts] > 0]
        places = (rng.random(len(concepts)) * self._counts[concepts]).astype(np.int64)
        others = self._joined.indices[self._joined.indptr[concepts] + places]
        names = (rng.random(len(others)) * self.groups.sizes[others]).astype(np.int64)
        return np.concatenate((rows, self.groups.starts[others] + names))

    def among(self, concepts: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return, for each two of some concepts, whether they are related."""
        distinct, places = np.unique(concepts, return_inverse=True)
        joined = self._joined[distinct][:, distinct].toarray()
        related: npt.NDArray[np.bool_] = joined[places][:, places]
        return related
