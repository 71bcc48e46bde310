"""Tables of vectors of which names are sums: checking, cutting work into blocks, summing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.types import Float32Array, Int32Array

__all__ = ["blocks", "checked_table", "float_table", "sum_rows"]

_BLOCK_NAMES, _BLOCK_CHARACTERS = 2048, 1 << 16
_MAX_BITS = 26


def float_table(table: npt.NDArray[Any], scale: Float32Array | None) -> Float32Array:
    """Return a copy of a table in float32, its columns multiplied by their scale."""
    found = table.astype(np.float32)
    return found if scale is None else found * scale


def sum_rows(
    table: Float32Array, indptr: npt.NDArray[np.int64], rows: Int32Array
) -> npt.NDArray[np.float32]:
    """Return the sum of the `rows` of a table for each part that `indptr` delimits.

    Parameters
    ----------
    table : (n_rows, d) float32
        What is summed.
    indptr : (n + 1,) int64
        Part ``i`` are the rows ``rows[indptr[i]:indptr[i + 1]]``, summed in that order.
    rows : (m,) int32
        Rows of `table`, in range.

    Returns
    -------
    (n, d) float32
        Zero where a part is empty.
    """
    from scipy.sparse import csr_array

    ones = np.ones(len(rows), dtype=np.float32)
    matrix = csr_array((ones, rows, indptr), shape=(len(indptr) - 1, len(table)))
    sums: npt.NDArray[np.float32] = matrix @ table
    return sums


def blocks(names: Sequence[str], characters: int) -> Iterator[slice]:
    """Cut names into blocks of bounded work, counting at most `characters` of each."""
    start = n_characters = 0
    for place, name in enumerate(names):
        n_characters += min(len(name), characters)
        if place - start == _BLOCK_NAMES or n_characters > _BLOCK_CHARACTERS:
            if place > start:
                yield slice(start, place)
            start, n_characters = place, min(len(name), characters)
    if start < len(names):
        yield slice(start, len(names))


def checked_table(
    table: npt.NDArray[Any], scale: npt.NDArray[Any] | None
) -> tuple[npt.NDArray[Any], Float32Array | None]:
    """Return a table and its scale after checking them; see `canonym.encoders.subword.Subword`.

    Raises
    ------
    InvalidInput
        If the shape or the type of either is wrong.
    """
    n_buckets = len(table) if table.ndim == 2 else 0
    if n_buckets < 2 or n_buckets & (n_buckets - 1) or n_buckets.bit_length() > _MAX_BITS + 1:
        raise InvalidInput(
            f"a table of shape {table.shape} was given; two dimensions are expected, the first a "
            f"power of two from 2 to 2**{_MAX_BITS}"
        )
    if table.shape[1] < 1 or table.dtype not in (np.int8, np.float32):
        raise InvalidInput(
            f"a table of shape {table.shape} and type {table.dtype} was given; at least one column "
            "of int8 or float32 is expected"
        )
    if (scale is None) != (table.dtype == np.float32) or (
        scale is not None and scale.shape != table.shape[1:]
    ):
        found = "no scale" if scale is None else f"a scale of shape {scale.shape}"
        raise InvalidInput(
            f"{found} was given with a table of {table.dtype}; an int8 table needs one value for "
            f"each of its {table.shape[1]} columns, a float32 table none"
        )
    return table, None if scale is None else np.asarray(scale, dtype=np.float32)
