"""How much memory a piece of code may take."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Iterator


@contextlib.contextmanager
def at_most(n_bytes: float) -> Iterator[None]:
    """Fail where a ``with`` block takes as many bytes for objects of Python, or more."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < n_bytes
