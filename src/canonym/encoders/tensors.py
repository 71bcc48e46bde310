"""Safetensors files, mapped into memory without copying.

The ``safetensors`` package copies what it reads into NumPy; a table that many processes share and
of which a query needs a hundred rows is better left in the file. The format is an 8-byte length, a
JSON header with type, shape and place of each array, and the arrays, little-endian.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError

__all__ = ["checksum", "map_tensors", "write_tensors"]

_DTYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype(np.float32), "I8": np.dtype(np.int8)}
_HEADER_LIMIT = 1 << 20


def write_tensors(path: Path, tensors: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays to a safetensors file; its bytes depend on the arrays alone."""
    from safetensors.numpy import save

    # Not `save_file`, which leaves a file that only its owner can read.
    path.write_bytes(save({name: np.ascontiguousarray(array) for name, array in tensors.items()}))


def map_tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Map the arrays of a safetensors file into memory, read-only.

    Raises
    ------
    ReadError
        If the file is missing, truncated or damaged, or holds a type that no encoder writes.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(size - 8, _HEADER_LIMIT):
                raise ValueError(f"the header claims {length} bytes, the file has {size}")
            header = json.loads(stream.read(length))
        # As a plain array: every slice of a memmap object costs microseconds more.
        data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length).view(np.ndarray)
        header.pop("__metadata__", None)
        return {name: _tensor(data, entry) for name, entry in header.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReadError(
            path, f"not a whole safetensors file ({error}); save the encoder again"
        ) from error


def checksum(tensors: Mapping[str, npt.NDArray[Any]]) -> int:
    """Return the CRC-32 of arrays, in the order of their names."""
    value = 0
    for name in sorted(tensors):
        value = zlib.crc32(np.ascontiguousarray(tensors[name]).view(np.uint8).data, value)
    return value


def _tensor(data: npt.NDArray[np.uint8], entry: Mapping[str, Any]) -> npt.NDArray[Any]:
    dtype, shape, (start, end) = _DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
    if end - start != math.prod(shape) * dtype.itemsize or not 0 <= start <= end <= len(data):
        raise ValueError(f"an array of shape {shape} does not fit into the {len(data)} bytes there")
    tensor: npt.NDArray[Any] = data[start:end].view(dtype).reshape(shape)
    return tensor
