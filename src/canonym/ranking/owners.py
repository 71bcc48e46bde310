"""Which rows a concept owns."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from canonym.types import Int32Array

__all__ = ["RowsByConcept"]


class RowsByConcept:
    """The rows of each concept, sorted once, when the first are asked for.

    Parameters
    ----------
    owners : ndarray, int32
        The concept of every row.
    """

    def __init__(self, owners: Int32Array) -> None:
        self._owners = owners

    @functools.cached_property
    def _sorted(self) -> tuple[Int32Array, npt.NDArray[np.intp]]:
        order = np.argsort(self._owners, kind="stable")
        n = int(self._owners.max(initial=-1)) + 1
        starts = np.searchsorted(self._owners, np.arange(n + 1), sorter=order)
        return order.astype(np.int32), starts

    def of(self, concept: int) -> Int32Array:
        """Return the rows of a concept, rising; none for one without names."""
        rows, starts = self._sorted
        return (
            rows[starts[concept] : starts[concept + 1]] if concept + 1 < len(starts) else rows[:0]
        )
