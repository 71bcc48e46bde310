"""Features of candidates, for the re-ranker: one array per draft."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.indexes.vectors import take_vectors
from canonym.linking.search import BatchHits, Draft
from canonym.linking.settings import SIEVES
from canonym.linking.targets import TARGETS
from canonym.ranking.overlap import Overlap, overlap, type_words
from canonym.ranking.pooling import marginal_score
from canonym.text import STRONG, normalise
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

_SIEVES = {sieve.name: float(len(SIEVES) - place) for place, sieve in enumerate(SIEVES)}
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

    def look(self, form: str, id: str, name: str) -> tuple[float, ...]:
        """Return five features of a text and a name in normal form, and a concept.

        ``log(1 + n)`` of the annotations of the text with the concept; their share of all of the
        text; ``log(1 + n)`` of those with the concept, and of those of the name; and the share of
        all annotations with the prefix of the id. Shares of nothing are NaN.
        """
        of_form = self.pairs.get(form, _NONE)
        of_text, total = sum(of_form.values()), sum(self.prefixes.values())
        return (
            math.log1p(of_form[id]),
            of_form[id] / of_text if of_text else math.nan,
            math.log1p(self.concepts[id]),
            math.log1p(sum(self.pairs.get(name, _NONE).values())),
            self.prefixes[_prefix(id)] / total if total else math.nan,
        )


_NONE: Counter[str] = Counter()


def _prefix(id: str) -> str:
    return id.partition(":")[0] if ":" in id else ""


# --- all names of a concept -----------------------------------------------------------------------


class NameScores(NamedTuple):
    """Scores of all names of every candidate, ``(n,)`` or ``(n, encoders)`` float64.

    `n_names` were compared, 64 at most. `best` and `mean` are those of each encoder. `marginal` is
    `canonym.ranking.pooling.marginal_score` of the weighted mean of the encoders, `second` its
    second largest value. NaN: unknown, as for a concept whose names were removed.
    """

    n_names: FloatArray
    best: FloatArray
    mean: FloatArray
    marginal: FloatArray
    second: FloatArray


def name_scores(draft: Draft, found: BatchHits) -> NameScores:
    """Compare the string of an undivided draft with all names of its candidates.

    A stray synonym may be as near as a name of the right concept; its other names seldom are.
    """
    n, encoders = len(draft.hits), found.search.encoders
    unknown = functools.partial(np.full, fill_value=math.nan)
    scores = NameScores(
        unknown(n), unknown((n, len(encoders))), unknown((n, len(encoders))), unknown(n), unknown(n)
    )
    every = [found.names.rows_of(hit.concept)[:_MOST_NAMES] for hit in draft.hits]
    filled = np.array([place for place, rows in enumerate(every) if len(rows)], dtype=np.intp)
    widths = np.array([len(every[place]) for place in filled], dtype=np.intp)
    scores.n_names[filled] = widths
    if not len(filled) or not encoders:
        return scores
    rows = np.concatenate([every[place] for place in filled])[None, :]
    starts = np.cumsum([0, *widths[:-1]])
    total = sum(encoder.weight for encoder in encoders) or 1.0
    fused = np.zeros(rows.shape[1])
    indexes = found.names.rows_of_target(TARGETS["OD-T"]).indexes
    vectors = found.encoded.of([draft.string])
    for column, (encoder, index, vector) in enumerate(zip(encoders, indexes, vectors, strict=True)):
        of_encoder = index.score(take_vectors(vector, np.zeros(1, np.intp)), rows)[0]
        of_encoder = of_encoder.astype(np.float64)
        fused += encoder.weight / total * of_encoder
        scores.best[filled, column] = np.maximum.reduceat(of_encoder, starts)
        scores.mean[filled, column] = np.add.reduceat(of_encoder, starts) / widths
    for place, start, width in zip(filled.tolist(), starts.tolist(), widths.tolist(), strict=True):
        of_concept = fused[start : start + width]
        scores.marginal[place] = marginal_score(of_concept)
        if width > 1:
            scores.second[place] = np.partition(of_concept, -2)[-2]
    return scores


def marginals(draft: Draft, scores: NameScores, found: BatchHits) -> FloatArray:
    """Return the marginal score of every candidate, ``(n,)``.

    NaN where a sieve found it, or its name is the mention: no others are as near.
    """
    mention = normalise(draft.string, STRONG)
    return np.array(
        [
            math.nan
            if hit.found_by in _SIEVES or _normal(found.name(hit).text) == mention
            else hit.score
            if math.isnan(marginal)
            else marginal
            for hit, marginal in zip(draft.hits, scores.marginal.tolist(), strict=True)
        ],
        dtype=np.float64,
    )


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
    for draft, scores in zip(drafts, marginal, strict=True):
        if draft.hits and not draft.nil:
            # A candidate found by the mention itself is first, without comparison.
            best = int(np.where(np.isnan(scores), math.inf, scores).argmax())
            first.setdefault(normalise(draft.string, STRONG), draft.hits[best].concept)
    if len(first) < 2:
        return [no_counts(draft) for draft in drafts]
    forms: dict[int, list[tuple[str, frozenset[str]]]] = {}
    for form, concept in first.items():
        forms.setdefault(concept, []).append((form, frozenset(form.split())))
    return [_counts_of(draft, forms) for draft in drafts]


def no_counts(draft: Draft) -> FloatArray:
    """Return the counts of a mention whose document is not known."""
    return np.full((len(draft.hits), 4), math.nan)


def _counts_of(draft: Draft, forms: dict[int, list[tuple[str, frozenset[str]]]]) -> FloatArray:
    form = normalise(draft.string, STRONG)
    own = frozenset(form.split())
    counts = np.zeros((len(draft.hits), 4))
    for place, hit in enumerate(draft.hits):
        for other, words in forms.get(hit.concept, ()):
            if other != form:
                counts[place, 0] += 1
                counts[place, 1 if words < own else 2 if words > own else 3] += 1
    return np.log1p(counts)


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


def candidate_features(
    draft: Draft,
    scores: NameScores,
    counts: FloatArray,
    found: BatchHits,
    annotations: AnnotationCounts,
    encoders: Sequence[str],
) -> FloatArray:
    """Return the features of the candidates of an undivided draft, one row each; NaN: unknown.

    `counts` is that of `document_counts`; `annotations` are those of the past, without this
    mention. The columns are `feature_names`.
    """
    hits = draft.hits
    if not hits:
        return np.empty((0, len(feature_names(encoders))))
    mention = normalise(draft.string, STRONG)
    called = type_words((draft.mention.type,))
    concepts = [found.concepts[hit.concept] for hit in hits]
    matched = [found.name(hit) for hit in hits]
    names = [_normal(name.text) for name in matched]
    owners = Counter(names)
    best = max(hit.score for hit in hits)
    by_scorer = _scorers(draft, scores, encoders)
    depths = _depths(draft, found)
    seconds = scores.second.tolist()
    highest = _highest(scores.second)
    rows = []
    for place, (hit, name) in enumerate(zip(hits, names, strict=True)):
        label = _normal(found.label(hit))
        types = concepts[place].types
        as_name = overlap(mention, name)
        rows.append(
            [
                hit.score,
                hit.score - best,
                math.log1p(place),
                _SIEVES.get(hit.found_by, 0.0),
                float(SCOPES.index(matched[place].scope)),
                float(name == label),
                float(name == mention),
                *as_name,
                *(as_name if name == label else overlap(mention, label)),
                math.log(owners[name]),
                *annotations.look(mention, concepts[place].id, name),
                math.log(scores.n_names[place]),
                seconds[place],
                seconds[place] - highest,
                seconds[place] - hit.score,
                depths[place],
                depths[place] - depths[0],
                float(bool(called & type_words(types))) if called and types else math.nan,
                *counts[place, 1:],
                *by_scorer[place],
            ]
        )
    return np.array(rows, dtype=np.float64)


def _scorers(draft: Draft, scores: NameScores, encoders: Sequence[str]) -> FloatArray:
    """Return by encoder the best and the mean score of a concept's names, and their leads."""
    both = np.stack([scores.best, scores.mean], axis=2)  # (n, encoders, 2)
    for place, hit in enumerate(draft.hits):
        for column, name in enumerate(encoders):
            if math.isnan(both[place, column, 0]):
                both[place, column, 0] = hit.scores.get(name, math.nan)
    highest = np.array(
        [[_highest(both[:, column, kind]) for kind in (0, 1)] for column in range(len(encoders))]
    ).reshape(len(encoders), 2)
    return np.stack([both, both - highest], axis=3).reshape(len(draft.hits), -1)


def _depths(draft: Draft, found: BatchHits) -> list[float]:
    """Return ``log(1 + n)`` of the steps from each concept up to a root; NaN: unknown."""
    hierarchy = found.concepts.hierarchy
    depths = []
    for hit in draft.hits:
        id_ = found.concepts[hit.concept].id
        steps = hierarchy.depth(id_) if hierarchy is not None and id_ in hierarchy else None
        depths.append(math.nan if steps is None else math.log1p(steps))
    return depths


def _highest(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else math.nan


@functools.lru_cache(maxsize=1 << 15)  # the same names are candidates again and again
def _normal(text: str) -> str:
    return normalise(text, STRONG)
