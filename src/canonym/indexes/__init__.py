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
from canonym.io.arrays import open_array
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


def load_array(
    path: Path, shape: tuple[int | None, ...], *dtypes: npt.DTypeLike
) -> npt.NDArray[Any]:
    """Open a ``.npy`` file of a saved index, memory-mapped, and check its shape and type.

    None in a shape stands for any length.
    """
    try:
        array = open_array(path)
    except (OSError, ValueError) as error:
        raise ReadError(path, f"cannot be opened ({error}); build the index again") from error
    fits = len(array.shape) == len(shape) and all(
        length is None or length == actual
        for length, actual in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype not in [np.dtype(dtype) for dtype in dtypes]:
        lengths = " × ".join("any" if length is None else f"{length:,}" for length in shape)
        types = " or ".join(str(np.dtype(dtype)) for dtype in dtypes)
        raise ReadError(
            path,
            f"holds an array of shape {array.shape} and type {array.dtype}, expected "
            f"{lengths or 'one number'} of {types}; build the index again",
        )
    return array


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
