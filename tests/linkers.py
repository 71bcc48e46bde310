"""Indexes of a few records, for tests that only ask them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from canonym import Linker, Terminology
from canonym.types import Record


def linker_of(records: Iterable[Record]) -> Linker:
    """Return an index of records, which is built once for all tests that ask the same ones.

    A test that teaches its index something, or counts what it remembers, builds its own.
    """
    return _built(tuple(records))


@lru_cache(maxsize=16)
def _built(records: tuple[Record, ...]) -> Linker:
    return Linker.build(Terminology.build(records))
