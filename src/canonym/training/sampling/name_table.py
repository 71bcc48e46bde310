"""Names and mentions for training: distinct strings, with their concepts and related names."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, compress
from typing import NamedTuple

import numpy as np

from canonym.errors import InvalidInput
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Adjacency, Hierarchy, alternative_ordinals
from canonym.text import biosyn_normal
from canonym.types import SCOPES, Int32Array

PREPARATIONS: Mapping[str, Callable[[str], str]] = {"biosyn": biosyn_normal, "none": str}
"""Preparations of strings, before comparison and encoding; ``"biosyn"`` is lower case without
punctuation."""

SYNONYMS: tuple[str, ...] = ("label", "exact", "abbreviation", "narrow")
"""Scopes of names that count as synonyms of one another."""


class LinkedMentions(NamedTuple):
    """Mentions of concepts of a `NameTable`."""

    texts: tuple[str, ...]  # distinct strings
    text_of: Int32Array  # (n,): the string of each mention
    concepts: Adjacency  # the concepts of each mention, of which any is right
    n_left_out: int  # mentions of no concept of the table, or empty when prepared

    @property
    def n_mentions(self) -> int:
        """Number of mentions."""
        return len(self.text_of)

    def names(self) -> list[tuple[str, int]]:
        """Return every mention as a name of each of its concepts."""
        texts = [self.texts[place] for place in np.repeat(self.text_of, self.concepts.counts)]
        return list(zip(texts, self.concepts.ends.tolist(), strict=True))


class NameTable:
    """The names of concepts: every string once, with all the concepts that have it.

    Use `from_terminology` or `from_pairs`. Numbers stand for concepts and for names, in the order
    of the source. ``ids`` are the concepts, ``texts`` the names; ``names`` has the names of every
    concept, and ``concepts`` the concepts of every name.

    Examples
    --------
    >>> table = NameTable.from_pairs(
    ...     [("Heart Attack", "X:1"), ("heart attack", "X:1"), ("MI", "X:1"), ("MI", "X:2")],
    ...     preparation="biosyn",
    ... )
    >>> table.texts, table.names.of(0), table.concepts.of(1)
    (('heart attack', 'mi'), [0, 1], [0, 1])
    """

    def __init__(
        self,
        ids: Sequence[str],
        texts: Iterable[str],
        concept_of_text: Iterable[int],
        *,
        preparation: str = "none",
        alternatives: Mapping[str, int] | None = None,
    ) -> None:
        if preparation not in PREPARATIONS:
            raise InvalidInput(
                f"there is no preparation {preparation!r}; there are "
                + ", ".join(map(repr, PREPARATIONS))
            )
        self.ids = tuple(ids)
        self.preparation = preparation
        self._ordinals = dict(alternatives or {})
        self._ordinals.update(zip(self.ids, range(len(self.ids)), strict=True))
        prepare = PREPARATIONS[preparation]
        numbers: dict[str, int] = {}
        columns = [array("i"), array("i")]  # 4 bytes a number: UMLS has 15 million names
        for text, concept in zip(texts, concept_of_text, strict=True):
            if prepared := prepare(text):
                columns[0].append(concept)
                columns[1].append(numbers.setdefault(prepared, len(numbers)))
        if not numbers:
            raise InvalidInput("the terminology has no names to train on: give one that has")
        self.texts = tuple(numbers)
        self._numbers = numbers
        owners, members = distinct_rows(columns, (len(self.ids), len(numbers))).T
        self.names = Adjacency.build(owners, members, len(self.ids))
        self.concepts = Adjacency.build(members, owners, len(self.texts))

    @classmethod
    def from_terminology(
        cls,
        terminology: Terminology,
        *,
        preparation: str = "none",
        scopes: Collection[str] = SYNONYMS,
    ) -> NameTable:
        """Take the names of some scopes of a terminology, without repetitions."""
        if unknown := sorted(set(scopes) - set(SCOPES)):
            raise InvalidInput(f"there is no scope {unknown[0]!r}; there are {', '.join(SCOPES)}")
        ids = [concept.id for concept in terminology.iter_concepts()]
        taken = np.isin(terminology.scope_of_row(), [SCOPES.index(scope) for scope in scopes])
        return cls(
            ids,
            compress(chain.from_iterable(terminology.iter_texts()), taken),
            terminology.concept_of_row()[taken],
            preparation=preparation,
            alternatives=alternative_ordinals(terminology, ids),
        )

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[str, str]], *, preparation: str = "none"
    ) -> NameTable:
        """Take (name, concept id) pairs."""
        listed = list(pairs)
        ids = {id_: i for i, id_ in enumerate(dict.fromkeys(id_ for _, id_ in listed))}
        return cls(
            list(ids),
            (text for text, _ in listed),
            (ids[id_] for _, id_ in listed),
            preparation=preparation,
        )

    def __repr__(self) -> str:
        return f"<NameTable: {self.n_concepts:,} concepts, {self.n_names:,} names>"

    @property
    def n_concepts(self) -> int:
        """Number of concepts, with and without names."""
        return len(self.ids)

    @property
    def n_names(self) -> int:
        """Number of distinct strings."""
        return len(self.texts)

    def ordinal(self, id: str) -> int | None:
        """Return the concept that an id or alternative id names, None if there is none."""
        return self._ordinals.get(id)

    def number(self, text: str) -> int | None:
        """Return the number of a prepared string, None if it is no name."""
        return self._numbers.get(text)

    def pairs(self) -> tuple[Int32Array, Int32Array]:
        """Return all (name, concept) pairs as two ``(n,)`` int32 arrays, by concept."""
        owners = np.repeat(np.arange(self.n_concepts, dtype=np.int32), self.names.counts)
        return self.names.ends, owners

    def with_names(self, pairs: Iterable[tuple[str, int]]) -> NameTable:
        """Return a table with further names, prepared strings and their concepts, at its end."""
        names, owners = self.pairs()
        added = list(pairs)
        # Sorted by string, so that the numbers of the first names do not change.
        order = np.argsort(names, kind="stable")
        table = NameTable(
            self.ids,
            [*(self.texts[name] for name in names[order]), *(text for text, _ in added)],
            [*owners[order].tolist(), *(concept for _, concept in added)],
            alternatives=self._ordinals,
        )
        table.preparation = self.preparation  # the strings are prepared
        return table

    def link(self, mentions: Iterable[tuple[str, Collection[str]]]) -> LinkedMentions:
        """Find the concepts of training mentions; concepts without names here are ignored."""
        prepare = PREPARATIONS[self.preparation]
        counts = self.names.counts
        numbers: dict[str, int] = {}
        text_of: list[int] = []
        edges: list[tuple[int, int]] = []
        n_left_out, example = 0, ""
        for text, ids in mentions:
            if isinstance(ids, str):
                raise InvalidInput(f"the ids of {text!r} are {ids!r}; a list of ids is expected")
            concepts = {self._ordinals[id_] for id_ in ids if id_ in self._ordinals}
            named = sorted(concept for concept in concepts if counts[concept])
            prepared = prepare(text)
            if not named or not prepared:
                n_left_out += 1
                example = example or next(iter(sorted(ids)), "")
                continue
            edges += ((len(text_of), concept) for concept in named)
            text_of.append(numbers.setdefault(prepared, len(numbers)))
        if not text_of:
            raise InvalidInput(
                f"none of {n_left_out:,} training mentions has a concept of the terminology "
                f"({example!r}, where ids look like {self.ids[0]!r}): is it the right one?"
                if n_left_out
                else "there are no training mentions; give at least one"
            )
        rows, ordinals = np.array(edges, dtype=np.int32).T
        texts, concepts_of = tuple(numbers), Adjacency.build(rows, ordinals, len(text_of))
        return LinkedMentions(texts, np.array(text_of, dtype=np.int32), concepts_of, n_left_out)


def distinct_rows(columns: list[array[int]], sizes: Sequence[int]) -> Int32Array:
    """Return the distinct rows of columns, rising, as ``(n, columns)``; numbers are below `sizes`.

    `columns` is emptied on the way: with 88 million relations, each copy is a gigabyte.
    """
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for size in sizes:
        keys *= size
        keys += np.frombuffer(columns.pop(0), np.intc)
    keys.sort()
    keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
    digits = np.empty((len(keys), len(sizes)), dtype=np.int32)
    for place, size in reversed(list(enumerate(sizes))):
        digits[:, place] = keys % size
        keys //= size
    return digits


# --- names of related concepts --------------------------------------------------------------------


def check_hierarchy(hierarchy: Hierarchy, *, allow_cycles: bool = False) -> None:
    """Raise `InvalidInput` if a hierarchy has no edges, or has cycles that are not allowed."""
    if not hierarchy.n_edges:
        raise InvalidInput(
            "the hierarchy has no edges: import a terminology that says which concept is below "
            "which, or train without parents and siblings"
        )
    if not allow_cycles and (cycles := hierarchy.cycles()):
        shown = " → ".join((*cycles[0], cycles[0][0]))
        raise InvalidInput(
            f"the hierarchy has cycles ({len(cycles):,}), such as {shown}: a concept in one is its "
            "own ancestor. Mend the terminology, or allow cycles, which training survives: no "
            "concept is ever taken for its own parent or sibling"
        )


class RelatedNames:
    """Names of the parents and siblings of concepts."""

    def __init__(
        self, table: NameTable, hierarchy: Hierarchy, *, allow_cycles: bool = False
    ) -> None:
        check_hierarchy(hierarchy, allow_cycles=allow_cycles)
        self.table, self.hierarchy = table, hierarchy

    def parents(self, concepts: Iterable[int]) -> Int32Array:
        """Return the names of the direct parents of concepts, rising; none of their own."""
        return self._names(self.hierarchy.parents, concepts)

    def siblings(self, concepts: Iterable[int]) -> Int32Array:
        """Return the names of the other children of the parents of concepts; none of their own."""
        return self._names(self.hierarchy.siblings, concepts)

    def _names(
        self, relatives: Callable[[str], tuple[str, ...]], concepts: Iterable[int]
    ) -> Int32Array:
        own = sorted(concepts)
        ids = [self.table.ids[concept] for concept in own]
        near = {other for id_ in ids if id_ in self.hierarchy for other in relatives(id_)}
        ordinals = [self.table.ordinal(id_) for id_ in near - set(ids)]
        others = np.array(sorted(o for o in ordinals if o is not None), dtype=np.int32)
        names = self.table.names
        return np.setdiff1d(names.of_all(others), names.of_all(np.array(own, dtype=np.int32)))


def names_below(
    table: NameTable,
    hierarchy: Hierarchy,
    top: str,
    *,
    n_concepts: int | None = None,
    allow_cycles: bool = False,
) -> dict[str, list[str]]:
    """Group names by the child of `top` that they are below, most names first.

    A child that is a parent of another child is no high-level concept. A name below several of the
    chosen ones is left out. See Fivez et al. (2021), section 2.3.
    """
    check_hierarchy(hierarchy, allow_cycles=allow_cycles)
    children = hierarchy.children(top)
    above = {parent for child in children for parent in hierarchy.parents(child)}
    below = [child for child in children if child not in above]
    rows: dict[str, Int32Array] = {}
    for child in below:
        ids = [id_ for id_ in hierarchy.descendants(child) if id_ != child]
        ordinals = [o for id_ in ids if (o := table.ordinal(id_)) is not None]
        rows[child] = np.unique(table.names.of_all(np.array(ordinals, dtype=np.int32)))
    largest = sorted(rows, key=lambda child: -len(rows[child]))[:n_concepts]
    every = np.concatenate([np.empty(0, np.int32), *(rows[child] for child in largest)])
    once = np.bincount(every, minlength=table.n_names) == 1
    own_rows = {child: rows[child][once[rows[child]]] for child in largest}
    texts_of = {
        child: [table.texts[i] for i in names] for child, names in own_rows.items() if len(names)
    }
    if len(texts_of) < 2:
        raise InvalidInput(
            f"{top!r} has {len(texts_of)} children with names of their own below them; at least "
            "two are needed to tell one from another: choose a concept further up"
        )
    return texts_of
