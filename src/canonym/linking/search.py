"""Strings to concepts: exact look-ups first, then the nearest by similarity."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from canonym.encoders import load_encoder
from canonym.indexes import BoolArray, Searchable
from canonym.indexes.vectors import Vectors, join_vectors, scaled_for, take_vectors
from canonym.linking.languages import Asked
from canonym.linking.names import Filter, Names
from canonym.linking.settings import Sieve
from canonym.linking.targets import TARGETS, Target
from canonym.mentions.contrasts import NOTHING, against
from canonym.mentions.species import species_of
from canonym.ranking.fusion import FusedHits, Scorer, Share, fuse, fuse_exactly, mean_shares
from canonym.ranking.letters import gain, most_gain
from canonym.ranking.pooling import search_concepts
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.text import normalise_all
from canonym.text.memo import strong_forms
from canonym.types import Against, Concept, Float32Array, Int32Array, Mention, Name, Step

CONTRADICTED = 0.05
"""By so much a hit of a search scores less whose name contradicts the mention.

On the development parts of two corpora, nothing from 0 to 0.1 changes how many links are right."""

_NEAR = 0.9  # from this score on a hit of a search is a rival of the first
_REMEMBERED = 200_000  # concepts, and as many names
_MOST_KNOWN = 50_000  # strings with hits; some 2 kB each
_Record = TypeVar("_Record", Concept, Name)


class ConceptHit(NamedTuple):
    """A concept found for a string, as numbers.

    `concept` is its ordinal and `row` its best row, −1 where the mean of its names was found.
    `scores` holds what each scorer gave that row; `found_by` is a sieve, ``"search"`` or a target.
    The choice between homonyms adds `evidence`. `against` is what speaks against the name of the
    row.
    """

    concept: int
    row: int
    score: float
    scores: dict[str, float]
    found_by: str
    evidence: dict[str, float] = {}  # noqa: RUF012  # never changed
    against: Against = NOTHING


class StringHits(NamedTuple):
    """The hits of a string, best first, and the sieve that decided, or ``"search"``.

    `reason` says why there are none, or none that may be taken. `tied` are all concepts of the best
    hit's name, if several. `steps` lead from the string to what the sieve knows.
    """

    hits: tuple[ConceptHit, ...]
    sieve: str
    reason: str = ""
    tied: tuple[ConceptHit, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def score(self) -> float:
        """Score of the best hit, −inf without one."""
        return self.hits[0].score if self.hits else float("-inf")


class Draft(NamedTuple):
    """A link before homonyms and the judge: hits are numbers still.

    `string` is what was looked up in the end, `forbidden` are concepts that the mention does not
    stand for. A composite mention has `parts`, and no hits itself.
    """

    mention: Mention
    string: str
    hits: tuple[ConceptHit, ...] = ()
    nil: bool = False
    reason: str = ""
    steps: tuple[Step, ...] = ()
    parts: tuple[Draft, ...] = ()
    tied: tuple[ConceptHit, ...] = ()
    forbidden: frozenset[int] = frozenset()
    status: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """Score of the best hit, −inf without one."""
        return self.hits[0].score if self.hits else float("-inf")

    @property
    def whole_or_parts(self) -> tuple[Draft, ...]:
        """The parts of a composite mention, or the draft itself."""
        return self.parts or (self,)


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
        asked: Asked | None = None,
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
        chosen: Filter,
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
                [take_vectors(each, left) for each in vectors],
                k,
                names.rows_of_target(target).indexes,
                names.filter(chosen, target, forbidden),
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
        chosen: Filter,
        *,
        step: Target,
    ) -> list[list[ConceptHit]]:
        """Find the k nearest owners of rows, by vectors of strings and the index of every encoder.

        The owners are those of ``chosen.ties.concept_of_row``: concepts, or any other numbers.
        """
        n = len(strings)
        if not n:
            return []
        scales = self.scales(strings, vectors)
        k = max(min(k, chosen.n_concepts), 1)  # memory grows with k

        def scorers(queries: npt.NDArray[np.intp]) -> list[Scorer]:
            return [
                _scorer(
                    encoder,
                    index,
                    take_vectors(each, queries),
                    chosen.allowed,
                    None if scale is None else scale[queries],
                )
                for encoder, index, each, scale in zip(
                    self.encoders, indexes, vectors, scales, strict=True
                )
            ]

        def search(queries: npt.NDArray[np.intp], fetch: int) -> FusedHits:
            if not self._exactly or len(self.encoders) < 2:
                return fuse(scorers(queries), fetch)
            n_rows = indexes[0].n_rows
            return fuse_exactly(lambda some: scorers(queries[some]), len(queries), fetch, n_rows)

        ranked = search_concepts(
            search, n, chosen.n_rows, k, chosen.ties, n_concepts=chosen.n_concepts
        )
        names = [encoder.name for encoder in self.encoders]
        # A search of names alone needs no name of its own.
        found_by = "search" if self.steps == (TARGETS["O-T"],) else step.name
        there = ranked.scores > 0
        rows = np.where(step.by_concept, -1, ranked.rows)[there].tolist()
        concepts, scores = ranked.concepts[there].tolist(), ranked.scores[there].tolist()
        parts = [
            dict(zip(names, each, strict=True))
            for each in zip(*(part[there].tolist() for part in ranked.parts), strict=True)
        ]
        hits = map(ConceptHit, concepts, rows, scores, parts, itertools.repeat(found_by))
        return [list(itertools.islice(hits, n)) for n in there.sum(axis=1).tolist()]


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


class ConceptTable:
    """Concepts and names of a terminology by number, remembered; and its hierarchy."""

    def __init__(self, terminology: Terminology) -> None:
        self.terminology = terminology
        self._known: dict[int, Concept] = {}
        self._names: dict[int, Name] = {}

    def __getitem__(self, ordinal: int) -> Concept:
        known = self._known.get(ordinal)
        return known or _read(self._known, ordinal, self.terminology.concepts_at)

    def name(self, row: int) -> Name:
        """Return the name of a row of the terminology."""
        return self._names.get(row) or _read(self._names, row, self.terminology.names_at)

    def read_names(self, rows: Iterable[int]) -> None:
        """Read the names of rows of the terminology in one query."""
        new = [row for row in dict.fromkeys(rows) if row not in self._names]
        if new:
            _remember(self._names, dict(zip(new, self.terminology.names_at(new), strict=True)))

    def read_ahead(self, hits: Sequence[ConceptHit]) -> None:
        """Read the concepts of hits, and their names in the terminology, in one query each."""
        concepts = {hit.concept for hit in hits if hit.concept not in self._known}
        n = self.terminology.n_names
        if concepts:
            described = self.terminology.concepts_at([*concepts])
            _remember(self._known, dict(zip(concepts, described, strict=True)))
        self.read_names(hit.row for hit in hits if 0 <= hit.row < n)

    @functools.cached_property
    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy, read once; None where the terminology has none."""
        if not self.terminology.n_relations:
            return None
        hierarchy = Hierarchy.from_terminology(self.terminology)
        return hierarchy if hierarchy.n_edges else None


def _read(
    known: dict[int, _Record], number: int, read: Callable[[Sequence[int]], list[_Record]]
) -> _Record:
    (record,) = read([number])
    _remember(known, {number: record})
    return record


def _remember(known: dict[int, _Record], records: Mapping[int, _Record]) -> None:
    if len(known) + len(records) > _REMEMBERED:
        known.clear()
    known.update(itertools.islice(records.items(), _REMEMBERED))


class KnownHits:
    """Hits of strings that were looked up before: real streams repeat.

    They hold for the names of one moment, a filter and numbers of hits; with others they are
    forgotten.
    """

    def __init__(self) -> None:
        self._known: tuple[Names | None, Filter | None, tuple[int, int], dict[str, StringHits]]
        self._known = (None, None, (0, 0), {})

    def of(self, names: Names, chosen: Filter, k: tuple[int, int]) -> dict[str, StringHits]:
        """Return the hits by string, to be added to; `k` are the hits to find, and enough of them.

        See `canonym.linking.pipeline.Pipeline.find`.
        """
        before, also, numbers, hits = self._known
        if before is not names or also is not chosen or numbers != k or len(hits) > _MOST_KNOWN:
            hits = {}
            self._known = (names, chosen, k, hits)
        return hits


def near_rivals(hits: Sequence[ConceptHit]) -> Sequence[ConceptHit]:
    """Return the first of the hits of a search and those of nearly its score."""
    return hits[: max(sum(hit.score >= _NEAR for hit in hits), 1)]


class BatchHits:
    """Everything found for a batch of documents, against the names of one moment.

    `by_forbidden` has the hits of every string, by the concepts that its mention may not find.
    """

    def __init__(
        self,
        search: Search,
        names: Names,
        chosen: Filter,
        concepts: ConceptTable,
        sieves: Sequence[Sieve] = (),
    ) -> None:
        self.search = search
        self.names = names
        self.filter = chosen
        self.concepts = concepts
        self.sieves = sieves
        self.encoded = EncodedStrings(search.encode)
        self.by_forbidden: dict[frozenset[int], dict[str, StringHits]] = {}

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

    def _against(self, string: str, hit: ConceptHit) -> Against:
        name = self.name(hit).text
        if name == string:
            return NOTHING
        case_counts = False
        if len(name) == len(string) and name.casefold() == string.casefold():
            concept = self.concepts[hit.concept]
            case_counts = species_of(concept.types, concept.label) is not None
        return against(string, name, case_counts=case_counts)

    def name(self, hit: ConceptHit) -> Name:
        """Return the name that matched; the label where the mean of a concept's names did."""
        if hit.row < 0:
            concept = self.concepts[hit.concept]
            return Name(concept.label, concept.id, scope="label")
        if hit.row < self.names.n_base:
            return self.concepts.name(hit.row)
        return self.names.name(hit.row)

    def texts(self, hit: ConceptHit) -> list[str]:
        """Return the names that the terminology has for the concept."""
        terminology = self.concepts.terminology
        return [name.text for name in terminology.names(self.concepts[hit.concept].id)]


def _fill(ranked: list[ConceptHit], further: Sequence[ConceptHit], k: int) -> None:
    """Add what an earlier step has not found, with scores that fall down the list."""
    if not ranked:
        ranked.extend(further[:k])
        return
    taken = {hit.concept for hit in ranked}
    for hit in further:
        if hit.concept not in taken and len(ranked) < k:
            ranked.append(at_most(hit, ranked[-1].score))


def at_most(hit: ConceptHit, score: float) -> ConceptHit:
    """Return a hit that scores no more than that."""
    return hit if hit.score <= score else hit._replace(score=score)


def _scorer(
    encoder: WeightedEncoder,
    index: Searchable,
    queries: Any,
    allowed: BoolArray | None,
    scale: npt.NDArray[np.float64] | None,
) -> Scorer:
    return Scorer(
        encoder.name,
        lambda n: index.search(queries, n, allowed=allowed),
        lambda rows: index.score(queries, rows),
        encoder.weight,
        scale,
    )


# --- close hits -----------------------------------------------------------------------------------

LOOKED_AT = 8
"""Nearest concepts that are found at least and looked at most, so that k changes no order."""


def by_letters(
    nearest: dict[str, list[ConceptHit]],
    known: Container[str],
    names: Names,
    concepts: ConceptTable,
) -> None:
    """Put the hits of strings that no sieve knows in order by their letters too.

    Only hits nearly as near as the first are looked at; see `canonym.ranking.letters`. Scores fall:
    a hit that goes behind another gets at most its score.
    """
    strings = [text for text, hits in nearest.items() if len(hits) > 1 and text not in known]
    near: list[tuple[str, str, list[ConceptHit]]] = []
    for string, form in zip(strings, strong_forms(strings), strict=True):
        hits = nearest[string]
        least = hits[0].score - most_gain(form)
        close = [hit for hit in hits[:LOOKED_AT] if hit.score > least]
        if len(close) > 1 and all(hit.row >= 0 for hit in close):  # no means of names
            near.append((string, form, close))
    for string, form, close in near:
        texts = [
            (concepts if hit.row < names.n_base else names).name(hit.row).text for hit in close
        ]
        gains = [gain(form, text) for text in strong_forms(texts)]
        if any(gains):
            rest = nearest[string][len(close) :]
            nearest[string] = _ordered(close, gains, rest)


def _ordered(
    close: list[ConceptHit], gains: list[float], rest: list[ConceptHit]
) -> list[ConceptHit]:
    order = sorted(range(len(close)), key=lambda at: -(close[at].score + gains[at]))
    ordered: list[ConceptHit] = []
    for hit in (*(close[at] for at in order), *rest):
        ordered.append(at_most(hit, ordered[-1].score) if ordered else hit)
    return ordered
