"""Locks, connections and threads, which a forked child cannot share with its parent."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

_Owner = TypeVar("_Owner")
_renewals: weakref.WeakKeyDictionary[Any, Callable[[Any], None]] = weakref.WeakKeyDictionary()


def on_fork(owner: _Owner, renew: Callable[[_Owner], None]) -> None:
    """Call ``renew(owner)`` in every forked child, for as long as `owner` lives."""
    _renewals[owner] = renew


class Lock:
    """A lock that is free in a forked child, whichever thread of the parent holds it.

    What it guards has to be sound after every step, for that thread never ends in the child.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        on_fork(self, Lock.__init__)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _renew_all() -> None:
    for owner, renew in list(_renewals.items()):
        renew(owner)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
