"""Indexes: vectors or strings in, nearest rows out.

An index knows row numbers, not names. `search` answers with `Hits`, scores falling and ties by row;
`score` gives the same numbers for chosen rows; `allowed` restricts a search before it ranks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.io.arrays import load_array
from canonym.types import BoolArray, Searchable

__all__ = [
    "LOOKED_AT",
    "BoolArray",
    "Searchable",
    "check_allowed",
    "check_k",
    "check_numbers",
    "check_starts",
    "load_array",
]

LOOKED_AT = 1 << 22
"""Numbers of rows that opening looks at, one and all; of more it looks at those that are used."""


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


def check_numbers(path: Path, array: npt.NDArray[Any], n: int) -> None:
    """Refuse an array of numbers that do not all count something from 0 to n − 1."""
    if len(array) and not 0 <= int(array.min()) <= int(array.max()) < n:
        raise ReadError(
            path,
            f"holds numbers from {array.min():,} to {array.max():,}, expected from 0 to {n - 1:,}; "
            "it is damaged, build the index again",
        )


def check_starts(path: Path, starts: npt.NDArray[Any], n: int) -> None:
    """Refuse an array of starts that does not rise from 0 to n."""
    if not len(starts) or starts[0] or starts[-1] != n or (np.diff(starts) < 0).any():
        raise ReadError(
            path, f"does not rise from 0 to {n:,}; it is damaged, build the index again"
        )
