"""Strings to their nearest concepts by similarity, in one step or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.indexes import BoolArray, Searchable
from canonym.indexes.vectors import Vectors, take_vectors
from canonym.linking.extra_names import Coder
from canonym.linking.filters import Filter
from canonym.linking.names import Names
from canonym.linking.targets import TARGETS, Target
from canonym.ranking.fusion import FusedHits, Scorer, fuse
from canonym.ranking.pooling import search_concepts
from canonym.types import Int32Array

__all__ = ["Found", "Searcher", "Searchers"]


class Found(NamedTuple):
    """A concept, its best row (−1 where it was found by the mean of its names), the score, what
    each encoder gave, and the step that found it.
    """

    concept: int
    row: int
    score: float
    parts: dict[str, float]
    step: str


class Searcher(NamedTuple):
    """An encoder by its name, and its weight in the sum."""

    name: str
    coder: Coder
    weight: float


class Searchers:
    """The encoders of a linker and the steps of its search.

    Parameters
    ----------
    searchers : sequence of Searcher
        Every encoder.
    steps : sequence of Target
        One or two.
    threshold : float
        The least score that the first of two steps decides with.

    Notes
    -----
    The concepts of the first step that score at least the threshold come first, and the list is
    filled up from the second step, with scores that fall. So where the best concept of the first
    step is accepted it is the answer, and otherwise the list is that of the second step.

    Differences
    -----------
    The paper looks at the best concept only, and asks for a cosine above 0.95.

    References
    ----------
    Xu and Bethard (2021), section 3.2.3.
    """

    def __init__(
        self, searchers: Sequence[Searcher], steps: Sequence[Target], threshold: float
    ) -> None:
        self.steps = tuple(steps)
        self._searchers = tuple(searchers)
        self._threshold = threshold
        self._last: tuple[dict[str, int], list[Vectors]] = {}, []

    @property
    def names(self) -> tuple[str, ...]:
        """What the encoders are called, in order."""
        return tuple(searcher.name for searcher in self._searchers)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each encoder in the sum."""
        return tuple(searcher.weight for searcher in self._searchers)

    @property
    def coders(self) -> tuple[Coder, ...]:
        """What encodes, in order."""
        return tuple(searcher.coder for searcher in self._searchers)

    def __len__(self) -> int:
        return len(self._searchers)

    def search(
        self, strings: Sequence[str], k: int, names: Names, chosen: Filter, never: frozenset[int]
    ) -> dict[str, list[Found]]:
        """Search in all steps.

        Parameters
        ----------
        strings : sequence of str
            Distinct, and not empty in normal form.
        k : int
            Concepts wanted.
        names : Names
            What is searched.
        chosen : Filter
            What may be found.
        never : frozenset of int
            Concepts that may not be found.

        Returns
        -------
        dict of str to list of Found
            Best first, scores above 0 only.
        """
        if not strings or not self._searchers:
            return {}
        encoded = self.encode(strings)
        # One assignment, so that another thread sees either all of it or nothing.
        self._last = {string: place for place, string in enumerate(strings)}, encoded
        found: list[list[Found]] = [[] for _ in strings]
        for place, target in enumerate(self.steps):
            left = np.flatnonzero([len(one) < k for one in found])
            last = place == len(self.steps) - 1
            least = 0.0 if last else self._threshold
            nearest = self.nearest(
                [take_vectors(vectors, left) for vectors in encoded],
                k,
                names.space(target).indexes,
                names.filter(chosen, target, never),
                step=target,
            )
            for i, further in zip(left, nearest, strict=True):
                _fill(found[i], [one for one in further if last or one.score >= least], k)
        return dict(zip(strings, found, strict=True))

    def encode(self, strings: Sequence[str]) -> list[Vectors]:
        """Encode strings by every encoder; those of the last search are at hand."""
        known, vectors = self._last
        if strings and all(string in known for string in strings):
            places = np.array([known[string] for string in strings], dtype=np.intp)
            return [take_vectors(each, places) for each in vectors]
        return [searcher.coder.encode(strings) for searcher in self._searchers]

    def scores(
        self, strings: Sequence[str], rows: Sequence[Int32Array], names: Names
    ) -> list[npt.NDArray[np.float64]]:
        """Score chosen names.

        Parameters
        ----------
        strings : sequence of str
            What is searched for.
        rows : sequence of ndarray, int32
            For each string the rows of names.
        names : Names
            What the rows are of.

        Returns
        -------
        list of ndarray, float64
            One per string, as long as its rows: the weighted mean of what the encoders give.
        """
        found = [np.zeros(len(each)) for each in rows]
        total = sum(searcher.weight for searcher in self._searchers)
        indexes = names.space(TARGETS["O-T"]).indexes
        encoded = self.encode(strings)
        for searcher, index, vectors in zip(self._searchers, indexes, encoded, strict=True):
            for place, each in enumerate(rows):
                query = take_vectors(vectors, np.array([place]))
                found[place] += searcher.weight / total * index.score(query, each[None, :])[0]
        return found

    def nearest(
        self,
        encoded: Sequence[Vectors],
        k: int,
        indexes: Sequence[Searchable],
        chosen: Filter,
        *,
        step: Target,
    ) -> list[list[Found]]:
        """Find the nearest owners of rows.

        Parameters
        ----------
        encoded : sequence of Vectors
            What is searched for, by every encoder.
        k : int
            Owners wanted.
        indexes : sequence of Searchable
            One per encoder.
        chosen : Filter
            Which rows may be found, and who owns them: ``chosen.ties.concept_of_row``.
        step : Target
            What the rows are.
        """
        first = encoded[0]
        n = first.shape[0] if isinstance(first, np.ndarray) else first.n_rows
        if not n:
            return []

        def search(queries: npt.NDArray[np.intp], fetch: int) -> FusedHits:
            scorers = [
                _scorer(searcher, index, take_vectors(vectors, queries), chosen.allowed)
                for searcher, index, vectors in zip(self._searchers, indexes, encoded, strict=True)
            ]
            return fuse(scorers, fetch)

        ranked = search_concepts(
            search, n, chosen.n_rows, k, chosen.ties, n_concepts=chosen.n_concepts
        )
        names = [searcher.name for searcher in self._searchers]
        return [
            [
                Found(
                    int(ranked.concepts[i, j]),
                    -1 if step.by_concept else int(ranked.rows[i, j]),
                    float(ranked.scores[i, j]),
                    {
                        name: float(part[i, j])
                        for name, part in zip(names, ranked.parts, strict=True)
                    },
                    step.name,
                )
                for j in range(k)
                if ranked.scores[i, j] > 0
            ]
            for i in range(n)
        ]


def _fill(found: list[Found], further: Sequence[Found], k: int) -> None:
    """Add what an earlier step has not found, with scores that fall down the list."""
    taken = {one.concept for one in found}
    for one in further:
        if one.concept not in taken and len(found) < k:
            highest = found[-1].score if found else one.score
            found.append(one._replace(score=min(one.score, highest)))


def _scorer(
    searcher: Searcher, index: Searchable, queries: Any, allowed: BoolArray | None
) -> Scorer:
    return Scorer(
        searcher.name,
        lambda n: index.search(queries, n, allowed=allowed),
        lambda rows: index.score(queries, rows),
        searcher.weight,
    )
