"""The manifest of a saved encoder, ``encoder.json``: which kind it is and how it was set up.

The file is ``{"format": 1, "kind": "chargrams", "settings": {...}}``; the settings are the keyword
arguments that make the encoder again, the arrays beside the file are its own business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import Mismatch, ReadError

__all__ = [
    "ENCODER_FORMAT",
    "ENCODER_MANIFEST",
    "load_array",
    "read_encoder_manifest",
    "write_encoder_manifest",
]

ENCODER_MANIFEST = "encoder.json"
ENCODER_FORMAT = 1


def write_encoder_manifest(folder: Path, *, kind: str, settings: Mapping[str, Any]) -> None:
    """Write ``encoder.json``; its bytes depend on the arguments alone.

    Parameters
    ----------
    folder : Path
        An existing folder.
    kind : str
        The encoder's key in `canonym.encoders.ENCODERS`.
    settings : mapping
        Keyword arguments that make the encoder again, JSON-able.
    """
    content = {"format": ENCODER_FORMAT, "kind": kind, "settings": dict(settings)}
    text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    (folder / ENCODER_MANIFEST).write_text(text, encoding="utf-8")


def read_encoder_manifest(
    folder: str | Path, *, kind: str | None = None
) -> tuple[str, dict[str, Any]]:
    """Read and check ``encoder.json``.

    Parameters
    ----------
    folder : str or Path
        The saved encoder.
    kind : str, optional
        What it has to be; any kind by default.

    Returns
    -------
    kind : str
        The encoder's key in `canonym.encoders.ENCODERS`.
    settings : dict
        Keyword arguments that make the encoder again.

    Raises
    ------
    ReadError
        If the folder or the file is missing or damaged.
    Mismatch
        If the folder holds another kind of encoder, or was written by a newer canonym.
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
        content = json.loads(path.read_text(encoding="utf-8"))
        found, number, settings = content["kind"], content["format"], content["settings"]
        if not (isinstance(found, str) and type(number) is int and isinstance(settings, dict)):
            raise TypeError("a field has the wrong type")
    except (ValueError, KeyError, TypeError) as error:
        raise ReadError(path, f"the manifest is damaged ({error!r}); save it again") from error
    if number > ENCODER_FORMAT:
        raise Mismatch(
            f"{folder} was written by a newer canonym (format {number}, this version reads up to "
            f"{ENCODER_FORMAT}); upgrade canonym or save the encoder again"
        )
    if kind is not None and found != kind:
        raise Mismatch(f"{folder} holds an encoder of kind {found!r}; {kind!r} is expected")
    return found, settings


def load_array(path: Path, *, dtype: npt.DTypeLike, ndim: int) -> npt.NDArray[Any]:
    """Map a saved ``.npy`` file into memory, read-only, and check what it is.

    Raises
    ------
    ReadError
        If the file is missing, truncated, or holds another type or number of dimensions.
    """
    expected = f"expected a {ndim}-dimensional array of {np.dtype(dtype)}"
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ReadError(path, f"{expected}, found {error}; save the encoder again") from error
    if array.dtype != np.dtype(dtype) or array.ndim != ndim:
        raise ReadError(
            path,
            f"{expected}, found {array.ndim} dimensions of {array.dtype}; save the encoder again",
        )
    return array
