"""What a caller allows to be found, as a mask over rows."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from canonym.indexes import BoolArray
from canonym.ranking.pooling import TieRule
from canonym.terminology import Terminology
from canonym.types import Concept, Name

__all__ = ["Filter", "Filters", "Wanted"]

_CACHED_FILTERS = 16


class Wanted:
    """The filters of a caller, to be applied to names that the terminology's file does not have.

    Parameters
    ----------
    terminology : Terminology
        Whose alternative ids count.
    types, sources, languages, ids : sequence of str
        As `Filters.choose` takes them.
    """

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
        return {self._terminology.resolve(id_) for id_ in self._given}

    def passes(self, name: Name, concept: Concept) -> bool:
        """Whether a name of a concept passes, by the rules of `Terminology.rows_where`."""
        sources = {concept.source.casefold(), name.source.casefold() or concept.source.casefold()}
        return (
            (not self._types or any(one.casefold() in self._types for one in concept.types))
            and (not self._sources or bool(sources & self._sources))
            and (not self._languages or name.language.casefold() in self._languages)
            and (not self._given or concept.id in self._ids)
        )


class Filter(NamedTuple):
    """Rows that may be found (None: all), how many rows and concepts that leaves, how ties among
    them are broken, and what was asked for (None: nothing in particular).
    """

    allowed: BoolArray | None
    n_rows: int
    n_concepts: int
    ties: TieRule
    wanted: Wanted | None = None


class Filters:
    """Makes filters and remembers the last few.

    Parameters
    ----------
    terminology : Terminology
        What is filtered.
    ties : TieRule
        How ties are broken unless a seed is given.
    """

    def __init__(self, terminology: Terminology, ties: TieRule) -> None:
        self._terminology = terminology
        self._ties = ties
        self._known: dict[Any, Filter] = {}

    def choose(
        self,
        *,
        types: Sequence[str] = (),
        sources: Sequence[str] = (),
        languages: Sequence[str] = (),
        ids: Iterable[str] = (),
        seed: int | None = None,
    ) -> Filter:
        """Turn the filters of a caller into a mask over rows; the last few are remembered.

        Parameters
        ----------
        types, sources, languages : sequence of str
            See `canonym.terminology.Terminology.rows_where`.
        ids : iterable of str
            Only these concepts.
        seed : int, optional
            Break ties at random, the same way for the same seed, instead of by scope and id.

        Raises
        ------
        InvalidInput
            If a filter names something that the terminology has not.
        """
        key = (tuple(types), tuple(sources), tuple(languages), tuple(ids), seed)
        known = self._known.get(key)
        if known is None:
            known = self._make_filter(*key)
            if len(self._known) >= _CACHED_FILTERS:
                with contextlib.suppress(KeyError, StopIteration, RuntimeError):
                    self._known.pop(next(iter(self._known)))
            self._known[key] = known
        return known

    def _make_filter(
        self,
        types: tuple[str, ...],
        sources: tuple[str, ...],
        languages: tuple[str, ...],
        ids: tuple[str, ...],
        seed: int | None,
    ) -> Filter:
        ties = self._ties
        if seed is not None:
            rank = np.random.default_rng(seed).permutation(self._terminology.n_concepts)
            ties = ties._replace(concept_rank=rank.astype(np.int32), by_scope=False)
        if not (types or sources or languages or ids):
            return Filter(None, self._terminology.n_names, self._terminology.n_concepts, ties)
        allowed = self._terminology.rows_where(
            types=types, sources=sources, languages=languages, ids=ids
        )
        concepts = np.unique(ties.concept_of_row[allowed])
        wanted = Wanted(self._terminology, types, sources, languages, ids)
        return Filter(allowed, int(allowed.sum()), len(concepts), ties, wanted)
