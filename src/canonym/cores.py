"""How much of the machine this process may use."""

from __future__ import annotations

import os

__all__ = ["n_cores"]


def n_cores() -> int:
    """Return how many cores this process may use: those it is pinned to, or all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
