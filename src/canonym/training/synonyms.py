"""Groups of synonyms from many terminologies, for training an encoder on all of them at once.

Terminologies overlap: the heart attack of MeSH is that of ICD-10-CM under other names.
`SynonymPool` joins their concepts where the terminologies say so or where their names agree, but
never two concepts that one terminology keeps apart. What is joined shares its names as positives;
what is not joined is a hard negative only for concepts of the same terminology.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.text import UNORDERED, normalise_all
from canonym.text.memo import MemoNormaliser
from canonym.training.variants import without_residue
from canonym.types import Concept, Int32Array, Name, Record, Relation, Xref

__all__ = ["SynonymPool", "Synonyms"]

_SCOPES = frozenset({"label", "exact", "abbreviation", "narrow"})
# Shorter strings are abbreviations more often than not, and those mean many things.
_SHORTEST = 5


class Synonyms(NamedTuple):
    """Names with the concept of each, ready for `canonym.training.subword.fit_subword`.

    ``names`` are distinct within a concept after normalisation, ``concepts`` the concept of each,
    ``sources`` the terminologies of each concept as bits, ``weights`` how often each concept is to
    be drawn.
    """

    names: list[str]
    concepts: Int32Array
    sources: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]

    @property
    def n_concepts(self) -> int:
        """Number of concepts."""
        return len(self.sources)


class SynonymPool:
    """Collect terminologies, join their concepts and give out groups of synonyms.

    Examples
    --------
    >>> pool = SynonymPool()
    >>> bit = pool.add("a", [Concept("A:1", "Myocardial Infarction"), Name("heart attack", "A:1")])
    >>> other = [Concept("B:1", "myocardial infarction"), Name("cardiac infarct", "B:1")]
    >>> bit = pool.add("b", other)
    >>> pool.join_names()
    1
    >>> sorted(pool.synonyms().names)
    ['Myocardial Infarction', 'cardiac infarct', 'heart attack']
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._parents: list[int] = []
        self._sources: list[int] = []
        self._exclusive: list[int] = []
        self._weights: list[float] = []
        self._labels: list[str] = []
        self._names: list[tuple[str, int]] = []
        self._xrefs: list[tuple[int, str]] = []
        self._bits: dict[str, int] = {}
        self._relations: list[tuple[str, str]] = []
        self._given: dict[int, int] = {}
        self._definitions: list[tuple[str, int]] = []

    def add(
        self,
        source: str,
        records: Iterable[Record],
        *,
        weight: float = 1.0,
        exclusive: bool = True,
        scopes: Iterable[str] = _SCOPES,
    ) -> int:
        """Add the names and relations of a terminology.

        Parameters
        ----------
        source : str
            The terminology. Files that share ids are parts of one and are added under one name.
        records : iterable of Record
            What a reader yields. Concepts of ids that came before are the same concepts.
        weight : float
            How often names of its concepts are to be drawn; a concept in several files has the
            largest.
        exclusive : bool
            Whether each of its concepts is a meaning of its own. Where a source repeats itself it
            is not, and several of its concepts may be joined.
        scopes : iterable of str
            Scopes of names that are taken for synonyms.

        Returns
        -------
        int
            The bit of the source in `Synonyms.sources`.
        """
        bit = self._bits.setdefault(source, 1 << len(self._bits))
        taken = frozenset(scopes)
        for record in records:
            if isinstance(record, Relation):
                self._relations.append((record.head, record.tail))
                continue
            id_ = record.id if isinstance(record, Concept) else record.concept_id
            number = self._number(id_, weight)
            if isinstance(record, Xref):
                if record.kind == "alternative":
                    # Another id of the same concept, whatever else is said about it.
                    self._unite(self._root(number), self._root(self._number(record.target, weight)))
                else:
                    self._xrefs.append((number, record.target))
            elif isinstance(record, Name):
                if record.scope in taken and record.language in ("en", ""):
                    self._names.append((record.text, number))
            elif not record.deprecated:
                self._labels[number] = self._labels[number] or record.label
                self._names.append((record.label, number))
                if record.definition:
                    self._definitions.append((record.definition, number))
            root = self._root(number)
            self._sources[root] |= bit
            self._weights[root] = max(self._weights[root], weight)
            if exclusive:
                self._exclusive[root] |= bit
        return bit

    def __contains__(self, id: str) -> bool:
        """Whether a terminology has the concept."""
        return id in self._numbers

    def join_xrefs(self, prefixes: dict[str, str] | None = None) -> int:
        """Join concepts that refer to one another, or to the same id elsewhere.

        Parameters
        ----------
        prefixes : dict, optional
            Prefixes of references and the ones that concepts are known under (``MSH`` → ``MESH``).

        Returns
        -------
        int
            How many concepts were joined to another.
        """
        known = prefixes or {}
        joined = 0
        met: dict[str, int] = {}
        for number, target in self._xrefs:
            prefix, colon, rest = target.partition(":")
            target = f"{known.get(prefix, prefix)}{colon}{rest}"
            other = self._numbers.get(target)
            if other is None:
                # Nobody's id here: concepts that both name it are the same.
                other = met.setdefault(target, number)
            joined += self._join(number, other)
        return joined

    def join_names(self) -> int:
        """Join concepts whose names agree: label with label first, then label with any name.

        Names are compared in their `canonym.text.UNORDERED` form. A string of two concepts of one
        source is ambiguous there and joins nothing.

        Returns
        -------
        int
            How many concepts were joined to another.
        """
        normal = MemoNormaliser(UNORDERED)
        labels: dict[str, list[int]] = {}
        for number, form in enumerate(normal(self._labels)):
            if len(form) >= _SHORTEST:
                labels.setdefault(form, []).append(number)
        joined = sum(
            self._join(numbers[0], other) for numbers in labels.values() for other in numbers[1:]
        )
        texts = [text for text, _ in self._names]
        # A residual class (NOS, unspecified) is what its name says without the mark, unless another
        # concept has that very name.
        for forms in (normal(texts), normal(map(without_residue, texts))):
            for (_, number), form in zip(self._names, forms, strict=True):
                joined += sum(self._join(other, number) for other in labels.get(form, ()))
        return joined

    def synonyms(self) -> Synonyms:
        """Return every name with the number of the concept that it belongs to after joining.

        The weight of a concept is multiplied by the number of sources that have it: what many
        terminologies have is what people look for.
        """
        numbers = self._given = {}
        names, concepts = [], []
        seen: set[tuple[str, int]] = set()
        forms = normalise_all(text for text, _ in self._names)
        for (text, number), form in zip(self._names, forms, strict=True):
            root = self._root(number)
            if not form or (form, root) in seen:
                continue
            seen.add((form, root))
            names.append(text)
            concepts.append(numbers.setdefault(root, len(numbers)))
        roots = list(numbers)
        sources = [self._sources[root] for root in roots]
        weights = [
            self._weights[root] * bits.bit_count()
            for root, bits in zip(roots, sources, strict=True)
        ]
        return Synonyms(
            names,
            np.array(concepts, dtype=np.int32),
            np.array(sources, dtype=np.int64),
            np.array(weights, dtype=np.float64),
        )

    def concept_of(self, id: str) -> int | None:
        """Return the number that `synonyms` last gave to a concept; None if it gave none."""
        number = self._numbers.get(id)
        return None if number is None else self._given.get(self._root(number))

    def related(self) -> Int32Array:
        """Return pairs of related concepts by the numbers that `synonyms` last gave: ``(n, 2)``."""
        numbers = {(self.concept_of(head), self.concept_of(tail)) for head, tail in self._relations}
        pairs = sorted((a, b) for a, b in numbers if a is not None and b is not None and a != b)
        return np.array(pairs, dtype=np.int32).reshape(-1, 2)

    def definitions(self) -> list[tuple[str, int]]:
        """Return definitions, each with the number that `synonyms` last gave to its concept."""
        found = [(text, self._given.get(self._root(number))) for text, number in self._definitions]
        return [(text, number) for text, number in dict.fromkeys(found) if number is not None]

    def _number(self, id_: str, weight: float) -> int:
        number = self._numbers.setdefault(id_, len(self._parents))
        if number == len(self._parents):
            self._parents.append(number)
            self._sources.append(0)
            self._exclusive.append(0)
            self._weights.append(weight)
            self._labels.append("")
        self._weights[number] = max(self._weights[number], weight)
        return number

    def _root(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number

    def _join(self, one: int, other: int) -> bool:
        one, other = self._root(one), self._root(other)
        if one == other or self._exclusive[one] & self._exclusive[other]:
            return False
        self._unite(one, other)
        return True

    def _unite(self, one: int, other: int) -> None:
        low, high = sorted((one, other))
        if low == high:
            return
        self._parents[high] = low
        self._sources[low] |= self._sources[high]
        self._exclusive[low] |= self._exclusive[high]
        self._weights[low] = max(self._weights[low], self._weights[high])
