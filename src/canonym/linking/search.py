"""Strings to concepts: exact look-ups first, then the nearest by similarity."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders import load_encoder
from canonym.indexes import BoolArray, Searchable
from canonym.indexes.vectors import Vectors, join_vectors, scaled_for, take_vectors
from canonym.linking.hits import (
    ConceptHit,
    ConceptTable,
    at_most,
    near_rivals,
)
from canonym.linking.languages import EncoderMask
from canonym.linking.names import Filter, Names
from canonym.linking.settings import TARGETS, Sieve, Target
from canonym.mentions.additions import asks_label
from canonym.mentions.contrasts import NOTHING, against, apart_by
from canonym.mentions.equal_names import is_spaced, means_other, writing_of
from canonym.mentions.species import species_of
from canonym.ranking.fusion import FusedHits, Scorer, Share, fuse, fuse_exactly, mean_shares
from canonym.ranking.pooling import TieRule, search_concepts
from canonym.text import PLAIN, normalise, normalise_all
from canonym.text.memo import MemoNormaliser
from canonym.text.qualifiers import bare_name
from canonym.types import (
    ONE_OF_SEVERAL,
    SCOPES,
    Against,
    Candidate,
    Concept,
    Float32Array,
    Int32Array,
    Name,
    Step,
)

CONTRADICTED = 0.05
"""By so much a hit of a search scores less whose name contradicts the mention.

On the development parts of two corpora, nothing from 0 to 0.1 changes how many links are right."""

Sifted = Mapping[str, tuple[Sieve, list[tuple[int, int]]]]
"""The sieve and the (concept, row) pairs of each string that a sieve knows."""

_LABEL = SCOPES.index("label")


# --- sieves --------------------------------------------------------------------------------------


def sift(
    plain: Mapping[str, str],
    sieves: Sequence[Sieve],
    names: Names,
    filters: Sequence[Filter],
    concepts: ConceptTable,
) -> dict[str, tuple[Sieve, list[tuple[int, int]]]]:
    """Look strings up in one sieve after the other; the first that knows a string decides.

    Strings come with their `PLAIN` forms. Returns the sieve and the (concept, row) pairs of each
    string that a sieve knows. Of several filters, one per step of the search, the first that leaves
    any row is used. A name that differs by a sign or a negation is another name. Of names that are
    equal in normal form, those written with the same capitals go first; those of the first letter
    of a word count for less than scopes: *cold* is "Cold" as well.

    A synonym yields to a label of the next sieve, unless the labels of its concepts are plurals.
    UBERON has *lungs* for *pair of lungs*, and the lung is meant. Where labels are plurals, as in
    MeSH, *acetic acids* are a class.
    """
    sifted: dict[str, tuple[Sieve, list[tuple[int, int]]]] = {}
    odd: set[str] = set()
    known: dict[str, str] = {}  # forms of the strings that the sieve before was asked for
    for number, sieve in enumerate(sieves):
        left = [string for string in plain if string not in sifted or string in odd]
        if number and sieve.steps == sieves[number - 1].steps:
            forms = [known[string] for string in left]
        else:
            forms = _normaliser(sieve.steps)(left, [plain[string] for string in left])
            known = dict(zip(left, forms, strict=True))
        rows_of = names.find(number, forms)
        texts = _Texts(names, concepts, rows_of)
        for string, form, rows in zip(left, forms, rows_of, strict=True):
            if string in odd and form == plain[string]:
                continue
            for step_filter in filters if len(rows) else ():
                allowed = rows if step_filter.allowed is None else rows[step_filter.allowed[rows]]
                if string in odd:
                    allowed = allowed[step_filter.ties.scope_of_row[allowed] == _LABEL]
                allowed, writing = texts.of_one_meaning(
                    string, form, sieve, allowed, spaced=string not in odd
                )
                if len(allowed) and (
                    string not in odd or _are_singular(sifted[string][1], concepts)
                ):
                    pairs = concepts_of(allowed, step_filter.ties, writing)
                    if sieve.bare and len(pairs) > 1:
                        pairs = _barest(pairs, step_filter.ties, names, concepts)
                    sifted[string] = (sieve, pairs)
                    break
        odd = set()
        if number == 0:
            scopes = filters[0].ties.scope_of_row
            odd = {
                string for string, (_, pairs) in sifted.items() if _are_odd(pairs, names, scopes)
            }
    return sifted


class _Texts:
    """The names of rows that a sieve returned for strings, read in one query."""

    def __init__(self, names: Names, concepts: ConceptTable, rows_of: Sequence[Int32Array]) -> None:
        self._names, self._concepts = names, concepts
        rows = np.concatenate(rows_of) if rows_of else np.empty(0, dtype=np.int32)
        concepts.read_names(rows[rows < names.n_base].tolist())

    def of_one_meaning(
        self, string: str, form: str, sieve: Sieve, rows: Int32Array, *, spaced: bool
    ) -> tuple[Int32Array, npt.NDArray[np.int8]]:
        """Return the rows whose names mean what a string of that form does, and how they differ.

        Names that have the form but for spaces count, if `spaced`, where no other does. For the
        differences, ``(n, 2)``, see `canonym.mentions.equal_names.writing_of`.
        """
        texts = [self._text(row) for row in rows.tolist()]
        forms = _normaliser(sieve.steps)(texts) if sieve.joined else [form] * len(texts)
        names = [*zip(texts, forms, strict=True)]
        meant = [
            n
            for n, (text, of_name) in enumerate(names)
            if of_name == form and not means_other(string, text)
        ] or [
            n
            for n, (text, of_name) in enumerate(names)
            if spaced and of_name != form and is_spaced(string, text, form, of_name)
        ]
        writing = [writing_of(string, texts[n]) for n in meant]
        differences = np.array(writing, dtype=np.int8).reshape(-1, 2)
        return rows[np.array(meant, dtype=np.intp)], differences

    def _text(self, row: int) -> str:
        whole = self._concepts if row < self._names.n_base else self._names
        return whole.name(row).text


def _barest(
    pairs: Sequence[tuple[int, int]], ties: TieRule, names: Names, concepts: ConceptTable
) -> list[tuple[int, int]]:
    """Order the concepts of one bare name.

    "X, unspecified" goes before "X, not elsewhere classified", a label before other names, and the
    shorter name before the longer. Equal names are in the order of ties.
    """

    def key(pair: tuple[int, int]) -> tuple[bool, int, int, int]:
        row = pair[1]
        text = (concepts.name(row) if row < names.n_base else names.name(row)).text
        bare = bare_name(text)
        narrower = bare is not None and bare.is_narrower
        return narrower, int(ties.scope_of_row[row]), len(text.split()), len(text)

    return sorted(pairs, key=key)


def _are_odd(pairs: Sequence[tuple[int, int]], names: Names, scopes: npt.NDArray[np.int8]) -> bool:
    """Tell whether rows are mere synonyms in the terminology, which another label may overrule."""
    return all(row < names.n_base and scopes[row] != _LABEL for _, row in pairs)


def _are_singular(pairs: Sequence[tuple[int, int]], concepts: ConceptTable) -> bool:
    """Tell whether the labels of all concepts are in the singular, as *pair of lungs* is."""
    labels = [normalise(concepts[concept].label).split(" of ")[0] for concept, _ in pairs]
    return list(_normaliser((*PLAIN, "plural"))(labels)) == labels


_normaliser = functools.cache(MemoNormaliser)


def concepts_of(
    rows: Int32Array, ties: TieRule, writing: npt.NDArray[np.int8] | None = None
) -> list[tuple[int, int]]:
    """Return the concepts of equal rows in the order of ties, with the best row of each.

    `writing` is how near each name is to a string as it is written, see `TieRule.order`.
    """
    best: dict[int, int] = {}
    for row in rows[ties.order(rows, writing=writing)].tolist():
        best.setdefault(int(ties.concept_of_row[row]), row)
    return list(best.items())


# --- search --------------------------------------------------------------------------------------


class WeightedEncoder(NamedTuple):
    """An encoder of an index: its name, its normalisation of names, its weight in the sum.

    `similarity` is how its vectors are compared.
    """

    name: str
    encoder: Any
    steps: tuple[str, ...]
    weight: float
    similarity: str = "cosine"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode names as they are written."""
        vectors: Vectors = self.encoder.encode(list(normalise_all(texts, self.steps)))
        return scaled_for(self.similarity, vectors, self.encoder)

    def scale(self, vectors: Vectors) -> npt.NDArray[np.float64] | None:
        """Return what multiplies the weight for each vector of a query; see `Scorer`."""
        if self.similarity != "inner" or not isinstance(vectors, np.ndarray):
            return None
        return np.asarray(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))


def load_encoders(folder: Path, described: Sequence[Mapping[str, Any]]) -> list[WeightedEncoder]:
    """Open the encoders of an index, as its manifest describes them."""
    return [
        WeightedEncoder(
            encoder["name"],
            load_encoder(folder / f"encoder-{number}"),
            tuple(encoder["steps"]),
            float(encoder["weight"]),
            encoder.get("similarity", "cosine"),
        )
        for number, encoder in enumerate(described)
    ]


class EncodedStrings:
    """The strings of a batch with their vectors; every string is encoded once."""

    def __init__(self, encode: Callable[[Sequence[str]], list[Vectors]]) -> None:
        self._encode = encode
        self._place: dict[str, int] = {}
        self._vectors: list[Vectors] = []

    def of(self, strings: Sequence[str]) -> list[Vectors]:
        """Return the vectors of strings, one array per encoder, encoding what is new."""
        new = [string for string in dict.fromkeys(strings) if string not in self._place]
        if new:
            first = len(self._place)
            self._place.update((string, first + number) for number, string in enumerate(new))
            encoded = self._encode(new)
            self._vectors = (
                [join_vectors(pair) for pair in zip(self._vectors, encoded, strict=True)]
                if first
                else encoded
            )
        places = np.array([self._place[string] for string in strings], dtype=np.intp)
        return [take_vectors(vectors, places) for vectors in self._vectors]


class Search:
    """The encoders of a linker and the steps of its search.

    The concepts of the first step that score at least the threshold come first; the second step
    fills the list up, with scores that fall. So an accepted concept of the first step is the
    answer, and otherwise the list is that of the second step.

    Differences: Xu and Bethard (2021, section 3.2.3) look at the best concept only, and ask for a
    cosine above 0.95.
    """

    def __init__(
        self,
        encoders: Sequence[WeightedEncoder],
        steps: Sequence[Target],
        threshold: float,
        *,
        exactly: bool = False,
        asked: EncoderMask | None = None,
    ) -> None:
        self.encoders = tuple(encoders)
        self._asked = asked  # which encoders are asked for a string, if not all for each
        self.steps = tuple(steps)
        self._threshold = threshold
        self._exactly = exactly  # the sum of several encoders is searched in all names

    def search(
        self,
        strings: Sequence[str],
        k: int,
        names: Names,
        row_filter: Filter,
        forbidden: frozenset[int],
        encoded: EncodedStrings,
    ) -> dict[str, list[ConceptHit]]:
        """Find up to k concepts of each string in all steps; scores above 0, best first."""
        if not strings or not self.encoders:
            return {}
        vectors = encoded.of(strings)
        ranked: list[list[ConceptHit]] = [[] for _ in strings]
        for place, target in enumerate(self.steps):
            left = np.flatnonzero([len(hits) < k for hits in ranked])
            last = place == len(self.steps) - 1
            least = 0.0 if last else self._threshold
            nearest = self.nearest(
                [strings[i] for i in left.tolist()],
                [take_vectors(of_encoder, left) for of_encoder in vectors],
                k,
                names.rows_of_target(target).indexes,
                names.filter(row_filter, target, forbidden),
                step=target,
            )
            for i, further in zip(left, nearest, strict=True):
                _fill(ranked[i], [hit for hit in further if last or hit.score >= least], k)
        return dict(zip(strings, ranked, strict=True))

    @property
    def is_scaled(self) -> bool:
        """Whether the weights of encoders differ from string to string."""
        inner = any(encoder.similarity == "inner" for encoder in self.encoders)
        return inner or self._asked is not None

    def scales(
        self, strings: Sequence[str], vectors: Sequence[Vectors]
    ) -> list[npt.NDArray[np.float64] | None]:
        """Return what multiplies the weight of each encoder, for each string; see `Scorer`."""
        scales = [encoder.scale(own) for encoder, own in zip(self.encoders, vectors, strict=True)]
        if self._asked is None:
            return scales
        return [
            here if scale is None else here * scale
            for here, scale in zip(self._asked(strings), scales, strict=True)
        ]

    def encode(self, strings: Sequence[str]) -> list[Vectors]:
        """Encode strings by the encoders that are asked for them; rows of zeros by the others."""
        if self._asked is None:
            return [encoder.encode(strings) for encoder in self.encoders]
        asked = self._asked(strings) > 0
        return [
            _encode_some(encoder, strings, here)
            for encoder, here in zip(self.encoders, asked, strict=True)
        ]

    def nearest(
        self,
        strings: Sequence[str],
        vectors: Sequence[Vectors],
        k: int,
        indexes: Sequence[Searchable],
        row_filter: Filter,
        *,
        step: Target,
    ) -> list[list[ConceptHit]]:
        """Find the k nearest owners of rows, by vectors of strings and the index of every encoder.

        The owners are those of ``chosen.ties.concept_of_row``: concepts, or any other numbers.
        """
        if not strings:
            return []
        scales = self.scales(strings, vectors)
        search = FusedSearch(
            self.encoders, indexes, vectors, scales, row_filter.allowed, exactly=self._exactly
        )
        k = max(min(k, row_filter.n_concepts), 1)  # memory grows with k
        ranked = search_concepts(
            search,
            len(strings),
            row_filter.n_rows,
            k,
            row_filter.ties,
            n_concepts=row_filter.n_concepts,
        )
        names = [encoder.name for encoder in self.encoders]
        # A search of names alone needs no name of its own.
        found_by = "search" if self.steps == (TARGETS["O-T"],) else step.name
        there = ranked.scores > 0
        rows = np.where(step.by_concept, -1, ranked.rows)[there].tolist()
        concepts, scores = ranked.concepts[there].tolist(), ranked.scores[there].tolist()
        parts = [
            dict(zip(names, of_hit, strict=True))
            for of_hit in zip(*(part[there].tolist() for part in ranked.parts), strict=True)
        ]
        hits = map(ConceptHit, concepts, rows, scores, parts, itertools.repeat(found_by))
        return [list(itertools.islice(hits, n)) for n in there.sum(axis=1).tolist()]


class FusedSearch:
    """A search of the same rows by every encoder, for strings that are encoded already.

    `scales` multiply the weights of encoders, see `Scorer`. With `exactly` the best of all rows by
    the sum are found, and otherwise the best of those that any encoder finds.
    """

    def __init__(
        self,
        encoders: Sequence[WeightedEncoder],
        indexes: Sequence[Searchable],
        vectors: Sequence[Vectors],
        scales: Sequence[npt.NDArray[np.float64] | None],
        allowed: BoolArray | None,
        *,
        exactly: bool = False,
    ) -> None:
        self._encoders = encoders
        self._indexes = indexes
        self._vectors = vectors
        self._scales = scales
        self._allowed = allowed
        self._exactly = exactly and len(encoders) > 1

    def __call__(self, queries: npt.NDArray[np.intp], fetch: int) -> FusedHits:
        """Return the hits of some of the strings, by their numbers."""
        if self._exactly:
            return fuse_exactly(self.scorers, queries, fetch, self._indexes[0].n_rows)
        return fuse(self.scorers(queries), fetch)

    def scorers(self, queries: npt.NDArray[np.intp]) -> list[Scorer]:
        """Return the scorer of each encoder for some of the strings."""
        return [
            Scorer(
                encoder.name,
                index,
                take_vectors(vectors, queries),
                encoder.weight,
                None if scale is None else scale[queries],
                self._allowed,
            )
            for encoder, index, vectors, scale in zip(
                self._encoders, self._indexes, self._vectors, self._scales, strict=True
            )
        ]


def _fill(ranked: list[ConceptHit], further: Sequence[ConceptHit], k: int) -> None:
    """Add what an earlier step has not found, with scores that fall down the list."""
    if not ranked:
        ranked.extend(further[:k])
        return
    taken = {hit.concept for hit in ranked}
    for hit in further:
        if hit.concept not in taken and len(ranked) < k:
            ranked.append(at_most(hit, ranked[-1].score))


def _encode_some(
    encoder: WeightedEncoder, strings: Sequence[str], asked: npt.NDArray[np.bool_]
) -> Vectors:
    """Encode the strings that an encoder is asked for: those that read much are slow."""
    nothing = encoder.encode([])
    if asked.all() or not isinstance(nothing, np.ndarray):
        return encoder.encode(strings)
    whole = np.zeros((len(strings), nothing.shape[1]), dtype=nothing.dtype)
    if asked.any():
        whole[asked] = encoder.encode([strings[at] for at in np.flatnonzero(asked).tolist()])
    return whole


class BatchHits:
    """What searches and weighs hits for a batch of documents, against the names of one moment."""

    def __init__(
        self,
        search: Search,
        names: Names,
        row_filter: Filter,
        concepts: ConceptTable,
        sieves: Sequence[Sieve] = (),
    ) -> None:
        self.search = search
        self.names = names
        self.filter = row_filter
        self.concepts = concepts
        self.sieves = sieves
        self.encoded = EncodedStrings(search.encode)

    def scores(
        self,
        strings: Sequence[str],
        places: npt.NDArray[np.intp],
        rows: Int32Array,
        target: Target = TARGETS["O-T"],
    ) -> Iterator[Float32Array]:
        """Score pairs of a string, by its place, and a row; ``(n,)`` of each encoder in turn.

        Places rise.
        """
        indexes = self.names.rows_of_target(target).indexes
        column = np.arange(len(places)) - np.searchsorted(places, places)
        table = np.full((len(strings), column.max(initial=-1) + 1), -1, dtype=np.int32)
        table[places, column] = rows
        for index, vectors in zip(indexes, self.encoded.of(strings), strict=True):
            yield index.score(vectors, table)[places, column]

    def shares(self, strings: Sequence[str], places: npt.NDArray[np.intp]) -> list[Share]:
        """Return each encoder's share in the mean of scores, for strings by place, ``(n,)``."""
        weights = [encoder.weight for encoder in self.search.encoders]
        if not self.search.is_scaled:
            return mean_shares(weights, [None] * len(weights))
        scales = self.search.scales(strings, self.encoded.of(strings))
        shares = mean_shares(weights, scales)
        return [share if isinstance(share, float) else share[places, 0] for share in shares]

    def weigh(self, string: str, hits: Sequence[ConceptHit]) -> list[ConceptHit]:
        """Return hits with what speaks against their names."""
        evidence = [self._against(string, hit) for hit in hits]
        return [
            hit if against is hit.against else hit._replace(against=against)
            for hit, against in zip(hits, evidence, strict=True)
        ]

    def weigh_searched(self, string: str, hits: Sequence[ConceptHit]) -> list[ConceptHit]:
        """Return hits of a search with what speaks against them, those that contradict later.

        Of the first and its near rivals, and of all where one of these contradicts.
        """
        near = near_rivals(hits)
        weighed, others = self.weigh(string, near), hits[len(near) :]
        if not any(hit.against.contradictions for hit in weighed):
            return [*weighed, *others]
        weighed += self.weigh(string, others)
        if not self.sieves:  # a search alone is what a paper describes
            return weighed
        return sorted(
            (
                hit._replace(score=hit.score - CONTRADICTED) if hit.against.contradictions else hit
                for hit in weighed
            ),
            key=lambda hit: -hit.score,
        )

    def weigh_known(
        self, string: str, hits: Sequence[ConceptHit], sieve: Sieve | None
    ) -> tuple[list[ConceptHit], tuple[Step, ...]]:
        """Weigh the hits of a sieve; return the step to a name but for spaces, too."""
        if sieve is not None and sieve.joined and hits:
            text = self.name(hits[0]).text
            form, of_name = _normaliser(sieve.steps)([string, text])
            if form != of_name:
                return self.weigh(text, hits), (Step("space", string, text),)
        return self.weigh(string, hits), ()

    def one_of_several(self, string: str, hits: Sequence[ConceptHit]) -> tuple[Step, ...]:
        """Return the step that tells between what a string does not choose, if there is such.

        The names of the first hit and of a near rival say more than the string, and exclude each
        other by it: *subarachnoid hemorrhage* is traumatic or nontraumatic.
        """
        best, *others = near_rivals(hits) or (None,)
        if best is None or best.against.left_over or best.against.contradictions:
            return ()
        for rival in others:
            if rival.concept != best.concept and not rival.against.left_over:
                pair = apart_by(best.against.missing, rival.against.missing)
                if pair is not None:
                    return (Step(ONE_OF_SEVERAL, string, " | ".join(pair)),)
        return ()

    def _against(self, string: str, hit: ConceptHit) -> Against:
        return against_name(string, self.name(hit).text, lambda: self.concepts[hit.concept])

    def name(self, hit: ConceptHit) -> Name:
        """Return the name that matched; the label where the mean of a concept's names did."""
        if hit.row < 0:
            concept = self.concepts[hit.concept]
            return Name(concept.label, concept.id, scope="label")
        if hit.row < self.names.n_base:
            return self.concepts.name(hit.row)
        return self.names.name(hit.row)

    def allows(self, concept: int) -> bool:
        """Tell whether the filter of the call leaves any name of a concept."""
        rows, _ = self.names.base.rows.of(np.array([concept]), self.names.n_base)
        return self.filter.allowed is None or bool(self.filter.allowed[rows].any())

    def texts(self, hit: ConceptHit) -> list[str]:
        """Return the names that the terminology has for the concept."""
        terminology = self.concepts.terminology
        return [name.text for name in terminology.names(self.concepts[hit.concept].id)]


def against_name(string: str, name: str, concept: Callable[[], Concept | Candidate]) -> Against:
    """Return what speaks against a name of a concept, which is read only where that counts."""
    if name == string:
        return NOTHING
    is_symbol = name.casefold() == string.casefold() or name.isupper()
    if not is_symbol and not asks_label(string):
        return against(string, name)
    own = concept()
    case_counts = species_of(own.types, own.label) is not None
    return against(string, name, label=own.label, case_counts=case_counts)
