"""Random draws without replacement and random orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.io.numbers import scattered
from canonym.types import Int32Array

_SHORT = 4096


def n_batches_of(n: int, size: int) -> int:
    """Return the number of batches that `n` items make, at least 1."""
    return max(1, -(-n // size))


def draw_some(
    rows: npt.NDArray[np.int32] | list[int], n: int, rng: np.random.Generator
) -> Int32Array:
    """Draw up to `n` of some rows, each at most once."""
    numbers = np.asarray(rows, dtype=np.int32)
    return numbers[rng.permutation(len(numbers))[:n]]


def draw_apart(
    n_rows: int, forbidden: npt.NDArray[np.int32] | list[int], n: int, rng: np.random.Generator
) -> Int32Array:
    """Draw up to `n` of the rows 0 … `n_rows` − 1 that are not `forbidden`, each at most once.

    `forbidden` is rising and distinct. The cost does not grow with the number of rows: it draws
    among the places that are left, and counts the forbidden rows before each.
    """
    barred = np.asarray(forbidden, dtype=np.int64)
    left = n_rows - len(barred)
    places = rng.choice(left, size=min(n, left), replace=False) if left else np.empty(0, np.int64)
    # Before the i-th forbidden row lie barred[i] − i places.
    before = np.searchsorted(barred - np.arange(len(barred)), places, side="right")
    return np.asarray(places + before, dtype=np.int32)


def shuffled(places: npt.NDArray[np.integer[Any]], n: int, seed: int) -> npt.NDArray[np.int64]:
    """Return what stands at some places of a random order of 0 … `n` − 1, without making the order.

    `seed` is the order. A Feistel network permutes the numbers below the next power of four; a
    number beyond `n` is permuted again until it is below. A short order is made: few bits mix ill.
    """
    if n <= _SHORT:
        return np.asarray(np.random.default_rng(seed).permutation(n)[places], dtype=np.int64)
    half = np.uint64(max((n - 1).bit_length() + 1, 2) // 2)  # bits
    mask = (np.uint64(1) << half) - np.uint64(1)
    keys = np.random.default_rng(seed).integers(2**64, size=6, dtype=np.uint64)
    values = np.array(places, dtype=np.uint64)
    beyond = np.arange(len(values))
    while len(beyond):
        left, right = values[beyond] >> half, values[beyond] & mask
        for key in keys:
            left, right = right, left ^ (scattered(right ^ key) & mask)
        values[beyond] = (left << half) | right
        beyond = beyond[values[beyond] >= n]
    return values.astype(np.int64)
