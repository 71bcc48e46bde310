"""A limit of time for the work of one thread, which steps inside a long text look at."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from canonym.errors import CanonymError

_until: ContextVar[float] = ContextVar("until", default=math.inf)


class TooSlow(CanonymError):
    """The work took longer than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let `check_time` raise `TooSlow` once some seconds are over.

    >>> with time_limit(60):
    ...     check_time()
    """
    before = _until.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(before)


def check_time() -> None:
    """Raise `TooSlow` where a limit is over; without one, nothing happens."""
    if time.monotonic() > _until.get():
        raise TooSlow("the work takes longer than it may; give it less at a time")
