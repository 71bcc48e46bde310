"""Vectors as small whole numbers, to find in little time the few rows worth an exact score.

A number of a vector becomes one of −127 to 127, a number of a query one of −63 to 63. So a product
is a whole number, the same on every machine, and how far it is from the cosine has a bound:

    ``|q · x − βα u · c| ≤ |q| · |x − αc| + |q − βu| · |αc|``

where ``αc`` is the coded row and ``βu`` the coded query. Rows within that bound of the k-th best
are all kept, so the answer is that of the vectors themselves.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.indexes import BoolArray, load_array
from canonym.indexes.selection import SLACK, Promising
from canonym.io.forks import Lock
from canonym.types import Float32Array

FEWEST = 1 << 14
"""Fewer rows are multiplied as they are in less time."""

_BLOCK = 1 << 14  # rows
_MOST = 127  # of a number of a row
_MOST_OF_QUERY = 63  # more of it would overflow 16 bits on processors without VNNI
_WARM = 1 << 31  # multiplications that are done before the import of ONNX Runtime pays

# The ONNX model y = MatMulInteger(a, b): uint8 (n, w) times int8 (w, r) is int32 (n, r).
_MODEL = (
    b'\x08\x05\x12\x00:b\n\x18\n\x01a\n\x01b\x12\x01y"\rMatMulInteger\x12\x01gZ\x15\n\x01a\x12\x10\n'
    b"\x0e\x08\x02\x12\n\n\x03\x12\x01n\n\x03\x12\x01wZ\x15\n\x01b\x12\x10\n\x0e\x08\x03\x12\n\n\x03"
    b"\x12\x01w\n\x03\x12\x01rb\x15\n\x01y\x12\x10\n\x0e\x08\x06\x12\n\n\x03\x12\x01n\n\x03\x12\x01r"
    b"B\x04\n\x00\x10\n"
)


class Codes:
    """The coded rows of an index, in blocks that one product takes.

    `blocks` ``(n_blocks, width, rows)`` int8 has zeros after the last row; `sums` ``(n_blocks,
    rows)`` int32 adds up each row. `bounds` is the step α, the largest ``|x − αc|`` and the largest
    ``|αc|``.
    """

    def __init__(
        self,
        blocks: npt.NDArray[np.int8],
        sums: npt.NDArray[np.int32],
        bounds: npt.NDArray[np.float64],
        n_rows: int,
    ) -> None:
        self.blocks = blocks
        self.sums = sums
        self.bounds = bounds
        self.n_rows = n_rows

    @classmethod
    def write(cls, vectors: Float32Array, folder: Path) -> None:
        """Code finite vectors of length one, block by block, into an existing folder."""
        n, width = vectors.shape
        n_blocks = -(-n // _BLOCK)
        largest = max(float(np.abs(vectors[span]).max()) for span in _spans(n))
        step = (largest or 1.0) / _MOST
        blocks = np.lib.format.open_memmap(
            folder / "codes.npy", mode="w+", dtype=np.int8, shape=(n_blocks, width, _BLOCK)
        )
        sums = np.zeros((n_blocks, _BLOCK), dtype=np.int32)
        error = length = 0.0
        for number, span in enumerate(_spans(n)):
            block = np.asarray(vectors[span], dtype=np.float64)
            codes = np.rint(block / step)
            error = max(error, np.linalg.norm(block - codes * step, axis=1).max())
            length = max(length, np.linalg.norm(codes * step, axis=1).max())
            blocks[number, :, : len(block)] = codes.T
            sums[number, : len(block)] = codes.sum(axis=1)
        blocks.flush()
        np.save(folder / "sums.npy", sums)
        np.save(folder / "bounds.npy", np.array([step, error, length]))

    @classmethod
    def load(cls, folder: Path, n_rows: int, width: int) -> Codes:
        """Open the codes of so many rows, memory-mapped."""
        n_blocks = -(-n_rows // _BLOCK)
        bounds = load_array(folder / "bounds.npy", (3,), np.float64)
        if not (np.isfinite(bounds).all() and bounds[0] > 0 and (bounds >= 0).all()):
            raise ReadError(
                folder / "bounds.npy",
                f"holds {bounds.tolist()}, expected finite numbers of at least 0; build the index "
                "again",
            )
        return cls(
            load_array(folder / "codes.npy", (n_blocks, width, _BLOCK), np.int8),
            load_array(folder / "sums.npy", (n_blocks, _BLOCK), np.int32),
            bounds,
            n_rows,
        )

    def promising(
        self, queries: Float32Array, k: int, allowed: BoolArray | None
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return every (query, row) that may be among the `k` best of a query, ties included.

        Queries are not zero. Rows of a query rise.
        """
        multiply = _multiplier()
        codes, slack = self._coded(queries)
        shifted = (codes + _MOST_OF_QUERY).astype(np.uint8)
        found = Promising(k, self.n_rows, slack, np.int32)
        for number, span in enumerate(_spans(self.n_rows)):
            scores = multiply(shifted, self.blocks[number])
            scores -= _MOST_OF_QUERY * self.sums[number]
            scores = scores[:, : span.stop - span.start]
            if allowed is not None:
                scores[:, ~allowed[span]] = found.lowest
            found.add(scores, span.start)
        return found.pairs()

    def _coded(self, queries: Float32Array) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int32]]:
        """Return coded queries, and twice the bound of the error of their products."""
        step, error, length = self.bounds
        exact = queries.astype(np.float64)
        steps = np.abs(exact).max(axis=1, keepdims=True) / _MOST_OF_QUERY
        codes = np.rint(exact / steps)
        missed = np.linalg.norm(exact - codes * steps, axis=1)
        bound = np.linalg.norm(exact, axis=1) * error + missed * length + SLACK
        return codes.astype(np.int16), np.ceil(2 * bound / (steps[:, 0] * step)).astype(np.int32)


def _spans(n_rows: int) -> Iterator[slice]:
    return (slice(first, min(first + _BLOCK, n_rows)) for first in range(0, n_rows, _BLOCK))


# --- products of whole numbers --------------------------------------------------------------------


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


@functools.cache
def _multiplier() -> Any:
    """Return the product of ``(n, w)`` uint8 and ``(w, r)`` int8 as int32, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # queries are shared out among threads already
    session = onnxruntime.InferenceSession(_MODEL, options, providers=["CPUExecutionProvider"])

    def multiply(a: npt.NDArray[np.uint8], b: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
        product: npt.NDArray[np.int32] = session.run(None, {"a": a, "b": b})[0]
        return product

    return multiply
