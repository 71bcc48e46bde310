"""The rows that the filters of a caller leave, and which concepts of one name it prefers.

A preference is a type of concepts, a source, a prefix of ids or a species. Of two concepts that are
equal otherwise, one that meets the first preference goes first, then one that meets the second.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes import BoolArray
from canonym.mentions.species import species_of, taxon_of
from canonym.ranking.pooling import TieRule
from canonym.terminology import Terminology
from canonym.types import Concept, Name

SPECIES = "species"
"""The preference for concepts of the species that the text names."""

MOST = 30
"""Most preferences of a call."""

_LISTED = 12
_CACHED = 16
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


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
        key = (tuple(types), tuple(sources), tuple(languages), tuple(ids), tuple(prefer), seed)
        known = self._known.get(key)
        if known is None:
            known = self._make_filter(*key)
            remember(self._known, key, known)
        return known

    def _make_filter(
        self,
        types: tuple[str, ...],
        sources: tuple[str, ...],
        languages: tuple[str, ...],
        ids: tuple[str, ...],
        prefer: tuple[str, ...],
        seed: int | None,
    ) -> Filter:
        ties = self._ties
        if seed is not None:
            rank = np.random.default_rng(seed).permutation(self._terminology.n_concepts)
            ties = ties._replace(concept_rank=rank.astype(np.int32), by_scope=False)
        if prefer:
            ties = ties._replace(preference=unmet_preferences(self._terminology, prefer))
        filtered = types or sources or languages or ids
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
        criteria = None
        if filtered:
            criteria = Criteria(self._terminology, types, sources, languages, ids)
        return Filter(allowed, int(allowed.sum()), len(concepts), ties, criteria, species)


def remember(known: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Keep a value, and the last few of before; other threads may do the same meanwhile."""
    if len(known) >= _CACHED:
        with contextlib.suppress(KeyError, StopIteration, RuntimeError):
            known.pop(next(iter(known)))
    known[key] = value


# --- preferences ----------------------------------------------------------------------------------


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
    if _among(preference, terminology.types()):
        rows |= terminology.rows_where(types=[preference])
    if _among(preference, _sources(terminology)):
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


def _among(value: str, known: Iterable[str]) -> bool:
    return value.casefold() in {other.casefold() for other in known}


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
        f"source, a prefix of ids or a species. It has the {there}"
    )
