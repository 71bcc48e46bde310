"""Files of a saved encoder: its manifest ``encoder.json``, and arrays mapped into memory.

The manifest is ``{"format": 1, "kind": "chargrams", "settings": {...}}``; the settings are the
keyword arguments that make the encoder again. Arrays are ``.npy`` or safetensors files. The latter
are an 8-byte length, a JSON header with type, shape and place of each array, and the arrays,
little-endian. The ``safetensors`` package copies what it reads; a table that many processes share,
and of which a query needs a hundred rows, is better left in the file.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.arrays import load_array
from canonym.io.files import check_regular, load_json, parse_json

E = TypeVar("E")

ENCODER_MANIFEST = "encoder.json"
ENCODER_FORMAT = 1

_DTYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype(np.float32), "I8": np.dtype(np.int8)}
_HEADER_LIMIT = 1 << 20


def write_encoder_manifest(folder: Path, *, kind: str, settings: Mapping[str, Any]) -> None:
    """Write ``encoder.json`` into an existing folder; its bytes depend on the arguments alone."""
    content = {"format": ENCODER_FORMAT, "kind": kind, "settings": dict(settings)}
    text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    (folder / ENCODER_MANIFEST).write_text(text, encoding="utf-8")


def read_encoder_manifest(
    folder: str | Path, *, kind: str | None = None
) -> tuple[str, dict[str, Any]]:
    """Read and check ``encoder.json``; return the kind and the settings.

    Raises `ReadError` where it is missing or damaged; `Mismatch` where it is of a newer format, or
    of another kind than `kind`.
    """
    path = Path(folder) / ENCODER_MANIFEST
    if not Path(folder).is_dir():
        raise ReadError(folder, "no such folder; expected a saved encoder")
    if not path.is_file():
        raise ReadError(
            folder,
            f"not a saved encoder: there is no {ENCODER_MANIFEST} in it; was the right path given?",
        )
    try:
        content = load_json(path)
        kind_found, number, settings = content["kind"], content["format"], content["settings"]
        if not (isinstance(kind_found, str) and type(number) is int and isinstance(settings, dict)):
            raise TypeError("a field has the wrong type")
    except (ValueError, KeyError, TypeError) as error:
        raise ReadError(path, f"the manifest is damaged ({error!r}); save it again") from error
    if number > ENCODER_FORMAT:
        raise Mismatch(
            f"{folder} was written by a newer canonym (format {number}, this version reads up to "
            f"{ENCODER_FORMAT}); upgrade canonym or save the encoder again"
        )
    if kind is not None and kind_found != kind:
        raise Mismatch(f"{folder} holds an encoder of kind {kind_found!r}; {kind!r} is expected")
    return kind_found, settings


def reopen(
    cls: type[E],
    folder: Path,
    kind: str,
    complete: Callable[[dict[str, Any]], Mapping[str, Any]] = dict,
    options: Mapping[str, Any] | None = None,
) -> E:
    """Make the encoder that a folder describes from the settings that `save` wrote.

    `complete(settings)` returns the keyword arguments of the class, for instance with arrays. It is
    called once the manifest is known to be of the right kind. `options` of the caller replace
    settings; what is wrong with them is no damage.
    """
    _, settings = read_encoder_manifest(folder, kind=kind)
    if options:
        return cls(**complete(_replaced(settings, options)))
    try:
        return cls(**complete(settings))
    except ReadError:
        raise
    except (OSError, ValueError, TypeError, OverflowError, InvalidInput) as error:
        raise ReadError(folder, f"the encoder is damaged ({error}); save it again") from error


def _replaced(settings: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with others in their place.

    Another similarity brings its own scaling of vectors, and leaves the weight of n-grams behind.
    """
    left = dict(settings)
    usual = settings.get("similarity", "cosine")
    if options.get("similarity", usual) not in (usual, "auto"):
        left.pop("normalise", None)
        left.pop("sparse_weight", None)
    return left | {name: value for name, value in options.items() if value != "auto"}


def load_arrays(folder: Path, *, ndim: int, **dtypes: npt.DTypeLike) -> list[npt.NDArray[Any]]:
    """Map ``NAME.npy`` of a folder into memory for each NAME, and check dimensions and type."""
    advice = "save the encoder again"
    return [
        load_array(folder / f"{name}.npy", (None,) * ndim, dtype, advice=advice)
        for name, dtype in dtypes.items()
    ]


def write_tensors(path: Path, tensors: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays to a safetensors file; its bytes depend on the arrays alone."""
    from safetensors.numpy import save

    # Not `save_file`, which leaves a file that only its owner can read.
    path.write_bytes(save({name: np.ascontiguousarray(array) for name, array in tensors.items()}))


def map_tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Map the arrays of a safetensors file into memory, read-only."""
    check_regular(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(size - 8, _HEADER_LIMIT):
                raise ValueError(f"the header claims {length} bytes, the file has {size}")
            header = parse_json(stream.read(length))
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
