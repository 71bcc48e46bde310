"""Groups of vectors of similar direction: spherical k-means, in whole numbers.

Vectors and centres are compared as `canonym.indexes.int8` codes them. So the groups are the same
on every machine, whatever multiplies and on however many threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from canonym.indexes.int8 import DenseInt8, multiplier, worth_it
from canonym.io.arrays import Empty
from canonym.types import Float32Array, Int32Array

Report = Callable[[int, int], None]
"""Called with how many rows are done, and of how many."""

_ROUNDS = 8
_SAMPLE = 64  # rows per centre and round
_BLOCK = 1024  # rows: their products with thousands of centres stay in the cache
_KEPT = 0.5  # of the sums of earlier rounds


def centres_of(vectors: Float32Array, n_centres: int, report: Report) -> Float32Array:
    """Return centres of length one, each a mean of the vectors that are nearest to it.

    Every round looks at other rows, drawn with a fixed seed. A centre without rows begins again at
    one of them.
    """
    from scipy import sparse

    rng = np.random.default_rng(0)
    n, width = vectors.shape
    size = min(n, _SAMPLE * n_centres)
    centres = np.asarray(vectors[_drawn(rng, n, n_centres)], dtype=np.float32)
    sums = np.zeros((n_centres, width))
    for done in range(_ROUNDS):
        rows = _drawn(rng, n, size)
        sums *= _KEPT
        for first, block, nearest in _nearest(vectors, centres, rows, 1):
            report(done * size + first, _ROUNDS * size)
            member = sparse.csr_array(
                (np.ones(len(block)), (nearest[:, 0], np.arange(len(block)))),
                shape=(n_centres, len(block)),
            )
            sums += member @ block.astype(np.float64)
        lengths = np.linalg.norm(sums, axis=1)
        empty = lengths < 1e-6
        sums[empty] = vectors[_drawn(rng, n, int(empty.sum()))]
        lengths[empty] = 1
        centres = (sums / lengths[:, None]).astype(np.float32)
    report(_ROUNDS * size, _ROUNDS * size)
    return centres


def nearest_centres(
    vectors: Float32Array,
    centres: Float32Array,
    n_nearest: int,
    report: Report,
    empty: Empty = np.empty,
) -> Int32Array:
    """Return the numbers of the centres nearest to every vector, ``(n, n_nearest)``."""
    nearest_of = empty((len(vectors), n_nearest), np.int32)
    for first, block, nearest in _nearest(vectors, centres, range(len(vectors)), n_nearest):
        nearest_of[first : first + len(block)] = nearest
        report(first + len(block), len(vectors))
    return nearest_of


def _drawn(rng: np.random.Generator, n: int, size: int) -> npt.NDArray[np.int64]:
    return np.sort(rng.choice(n, size, replace=False))


def _nearest(
    vectors: Float32Array,
    centres: Float32Array,
    rows: npt.NDArray[np.int64] | range,
    n_nearest: int,
) -> Iterator[tuple[int, Float32Array, npt.NDArray[np.intp]]]:
    """Yield the place of each block of rows, their vectors, and the centres nearest to these."""
    codes = DenseInt8.of(centres, np.array([0, len(centres)]))
    multiply = multiplier(worth_it(len(rows), *centres.shape))
    for first in range(0, len(rows), _BLOCK):
        some = rows[first : first + _BLOCK]
        block_rows = slice(some.start, some.stop) if isinstance(some, range) else some
        block = np.asarray(vectors[block_rows], dtype=np.float32)
        # A vector of zeros is as near to the first centres as to all others.
        nearest = np.tile(np.arange(n_nearest), (len(block), 1))
        there = np.flatnonzero(block.any(axis=1))
        if len(there):
            products = codes.products(multiply, codes.coded(block[there]).numbers, 0)
            for place in range(n_nearest):
                best = products.argmax(axis=1)
                nearest[there, place] = best
                products[np.arange(len(there)), best] = np.iinfo(np.int32).min
        yield first, block, nearest
