"""Strings to ranked candidates: the sieves first, then search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym.encoders import load_encoder
from canonym.filters import Filter, Filters
from canonym.indexes import BoolArray, Index
from canonym.indexes.exact import Exact
from canonym.indexes.inverted import Inverted
from canonym.indexes.verbatim import Verbatim
from canonym.ranking.fusion import FusedHits, Scorer, fuse
from canonym.ranking.pooling import TieRule, search_concepts
from canonym.settings import chosen_sieves
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.types import Candidate, Concept, SparseVectors

__all__ = ["Answer", "Lookup"]

_INDEXES: dict[str, type[Exact] | type[Inverted]] = {"exact": Exact, "inverted": Inverted}
_CACHED_CONCEPTS = 200_000

_Found = tuple[int, int, float, dict[str, float]]


@dataclass(frozen=True)
class _Searcher:
    name: str
    encoder: Any
    index: Index
    weight: float
    steps: tuple[str, ...]


class Answer(NamedTuple):
    """Candidates of a string, best first; the sieve that decided; why there are none."""

    candidates: tuple[Candidate, ...]
    sieve: str
    reason: str = ""

    @property
    def score(self) -> float:
        """Score of the best candidate, −inf without one."""
        return self.candidates[0].score if self.candidates else float("-inf")


class Lookup:
    """The sieves and searchers of a saved linker.

    Parameters
    ----------
    folder : Path
        Written by `canonym.building.build_folder`.
    manifest : dict
        Its manifest.
    terminology : Terminology
        Of the same digest.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any], terminology: Terminology) -> None:
        self.terminology = terminology
        rows = {
            name: np.load(folder / "rows" / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in ("concept_of_row", "scope_of_row", "id_rank")
        }
        ties = TieRule(rows["concept_of_row"], rows["scope_of_row"], rows["id_rank"])
        self.filters = Filters(terminology, ties)
        self._sieves = [
            (s, Verbatim.load(folder / f"sieve-{s.name}"))
            for s in chosen_sieves(manifest["settings"]["sieves"])
        ]
        self._searchers = [
            _Searcher(
                described["name"],
                load_encoder(folder / f"encoder-{number}"),
                _INDEXES[described["index"]].load(folder / f"index-{number}"),
                float(described["weight"]),
                tuple(described["steps"]),
            )
            for number, described in enumerate(manifest["encoders"])
        ]
        self._shortest = int(manifest["settings"]["min_length"])
        self._concepts: dict[int, Concept] = {}

    def find(self, strings: Sequence[str], k: int, chosen: Filter) -> dict[str, Answer]:
        """Find the candidates of distinct strings: sieves first, then search.

        Parameters
        ----------
        strings : sequence of str
            What to look up, as prepared.
        k : int
            Candidates wanted.
        chosen : Filter
            What may be found; see `canonym.filters.Filters.choose`.

        Returns
        -------
        dict of str to Answer
            One per string.
        """
        sieved: dict[str, tuple[str, float, list[tuple[int, int]]]] = {}
        for sieve, verbatim in self._sieves:
            left = [string for string in strings if string not in sieved]
            forms = list(normalise_all(left, sieve.steps))
            for string, rows in zip(left, verbatim.find(forms), strict=True):
                if chosen.allowed is not None:
                    rows = rows[chosen.allowed[rows]]
                if len(rows):
                    sieved[string] = (
                        sieve.name,
                        sieve.score,
                        self._concepts_of(rows, k, chosen.ties),
                    )
        plain = dict(zip(strings, normalise_all(strings, PLAIN), strict=True))
        searched = [
            string
            for string in strings
            if plain[string]
            and (
                len(sieved[string][2]) < k
                if string in sieved
                else len(plain[string]) >= self._shortest
            )
        ]
        found = self.search(searched, k, chosen)
        answers: dict[str, Answer] = {}
        for string in strings:
            name, score, pairs = sieved.get(string, ("search", 1.0, []))
            candidates = [
                self._candidate(concept, row, score, name, {name: score}) for concept, row in pairs
            ]
            taken = {concept for concept, _ in pairs}
            for concept, row, similarity, parts in found.get(string, ()):
                if concept not in taken and len(candidates) < k:
                    # Whatever the sieve found stays ahead, and scores fall down the list.
                    shown = min(similarity, score)
                    candidates.append(self._candidate(concept, row, shown, "search", parts))
            reason = "" if candidates else _why_none(plain[string], self._shortest)
            answers[string] = Answer(tuple(candidates), name if pairs else "search", reason)
        return answers

    def _concepts_of(
        self, rows: np.ndarray[Any, Any], k: int, ties: TieRule
    ) -> list[tuple[int, int]]:
        owners = ties.concept_of_row[rows]
        scope = ties.scope_of_row[rows] if ties.by_scope else np.zeros(len(rows))
        order = np.lexsort((rows, ties.concept_rank[owners], scope))
        best: dict[int, int] = {}
        for place in order:
            best.setdefault(int(owners[place]), int(rows[place]))
        return list(best.items())[:k]

    def search(
        self, strings: Sequence[str], k: int, chosen: Filter
    ) -> dict[str, list[tuple[int, int, float, dict[str, float]]]]:
        """Search without sieves, for whatever owns the rows of a filter's tie rule.

        Parameters
        ----------
        strings : sequence of str
            Distinct, and not empty in normal form.
        k : int
            Owners wanted.
        chosen : Filter
            What may be found. The owners are those of ``chosen.ties.concept_of_row``: concepts, or
            anything else that is a number for every row.

        Returns
        -------
        dict of str to list
            For each string owner, its best row, score and every encoder's part of it, best first;
            nothing at all without an encoder.
        """
        if not strings or not self._searchers:
            return {}
        encoded = [
            searcher.encoder.encode(list(normalise_all(strings, searcher.steps)))
            for searcher in self._searchers
        ]

        def search(queries: np.ndarray[Any, Any], n: int) -> FusedHits:
            return fuse(
                [
                    _scorer(searcher, _take(vectors, queries), chosen.allowed)
                    for searcher, vectors in zip(self._searchers, encoded, strict=True)
                ],
                n,
            )

        ranked = search_concepts(
            search, len(strings), chosen.n_rows, k, chosen.ties, n_concepts=chosen.n_concepts
        )
        names = [searcher.name for searcher in self._searchers]
        found: dict[str, list[tuple[int, int, float, dict[str, float]]]] = {}
        for i, string in enumerate(strings):
            found[string] = [
                (
                    int(ranked.concepts[i, j]),
                    int(ranked.rows[i, j]),
                    float(ranked.scores[i, j]),
                    {
                        name: float(part[i, j])
                        for name, part in zip(names, ranked.parts, strict=True)
                    },
                )
                for j in range(k)
                if ranked.scores[i, j] > 0
            ]
        return found

    def _candidate(
        self, concept: int, row: int, score: float, sieve: str, parts: dict[str, float]
    ) -> Candidate:
        known = self._concepts.get(concept)
        if known is None:
            if len(self._concepts) >= _CACHED_CONCEPTS:
                self._concepts.clear()
            known = self._concepts[concept] = self.terminology.concepts_at([concept])[0]
        name = self.terminology.names_at([row])[0]
        return Candidate(
            known.id, known.label, score, name.text, name.scope, known.types, sieve, parts
        )


def _why_none(plain: str, shortest: int) -> str:
    if not plain:
        return "nothing to look up: no letters or digits are left"
    if len(plain) < shortest:
        return f"no name is {plain!r}, and {len(plain)} characters are too few to search with"
    return "no name has anything in common with it"


def _take(vectors: Any, chosen: np.ndarray[Any, Any]) -> Any:
    if not isinstance(vectors, SparseVectors):
        return vectors[chosen]
    counts = np.diff(vectors.indptr)[chosen]
    places = np.concatenate(
        [np.arange(vectors.indptr[i], vectors.indptr[i + 1]) for i in chosen]
        or [np.empty(0, dtype=np.int64)]
    )
    return SparseVectors(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        vectors.indices[places],
        vectors.data[places],
        vectors.n_columns,
    )


def _scorer(searcher: _Searcher, queries: Any, allowed: BoolArray | None) -> Scorer:
    index = searcher.index
    return Scorer(
        searcher.name,
        lambda n: index.search(queries, n, allowed=allowed),
        lambda rows: index.score(queries, rows),
        searcher.weight,
    )
