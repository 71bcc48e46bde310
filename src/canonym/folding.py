"""What was added to an index becomes part of the next one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from canonym.errors import InvalidInput
from canonym.files import read_manifest
from canonym.overlay import ADDED, OVERLAY, Overlay, OverlayContent
from canonym.terminology import Terminology
from canonym.types import Name, Record

__all__ = ["Folded", "check_overlay", "fold_in"]


class Folded(NamedTuple):
    """A terminology with names added to it, and what goes on beside it.

    `rest` are all forbidden pairs, and the synonyms of concepts that the terminology does not have.
    """

    terminology: Terminology
    rest: OverlayContent = OverlayContent()

    def finish(self, folder: Path) -> None:
        """Write the rest beside a new index."""
        if self.rest != OverlayContent():
            Overlay(folder / OVERLAY).write(self.rest)


def fold_in(terminology: Terminology, index: str | Path, *, newest: int) -> Folded:
    """Take the names that were added to an index into a terminology.

    Parameters
    ----------
    terminology : Terminology
        The one that the index is of, or another release of it.
    index : str or Path
        The folder of the index. Names that were folded into it before are taken as well.
    newest : int
        The newest format of an index that can be read.

    Returns
    -------
    Folded
        The terminology is a new, temporary one, unless there is nothing to add.

    Raises
    ------
    ReadError
        If the index is missing or damaged.
    """
    read_manifest(index, kind="linker", newest=newest)
    content = Overlay(Path(index) / OVERLAY).read()
    with Terminology(Path(index) / "terminology.db") as old:
        added = [*_added(old), *content.synonyms]
    known: list[Name] = []
    left: list[Name] = []
    for name in added:
        id_ = terminology.resolve(name.concept_id)
        if id_ is None:
            left.append(name)
        elif all(one.text != name.text for one in terminology.names(id_)):
            known.append(replace(name, concept_id=id_))
    if known:
        terminology = Terminology.build(_records(terminology, known))
    return Folded(terminology, OverlayContent(tuple(left), content.forbidden))


def _added(old: Terminology) -> list[Name]:
    """Return the names that were folded into a terminology before."""
    try:
        rows = old.rows_where(sources=[ADDED])
    except InvalidInput:
        return []
    return [name for name in old.names_at(np.flatnonzero(rows)) if name.source == ADDED]


def _records(terminology: Terminology, added: Iterable[Name]) -> Iterator[Record]:
    """Yield a terminology, its rows in order, and further names."""
    for concept in terminology.iter_concepts():
        yield replace(concept, label="")
    yield from terminology.iter_names()
    yield from added
    yield from terminology.iter_relations()
    yield from terminology.iter_xrefs()


def check_overlay(folder: str | Path, folded: str | Path | None) -> None:
    """Refuse to replace an index with what was added to it, unless that is folded in.

    Raises
    ------
    InvalidInput
        If something would be lost.
    """
    content = Overlay(Path(folder) / OVERLAY).read()
    kept = folded is not None and Path(folded).resolve() == Path(folder).resolve()
    if content != OverlayContent() and not kept:
        raise InvalidInput(
            f"{folder} holds {len(content.synonyms):,} added synonyms and "
            f"{len(content.forbidden):,} forbidden pairs, which would be lost: take them along by "
            f"fold={str(folder)!r} (--fold {folder}), or remove {Path(folder) / OVERLAY}"
        )
