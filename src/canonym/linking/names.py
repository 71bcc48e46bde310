"""All names that are searched at one moment, and what each target makes of them.

Rows are numbered through: first those of the terminology's file, then those of training mentions,
then those of synonyms that were added later. A target that goes by names looks at some of these
rows; one that goes by concepts has a row per concept, the mean of its names."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from canonym.indexes import BoolArray, Searchable
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.stacked import Stacked
from canonym.indexes.verbatim import Verbatim
from canonym.linking.extra_names import Block, BlockBuilder, ConceptVectors, average
from canonym.linking.filters import Filter
from canonym.linking.overlay import Overlay, OverlayContent
from canonym.linking.targets import Target
from canonym.ranking.pooling import RowsByConcept, TieRule
from canonym.terminology import Terminology
from canonym.text import STRONG, normalise
from canonym.types import Concept, Int32Array, Name

# --- spaces ---

_CACHED = 16
_Number = TypeVar("_Number", bound=np.generic)


class Base(NamedTuple):
    """The names of the terminology's file: one verbatim index per sieve, one index per encoder, and
    the rows of each concept.
    """

    terminology: Terminology
    ties: TieRule
    sieves: tuple[Verbatim, ...]
    indexes: tuple[Exact | Inverted, ...]
    rows: RowsByConcept


class Space(NamedTuple):
    """What a step of a search looks at.

    Rows with their concepts and scopes, an index per encoder, and which rows are out of date (None:
    none). `named` says whether a row is the row of a name.
    """

    concept_of_row: Int32Array
    scope_of_row: npt.NDArray[np.int8]
    indexes: tuple[Searchable, ...]
    stale: BoolArray | None
    named: bool


class Names:
    """All names at one moment; never changed, only replaced.

    Parameters
    ----------
    base : Base
        The names of the terminology's file.
    learned, overlay : Block, optional
        Those of training mentions, and those added later.
    concepts : mapping of str to ConceptVectors
        Means of the rows of the first two, by the part of a target.
    forbidden : mapping of str to frozenset of int
        Concepts that are never found, by the normal form of the mention.
    """

    def __init__(
        self,
        base: Base,
        learned: Block | None,
        overlay: Block | None,
        concepts: Mapping[str, ConceptVectors],
        forbidden: Mapping[str, frozenset[int]],
    ) -> None:
        self.base = base
        self.forbidden = forbidden
        self.learned, self._overlay = learned, overlay
        self._blocks = [block for block in (learned, overlay) if block is not None]
        self._concepts = concepts
        self._n_base = len(base.ties.concept_of_row)
        self._starts = [self._n_base]
        for block in self._blocks:
            self._starts.append(self._starts[-1] + len(block.names))
        self._ties = base.ties
        self._indexes: tuple[Searchable, ...] = base.indexes
        if self._blocks:
            self._ties = base.ties._replace(
                concept_of_row=_joined(
                    base.ties.concept_of_row, [b.concepts for b in self._blocks]
                ),
                scope_of_row=_joined(base.ties.scope_of_row, [b.scopes for b in self._blocks]),
            )
            self._indexes = tuple(Stacked(parts) for parts in self._parts())
        self._spaces: dict[str, Space] = {}
        self._filters: dict[tuple[int, str, bool, frozenset[int]], tuple[Filter, Filter]] = {}

    def with_added(self, overlay: Block | None, forbidden: Mapping[str, frozenset[int]]) -> Names:
        """Return the same names with others in place of those added later."""
        return Names(self.base, self.learned, overlay, self._concepts, forbidden)

    def _parts(self) -> list[tuple[Exact | Inverted, ...]]:
        """Return every encoder's indexes, in the order of the rows."""
        return list(zip(self.base.indexes, *(b.indexes for b in self._blocks), strict=True))

    def rows_of(self, concept: int) -> Int32Array:
        """Return the rows of the names of a concept, by its ordinal, rising."""
        found = [self.base.rows.of(concept)]
        for block, start in zip(self._blocks, self._starts, strict=False):
            found.append(np.flatnonzero(block.concepts == concept).astype(np.int32) + start)
        return np.concatenate(found)

    def name(self, row: int) -> Name:
        """Return the name of a row."""
        for block, start in zip(reversed(self._blocks), reversed(self._starts[:-1]), strict=True):
            if row >= start:
                return block.names[row - start]
        return self.base.terminology.names_at([row])[0]

    def forbidden_for(self, mention: str) -> frozenset[int]:
        """Return the concepts that a mention does not stand for, by their ordinal."""
        if not self.forbidden:
            return frozenset()
        return self.forbidden.get(normalise(mention, STRONG), frozenset())

    def find(self, sieve: int, forms: Sequence[str]) -> list[Int32Array]:
        """Return the rows that hold exactly each normal form of the sieve of that number."""
        found = self.base.sieves[sieve].find(forms)
        for block, start in zip(self._blocks, self._starts, strict=False):
            further = block.sieves[sieve].find(forms)
            found = [
                np.concatenate([rows, more + np.int32(start)]) if len(more) else rows
                for rows, more in zip(found, further, strict=True)
            ]
        return found

    def _part(self, part: str) -> BoolArray | None:
        """Mark the rows that are a part of a target's names; None for all of them."""
        if self.learned is None or part == "OD":
            return None
        mask = np.ones(self._starts[-1], dtype=np.bool_)
        if part == "D":
            mask[: self._n_base] = False
        else:
            mask[self._n_base : self._starts[1]] = False
        return mask

    def space(self, target: Target) -> Space:
        """Return what a target looks at."""
        known = self._spaces.get(target.name)
        if known is None:
            known = self._by_concept(target) if target.by_concept else self._by_name()
            self._spaces[target.name] = known
        return known

    def _by_name(self) -> Space:
        return Space(self._ties.concept_of_row, self._ties.scope_of_row, self._indexes, None, True)

    def _by_concept(self, target: Target) -> Space:
        owners, indexes = self._concepts[target.part]
        if self._overlay is None:
            return Space(owners, np.zeros(len(owners), dtype=np.int8), indexes, None, False)
        # The concepts with added names get new means; their old ones are passed over.
        touched = np.unique(self._overlay.concepts)
        all_owners = self._ties.concept_of_row
        counted = np.isin(all_owners, touched)
        part = self._part(target.part)
        if part is not None:
            counted &= part
        start = self._n_base
        for block in self._blocks if target.part == "OD" else []:
            counted[start : start + len(block.names)] &= ~block.repeated
            start += len(block.names)
        renewed = average(self._parts(), all_owners, np.flatnonzero(counted))
        whole = np.concatenate([owners, renewed.owners])
        stale = np.concatenate([np.isin(owners, touched), np.zeros(len(renewed.owners), bool)])
        stacked = tuple(
            Stacked([old, new]) for old, new in zip(indexes, renewed.indexes, strict=True)
        )
        return Space(whole, np.zeros(len(whole), dtype=np.int8), stacked, stale, False)

    def filter(
        self,
        chosen: Filter,
        target: Target,
        never: frozenset[int] = frozenset(),
        *,
        by_name: bool = False,
    ) -> Filter:
        """Return a filter over the rows of a target's space.

        Parameters
        ----------
        chosen : Filter
            What a caller allows, over the rows of the terminology's file.
        target : Target
            What is searched.
        never : frozenset of int
            Concepts that may not be found.
        by_name : bool
            Whether the rows are those of names even where the target goes by concepts.

        Notes
        -----
        A concept may be found by the mean of its names where one of these names may be found.
        """
        key = (id(chosen), target.name, by_name, never)
        known = self._filters.get(key)
        if known is None or known[0] is not chosen:
            known = (chosen, self._make_filter(chosen, target, never, by_name))
            if len(self._filters) >= _CACHED:
                with contextlib.suppress(KeyError, StopIteration, RuntimeError):
                    self._filters.pop(next(iter(self._filters)))
            self._filters[key] = known
        return known[1]

    def _make_filter(
        self, chosen: Filter, target: Target, never: frozenset[int], by_name: bool
    ) -> Filter:
        rows = self._allowed(chosen, self._part(target.part), never)
        by_concept = target.by_concept and not by_name
        if rows is None and not self._blocks and not by_concept:
            return chosen
        owners = self._ties.concept_of_row
        found = np.zeros(len(self.base.ties.concept_rank), dtype=np.bool_)
        found[owners if rows is None else owners[rows]] = True
        ties = chosen.ties._replace(concept_of_row=owners, scope_of_row=self._ties.scope_of_row)
        if by_concept:
            space = self.space(target)
            rows = found[space.concept_of_row]
            if space.stale is not None:
                rows &= ~space.stale
            ties = ties._replace(
                concept_of_row=space.concept_of_row, scope_of_row=space.scope_of_row
            )
        n = len(ties.concept_of_row) if rows is None else int(rows.sum())
        mask = None if rows is None or rows.all() else rows
        return Filter(mask, n, int(found.sum()), ties, chosen.wanted)

    def _allowed(
        self, chosen: Filter, part: BoolArray | None, never: frozenset[int]
    ) -> BoolArray | None:
        if chosen.allowed is None and part is None and not never:
            return None
        mask = np.ones(self._starts[-1], dtype=np.bool_) if part is None else part
        if chosen.allowed is not None:
            mask[: self._n_base] &= chosen.allowed
            for block, start in zip(self._blocks, self._starts, strict=False):
                mask[start : start + len(block.names)] &= self._passing(block, chosen)
        if never:
            mask &= ~np.isin(self._ties.concept_of_row, list(never))
        return mask

    def _passing(self, block: Block, chosen: Filter) -> BoolArray:
        if chosen.wanted is None:
            return np.ones(len(block.names), dtype=np.bool_)
        described: dict[int, Concept] = {}
        passing = np.zeros(len(block.names), dtype=np.bool_)
        for row, (name, concept) in enumerate(
            zip(block.names, block.concepts.tolist(), strict=True)
        ):
            if concept not in described:
                described[concept] = self.base.terminology.concepts_at([concept])[0]
            passing[row] = chosen.wanted.passes(name, described[concept])
        return passing


def _joined(
    first: npt.NDArray[_Number], further: Sequence[npt.NDArray[_Number]]
) -> npt.NDArray[_Number]:
    return np.concatenate([first, *further])


# --- live ---
# MODULE: The names of an index that is taught while it is in use.


class LiveNames:
    """All names of an index, brought up to date whenever they are asked for.

    Parameters
    ----------
    overlay : Overlay
        What was added to the index.
    built : Names
        What was there when it was built.
    builder : BlockBuilder
        Makes blocks of added names.
    """

    def __init__(self, overlay: Overlay, built: Names, builder: BlockBuilder) -> None:
        self.overlay = overlay
        self._built = self._names = built
        self._builder = builder
        self._renewing = threading.Lock()
        self._seen = OverlayContent()
        self._ordinals: dict[str, int | None] = {}

    def now(self) -> Names:
        """Return all names as they are at this moment; the same object until something changes."""
        if self.overlay.read() is not self._seen:
            with self._renewing:
                content = self.overlay.read()
                if content is not self._seen:
                    self._names = self._renewed(content)
                    self._seen = content
        return self._names

    def learned_texts(self, concept_id: str) -> set[str]:
        """Return the names of a concept that are training mentions."""
        learned = () if self._built.learned is None else self._built.learned.names
        return {name.text for name in learned if name.concept_id == concept_id}

    def _renewed(self, content: OverlayContent) -> Names:
        names, ordinals = [], []
        for name in content.synonyms:
            ordinal = self._ordinal(name.concept_id)
            if ordinal is not None:
                names.append(name)
                ordinals.append(ordinal)
        forbidden: dict[str, frozenset[int]] = {}
        for mention, id_ in content.forbidden:
            ordinal, form = self._ordinal(id_), normalise(mention, STRONG)
            if ordinal is not None:
                forbidden[form] = forbidden.get(form, frozenset()) | {ordinal}
        if not names and not forbidden:
            return self._built
        return self._built.with_added(
            self._builder.build(names, ordinals) if names else None, forbidden
        )

    def _ordinal(self, id_: str) -> int | None:
        """Return the place of a concept, None for one of another release of the terminology."""
        if id_ not in self._ordinals:
            self._ordinals[id_] = self._built.base.terminology.ordinal(id_)
        return self._ordinals[id_]
