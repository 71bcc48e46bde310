"""Indexes of a few records, for tests that only ask them, and what is asked again and again."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from canonym import Concept, Linker, Name, Terminology
from canonym.types import Link, Record

SURE = 0.8
"""Links with a larger confidence are sure."""


def concepts(*lines: str) -> list[Record]:
    """Return the concepts of lines of an id, a label and other names, with bars between."""
    records: list[Record] = []
    for line in lines:
        id_, label, *names = line.split("|")
        records += [Concept(id_, label), *(Name(name, id_) for name in names)]
    return records


def linker_of(records: Iterable[Record]) -> Linker:
    """Return an index of records, which is built once for all tests that ask the same ones.

    A test that teaches its index something, or counts what it remembers, builds its own.
    """
    return _built(tuple(records))


@lru_cache(maxsize=16)
def _built(records: tuple[Record, ...]) -> Linker:
    return Linker.build(Terminology.build(records))


def linked(linker: Linker, mention: str) -> tuple[Link, float]:
    """Return the only link of a mention, and its confidence, which it has to have."""
    (link,) = linker.link([mention])
    assert link.confidence is not None
    return link, link.confidence


def sure_id(linker: Linker, mention: str) -> str | None:
    """Return the concept of a mention, which has to be sure."""
    link, confidence = linked(linker, mention)
    assert confidence > SURE
    return link.id


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
