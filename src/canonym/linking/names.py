"""Every name that is searched at one moment, and the rows that a filter and a target leave.

Rows are numbered through: the terminology's, those of training mentions, those of added synonyms.
A target that goes by names searches some of these rows. A target that goes by concepts has one row
per concept, the mean of its names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from canonym.indexes import BoolArray, Searchable, check_numbers, load_array
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.stacked import Stacked
from canonym.indexes.verbatim import Verbatim
from canonym.io.forks import Lock
from canonym.linking.extra_names import (
    INDEXES,
    ConceptMeans,
    Encode,
    ExtraNames,
    ExtraNamesBuilder,
    concept_means,
    load_targets,
)
from canonym.linking.filters import Filter, remember
from canonym.linking.overlay import OVERLAY, Overlay, OverlayContent
from canonym.linking.settings import Sieve
from canonym.linking.targets import Target
from canonym.ranking.pooling import RowsByConcept, TieRule
from canonym.terminology import Terminology
from canonym.text import STRONG, normalise
from canonym.types import SCOPES, Concept, Int32Array, Name

_Number = TypeVar("_Number", bound=np.generic)


class TerminologyRows(NamedTuple):
    """The rows of the terminology: one look-up per sieve, one index per encoder.

    `retired` marks names of deprecated concepts that nothing takes the place of, None: no name.
    """

    terminology: Terminology
    ties: TieRule
    sieves: tuple[Verbatim, ...]
    indexes: tuple[Exact | Inverted, ...]
    rows: RowsByConcept
    retired: BoolArray | None = None


def open_rows(
    folder: Path,
    terminology: Terminology,
    sieves: Sequence[Sieve],
    described: Sequence[Mapping[str, Any]],
) -> TerminologyRows:
    """Open the rows of a terminology in the folder of an index, memory-mapped."""
    n, n_concepts = terminology.n_names, terminology.n_concepts
    retired = folder / "rows" / "retired.npy"

    def load(name: str, shape: int, dtype: npt.DTypeLike, below: int) -> npt.NDArray[Any]:
        path = folder / "rows" / f"{name}.npy"
        array = load_array(path, (shape,), dtype)
        check_numbers(path, array, below)
        return array

    ties = TieRule(
        load("concept_of_row", n, np.int32, n_concepts),
        load("scope_of_row", n, np.int8, len(SCOPES)),
        load("id_rank", n_concepts, np.int32, n_concepts),
    )
    return TerminologyRows(
        terminology,
        ties,
        tuple(Verbatim.load(folder / f"sieve-{sieve.name}", n_rows=n) for sieve in sieves),
        tuple(
            INDEXES[encoder["index"]].load(folder / f"index-{number}", n_rows=n)
            for number, encoder in enumerate(described)
        ),
        RowsByConcept(ties.concept_of_row),
        load_array(retired, (n,), np.bool_) if retired.exists() else None,
    )


class TargetRows(NamedTuple):
    """The rows that a target searches: concepts, scopes, an index per encoder.

    `stale` marks rows that are out of date, None: none.
    """

    concept_of_row: Int32Array
    scope_of_row: npt.NDArray[np.int8]
    indexes: tuple[Searchable, ...]
    stale: BoolArray | None = None


class Names:
    """All names at one moment; never changed, only replaced.

    `training` and `added` are the names of training mentions and the added synonyms, `means` the
    means of concepts by the part of a target. `forbidden` has the ordinals of concepts that are
    never found, by the normal form of the mention.
    """

    def __init__(
        self,
        base: TerminologyRows,
        training: ExtraNames | None,
        added: ExtraNames | None,
        means: Mapping[str, ConceptMeans],
        forbidden: Mapping[str, frozenset[int]],
    ) -> None:
        self.base = base
        self.training = training
        self.forbidden = forbidden
        self._added = added
        self._means = means
        self._extra = [names for names in (training, added) if names is not None]
        self.n_base = len(base.ties.concept_of_row)
        self._starts = [self.n_base]
        for names in self._extra:
            self._starts.append(self._starts[-1] + len(names.names))
        self._ties = base.ties
        self._indexes: tuple[Searchable, ...] = base.indexes
        if self._extra:
            self._ties = base.ties._replace(
                concept_of_row=_joined(
                    base.ties.concept_of_row, [names.concepts for names in self._extra]
                ),
                scope_of_row=_joined(
                    base.ties.scope_of_row, [names.scopes for names in self._extra]
                ),
            )
            self._indexes = tuple(Stacked(parts) for parts in self._parts())
        self._targets: dict[str, TargetRows] = {}
        self._filters: dict[tuple[int, str, bool, frozenset[int]], tuple[Filter, Filter]] = {}

    def with_added(
        self, added: ExtraNames | None, forbidden: Mapping[str, frozenset[int]]
    ) -> Names:
        """Return the same names with other synonyms and forbidden pairs."""
        return Names(self.base, self.training, added, self._means, forbidden)

    def _parts(self) -> list[tuple[Exact | Inverted, ...]]:
        """Return the indexes of every encoder, in the order of the rows."""
        return list(zip(self.base.indexes, *(n.indexes for n in self._extra), strict=True))

    def rows_of(
        self, concepts: npt.NDArray[np.integer[Any]], most: int
    ) -> tuple[Int32Array, npt.NDArray[np.intp]]:
        """Return the first rows of each concept, rising, and the place in `concepts` of each."""
        rows, places = self.base.rows.of(concepts, most)
        if not self._extra:
            return rows, places
        further = [
            (more + np.int32(start), place)
            for names, start in zip(self._extra, self._starts, strict=False)
            for more, place in [names.rows.of(concepts, most)]
        ]
        rows = _joined(rows, [more for more, _ in further])
        places = _joined(places, [place for _, place in further])
        order = np.argsort(places, kind="stable")
        rows, places = rows[order], places[order]
        first = np.arange(len(places)) - np.searchsorted(places, places) < most
        return rows[first], places[first]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self._starts[-1]

    def extra_texts(self) -> list[str]:
        """Return the distinct names beside the terminology's."""
        return list(dict.fromkeys(name.text for names in self._extra for name in names.names))

    def name(self, row: int) -> Name:
        """Return the name of a row."""
        for names, start in zip(reversed(self._extra), reversed(self._starts[:-1]), strict=True):
            if row >= start:
                return names.names[row - start]
        return self.base.terminology.names_at([row])[0]

    def forbidden_for(self, mention: str) -> frozenset[int]:
        """Return the ordinals of the concepts that a mention does not stand for."""
        if not self.forbidden:
            return frozenset()
        return self.forbidden.get(normalise(mention, STRONG), frozenset())

    def find(self, sieve: int, forms: Sequence[str]) -> list[Int32Array]:
        """Return the rows that hold exactly each normal form, in the sieve of that number."""
        rows_of = self.base.sieves[sieve].find(forms)
        for names, start in zip(self._extra, self._starts, strict=False):
            further = names.sieves[sieve].find(forms)
            rows_of = [
                np.concatenate([rows, more + np.int32(start)]) if len(more) else rows
                for rows, more in zip(rows_of, further, strict=True)
            ]
        return rows_of

    def rows_of_target(self, target: Target) -> TargetRows:
        """Return the rows that a target searches."""
        known = self._targets.get(target.name)
        if known is None:
            known = self._concept_rows(target) if target.by_concept else self._name_rows()
            self._targets[target.name] = known
        return known

    def _name_rows(self) -> TargetRows:
        return TargetRows(self._ties.concept_of_row, self._ties.scope_of_row, self._indexes)

    def _concept_rows(self, target: Target) -> TargetRows:
        owners, indexes = self._means[target.part]
        if self._added is None:
            return TargetRows(owners, np.zeros(len(owners), dtype=np.int8), indexes)
        # Concepts with added names get new means; their old ones are passed over.
        touched = np.unique(self._added.concepts)
        all_owners = self._ties.concept_of_row
        counted = np.isin(all_owners, touched)
        part = self._rows_of_part(target.part)
        if part is not None:
            counted &= part
        start = self.n_base
        for names in self._extra if target.part == "OD" else []:
            counted[start : start + len(names.names)] &= ~names.repeated
            start += len(names.names)
        renewed = concept_means(self._parts(), all_owners, np.flatnonzero(counted))
        whole = np.concatenate([owners, renewed.owners])
        stale = np.concatenate([np.isin(owners, touched), np.zeros(len(renewed.owners), bool)])
        stacked = tuple(
            Stacked([old, new]) for old, new in zip(indexes, renewed.indexes, strict=True)
        )
        return TargetRows(whole, np.zeros(len(whole), dtype=np.int8), stacked, stale)

    def _rows_of_part(self, part: str) -> BoolArray | None:
        """Mark the rows whose names belong to a part of a target; None for all of them."""
        if self.training is None or part == "OD":
            return None
        mask = np.ones(self._starts[-1], dtype=np.bool_)
        if part == "D":
            mask[: self.n_base] = False
        else:
            mask[self.n_base : self._starts[1]] = False
        return mask

    def filter(
        self,
        row_filter: Filter,
        target: Target,
        forbidden: frozenset[int] = frozenset(),
        *,
        by_name: bool = False,
    ) -> Filter:
        """Turn a filter over the terminology's rows into one over the rows of a target.

        With `by_name` the rows are those of names, even where the target goes by concepts. If a
        filter allows any name of a concept, it allows the concept's mean vector.
        """
        key = (id(row_filter), target.name, by_name, forbidden)
        known = self._filters.get(key)
        if known is None or known[0] is not row_filter:
            known = (row_filter, self._make_filter(row_filter, target, forbidden, by_name))
            remember(self._filters, key, known)
        return known[1]

    def _make_filter(
        self, row_filter: Filter, target: Target, forbidden: frozenset[int], by_name: bool
    ) -> Filter:
        rows = self._allowed(row_filter, self._rows_of_part(target.part), forbidden)
        by_concept = target.by_concept and not by_name
        if rows is None and not self._extra and not by_concept:
            return row_filter
        owners = self._ties.concept_of_row
        concepts = np.zeros(len(self.base.ties.concept_rank), dtype=np.bool_)
        concepts[owners if rows is None else owners[rows]] = True
        ties = row_filter.ties._replace(concept_of_row=owners, scope_of_row=self._ties.scope_of_row)
        if by_concept:
            searched = self.rows_of_target(target)
            rows = concepts[searched.concept_of_row]
            if searched.stale is not None:
                rows &= ~searched.stale
            ties = ties._replace(
                concept_of_row=searched.concept_of_row, scope_of_row=searched.scope_of_row
            )
        n = len(ties.concept_of_row) if rows is None else int(rows.sum())
        mask = None if rows is None or rows.all() else rows
        return row_filter._replace(
            allowed=mask, n_rows=n, n_concepts=int(concepts.sum()), ties=ties
        )

    def _allowed(
        self, row_filter: Filter, part: BoolArray | None, forbidden: frozenset[int]
    ) -> BoolArray | None:
        if row_filter.allowed is None and part is None and not forbidden:
            return None
        mask = np.ones(self._starts[-1], dtype=np.bool_) if part is None else part
        if row_filter.allowed is not None:
            mask[: self.n_base] &= row_filter.allowed
            for names, start in zip(self._extra, self._starts, strict=False):
                mask[start : start + len(names.names)] &= self._passing(names, row_filter)
        if forbidden:
            mask &= ~np.isin(self._ties.concept_of_row, list(forbidden))
        return mask

    def _passing(self, names: ExtraNames, row_filter: Filter) -> BoolArray:
        passing = np.ones(len(names.names), dtype=np.bool_)
        if row_filter.criteria is None:
            return passing
        described: dict[int, Concept] = {}
        for row, concept in enumerate(names.concepts.tolist()):
            if concept not in described:
                described[concept] = self.base.terminology.concepts_at([concept])[0]
            passing[row] = row_filter.criteria.passes(names.names[row], described[concept])
        return passing


def _joined(
    first: npt.NDArray[_Number], further: Sequence[npt.NDArray[_Number]]
) -> npt.NDArray[_Number]:
    return np.concatenate([first, *further])


class CurrentNames:
    """The names of an index, kept up to date with its overlay."""

    def __init__(self, overlay: Overlay, built: Names, builder: ExtraNamesBuilder) -> None:
        self.overlay = overlay
        self._built = self._names = built
        self._builder = builder
        self._renewing = Lock()
        self._seen = OverlayContent()
        self._ordinals: dict[str, int | None] = {}

    @classmethod
    def open(
        cls,
        folder: Path,
        manifest: Mapping[str, Any],
        rows: TerminologyRows,
        encoders: Sequence[Encode],
        sieves: Sequence[Sieve],
        steps: Sequence[Target],
    ) -> CurrentNames:
        """Open the names of an index in its folder."""
        settings, described = manifest["settings"], manifest["encoders"]
        training, means = load_targets(rows.terminology, folder, settings, described, steps)
        built = Names(rows, training, None, means, {})
        kinds = [encoder["index"] for encoder in described]
        return cls(Overlay(folder / OVERLAY), built, ExtraNamesBuilder(sieves, encoders, kinds))

    def snapshot(self) -> Names:
        """Return all names at this moment; the same object until something changes."""
        if self.overlay.read() is not self._seen:
            with self._renewing:
                content = self.overlay.read()
                if content is not self._seen:
                    self._names = self._renewed(content)
                    self._seen = content
        return self._names

    def training_texts(self, concept_id: str) -> set[str]:
        """Return the names of a concept that are training mentions."""
        training = () if self._built.training is None else self._built.training.names
        return {name.text for name in training if name.concept_id == concept_id}

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
        added = self._builder.build(names, ordinals) if names else None
        return self._built.with_added(added, forbidden)

    def _ordinal(self, id_: str) -> int | None:
        """Return the place of a concept, None for one of another release of the terminology."""
        if id_ not in self._ordinals:
            self._ordinals[id_] = self._built.base.terminology.ordinal(id_)
        return self._ordinals[id_]
