"""Kinds of concepts by which a queue is filtered: of a semantic type, and most detailed or not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.terminology import Terminology
from canonym.terminology.codes import known_ids


class Kind(NamedTuple):
    """A semantic type, and whether nothing stands below; what is empty or None lets all pass."""

    type: str = ""
    leaf: bool | None = None

    def __str__(self) -> str:
        """Say in words which concepts these are, for a history."""
        detail = {None: "", True: "nothing below", False: "something below"}[self.leaf]
        return ", ".join(filter(None, (self.type and f"type {self.type}", detail)))


def ids_of_kind(
    terminology: Terminology, ids: set[str], kind: Kind, inner: npt.NDArray[np.bool_]
) -> set[str]:
    """Return those of some ids whose concept is of a kind; ids may be alternative ones.

    `inner` marks the concepts that others stand below, as `Terminology.with_children` does. Raises
    `InvalidInput` if the terminology has no such type, or no hierarchy.
    """
    passing = np.ones(terminology.n_concepts, dtype=np.bool_)
    if kind.type:
        rows = terminology.rows_where(types=[kind.type])
        passing[:] = False
        passing[terminology.concept_of_row()[rows]] = True
    if kind.leaf is not None:
        if not inner.any():
            raise InvalidInput("the terminology has no hierarchy: nothing tells leaves from others")
        passing &= inner != kind.leaf
    known = known_ids(terminology, sorted(ids))
    return {id_ for id_, (first, *_) in known.items() if passing[first.ordinal]}
