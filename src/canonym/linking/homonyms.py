"""Choice between concepts that share a name, by the text around the mention.

A sieve finds every concept of a name. A search finds k concepts, so k decides which of several
equal ones are among them; here all of them are looked up by the name. The text around the mention
then puts tied concepts in order; everything else is left unchanged.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders import make_encoder
from canonym.errors import InvalidInput
from canonym.io.numbers import largest_product
from canonym.linking.decision import NEGATED
from canonym.linking.hits import PREFERRED, ConceptHit, Draft, StringHits, ahead, at_most
from canonym.linking.search import BatchHits, concepts_of
from canonym.linking.settings import IDS, SIEVES, Target
from canonym.mentions.opposites import KINDS
from canonym.mentions.readings import common_readings, has_usual, readings_of
from canonym.mentions.sentences import phrases, sentence_of, without
from canonym.mentions.species import species_in, species_of
from canonym.ranking.pooling import TieRule
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import edges_between, edges_up
from canonym.text import UNORDERED, normalise_all
from canonym.text.memo import KnownForms, strong_forms
from canonym.text.qualifiers import BROADER
from canonym.text.type_names import type_words
from canonym.types import (
    EVERYDAY,
    OTHER_READINGS,
    SCOPES,
    USUAL_READING,
    Document,
    Encoder,
    Float32Array,
    Int32Array,
    Mention,
    Step,
)

MOST_TIED = 50
"""Most concepts of one name that are compared; those first without a context are taken."""

EVIDENCE: tuple[str, ...] = ("document", "sentence", "hierarchy", "types")
"""Kinds of evidence, each in [0, 1] but for cosines below 0."""

WEIGHTS: tuple[float, ...] = (0.5, 0.1, 0.5, 0.75)
"""Weight of each kind; chosen on the train parts of two corpora (``benchmarks/homonyms.py``)."""

TRUSTED = 0.2
"""Lead of the concepts whose name has the most trusted scope among them, such as a label."""

ANYWAY = 0.05
"""Lead of the concept that is first without a context."""

AHEAD = ("scope", "first anyway")
"""The names of these two leads among the evidence of a candidate."""

N_CANDIDATES = 20
"""Nearest concepts among which a preferred one is looked for."""

_SIEVES = frozenset((IDS, *(sieve.name for sieve in SIEVES)))
_NAMES = 50
_unordered = KnownForms(UNORDERED)
_KINDS = (*EVIDENCE, *AHEAD)

# Sums that differ by less are equal and keep the order without a context.
_SAME = 1e-6


def weigh(
    evidence: npt.ArrayLike,
    *,
    trusted: Sequence[bool] | None = None,
    weights: Sequence[float] = WEIGHTS,
) -> tuple[npt.NDArray[np.float64], list[int]] | None:
    """Order n concepts of one name by m kinds of evidence, given as ``(n, m)``; NaN: unknown.

    Concepts are in the order without a context; `trusted` says whose name has the most trusted
    scope, all by default. Returns the parts of each sum, ``(n, m + 2)``, with the two leads last,
    and the concepts best first. Returns None where the evidence is the same for all of them.

    Raises
    ------
    InvalidInput
        If the shapes do not fit.

    Notes
    -----
    ``score(c) = Σ_j w_j · e_j(c) + TRUSTED · [c is trusted] + ANYWAY · [c is the first]``. Unknown
    evidence of a concept is taken to be the mean over the others: a concept without a further name
    is neither nearer to a text nor farther from it. Equal scores keep their order.
    """
    values = np.array(evidence, dtype=np.float64)
    fits = trusted is None or len(trusted) == len(values)
    if values.ndim != 2 or values.shape[1] != len(weights) or not fits:
        raise InvalidInput(
            f"evidence of the shape {values.shape} was given with {len(weights)} weights; expected "
            "a row for each concept, trusted or not, and a column for each weight"
        )
    known = ~np.isnan(values)
    means = np.where(known, values, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    worth = np.where(known, values, means) * np.asarray(weights, dtype=np.float64)
    if len(worth) < 2 or np.all(np.ptp(worth, axis=0) < _SAME):
        return None
    ahead = np.zeros((len(worth), 2))
    ahead[:, 0] = TRUSTED * (np.ones(len(worth)) if trusted is None else np.asarray(trusted))
    ahead[0, 1] = ANYWAY
    worth = np.hstack([worth, ahead])
    ranks = -np.round(worth.sum(axis=1) / _SAME)
    return worth, [int(place) for place in np.argsort(ranks, kind="stable")]


def kinship(above: Mapping[str, int], others: Iterable[Mapping[str, int]]) -> float:
    """Return how near a concept is to the nearest of others in a hierarchy.

    A concept is given by all concepts above it, with the edges up to them, and itself with 0.
    Returns ``1 / (1 + d)`` of the fewest edges ``d`` through a common ancestor: 1 for the concept
    itself, 1/3 for a sibling; 0 without a common ancestor.
    """
    edges = [n for other in others if (n := edges_between(above, other)) is not None]
    return 1 / (1 + min(edges)) if edges else 0.0


# --- finding --------------------------------------------------------------------------------------


def find_homonyms(drafts: Sequence[Draft], batch: BatchHits) -> list[Draft]:
    """Find all concepts that share the name by which a search found a best hit.

    Such a name equals that of the best hit for the first sieve, and scores the same. Nothing is
    tied without a sieve, and where means of names were searched.
    """
    parts = [part for draft in drafts for part in draft.whole_or_parts]
    targets = _targets_by_name(batch)
    searched = {
        (part.string, part.forbidden): (part, target)
        for part in parts
        if part.hits and (target := targets.get(part.hits[0].found_by)) is not None
    }
    if not searched or not batch.sieves:
        return list(drafts)
    texts = [batch.name(part.hits[0]).text for part, _ in searched.values()]
    forms = list(normalise_all(texts, batch.sieves[0].steps))
    several: dict[tuple[str, frozenset[int]], tuple[Draft, Int32Array, TieRule]] = {}
    for (key, (part, target)), rows in zip(
        searched.items(), batch.names.find(0, forms), strict=True
    ):
        forbidden = part.forbidden | batch.names.forbidden_for(part.string)
        row_filter = batch.names.filter(batch.filter, target, forbidden, by_name=True)
        allowed = rows if row_filter.allowed is None else rows[row_filter.allowed[rows]]
        if len(allowed) > 1 and len(np.unique(row_filter.ties.concept_of_row[allowed])) > 1:
            several[key] = (part, allowed, row_filter.ties)
    widths = [len(rows) for _, rows, _ in several.values()]
    scores = np.zeros(sum(widths))
    if several:
        strings = [string for string, _ in several]
        places = np.repeat(np.arange(len(widths)), widths)
        rows = np.concatenate([rows for _, rows, _ in several.values()])
        of_encoders = batch.scores(strings, places, rows)
        for share, of_encoder in zip(batch.shares(strings, places), of_encoders, strict=True):
            scores += share * of_encoder
    tied = {
        key: _tied(part, rows, of_part, ties)
        for (key, (part, rows, ties)), of_part in zip(
            several.items(), np.split(scores, np.cumsum(widths)[:-1]), strict=False
        )
    }
    return [_with_tied(draft, tied) for draft in drafts]


def _targets_by_name(batch: BatchHits) -> dict[str, Target]:
    """Return the steps of the search that find hits by a name, by what their hits are found by."""
    steps = batch.search.steps
    targets = {"search": steps[0], **{step.name: step for step in steps}}
    return {name: step for name, step in targets.items() if not step.by_concept}


def _tied(
    part: Draft, rows: Int32Array, scores: npt.NDArray[np.float64], ties: TieRule
) -> tuple[ConceptHit, ...]:
    best = part.hits[0]
    own = ties.concept_of_row[rows] == best.concept
    same = rows[np.abs(scores - scores[own].max(initial=-np.inf)) < _SAME]
    known = {hit.concept: hit for hit in part.hits}
    others = [
        known.get(concept, best._replace(concept=concept, row=row))
        for concept, row in concepts_of(same, ties)
        if concept != best.concept
    ]
    return (best, *others[: MOST_TIED - 1]) if others else part.tied


def _with_tied(
    draft: Draft, tied: Mapping[tuple[str, frozenset[int]], tuple[ConceptHit, ...]]
) -> Draft:
    if draft.parts:
        return draft._replace(parts=tuple(_with_tied(part, tied) for part in draft.parts))
    return draft._replace(tied=tied.get((draft.string, draft.forbidden), draft.tied))


# --- abbreviations --------------------------------------------------------------------------------


def beside_readings(draft: Draft, hits_of: Mapping[str, StringHits], batch: BatchHits) -> Draft:
    """Give an abbreviation that is all of a mention what else it may stand for.

    A terminology has *PCP* for the drug alone, and a list may mean the pneumonia: the other
    readings of the book that sieves know are laid beside. Nothing changes where the concept, or
    one above or below it, is the first reading and no detail was left out. Of an abbreviation of
    several readings that is no name, the first reading counts if it is known.
    """
    if draft.parts:
        parts = tuple(beside_readings(part, hits_of, batch) for part in draft.parts)
        return draft._replace(parts=parts)
    readings = readings_of(draft.string)
    if not readings:
        return _found_by_short_form(draft, batch)
    known = {
        reading: hits.hits[0]
        for reading in readings
        if (hits := hits_of.get(reading)) is not None and hits.sieve in _SIEVES and hits.hits
    }
    if not draft.hits or draft.hits[0].found_by not in _SIEVES:
        if readings[0] in known:
            return draft if draft.string.islower() else _read(draft, readings, known)
        return _doubted(draft, readings, batch)
    if draft.hits[0].row >= batch.names.n_base:  # somebody added the name
        return draft
    if not known:
        return _doubted(draft, readings, batch) if _knows_readings(batch) else draft
    concepts = [hit.concept for hit in draft.hits if hit.found_by in _SIEVES]
    kin = {
        reading for reading, hit in known.items() if batch.concepts.are_kin(hit.concept, concepts)
    }
    label = batch.concepts[draft.hits[0].concept].label
    usual, words = (set(form.split()) for form in strong_forms([readings[0], label]))
    others = {reading: hit for reading, hit in known.items() if reading not in kin}
    steps = _readings_steps(draft.string, (), [*others] or readings[:1])
    if readings[0] in kin or usual <= words:
        # A detail may tell that another is meant: *severe MS*, *bilateral PE*.
        whole = all(step.name != BROADER for step in draft.steps)
        if has_usual(draft.string) and (whole or not others):
            return draft
        steps = _readings_steps(draft.string, readings[:1], [*others] or readings[1:])
    return draft._replace(
        hits=ahead(draft.hits[0], others.values(), draft.hits), steps=(*draft.steps, *steps)
    )


def _doubted(draft: Draft, readings: Sequence[str], batch: BatchHits) -> Draft:
    """Tell what an abbreviation stands for elsewhere, where it is a synonym of another concept.

    "DDD" is a name of Dowling-Degos disease, which has no word of any usual reading.
    """
    if not draft.hits or draft.nil or draft.hits[0].row < 0:
        return draft
    is_name = draft.hits[0].found_by in _SIEVES
    name = batch.name(draft.hits[0])
    if name.scope == "label" or name.source == EVERYDAY if is_name else len(readings) < 2:
        return draft
    forms = strong_forms(batch.texts(draft.hits[0]))
    names = {word for form in forms for word in form.split()} - KINDS
    speaks = [not names.isdisjoint(form.split()) for form in strong_forms(readings)]
    if speaks[0] and (not is_name or has_usual(draft.string)):
        return draft
    steps = _readings_steps(draft.string, readings[: speaks[0]], readings[speaks[0] :])
    nil = "" if is_name or speaks[0] else f"it usually stands for {readings[0]}"
    draft = draft._replace(nil=bool(nil), reason=nil or draft.reason)
    return draft._replace(steps=(*draft.steps, *steps))


def _knows_readings(batch: BatchHits) -> bool:
    """Tell whether a terminology has what the most certain short forms of notes stand for."""
    forms = list(normalise_all(common_readings(), batch.sieves[0].steps))
    return sum(len(rows) > 0 for rows in batch.names.find(0, forms)) > len(forms) / 10


def _read(draft: Draft, readings: Sequence[str], known: Mapping[str, ConceptHit]) -> Draft:
    """Return the first reading of an abbreviation in capitals, the others beside it.

    Not where a search finds the concept of the only reading too.
    """
    concepts = {hit.concept for hit in (*draft.hits[:1], *known.values())}
    if len(readings) < 2 and draft.hits and not draft.nil and len(concepts) < 2:
        return draft
    best, *beside = known.values()
    return draft._replace(
        string=readings[0],
        hits=ahead(best, beside, draft.hits),
        nil=draft.reason == NEGATED,
        reason=draft.reason if draft.reason == NEGATED else "",
        steps=(*draft.steps, *_readings_steps(draft.string, readings[:1], readings[1:])),
    )


def _found_by_short_form(draft: Draft, batch: BatchHits) -> Draft:
    """Tell what a short form in a mention usually stands for, if a search found another meaning.

    *Right CP* is near the name "CP" of cerebral palsy.
    """
    if not draft.hits or draft.hits[0].found_by in _SIEVES or draft.hits[0].row < 0:
        return draft
    name = batch.name(draft.hits[0]).text
    readings = readings_of(name)
    if (
        len(readings) < 2
        or name.islower()
        or name.casefold() not in draft.string.casefold().split()
    ):
        return draft
    usual, *forms = strong_forms([readings[0], *batch.texts(draft.hits[0])])
    if any(set(usual.split()) <= set(form.split()) for form in forms):
        return draft
    return draft._replace(steps=(*draft.steps, *_readings_steps(name, (), readings[:1])))


def _readings_steps(short: str, usual: Sequence[str], others: Sequence[str]) -> list[Step]:
    """Return the steps that tell the usual reading, if it counts, and the others."""
    beside = Step(OTHER_READINGS, short, " | ".join(others) or "something else")
    return [*(Step(USUAL_READING, short, reading) for reading in usual), beside]


# --- choosing -------------------------------------------------------------------------------------


class Homonyms:
    """Chooses between concepts of one name by the surroundings of the mention.

    Notes
    -----
    Four kinds of evidence count for a concept:

    ``document``
        The largest cosine between the surroundings and the concept. The surroundings are phrases
        and other mentions of the document; the concept is its other names and the phrases of its
        definition.
    ``sentence``
        The same with the phrases of the mention's sentence.
    ``hierarchy``
        The nearness of the concept to one that another mention stands for, see `kinship`.
    ``types``
        The share of the other mentions whose concept has a semantic type of this one. Where other
        mentions have the type of this mention, only those count. It is 1 where the type of the
        mention is called like one of the concept's.

    Only mentions that a sieve decides, and that are not tied themselves, count as other mentions.
    Vectors are always those of the embedded encoder: the weights were chosen for its cosines.
    Phrases are found by English function words.
    """

    def __init__(self, terminology: Terminology) -> None:
        self._terminology = terminology

    @functools.cached_property
    def _encoder(self) -> Encoder:
        return make_encoder("default")

    def choose(
        self,
        document: Document,
        drafts: Sequence[Draft],
        batch: BatchHits,
        *,
        context: bool = True,
    ) -> list[Draft]:
        """Put tied hits in the order for which their surroundings speak, if they may.

        A document without text stands for one mention with its `Mention.context`. Then comes what
        the caller prefers: of two near concepts, one of which is called like the other, the
        preferred one goes first. So a gene is the one of the species in question, although the
        mention is nearer to a name of its ortholog.
        """
        tied = context and any(part.tied for draft in drafts for part in draft.whole_or_parts)
        if not tied and not batch.filter.prefers:
            return list(drafts)
        page = _Page(self._terminology, self._encoder, document.text, drafts, batch)
        ordered = [page.ordered(draft) for draft in drafts] if tied else list(drafts)
        return [page.preferred(draft) for draft in ordered] if batch.filter.prefers else ordered


class _Plain(NamedTuple):
    """A mention whose concept is certain: its type, and the id and the types of the concept."""

    type: str
    id: str
    types: frozenset[str]


class _Page:
    """A document while its tied mentions are decided; remembers vectors and descriptions."""

    def __init__(
        self,
        terminology: Terminology,
        encoder: Encoder,
        text: str,
        drafts: Sequence[Draft],
        batch: BatchHits,
    ) -> None:
        self._terminology = terminology
        self._encoder = encoder
        self._text = text
        self._found = batch
        # Distinct, and counted: a page may hold ten thousand mentions.
        strings = (part.string for draft in drafts for part in draft.whole_or_parts)
        self._strings = list(dict.fromkeys(strings))
        self._forms = strong_forms(self._strings)
        self._plain = Counter(self._plain_mentions(drafts))
        # Mentions that are close have the text around them in common.
        self._phrases = functools.lru_cache(64)(_phrases_without)
        self._vectors: dict[str, Float32Array] = {}
        self._above: dict[str, dict[str, int]] = {}

    def ordered(self, draft: Draft) -> Draft:
        """Return a draft with its tied hits, or those of its parts, in their order."""
        if draft.parts:
            parts = tuple(
                self._order(part, draft.mention) if part.tied else part for part in draft.parts
            )
            return draft._replace(parts=parts)
        return self._order(draft, draft.mention) if draft.tied else draft

    def preferred(self, draft: Draft) -> Draft:
        """Return a draft whose best hit gives way to a namesake that the caller prefers."""
        if draft.parts:
            parts = tuple(self._prefer(part, draft.mention) for part in draft.parts)
            return draft._replace(parts=parts)
        return self._prefer(draft, draft.mention)

    def _prefer(self, part: Draft, mention: Mention) -> Draft:
        hits = list(part.hits)
        if len(hits) < 2:
            return part
        ranks = self._preference_ranks(part, mention, hits)
        better = [
            place
            for place in range(1, len(hits))
            if ranks[place] < ranks[0] and self._are_namesakes(hits[0], hits[place])
        ]
        best = min(better, key=ranks.__getitem__, default=0)
        first, rank = hits.pop(best), ranks.pop(best)
        if best:
            hits, part = [at_most(hit, first.score) for hit in hits], part._replace(tied=())
        for place, hit in enumerate(hits):
            if ranks[place] <= rank or not self._are_namesakes(first, hit):
                break
            # It is no rival either, which would make the link unsure.
            hits[place] = hit._replace(evidence={PREFERRED: 0.0, **hit.evidence})
            first = first._replace(evidence={PREFERRED: 1.0, **first.evidence})
        return part._replace(hits=(first, *hits))

    def _are_namesakes(self, hit: ConceptHit, other: ConceptHit) -> bool:
        """Tell whether the label of one concept is a name of the other."""
        labels, names = [], []
        for candidate in (hit, other):
            concept = self._found.concepts[candidate.concept]
            texts = [name.text for name in self._terminology.names(concept.id)[:_NAMES]]
            labels += strong_forms([concept.label])
            names.append(set(strong_forms(texts)))
        return labels[0] in names[1] or labels[1] in names[0]

    def _order(self, part: Draft, mention: Mention) -> Draft:
        tied = part.tied
        evidence = np.full((len(tied), len(EVIDENCE)), math.nan)
        evidence[:, 0], evidence[:, 1] = self._similarities(part, mention, tied)
        evidence[:, 2] = self._kinships(tied)
        evidence[:, 3] = self._shared_types(mention, tied)
        scopes = [SCOPES.index(self._found.name(hit).scope) for hit in tied]
        weighed = weigh(evidence, trusted=[scope == min(scopes) for scope in scopes])
        if weighed is None and not self._found.filter.prefers:
            return part
        worth, order = weighed or (np.empty((len(tied), 0)), list(range(len(tied))))
        kinds = [dict(zip(_KINDS, row, strict=False)) for row in worth.tolist()]
        if self._found.filter.prefers:
            ranks = self._preference_ranks(part, mention, tied)
            order.sort(key=ranks.__getitem__)
            groups = sorted(set(ranks), reverse=True)
            for kind, rank in zip(kinds, ranks, strict=True):
                kind[PREFERRED] = float(groups.index(rank))
        first = [tied[place]._replace(evidence=kinds[place]) for place in order]
        concepts = {hit.concept for hit in tied}
        rest = [hit for hit in part.hits if hit.concept not in concepts]
        return part._replace(hits=tuple([*first, *rest][: len(part.hits)]), tied=tuple(first))

    def _preference_ranks(
        self, part: Draft, mention: Mention, tied: Sequence[ConceptHit]
    ) -> list[tuple[int, int]]:
        """Return what each tied concept is ordered by before anything else, smaller first."""
        row_filter = self._found.filter
        assert row_filter.ties.preference is not None
        unmet = row_filter.ties.preference[[hit.concept for hit in tied]].tolist()
        if not row_filter.species:
            return [(0, rank) for rank in unmet]
        start = mention.start if self._text else None
        sentence, _ = sentence_of(self._text or mention.context, mention.text, start=start)
        text = self._text or f"{mention.context} {mention.text}"
        named = species_in(text, near=sentence or mention.text, mention=part.mention.text)
        own = [self._found.concepts[hit.concept] for hit in tied]
        species = [species_of(concept.types, concept.label) for concept in own]
        places = [named.index(taxon) if taxon in named else len(named) for taxon in species]
        return list(zip(places, unmet, strict=True))

    def _plain_mentions(self, drafts: Iterable[Draft]) -> Iterator[_Plain]:
        for draft in drafts:
            for part in draft.whole_or_parts:
                if (
                    not part.nil
                    and part.hits
                    and not part.tied
                    and part.hits[0].found_by in _SIEVES
                ):
                    concept = self._found.concepts[part.hits[0].concept]
                    yield _Plain(draft.mention.type, concept.id, frozenset(concept.types))

    def _similarities(
        self, part: Draft, mention: Mention, tied: Sequence[ConceptHit]
    ) -> tuple[list[float], list[float]]:
        texts = (mention.text, part.mention.text)
        sentence, around = sentence_of(
            self._text or mention.context, mention.text, start=mention.start if self._text else None
        )
        own = set(strong_forms([part.string, part.mention.text]))
        others = [s for s, form in zip(self._strings, self._forms, strict=True) if form not in own]
        whole = list(dict.fromkeys([*self._phrases(around, texts), *others]))
        near = self._phrases(sentence, texts)
        if not (whole or near):
            return [math.nan] * len(tied), [math.nan] * len(tied)
        described = [self._vectors_of(self._description(hit, part, texts)) for hit in tied]
        sides = [self._vectors_of(whole), self._vectors_of(near)]
        document, beside = ([largest_product(own, side) for own in described] for side in sides)
        return document, beside

    def _description(self, hit: ConceptHit, part: Draft, texts: tuple[str, ...]) -> list[str]:
        # The name that all of them share says nothing.
        shared = set(_unordered([self._found.name(hit).text, part.string]))
        concept = self._found.concepts[hit.concept]
        names = [name.text for name in self._terminology.names(concept.id)[:_NAMES]]
        further = [
            name for name, form in zip(names, _unordered(names), strict=True) if form not in shared
        ]
        return list(dict.fromkeys([*further, *self._phrases(concept.definition, texts)]))

    def _vectors_of(self, texts: Sequence[str]) -> Float32Array:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            vectors = np.asarray(self._encoder.encode(new), dtype=np.float32)
            self._vectors.update(zip(new, vectors, strict=True))
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])

    def _kinships(self, tied: Sequence[ConceptHit]) -> list[float]:
        others = [
            self._all_above(id_) for id_ in dict.fromkeys(mention.id for mention in self._plain)
        ]
        return [
            kinship(self._all_above(self._found.concepts[hit.concept].id), others) for hit in tied
        ]

    def _all_above(self, id_: str) -> dict[str, int]:
        if id_ not in self._above:
            self._above[id_] = edges_up(id_, self._terminology.parents)
        return self._above[id_]

    def _shared_types(self, mention: Mention, tied: Sequence[ConceptHit]) -> list[float]:
        same = {plain: n for plain, n in self._plain.items() if plain.type == mention.type}
        alike = same or self._plain
        called = type_words((mention.type,))
        shares = []
        for hit in tied:
            types = self._found.concepts[hit.concept].types
            shared = sum(n for plain, n in alike.items() if plain.types & set(types))
            share = shared / max(sum(alike.values()), 1)
            shares.append(max(share, float(bool(called & type_words(types)))))
        return shares


def _phrases_without(text: str, mentions: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(phrases(without(text, mentions)))
