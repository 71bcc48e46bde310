"""Vectors as small whole numbers, to find in little time the few rows worth an exact score.

**Dense.** A number of a vector becomes one of −127 to 127, a number of a query one of −63 to 63. So
a product is a whole number, the same on every machine, and how far it is from the score has a
bound:

    ``|q · x − βα u · c| ≤ |q| · |x − αc| + |q − βu| · |αc|``

where ``αc`` is the coded row and ``βu`` the coded query. Rows within that bound of the k-th best
are all kept, so the answer is that of the vectors themselves.

**Sparse.** Vectors are folded into few columns. Columns share places so that every place carries
about the same weight: frequent ones have one of their own. A place of a vector is the sum of the
sizes of its columns, rounded up to a whole number. So the product of two folded vectors is never
below that of the vectors themselves::

    q · x ≤ Σ_p (Σ_{c in p} |q_c|) (Σ_{c in p} |x_c|) ≤ βα Σ_p ⌈q̃_p / β⌉ ⌈x̃_p / α⌉

It is the same on every machine too, and tells most rows from the best ones. Short runs of rows are
dealt out to blocks in turn, for neighbours are often names of one concept. So every block holds
about the same, and the best rows of the first say much about all others.
"""

from __future__ import annotations

import functools
import heapq
import importlib.util
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.indexes import BoolArray, check_numbers, check_starts, load_array
from canonym.indexes.selection import LOWEST, SLACK, Pairs, Promising
from canonym.io.arrays import ArrayWriter, Empty, ranges, spans
from canonym.io.forks import Lock
from canonym.io.heap import Heap
from canonym.types import Float32Array, Int32Array, SparseVectors

FEWEST = 1 << 14
"""Fewer rows are multiplied as they are in less time."""

# Rows. With a power of two, the lines of a block would compete for the same places in the cache.
_BLOCK = (1 << 14) - 64
_SPARSE_BLOCK = 1 << 14  # rows, about
_RUN = 64  # sparse rows that stay together: they are read from a disk at once
_WIDTH = 256  # places; of twice as many the product takes twice the time
_AT_ONCE = 1 << 21  # products
_MOST = 127  # of a number of a row
_MOST_OF_QUERY = 63  # more of it would overflow 16 bits on processors without VNNI
_MOST_OF_SPARSE_QUERY = 126  # likewise: dense ones get 63 added, so that none is below 0
_WARM = 1 << 31  # multiplications that are done before the import of ONNX Runtime pays

# The ONNX model y = MatMulInteger(a, b): uint8 (n, w) times int8 (w, r) is int32 (n, r).
_MODEL = (
    b'\x08\x05\x12\x00:b\n\x18\n\x01a\n\x01b\x12\x01y"\rMatMulInteger\x12\x01gZ\x15\n\x01a\x12\x10\n'
    b"\x0e\x08\x02\x12\n\n\x03\x12\x01n\n\x03\x12\x01wZ\x15\n\x01b\x12\x10\n\x0e\x08\x03\x12\n\n\x03"
    b"\x12\x01w\n\x03\x12\x01rb\x15\n\x01y\x12\x10\n\x0e\x08\x06\x12\n\n\x03\x12\x01n\n\x03\x12\x01r"
    b"B\x04\n\x00\x10\n"
)

Multiply = Callable[[npt.NDArray[np.uint8], npt.NDArray[np.int8]], npt.NDArray[np.int32]]
"""The product of ``(n, w)`` and ``(w, r)`` as whole numbers."""


# --- products -------------------------------------------------------------------------------------


class _Work:
    """Multiplications that this process has done without ONNX Runtime."""

    lock = Lock()
    done = 0


def worth_it(n_queries: int, n_rows: int, width: int) -> bool:
    """Return whether codes are faster than the vectors, here and now.

    They need ONNX Runtime, whose import takes as long as a few hundred queries of 76,000 names.
    """
    if not _is_installed():
        return False
    with _Work.lock:
        _Work.done += n_queries * n_rows * width
        return _Work.done >= _WARM


@functools.cache
def _is_installed() -> bool:
    return importlib.util.find_spec("onnxruntime") is not None


def multiplier(faster: bool) -> Multiply:
    """Return a product of whole numbers on one thread: of ONNX Runtime, or a slower one."""
    return _with_onnx() if faster else _without_onnx


@functools.cache
def _with_onnx() -> Multiply:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # queries are shared out among threads already
    options.enable_cpu_mem_arena = not Heap.gives_back  # it keeps the largest product for good
    session = onnxruntime.InferenceSession(_MODEL, options, providers=["CPUExecutionProvider"])

    def multiply(a: npt.NDArray[np.uint8], b: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
        return np.asarray(session.run(None, {"a": a, "b": b})[0])

    return multiply


def _without_onnx(a: npt.NDArray[np.uint8], b: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
    # Whole numbers below 2**24 are exact in single precision, in whatever order they are added.
    fits = 2 * _MOST_OF_QUERY * _MOST * len(b) < 1 << 24
    kind = np.float32 if fits else np.float64
    return np.asarray(a.astype(kind) @ b.astype(kind), dtype=np.int32)


# --- dense vectors --------------------------------------------------------------------------------


class CodedQueries(NamedTuple):
    """Queries as whole numbers from 0 to 126, and twice the bound of the error of products."""

    numbers: npt.NDArray[np.uint8]
    slack: npt.NDArray[np.int32]


class DenseInt8:
    """Coded rows, in blocks that one product takes; places number the rows block after block.

    `numbers` int8 has the blocks one after the other, each ``(width, rows)``; block i has the
    places from ``starts[i]`` to ``starts[i + 1]``. `sums` ``(n_rows,)`` int32 adds up each row.
    `bounds` is the step α, the largest ``|x − αc|`` and the largest ``|αc|``.
    """

    def __init__(
        self,
        numbers: npt.NDArray[np.int8],
        sums: npt.NDArray[np.int32],
        bounds: npt.NDArray[np.float64],
        starts: npt.NDArray[np.int64],
    ) -> None:
        self.numbers, self.sums, self.bounds, self.starts = numbers, sums, bounds, starts
        self._starts: list[int] = starts.tolist()
        self._width = len(numbers) // max(len(sums), 1)

    @classmethod
    def of(
        cls,
        vectors: Float32Array,
        starts: npt.NDArray[np.int64] | None = None,
        rows: Int32Array | None = None,
    ) -> DenseInt8:
        """Code vectors in memory; `rows` is the row at every place."""
        coder = _Coder(vectors)
        starts = block_starts(len(vectors)) if starts is None else starts
        blocks = [(block.T.ravel(), sums) for block, sums in coder.blocks(starts, rows, np.empty)]
        codes = np.concatenate([np.empty(0, dtype=np.int8), *(block for block, _ in blocks)])
        sums = np.concatenate([np.empty(0, dtype=np.int32), *(sums for _, sums in blocks)])
        return cls(codes, sums, coder.bounds, starts)

    @classmethod
    def write(
        cls,
        vectors: Float32Array,
        folder: Path,
        starts: npt.NDArray[np.int64] | None = None,
        rows: Int32Array | None = None,
        empty: Empty = np.empty,
    ) -> None:
        """Write the codes that `of` makes, block by block, to an existing folder.

        `empty` makes the array of all coded rows, which is needed where `rows` are given.
        """
        coder = _Coder(vectors)
        if starts is None:
            starts = block_starts(len(vectors))
            np.save(folder / "blocks.npy", starts)
        with (
            ArrayWriter(folder / "codes.npy", np.int8) as codes,
            ArrayWriter(folder / "sums.npy", np.int32) as all_sums,
        ):
            for block, sums in coder.blocks(starts, rows, empty):
                codes.add(block.T.ravel())
                all_sums.add(sums)
        np.save(folder / "bounds.npy", coder.bounds)

    def save(self, folder: Path) -> None:
        """Write the codes to an existing folder."""
        np.save(folder / "codes.npy", self.numbers)
        np.save(folder / "sums.npy", self.sums)
        np.save(folder / "bounds.npy", self.bounds)

    @classmethod
    def load(
        cls, folder: Path, n_rows: int, width: int, starts: npt.NDArray[np.int64] | None = None
    ) -> DenseInt8:
        """Open the codes of so many rows, memory-mapped."""
        bounds = load_array(folder / "bounds.npy", (3,), np.float64)
        if not (np.isfinite(bounds).all() and bounds[0] > 0 and (bounds >= 0).all()):
            raise ReadError(
                folder / "bounds.npy",
                f"holds {bounds.tolist()}, expected finite numbers of at least 0; build the index "
                "again",
            )
        if starts is None:
            starts = load_array(folder / "blocks.npy", (None,), np.int64)
            check_starts(folder / "blocks.npy", starts, n_rows)
        numbers = load_array(folder / "codes.npy", (n_rows * width,), np.int8)
        sums = load_array(folder / "sums.npy", (n_rows,), np.int32)
        return cls(numbers, sums, bounds, starts)

    def coded(self, queries: Float32Array) -> CodedQueries:
        """Code queries, none of them zero."""
        step, error, length = self.bounds
        exact = queries.astype(np.float64)
        steps = np.abs(exact).max(axis=1, keepdims=True) / _MOST_OF_QUERY
        codes = np.rint(exact / steps)
        missed = np.linalg.norm(exact - codes * steps, axis=1)
        lengths = np.linalg.norm(exact, axis=1)
        bound = lengths * error + missed * length + SLACK * np.maximum(lengths * length, 1)
        slack = np.ceil(2 * bound / (steps[:, 0] * step)).astype(np.int32)
        return CodedQueries((codes + _MOST_OF_QUERY).astype(np.uint8), slack)

    def block(self, number: int) -> npt.NDArray[np.int8]:
        """Return the codes of a block, ``(width, rows)``."""
        first, last = self._starts[number : number + 2]
        return self.numbers[first * self._width : last * self._width].reshape(self._width, -1)

    def products(
        self, multiply: Multiply, numbers: npt.NDArray[np.uint8], block: int
    ) -> npt.NDArray[np.int32]:
        """Multiply coded queries with the rows of a block, ``(n_queries, rows)``."""
        products = multiply(numbers, self.block(block))
        products -= _MOST_OF_QUERY * self.sums[self._starts[block] : self._starts[block + 1]]
        return products

    def promising(
        self, queries: Float32Array, k: int, allowed: BoolArray | None, multiply: Multiply
    ) -> Pairs:
        """Return every (query, place) that may be among the `k` best of a query, ties included.

        Queries are not zero; `allowed` is by place. Places of a query rise.
        """
        coded = self.coded(queries)
        promising = Promising(k, len(self.sums), coded.slack, np.int32)
        for block, first in enumerate(self._starts[:-1]):
            scores = self.products(multiply, coded.numbers, block)
            if allowed is not None:
                scores[:, ~allowed[first : self._starts[block + 1]]] = LOWEST
            promising.add(scores, first)
        return promising.pairs()


def block_starts(n_rows: int) -> npt.NDArray[np.int64]:
    """Return the starts of blocks of equal size, and the end of the last."""
    return np.append(np.arange(0, n_rows, _BLOCK), n_rows)


class _Coder:
    """Codes rows; `bounds` are those of `DenseInt8`, right once all rows are coded."""

    def __init__(self, vectors: Float32Array) -> None:
        self._vectors = vectors
        parts = (vectors[span] for span in spans(len(vectors), _BLOCK))
        largest = max((float(np.abs(part).max()) for part in parts), default=0.0)
        self.bounds = np.array([(largest or 1.0) / _MOST, 0.0, 0.0])

    def blocks(
        self, starts: npt.NDArray[np.int64], rows: Int32Array | None, empty: Empty
    ) -> Iterator[tuple[npt.NDArray[np.int8], npt.NDArray[np.int32]]]:
        """Yield the coded rows of every block that has any, ``(rows, width)``, and their sums."""
        if rows is not None:  # a row is coded once, and taken from there wherever it stands
            coded = empty(self._vectors.shape, np.int8)
            for span in spans(len(coded), _BLOCK):
                coded[span] = self._coded(span)
        for first, last in itertools.pairwise(starts.tolist()):
            if first < last:
                span = slice(first, last)
                block = self._coded(span) if rows is None else coded[rows[span]]
                yield block, block.sum(axis=1, dtype=np.int32)

    def _coded(self, span: slice) -> npt.NDArray[np.int8]:
        step, error, length = self.bounds
        block = self._vectors[span].astype(np.float64)
        numbers: npt.NDArray[np.float64] = np.rint(block / step)
        self.bounds[1] = max(error, np.linalg.norm(block - numbers * step, axis=1).max())
        self.bounds[2] = max(length, np.linalg.norm(numbers * step, axis=1).max())
        return numbers.astype(np.int8)


# --- sparse vectors -------------------------------------------------------------------------------


class FoldedQueries(NamedTuple):
    """Queries as whole numbers from 0 to 126, ``(n, width)``, and what 1 of a bound stands for."""

    numbers: npt.NDArray[np.uint8]
    unit: npt.NDArray[np.float64]


class SparseInt8:
    """Folded rows, in blocks that one product takes.

    `numbers` int8 has the blocks one after the other, each ``(width, rows)``; the runs of block i
    of n are every n-th from i on. `places` int32 is the place of every column, −1 for one that no
    row has. `step` is α.
    """

    def __init__(
        self, numbers: npt.NDArray[np.int8], places: Int32Array, step: float, n_rows: int
    ) -> None:
        self.width = _width(places)
        self._numbers, self._places, self._step = numbers, places, step
        self._n_rows = n_rows

    @classmethod
    def of(cls, vectors: SparseVectors) -> SparseInt8:
        """Fold vectors in memory."""
        places = _placed(vectors)
        step = _step(vectors, places)
        blocks = [np.empty(0, dtype=np.int8), *_coded(vectors, places, step)]
        return cls(np.concatenate(blocks), places, step, vectors.n_rows)

    @classmethod
    def write(cls, vectors: SparseVectors, folder: Path) -> None:
        """Write what `of` makes, block by block, to an existing folder."""
        places = _placed(vectors)
        step = _step(vectors, places)
        with ArrayWriter(folder / "folded.npy", np.int8) as numbers:
            for block in _coded(vectors, places, step):
                numbers.add(block)
        np.save(folder / "places.npy", places)
        np.save(folder / "step.npy", np.float64(step))

    @classmethod
    def load(cls, folder: Path, n_rows: int, n_columns: int) -> SparseInt8:
        """Open folded rows, memory-mapped."""
        places = load_array(folder / "places.npy", (n_columns,), np.int32)
        check_numbers(folder / "places.npy", places[places != -1], _WIDTH)
        step = float(load_array(folder / "step.npy", (), np.float64))
        if not (np.isfinite(step) and step > 0):
            raise ReadError(
                folder / "step.npy",
                f"holds {step}, expected a finite number above 0; build the index again",
            )
        numbers = load_array(folder / "folded.npy", (n_rows * _width(places),), np.int8)
        return cls(numbers, places, step, n_rows)

    def folded(self, queries: SparseVectors) -> FoldedQueries:
        """Fold queries."""
        sums = _sums(queries, np.arange(queries.n_rows), self._places, self.width)
        steps = sums.max(axis=1) / _MOST_OF_SPARSE_QUERY
        steps[steps == 0] = 1
        numbers = np.minimum(np.ceil(sums / steps[:, None]), _MOST_OF_SPARSE_QUERY)
        return FoldedQueries(numbers.astype(np.uint8), steps * self._step)

    def bounds(
        self, queries: FoldedQueries, multiply: Multiply
    ) -> Iterator[tuple[Int32Array, Int32Array]]:
        """Yield some rows, and the bounds of every query with them, ``(n_queries, rows)``.

        Few queries meet many rows at once, and only the places they have.
        """
        numbers = queries.numbers
        # A product needs a place, even of queries that have none.
        there = np.union1d(np.nonzero(numbers)[1], 0)
        used = there if 2 * len(there) < self.width else slice(None)
        numbers = np.ascontiguousarray(numbers[:, used])
        together = max(1, _AT_ONCE // (len(numbers) * _SPARSE_BLOCK))
        for start in range(0, len(self._blocks), together):
            span = range(start, min(start + together, len(self._blocks)))
            cuts = (slice(*(self.width * end for end in self._ends[n : n + 2])) for n in span)
            blocks = (self._numbers[cut].reshape(self.width, -1) for cut in cuts)
            products = [multiply(numbers, block[used]) for block in blocks]
            bounds = products[0] if len(products) == 1 else np.concatenate(products, axis=1)
            yield np.concatenate([self._blocks[block] for block in span]), bounds

    @functools.cached_property
    def _blocks(self) -> list[Int32Array]:
        return _blocks(self._n_rows)

    @functools.cached_property
    def _ends(self) -> list[int]:
        return list(itertools.accumulate(map(len, self._blocks), initial=0))


def values_of(
    vectors: SparseVectors, rows: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where the values of chosen rows are, row after row, and how many each row has."""
    starts = vectors.indptr.take(rows)
    counts = vectors.indptr.take(rows + 1) - starts
    return ranges(starts, counts), counts


def _blocks(n_rows: int) -> list[Int32Array]:
    """Deal the rows out, a run at a time, to blocks of about equal size; their rows rise."""
    n = -(-n_rows // _SPARSE_BLOCK)
    run = np.arange(_RUN, dtype=np.int32)
    every = [
        (np.arange(block * _RUN, n_rows, n * _RUN, dtype=np.int32)[:, None] + run).ravel()
        for block in range(n)
    ]
    return [rows[rows < n_rows] for rows in every]


def _placed(vectors: SparseVectors) -> Int32Array:
    """Share the columns out among places, the heaviest first, each to the lightest place."""
    weights = np.zeros(vectors.n_columns)
    for span in spans(len(vectors.data), _AT_ONCE):
        sizes = np.abs(vectors.data[span])
        weights += np.bincount(vectors.indices[span], sizes, minlength=vectors.n_columns)
    places = np.full(vectors.n_columns, -1, dtype=np.int32)
    lightest = [(0.0, place) for place in range(_WIDTH)]
    for column in np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)].tolist():
        weight, place = lightest[0]
        places[column] = place
        heapq.heapreplace(lightest, (weight + weights[column], place))
    return places


def _width(places: Int32Array) -> int:
    return int(places.max(initial=0)) + 1


def _step(vectors: SparseVectors, places: Int32Array) -> float:
    """Return the step with which the largest sum becomes the largest number."""
    width, blocks = _width(places), _blocks(vectors.n_rows)
    largest = (float(_sums(vectors, rows, places, width).max()) for rows in blocks)
    return max(largest, default=0.0) / _MOST or 1.0


def _coded(
    vectors: SparseVectors, places: Int32Array, step: float
) -> Iterator[npt.NDArray[np.int8]]:
    """Yield the numbers of each block."""
    for rows in _blocks(vectors.n_rows):
        numbers = np.ceil(_sums(vectors, rows, places, _width(places)) / step)
        yield np.minimum(numbers, _MOST).astype(np.int8).T.ravel()


def _sums(
    vectors: SparseVectors, rows: npt.NDArray[np.integer], places: Int32Array, width: int
) -> npt.NDArray[np.float64]:
    """Add up the sizes of the values of each row at each place, ``(rows, width)``."""
    at, counts = values_of(vectors, rows)
    owner = np.arange(len(rows)).repeat(counts)
    place = places[vectors.indices[at]]
    known = place >= 0
    flat = owner[known] * width + place[known]
    sizes = np.abs(vectors.data[at][known])
    sums = np.bincount(flat, sizes, minlength=len(rows) * width)
    return np.asarray(sums, dtype=np.float64).reshape(len(rows), width)
