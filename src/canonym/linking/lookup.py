"""Strings to ranked candidates: the sieves first, then search."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym.encoders import load_encoder
from canonym.indexes.verbatim import Verbatim
from canonym.linking.extra_names import INDEXES, BlockBuilder, Coder, load_targets
from canonym.linking.filters import Filter, Filters
from canonym.linking.names import Base, LiveNames, Names
from canonym.linking.overlay import OVERLAY, Overlay
from canonym.linking.search import Found, Searcher, Searchers
from canonym.linking.settings import Sieve, chosen_sieves
from canonym.linking.targets import TARGETS, parse_search
from canonym.ranking.pooling import RowsByConcept, TieRule
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.types import Candidate, Concept, Int32Array, Name

__all__ = ["MOST_TIED", "Answer", "Lookup", "concepts_of"]

MOST_TIED = 50
"""Concepts of one name that are looked at; those that go first anyway."""

_CACHED_CONCEPTS = 200_000
_NAMES = TARGETS["O-T"]
_NOTHING: frozenset[int] = frozenset()


class Answer(NamedTuple):
    """Candidates of a string, best first; the sieve that decided; why there are none; and, where
    the name of the best one is a name of several concepts that score the same, all of those.
    """

    candidates: tuple[Candidate, ...]
    sieve: str
    reason: str = ""
    tied: tuple[Candidate, ...] = ()

    @property
    def score(self) -> float:
        """Score of the best candidate, −inf without one."""
        return self.candidates[0].score if self.candidates else float("-inf")


class Lookup:
    """The sieves and searchers of a saved linker.

    Parameters
    ----------
    folder : Path
        Written by `canonym.linking.build.build_folder`.
    manifest : dict
        Its manifest.
    terminology : Terminology
        Of the same digest.

    Attributes
    ----------
    sieves : list of Sieve
        What looks strings up, in order.
    searchers : Searchers
        What searches.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any], terminology: Terminology) -> None:
        self.terminology = terminology
        rows = {
            name: np.load(folder / "rows" / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in ("concept_of_row", "scope_of_row", "id_rank")
        }
        ties = TieRule(rows["concept_of_row"], rows["scope_of_row"], rows["id_rank"])
        self.filters = Filters(terminology, ties)
        settings, described = manifest["settings"], manifest["encoders"]
        self.sieves = chosen_sieves(settings["sieves"])
        steps = parse_search(settings.get("search", "O-T"))
        self.searchers = Searchers(
            [
                Searcher(
                    one["name"],
                    Coder(load_encoder(folder / f"encoder-{number}"), tuple(one["steps"])),
                    float(one["weight"]),
                )
                for number, one in enumerate(described)
            ],
            steps,
            float(settings.get("search_threshold", 0.95)),
        )
        base = Base(
            terminology,
            ties,
            tuple(Verbatim.load(folder / f"sieve-{sieve.name}") for sieve in self.sieves),
            tuple(
                INDEXES[one["index"]].load(folder / f"index-{number}")
                for number, one in enumerate(described)
            ),
            RowsByConcept(ties.concept_of_row),
        )
        self._base = base
        learned, means = load_targets(terminology, folder, settings, described, steps)
        self.live = LiveNames(
            Overlay(folder / OVERLAY),
            Names(base, learned, None, means, {}),
            BlockBuilder(self.sieves, self.searchers.coders),
        )
        self._shortest = int(settings["min_length"])
        self._concepts: dict[int, Concept] = {}

    def names(self) -> Names:
        """Return all names as they are at this moment, with all that was added to the index."""
        return self.live.now()

    def find(
        self,
        strings: Sequence[str],
        k: int,
        chosen: Filter,
        *,
        names: Names | None = None,
        never: frozenset[int] = _NOTHING,
        unsearched: Container[str] = (),
    ) -> dict[str, Answer]:
        """Find the candidates of distinct strings: sieves first, then search.

        Parameters
        ----------
        strings : sequence of str
            What to look up, as prepared.
        k : int
            Candidates wanted.
        chosen : Filter
            What may be found; see `canonym.linking.filters.Filters.choose`.
        names : Names, optional
            What is searched; all names as they are now by default.
        never : frozenset of int
            Concepts that may not be found, by their ordinal, beside those that `names` forbids.
        unsearched : container of str
            Strings that sieves alone look up.

        Returns
        -------
        dict of str to Answer
            One per string.
        """
        names = names or self.names()
        if not names.forbidden:
            return self._find(strings, k, chosen, names, never, unsearched)
        groups: dict[frozenset[int], list[str]] = {}
        for string in strings:
            groups.setdefault(never | names.forbidden_for(string), []).append(string)
        return {
            string: answer
            for each, group in groups.items()
            for string, answer in self._find(group, k, chosen, names, each, unsearched).items()
        }

    def _find(
        self,
        strings: Sequence[str],
        k: int,
        chosen: Filter,
        names: Names,
        never: frozenset[int],
        unsearched: Container[str],
    ) -> dict[str, Answer]:
        sieved = self._sift(strings, chosen, names, never)
        plain = dict(zip(strings, normalise_all(strings, PLAIN), strict=True))
        searched = [
            string
            for string in strings
            if plain[string]
            and string not in unsearched
            and (
                len(sieved[string][1]) < k
                if string in sieved
                else len(plain[string]) >= self._shortest
            )
        ]
        found = self.searchers.search(searched, k, names, chosen, never)
        answers: dict[str, Answer] = {}
        for string in strings:
            sieve, pairs = sieved.get(string, (None, []))
            name, score = ("search", 1.0) if sieve is None else (sieve.name, sieve.score)
            known = [
                self.candidate(concept, names.name(row), score, name, {name: score})
                for concept, row in pairs[: max(k, MOST_TIED)]
            ]
            candidates, taken = known[:k], {concept for concept, _ in pairs}
            for one in found.get(string, ()):
                if one.concept not in taken and len(candidates) < k:
                    candidates.append(self._found(one, names, score))
            reason = "" if candidates else _why_none(plain[string], self._shortest)
            tied = tuple(known[:MOST_TIED]) if len(known) > 1 else ()
            answers[string] = Answer(tuple(candidates), name, reason, tied)
        return answers

    def _sift(
        self,
        strings: Sequence[str],
        chosen: Filter,
        names: Names,
        never: frozenset[int],
    ) -> dict[str, tuple[Sieve, list[tuple[int, int]]]]:
        """Look strings up in one sieve after the other; what the first step looks at goes first."""
        filters = [names.filter(chosen, step, never, by_name=True) for step in self.searchers.steps]
        sieved: dict[str, tuple[Sieve, list[tuple[int, int]]]] = {}
        for number, sieve in enumerate(self.sieves):
            left = [string for string in strings if string not in sieved]
            forms = list(normalise_all(left, sieve.steps))
            for string, rows in zip(left, names.find(number, forms), strict=True):
                for one in filters if len(rows) else ():
                    kept = rows if one.allowed is None else rows[one.allowed[rows]]
                    if len(kept):
                        sieved[string] = (sieve, concepts_of(kept, one.ties))
                        break
        return sieved

    def search(
        self, strings: Sequence[str], k: int, chosen: Filter
    ) -> dict[str, list[tuple[int, int, float, dict[str, float]]]]:
        """Search the names of the terminology's file, for whatever owns the rows of a filter.

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
        if not strings or not len(self.searchers):
            return {}
        nearest = self.searchers.nearest(
            self.searchers.encode(strings), k, self._base.indexes, chosen, step=_NAMES
        )
        return {
            string: [(one.concept, one.row, one.score, one.parts) for one in found]
            for string, found in zip(strings, nearest, strict=True)
        }

    def _found(self, one: Found, names: Names, most: float) -> Candidate:
        # Whatever the sieve found stays ahead, and scores fall down the list.
        score = min(one.score, most)
        step = "search" if self.searchers.steps == (_NAMES,) else one.step
        name = None if one.row < 0 else names.name(one.row)
        return self.candidate(one.concept, name, score, step, one.parts)

    def candidate(
        self, concept: int, name: Name | None, score: float, sieve: str, parts: dict[str, float]
    ) -> Candidate:
        """Describe a concept as a candidate; without a name it is shown by its label."""
        known = self._concepts.get(concept)
        if known is None:
            if len(self._concepts) >= _CACHED_CONCEPTS:
                self._concepts.clear()
            known = self._concepts[concept] = self.terminology.concepts_at([concept])[0]
        # The mean of a concept's names is shown by its label.
        text, scope = (known.label, "label") if name is None else (name.text, name.scope)
        return Candidate(known.id, known.label, score, text, scope, known.types, sieve, parts)


def concepts_of(rows: Int32Array, ties: TieRule) -> list[tuple[int, int]]:
    """Return the concepts of rows, each with its best row, in the order of ties."""
    owners = ties.concept_of_row[rows]
    scope = ties.scope_of_row[rows] if ties.by_scope else np.zeros(len(rows))
    order = np.lexsort((rows, ties.concept_rank[owners], scope))
    best: dict[int, int] = {}
    for place in order:
        best.setdefault(int(owners[place]), int(rows[place]))
    return list(best.items())


def _why_none(plain: str, shortest: int) -> str:
    if not plain:
        return "nothing to look up: no letters or digits are left"
    if len(plain) < shortest:
        return f"no name is {plain!r}, and {len(plain)} characters are too few to search with"
    return "no name has anything in common with it"
