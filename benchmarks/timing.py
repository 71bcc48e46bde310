"""Times of work, of which the least counts, for others use the machine as well."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from statistics import median
from typing import Any, TypeVar

Way = TypeVar("Way")


def least_seconds(
    ways: Mapping[Way, Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[Way, float]:
    """Let ways take turns, and return the least time of each, that of the processor by default."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for way, work in ways.items():
            begun = clock()
            work()
            best[way] = min(best[way], clock() - begun)
    return best


def median_ms(work: Callable[[Any], object], items: Iterable[Any]) -> float:
    """Return how many milliseconds an item takes that comes alone, on the clock."""
    taken = []
    for item in items:
        begun = time.perf_counter()
        work(item)
        taken.append(time.perf_counter() - begun)
    return 1000 * median(taken)
