"""Random draws without replacement, and checks of sizes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.types import Int32Array


def check_sizes(**sizes: int) -> None:
    """Raise `InvalidInput` unless each of the numbers is at least 1."""
    for name, size in sizes.items():
        if size < 1:
            raise InvalidInput(f"{name} is {size}; at least 1 is expected")


def n_batches_of(n: int, size: int) -> int:
    """Return the number of batches that `n` items make, at least 1."""
    return max(1, -(-n // size))


def draw_some(
    rows: npt.NDArray[np.int32] | list[int], n: int, rng: np.random.Generator
) -> Int32Array:
    """Draw up to `n` of some rows, each at most once."""
    given = np.asarray(rows, dtype=np.int32)
    return given[rng.permutation(len(given))[:n]]


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
