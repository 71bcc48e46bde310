"""Features of candidates, for the re-ranker: those of a batch of drafts in one array."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.io.numbers import log, rounded
from canonym.linking.search import BatchHits, Draft
from canonym.linking.settings import IDS
from canonym.linking.targets import TARGETS
from canonym.ranking.overlap import Overlap, overlaps, type_words
from canonym.ranking.pooling import marginal_scores
from canonym.text import STRONG, normalise
from canonym.text.memo import strong_forms
from canonym.types import SCOPES

FloatArray = npt.NDArray[np.float64]

MARGINAL = "marginal"
"""The feature `NameScores.marginal`, and the order that goes by it."""

SAME_CONCEPT = "mentions with it first"
"""``log(1 + n)`` of the other mentions of the document whose first candidate is the concept."""

COUNTED = (
    "shorter mentions with it first",
    "longer mentions with it first",
    "other mentions with it first",
)
"""The same by words: mentions with some of the mention's words, with more, and all others."""

# The models that were learned know three kinds of match; a bare name is the loosest of them, and no
# model has seen an id, which is as good as a name.
_SIEVES = {IDS: 3.0, "verbatim": 3.0, "normalised": 2.0, "reordered": 1.0, "bare": 1.0}
_COUNTS = (
    "decisions",
    "share of decisions",
    "decisions for the concept",
    "decisions for the name",
    "share of decisions with its prefix",
)
_NAMES = ("names", "second name", "second name behind the best", "second name behind the first")
_KINDS = ("depth", "depth below the first", "type is the mention's")
_SCORER = ("", " behind the best", " mean", " mean behind the best")
_DECIMALS = 6  # of a feature: similarities are no better
_MOST_NAMES = 64  # of a concept; some drugs have thousands of spellings


# --- past annotations -----------------------------------------------------------------------------


@dataclass
class AnnotationCounts:
    """Counts of the concepts that annotators gave to a text: `pairs` by its normal form.

    `concepts` counts ids, `prefixes` what stands before their colon.
    """

    pairs: dict[str, Counter[str]] = field(default_factory=dict)
    concepts: Counter[str] = field(default_factory=Counter)
    prefixes: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, ids: Iterable[str], times: int = 1) -> None:
        """Count an annotation; a negative number takes it back."""
        self.count(normalise(text, STRONG), dict.fromkeys(ids, times))

    def count(self, form: str, times: Mapping[str, int]) -> None:
        """Count annotations of a text in normal form, by id."""
        of_form = self.pairs.setdefault(form, Counter())
        for id_, n in times.items():
            of_form[id_] += n
            self.concepts[id_] += n
            self.prefixes[_prefix(id_)] += n

    def look(self, forms: Sequence[str], ids: Sequence[str], names: Sequence[str]) -> FloatArray:
        """Return five features of n texts, concepts and names, ``(n, 5)``; texts in normal form.

        ``log(1 + n)`` of the annotations of the text with the concept; their share of all of the
        text; ``log(1 + n)`` of those with the concept, and of those of the name; and the share of
        all annotations with the prefix of the id. Shares of nothing are NaN.
        """
        if not self.pairs:
            return np.tile([0, math.nan, 0, 0, math.nan], (len(forms), 1))
        of_text = {form: self.pairs.get(form, _NONE).total() for form in {*forms, *names}}
        counts = np.array(
            [
                (self.pairs.get(form, _NONE)[id_], of_text[form], self.concepts[id_], of_text[name])
                for form, id_, name in zip(forms, ids, names, strict=True)
            ],
            dtype=np.float64,
        ).reshape(-1, 4)
        with_prefix = np.array([self.prefixes[_prefix(id_)] for id_ in ids], dtype=np.float64)
        found = np.empty((len(forms), 5))
        found[:, [0, 2, 3]] = log(1 + counts[:, [0, 2, 3]])
        found[:, 1] = counts[:, 0] / np.where(counts[:, 1], counts[:, 1], math.nan)
        found[:, 4] = with_prefix / (self.prefixes.total() or math.nan)
        return found


_NONE: Counter[str] = Counter()


def _prefix(id: str) -> str:
    return id.partition(":")[0] if ":" in id else ""


# --- the hits of a batch --------------------------------------------------------------------------


class Candidates:
    """The hits of undivided drafts, one after the other.

    Those of draft i are ``hits[starts[i]:starts[i + 1]]``; `draft_of` is the draft of each.
    """

    def __init__(self, drafts: Sequence[Draft], found: BatchHits) -> None:
        self.drafts = tuple(drafts)
        self.found = found
        self.hits = [hit for draft in drafts for hit in draft.hits]
        self.scores = np.array([hit.score for hit in self.hits], dtype=np.float64)
        self.concepts = np.array([hit.concept for hit in self.hits], dtype=np.int64)
        self.sieves = np.array([_SIEVES.get(hit.found_by, 0.0) for hit in self.hits])
        widths = np.array([len(draft.hits) for draft in drafts], dtype=np.intp)
        self.starts = np.concatenate([[0], np.cumsum(widths)])
        self.draft_of = np.repeat(np.arange(len(widths)), widths)

    def __len__(self) -> int:
        return len(self.hits)

    def highest(self, values: FloatArray) -> FloatArray:
        """Return for each hit the largest known value of its draft."""
        filled = np.diff(self.starts) > 0
        if not filled.any():
            return values
        largest = np.fmax.reduceat(values, self.starts[:-1][filled])
        return np.asarray(np.repeat(largest, np.diff(self.starts)[filled], axis=0))

    @functools.cached_property
    def mentions(self) -> list[str]:
        """The normal form of the string of each draft."""
        return strong_forms([draft.string for draft in self.drafts])

    @functools.cached_property
    def names(self) -> tuple[list[str], list[int]]:
        """The normal form and the place in `SCOPES` of the name by which each hit was found."""
        # The mean of a concept's names has the row -1, and goes by the name of the concept.
        rows = [hit.row if hit.row >= 0 else -1 - hit.concept for hit in self.hits]
        of_row = dict(zip(rows, self.hits, strict=True))
        named = {row: self.found.name(hit) for row, hit in of_row.items()}
        scopes = {row: SCOPES.index(name.scope) for row, name in named.items()}
        forms = strong_forms([name.text for name in named.values()])
        by_row = dict(zip(named, forms, strict=True))
        return [by_row[row] for row in rows], [scopes[row] for row in rows]


# --- all names of a concept -----------------------------------------------------------------------


class NameScores(NamedTuple):
    """Scores of all names of every candidate, ``(n,)`` or ``(n, encoders)`` float64.

    `n_names` were compared, 64 at most. `best` and `mean` are those of each encoder. `marginal` is
    that of `canonym.ranking.pooling.marginal_scores` of the weighted mean of the encoders, `second`
    its second largest value. NaN: unknown, as for a concept whose names were removed.
    """

    n_names: FloatArray
    best: FloatArray
    mean: FloatArray
    marginal: FloatArray
    second: FloatArray


def name_scores(candidates: Candidates) -> NameScores:
    """Compare the string of each draft with all names of its candidates.

    A stray synonym may be as near as a name of the right concept; its other names seldom are.
    """
    n, found = len(candidates), candidates.found
    encoders = found.search.encoders
    unknown = functools.partial(np.full, fill_value=math.nan)
    scores = NameScores(
        unknown(n), unknown((n, len(encoders))), unknown((n, len(encoders))), unknown(n), unknown(n)
    )
    rows, places = found.names.rows_of(candidates.concepts, _MOST_NAMES)
    filled, starts, widths = np.unique(places, return_index=True, return_counts=True)
    scores.n_names[filled] = widths
    if not len(filled) or not encoders:
        return scores
    strings, drafts = [draft.string for draft in candidates.drafts], candidates.draft_of[places]
    shares = found.shares(strings, drafts)
    fused = np.zeros(len(rows))
    of_encoders = found.scores(strings, drafts, rows, TARGETS["OD-T"])
    for column, (share, of_encoder) in enumerate(zip(shares, of_encoders, strict=True)):
        of_encoder = of_encoder.astype(np.float64)
        fused += share * of_encoder
        scores.best[filled, column] = np.maximum.reduceat(of_encoder, starts)
        scores.mean[filled, column] = np.add.reduceat(of_encoder, starts) / widths
    scores.marginal[filled] = marginal_scores(fused, starts)
    largest = np.repeat(np.maximum.reduceat(fused, starts), widths)
    others = np.where(fused == largest, -math.inf, fused)
    twice = np.add.reduceat((fused == largest).astype(np.intp), starts) > 1
    second = np.where(twice, largest[starts], np.maximum.reduceat(others, starts))
    scores.second[filled] = np.where(widths > 1, second, math.nan)
    return scores


def marginals(candidates: Candidates, scores: NameScores) -> FloatArray:
    """Return the marginal score of every candidate, ``(n,)``.

    NaN where a sieve found it, or its name is the mention: no others are as near.
    """
    names, _ = candidates.names
    mentions = [candidates.mentions[draft] for draft in candidates.draft_of.tolist()]
    named = np.array([one == other for one, other in zip(names, mentions, strict=True)], dtype=bool)
    known = np.where(np.isnan(scores.marginal), candidates.scores, scores.marginal)
    return np.where(named | (candidates.sieves > 0), math.nan, known)


# --- other mentions of the document ---------------------------------------------------------------


def document_counts(drafts: Sequence[Draft], marginal: Sequence[FloatArray]) -> list[FloatArray]:
    """Count for every candidate the other mentions of a document that have it first.

    Takes the undivided drafts of one document and their `marginals`. Returns an ``(n, 4)`` array
    each: ``log(1 + n)`` of all, then of each kind of `COUNTED`; NaN in a document of one mention.
    Mentions of one normal form count once, and not for themselves; a NIL does not count.

    A document is about a few concepts: *renal damage* beside *acute kidney injury* is likely to be
    that. Less so *attenuated polyposis* beside *polyposis*: a word more may mean a kind of it.
    """
    first: dict[str, int] = {}
    own = strong_forms([draft.string for draft in drafts])
    for draft, form, scores in zip(drafts, own, marginal, strict=True):
        if draft.hits and not draft.nil:
            # A candidate found by the mention itself is first, without comparison.
            best = int(np.where(np.isnan(scores), math.inf, scores).argmax())
            first.setdefault(form, draft.hits[best].concept)
    if len(first) < 2:
        return [no_counts(draft) for draft in drafts]
    forms: dict[int, list[tuple[str, frozenset[str]]]] = {}
    for form, concept in first.items():
        forms.setdefault(concept, []).append((form, frozenset(form.split())))
    return [_counts_of(draft, form, forms) for draft, form in zip(drafts, own, strict=True)]


def no_counts(draft: Draft) -> FloatArray:
    """Return the counts of a mention whose document is not known."""
    return np.full((len(draft.hits), 4), math.nan)


def _counts_of(
    draft: Draft, form: str, forms: dict[int, list[tuple[str, frozenset[str]]]]
) -> FloatArray:
    own = frozenset(form.split())
    counts = np.zeros((len(draft.hits), 4))
    for place, hit in enumerate(draft.hits):
        for other, words in forms.get(hit.concept, ()):
            if other != form:
                counts[place, 0] += 1
                counts[place, 1 if words < own else 2 if words > own else 3] += 1
    return log(1 + counts)


# --- the features ---------------------------------------------------------------------------------


def feature_names(encoders: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the features of `candidate_features`, in their order."""
    scorers = (f"{name}{rest}" for name in encoders for rest in _SCORER)
    return (
        *("score", "score behind the best", "place", "sieve", "scope"),
        *("name is the label", "name is the mention"),
        *(f"{part} of the name" for part in Overlap._fields),
        *(f"{part} of the label" for part in Overlap._fields),
        *("concepts of that name", *_COUNTS, *_NAMES, *_KINDS, *COUNTED, *scorers),
    )


class Compared(NamedTuple):
    """Candidates, their `name_scores`, `marginals` and ``(n, 4)`` `document_counts`."""

    candidates: Candidates
    scores: NameScores
    marginal: FloatArray
    counts: FloatArray

    def split(self) -> list[Compared]:
        """Return the same for each draft by itself."""
        bounds = self.candidates.starts.tolist()
        spans = [slice(*pair) for pair in itertools.pairwise(bounds)]
        return [
            Compared(
                Candidates([draft], self.candidates.found),
                NameScores(*(values[span] for values in self.scores)),
                self.marginal[span],
                self.counts[span],
            )
            for draft, span in zip(self.candidates.drafts, spans, strict=True)
        ]


def compare_drafts(documents: Sequence[Sequence[Draft]], found: BatchHits) -> Compared:
    """Compare the undivided drafts of documents with all names of their candidates."""
    parts = [[p for draft in drafts for p in draft.whole_or_parts] for drafts in documents]
    candidates = Candidates([part for of_document in parts for part in of_document], found)
    scores = name_scores(candidates)
    marginal = marginals(candidates, scores)
    counts = np.full((len(candidates), 4), math.nan)
    first = 0
    for of_document in parts:
        last = first + len(of_document)
        if len(of_document) > 1:
            bounds = candidates.starts[first : last + 1]
            each_marginal = np.split(marginal[bounds[0] : bounds[-1]], bounds[1:-1] - bounds[0])
            of_hits = document_counts(of_document, each_marginal)
            counts[bounds[0] : bounds[-1]] = np.concatenate(of_hits)
        first = last
    return Compared(candidates, scores, marginal, counts)


def candidate_features(
    compared: Compared, annotations: AnnotationCounts, encoders: Sequence[str]
) -> FloatArray:
    """Return the features of candidates, one row each; NaN: unknown.

    `annotations` are those of the past, without these mentions. The columns are `feature_names`.
    """
    candidates, scores, _, counts = compared
    found, hits, draft_of = candidates.found, candidates.hits, candidates.draft_of
    ordinals, place_of = np.unique(candidates.concepts, return_inverse=True)
    one_of_each = [hits[place] for place in np.unique(candidates.concepts, return_index=True)[1]]
    concepts = [found.concepts[ordinal] for ordinal in ordinals.tolist()]
    labels = strong_forms([found.label(hit) for hit in one_of_each])
    names, scopes = candidates.names
    # Every string once, then numbers.
    number = {
        form: n for n, form in enumerate(dict.fromkeys([*candidates.mentions, *names, *labels]))
    }
    mention = _numbers(candidates.mentions, number)[draft_of]
    name, label = _numbers(names, number), _numbers(labels, number)[place_of]
    of_pair, pair = np.unique(
        np.concatenate([mention * len(number) + name, mention * len(number) + label]),
        return_inverse=True,
    )
    shared = overlaps(list(number), *np.divmod(of_pair, len(number) or 1))[pair]
    _, same, owners = np.unique(
        draft_of * len(number) + name, return_inverse=True, return_counts=True
    )
    depths = _depths([concept.id for concept in concepts], found)[place_of]
    places = np.arange(len(hits)) - candidates.starts[draft_of]
    found_features = [
        candidates.scores,
        candidates.scores - candidates.highest(candidates.scores),
        log(1 + places),
        candidates.sieves,
        scopes,
        name == label,
        name == mention,
        shared[: len(hits)],
        shared[len(hits) :],
        log(owners)[same],
        annotations.look(
            [candidates.mentions[draft] for draft in draft_of.tolist()],
            [concepts[place].id for place in place_of.tolist()],
            names,
        ),
        log(scores.n_names),
        scores.second,
        scores.second - candidates.highest(scores.second),
        scores.second - candidates.scores,
        depths,
        depths - depths[candidates.starts[draft_of]],
        _alike(candidates, [concepts[place].types for place in place_of.tolist()]),
        counts[:, 1:],
        _scorers(candidates, scores, encoders),
    ]
    table = np.column_stack([np.asarray(values, dtype=np.float64) for values in found_features])
    return rounded(table, _DECIMALS)


def _numbers(forms: Sequence[str], number: Mapping[str, int]) -> npt.NDArray[np.int64]:
    return np.array([number[form] for form in forms], dtype=np.int64)


def _alike(candidates: Candidates, types: Sequence[tuple[str, ...]]) -> FloatArray:
    """Tell whether the type of a mention is called like one of a concept's; NaN without either."""
    called = [type_words((draft.mention.type,)) for draft in candidates.drafts]
    return np.array(
        [
            float(bool(called[draft] & type_words(own))) if called[draft] and own else math.nan
            for draft, own in zip(candidates.draft_of.tolist(), types, strict=True)
        ],
        dtype=np.float64,
    )


def _scorers(candidates: Candidates, scores: NameScores, encoders: Sequence[str]) -> FloatArray:
    """Return by encoder the best and the mean score of a concept's names, and their leads."""
    both = np.stack([scores.best, scores.mean], axis=2)  # (n, encoders, 2)
    for place, column in zip(
        *map(np.ndarray.tolist, np.nonzero(np.isnan(scores.best))), strict=True
    ):
        both[place, column, 0] = candidates.hits[place].scores.get(encoders[column], math.nan)
    leads = both - candidates.highest(both)
    return np.stack([both, leads], axis=3).reshape(len(both), 4 * len(encoders))


def _depths(ids: Sequence[str], found: BatchHits) -> FloatArray:
    """Return ``log(1 + n)`` of the steps from each concept up to a root; NaN: unknown."""
    hierarchy = found.concepts.hierarchy
    if hierarchy is None:
        return np.full(len(ids), math.nan)
    steps = [hierarchy.depth(id_) if id_ in hierarchy else None for id_ in ids]
    return log(np.array([math.nan if n is None else 1 + n for n in steps], dtype=np.float64))
