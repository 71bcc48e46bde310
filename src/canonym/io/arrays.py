"""Arrays in ``.npy`` files: opened as they are, or written block by block."""

from __future__ import annotations

import contextlib
import errno
import itertools
import mmap
import os
import tempfile
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError

Empty = Callable[[tuple[int, ...], npt.DTypeLike], npt.NDArray[Any]]
"""Makes an array of a shape and a type whose content is yet to be written, as `numpy.empty`."""


def open_array(path: Path) -> npt.NDArray[Any]:
    """Map a ``.npy`` file into memory, read-only; one that is damaged is a ValueError."""
    try:
        # A text, for numpy resolves the links of a path, which takes longer than all the rest.
        array = np.load(str(path), mmap_mode="r", allow_pickle=False)
    except (EOFError, TypeError, OverflowError, SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"no .npy file: {error}") from error
    if not isinstance(array, np.ndarray):
        raise ValueError("an archive of arrays")
    # As a plain array: every slice of a memmap object costs microseconds more.
    return array.view(np.ndarray)


def load_array(
    path: Path,
    shape: tuple[int | None, ...],
    *dtypes: npt.DTypeLike,
    advice: str = "build the index again",
) -> npt.NDArray[Any]:
    """Open a ``.npy`` file, of an index as a rule, memory-mapped; check its shape and type.

    None in a shape stands for any length. Errors end with the `advice`.
    """
    try:
        array = open_array(path)
    except (OSError, ValueError) as error:
        raise ReadError(path, f"cannot be opened ({error}); {advice}") from error
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
            f"{lengths or 'one number'} of {types}; {advice}",
        )
    return array


def spans(n: int, size: int) -> Iterator[slice]:
    """Cut 0 … n − 1 into slices of `size`, of which the last may be shorter."""
    return (slice(first, min(first + size, n)) for first in range(0, n, size))


def ranges(
    starts: npt.NDArray[np.integer[Any]], counts: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[Any]:
    """Return as many numbers as `counts` says from each start on, one range after the other.

    >>> ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    at = (starts - np.cumsum(counts) + counts).repeat(counts)
    at += np.arange(len(at))
    return at


def let_go(array: npt.NDArray[Any]) -> None:
    """Give back the memory of an array that `open_array` mapped; it is read again where needed."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    if isinstance(array, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        array.madvise(mmap.MADV_DONTNEED)


class ArrayWriter:
    """Writes a ``.npy`` file block by block: the bytes of `numpy.save`, in the memory of a block.

    `row` is the shape of one row.
    """

    def __init__(self, path: Path, dtype: npt.DTypeLike, row: tuple[int, ...] = ()) -> None:
        self._dtype, self._row, self.n_rows = np.dtype(dtype), row, 0
        self._stream = path.open("wb")
        self._write_header()

    def _write_header(self) -> None:
        # NumPy leaves room in a header for a first number of any size.
        np.lib.format.write_array_header_1_0(
            self._stream,
            {
                "descr": np.lib.format.dtype_to_descr(self._dtype),
                "fortran_order": False,
                "shape": (self.n_rows, *self._row),
            },
        )

    def add(self, rows: npt.NDArray[Any]) -> None:
        """Write the next rows."""
        self._stream.write(np.ascontiguousarray(rows, dtype=self._dtype).data)
        self.n_rows += len(rows)

    def close(self) -> None:
        """Write how many rows there are, and close the file, unless that is done."""
        if self._stream.closed:
            return
        with self._stream:
            self._stream.seek(0)
            self._write_header()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def new_array(path: Path, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Make a ``.npy`` file of zeros that is written through memory; a full disk is an error now."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(dtype), shape=shape)
    if hasattr(os, "posix_fallocate"):  # or it would be a signal later
        with path.open("r+b") as stream:
            try:
                os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # not supported there
                    raise
    return array.view(np.ndarray)


@contextlib.contextmanager
def scratch_arrays(folder: Path) -> Iterator[Empty]:
    """Yield a function that makes arrays as files in a folder; they go when the block is left."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".scratch-") as place:
        numbers = itertools.count()
        yield lambda shape, dtype: new_array(Path(place) / f"{next(numbers)}.npy", shape, dtype)
