"""Every name that is searched at one moment, and the rows that a filter and a target leave.

Rows are numbered through: the terminology's, those of training mentions, those of added synonyms.
A target that goes by names searches some of these rows. A target that goes by concepts has one row
per concept, the mean of its names.

A filter leaves rows, and says which concepts of one name go first. A preference is a type of
concepts, a source, a prefix of ids or a species. Of two concepts that are equal otherwise, one that
meets the first preference goes first, then one that meets the second.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes import BoolArray, Searchable, check_numbers, load_array
from canonym.indexes.concatenated import Concatenated
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
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
from canonym.linking.settings import Sieve, Target
from canonym.mentions.species import species_of, taxon_of
from canonym.ranking.pooling import RowsByConcept, TieRule
from canonym.terminology import Terminology
from canonym.terminology.overlay import OVERLAY, Overlay, OverlayContent
from canonym.text import STRONG, normalise
from canonym.text.spaces import joined
from canonym.types import SCOPES, Concept, Int32Array, Name

SPECIES = "species"
"""The preference for concepts of the species that the text names."""

MOST = 30
"""Most preferences of a call."""

_LISTED = 12
_CACHED = 16
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


# --- filters -------------------------------------------------------------------------------------


class Criteria:
    """The filters of a caller, for names that the terminology's file does not have."""

    def __init__(
        self,
        terminology: Terminology,
        types: Sequence[str],
        sources: Sequence[str],
        languages: Sequence[str],
        ids: Sequence[str],
    ) -> None:
        self._terminology = terminology
        self._types, self._sources, self._languages = (
            {value.casefold() for value in values} for values in (types, sources, languages)
        )
        self._given = ids

    @functools.cached_property
    def _ids(self) -> set[str | None]:
        return {id_ for spelling in self._given for id_ in self._terminology.find_ids(spelling)}

    def passes(self, name: Name, concept: Concept) -> bool:
        """Whether a name of a concept passes, by the rules of `Terminology.rows_where`."""
        sources = {concept.source.casefold(), name.source.casefold() or concept.source.casefold()}
        return (
            (not self._types or any(type_.casefold() in self._types for type_ in concept.types))
            and (not self._sources or bool(sources & self._sources))
            and (not self._languages or name.language.casefold() in self._languages)
            and (not self._given or concept.id in self._ids)
        )


class Filter(NamedTuple):
    """Rows that may be found, and how ties among them are broken.

    `allowed` is None where all rows are. `n_rows` and `n_concepts` are left by the filter.
    `criteria` decide for names beside the terminology; None allows all of them. With `species` the
    text says of which species concepts are preferred.
    """

    allowed: BoolArray | None
    n_rows: int
    n_concepts: int
    ties: TieRule
    criteria: Criteria | None = None
    species: bool = False

    @property
    def prefers(self) -> bool:
        """Whether some concepts of a name are preferred to others."""
        return self.ties.preference is not None


class Filters:
    """Makes filters over the rows of a terminology and remembers the last few.

    `ties` says how ties are broken unless a seed is given. `retired` marks rows that no filter
    passes.
    """

    def __init__(
        self, terminology: Terminology, ties: TieRule, retired: BoolArray | None = None
    ) -> None:
        self._terminology = terminology
        self._ties = ties
        self._retired = retired
        self._known: dict[Any, Filter] = {}

    def choose(
        self,
        *,
        types: Sequence[str] = (),
        sources: Sequence[str] = (),
        languages: Sequence[str] = (),
        ids: Iterable[str] = (),
        prefer: Sequence[str] = (),
        seed: int | None = None,
    ) -> Filter:
        """Turn the filters of a caller into a mask over rows; see `LinkOptions`.

        Raises
        ------
        InvalidInput
            If a filter or a preference names something that the terminology does not have.
        """
        filters = (tuple(types), tuple(sources), tuple(languages), tuple(ids))
        key = (filters, tuple(prefer), seed)
        known = self._known.get(key)
        if known is None:
            known = self._make_filter(*key)
            remember(self._known, key, known)
        return known

    def _make_filter(
        self, filters: tuple[tuple[str, ...], ...], prefer: tuple[str, ...], seed: int | None
    ) -> Filter:
        ties = self._ties
        if seed is not None:
            rank = np.random.default_rng(seed).permutation(self._terminology.n_concepts)
            ties = ties._replace(concept_rank=rank.astype(np.int32), by_scope=False)
        if prefer:
            ties = ties._replace(preference=unmet_preferences(self._terminology, prefer))
        types, sources, languages, ids = filters
        filtered = any(filters)
        species = SPECIES in prefer
        if not filtered and self._retired is None:
            n, n_concepts = self._terminology.n_names, self._terminology.n_concepts
            return Filter(None, n, n_concepts, ties, species=species)
        allowed = self._terminology.rows_where(
            types=types, sources=sources, languages=languages, ids=ids
        )
        if self._retired is not None:
            allowed &= ~self._retired
        concepts = np.unique(ties.concept_of_row[allowed])
        criteria = Criteria(self._terminology, *filters) if filtered else None
        return Filter(allowed, int(allowed.sum()), len(concepts), ties, criteria, species)


def remember(known: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Keep a value, and the last few of before; other threads may do the same meanwhile."""
    if len(known) >= _CACHED:
        with contextlib.suppress(KeyError, StopIteration, RuntimeError):
            known.pop(next(iter(known)))
    known[key] = value


def unmet_preferences(terminology: Terminology, prefer: Sequence[str]) -> npt.NDArray[np.int32]:
    """Say which preferences each concept does not meet: ``(n_concepts,)``, smaller goes first.

    Each is one binary digit, the first preference the highest. Concepts of any species meet
    `SPECIES`: which one it is depends on the text.

    Raises
    ------
    InvalidInput
        If the terminology has no concept that meets a preference.
    """
    unmet = np.zeros(terminology.n_concepts, dtype=np.int32)
    for preference in prefer:
        unmet = 2 * unmet + ~_that_meet(terminology, preference)
    return unmet


def _that_meet(terminology: Terminology, preference: str) -> BoolArray:
    """Mark the concepts of a type, source, prefix or species of that name."""
    rows = np.zeros(terminology.n_names, dtype=np.bool_)
    folded = preference.casefold()
    if folded in map(str.casefold, terminology.types()):
        rows |= terminology.rows_where(types=[preference])
    if folded in map(str.casefold, _sources(terminology)):
        rows |= terminology.rows_where(sources=[preference])
    meeting = np.zeros(terminology.n_concepts, dtype=np.bool_)
    meeting[terminology.concept_of_row()[rows]] = True
    if preference.endswith(":"):
        meeting |= terminology.with_prefix(preference)
    taxon = taxon_of(preference)
    if taxon or preference == SPECIES:
        species = (
            species_of(concept.types, concept.label) for concept in terminology.iter_concepts()
        )
        meeting |= np.fromiter((bool(own) and own == (taxon or own) for own in species), np.bool_)
    if not meeting.any():
        raise InvalidInput(_no_concept(terminology, preference))
    return meeting


def _sources(terminology: Terminology) -> list[str]:
    return [source for source, _ in terminology.sources() if source]


def _no_concept(terminology: Terminology, preference: str) -> str:
    kinds = {
        "types": list(terminology.types()),
        "sources": _sources(terminology),
        "prefixes": [f"{prefix}:" for prefix in terminology.prefixes() if prefix],
    }
    there = "; ".join(
        f"{kind} {', '.join(map(repr, values[:_LISTED]))}"
        + (f" and {len(values) - _LISTED} more" if len(values) > _LISTED else "")
        for kind, values in kinds.items()
        if values
    )
    return (
        f"prefer: no concept of {terminology.path.name} is of {preference!r}; expected a type, a "
        f"source, a prefix of ids or a species. It has {f'the {there}' if there else 'none'}"
    )


# --- names ---------------------------------------------------------------------------------------


class TerminologyRows(NamedTuple):
    """The rows of the terminology: one look-up per sieve, one index per encoder.

    `retired` marks names of deprecated concepts that nothing takes the place of, None: no name;
    `joined` sieves compare without spaces.
    """

    terminology: Terminology
    ties: TieRule
    sieves: tuple[Verbatim, ...]
    indexes: tuple[Exact | Inverted, ...]
    rows: RowsByConcept
    retired: BoolArray | None = None
    joined: frozenset[int] = frozenset()


def open_rows(
    folder: Path,
    terminology: Terminology,
    sieves: Sequence[Sieve],
    described: Sequence[Mapping[str, Any]],
) -> TerminologyRows:
    """Open the rows of a terminology in the folder of an index, memory-mapped."""
    n, n_concepts = terminology.n_names, terminology.n_concepts
    retired, home = folder / "rows" / "retired.npy", folder / "rows" / "home.npy"

    def load(name: str, shape: int, dtype: npt.DTypeLike, below: int) -> npt.NDArray[Any]:
        path = folder / "rows" / f"{name}.npy"
        array = load_array(path, (shape,), dtype)
        check_numbers(path, array, below)
        return array

    ties = TieRule(
        load("concept_of_row", n, np.int32, n_concepts),
        load("scope_of_row", n, np.int8, len(SCOPES)),
        load("id_rank", n_concepts, np.int32, n_concepts),
        home=tuple(load_array(home, (2,), np.int64).tolist()) if home.exists() else (0, 0),
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
        frozenset(number for number, sieve in enumerate(sieves) if sieve.joined),
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
                concept_of_row=np.concatenate(
                    [base.ties.concept_of_row, *(n.concepts for n in self._extra)]
                ),
                scope_of_row=np.concatenate(
                    [base.ties.scope_of_row, *(n.scopes for n in self._extra)]
                ),
            )
            self._indexes = tuple(Concatenated(parts) for parts in self._parts())
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
        rows = np.concatenate([rows, *(more for more, _ in further)])
        places = np.concatenate([places, *(place for _, place in further)])
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
        """Return the rows that hold each form, in the sieve of that number; some but for spaces."""
        forms = joined(forms) if sieve in self.base.joined else forms
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
        if target.name not in self._targets:
            self._targets[target.name] = (
                self._concept_rows(target)
                if target.by_concept
                else TargetRows(self._ties.concept_of_row, self._ties.scope_of_row, self._indexes)
            )
        return self._targets[target.name]

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
            Concatenated([old, new]) for old, new in zip(indexes, renewed.indexes, strict=True)
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
        described = functools.cache(lambda concept: self.base.terminology.concepts_at([concept])[0])
        for row, concept in enumerate(names.concepts.tolist()):
            passing[row] = row_filter.criteria.passes(names.names[row], described(concept))
        return passing


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
