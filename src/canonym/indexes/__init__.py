"""Indexes: vectors or strings in, nearest rows out.

An index knows row numbers, not names. `search` answers with `Hits`, scores falling and ties by row;
`score` gives the same numbers for chosen rows; `allowed` restricts a search before it ranks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.types import Float32Array, Hits, Int32Array

__all__ = ["BoolArray", "Searchable", "check_allowed", "check_k", "load_arrays"]

BoolArray = npt.NDArray[np.bool_]


class Searchable(Protocol):
    """Something to be searched; ``queries`` are vectors of the matching encoder."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def search(self, queries: Any, k: int, *, allowed: BoolArray | None = None) -> Hits:
        """Return the `k` nearest allowed rows of every query."""

    def score(self, queries: Any, rows: Int32Array) -> Float32Array:
        """Score chosen rows, ``(n, m)`` int32 with −1 where empty, for every query."""


def check_k(k: int) -> None:
    """Raise `InvalidInput` unless `k` is at least 1."""
    if k < 1:
        raise InvalidInput(f"k is {k}; expected the number of candidates wanted, at least 1")


def check_allowed(allowed: BoolArray | None, n_rows: int) -> None:
    """Raise `InvalidInput` unless `allowed` is a mask over the rows."""
    if allowed is not None and (allowed.shape != (n_rows,) or allowed.dtype != np.bool_):
        raise InvalidInput(
            f"allowed has shape {allowed.shape} and type {allowed.dtype}; expected a mask of "
            f"{n_rows:,} booleans, one per row"
        )


def load_arrays(folder: Path, *names: str) -> list[npt.NDArray[Any]]:
    """Open ``NAME.npy`` of a saved index for each name, memory-mapped."""
    arrays = []
    for path in (folder / f"{name}.npy" for name in names):
        try:
            arrays.append(np.load(path, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError) as error:
            raise ReadError(path, f"cannot be opened ({error}); build the index again") from error
    return arrays
