"""Arrays in ``.npy`` files."""

from __future__ import annotations

import tokenize
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


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
