"""Which of several concepts of one name the surroundings speak for.

Names that several concepts have (*cold*, *MS*) are the same to every scorer: what tells their
concepts apart stands around the mention. Here is only the sum; what is put in comes from
`canonym.linking.homonyms`."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders import make_encoder
from canonym.errors import InvalidInput
from canonym.linking.filters import Filter
from canonym.linking.lookup import MOST_TIED, Answer, Lookup, concepts_of
from canonym.linking.names import Names
from canonym.linking.settings import SIEVES
from canonym.linking.targets import Target
from canonym.mentions.sentences import phrases, sentence_of, without
from canonym.ranking.overlap import type_words
from canonym.ranking.pooling import TieRule
from canonym.terminology import Terminology
from canonym.text import STRONG, UNORDERED, normalise, normalise_all
from canonym.types import SCOPES, Candidate, Encoder, Float32Array, Int32Array, Link, Mention

# --- context ---

EVIDENCE: tuple[str, ...] = ("document", "sentence", "hierarchy", "types")
"""Kinds of evidence, each in [0, 1] but for cosines below 0."""

WEIGHTS: tuple[float, ...] = (0.5, 0.1, 0.5, 0.75)
"""What each kind counts; chosen on the train parts of two corpora (``benchmarks/homonyms.py``)."""

TRUSTED = 0.2
"""What those concepts have ahead whose name has the most trusted scope of all (a label)."""

ANYWAY = 0.05
"""What the concept has ahead that is first without a context."""

# Sums that differ by less are equal: what is left is the order without a context.
_SAME = 1e-6


def weigh(
    evidence: npt.ArrayLike,
    *,
    trusted: Sequence[bool] | None = None,
    weights: Sequence[float] = WEIGHTS,
) -> tuple[npt.NDArray[np.float64], list[int]] | None:
    """Order concepts of one name by what their surroundings say.

    Parameters
    ----------
    evidence : array-like, shape (n, m)
        For each concept, in the order that holds without a context, every kind of evidence; NaN
        where nothing is known.
    trusted : sequence of bool, optional
        Which concepts have the name in its most trusted scope; all of them by default.
    weights : sequence of float, m
        What each kind counts.

    Returns
    -------
    tuple of ndarray, shape (n, m + 2), float64, and list of int; or None
        What each kind adds to a concept, and what its scope and being first do; and the concepts
        best first. None where the evidence is the same for all of them: then nothing is to be said.

    Raises
    ------
    InvalidInput
        If the shapes do not fit.

    Notes
    -----
    ``score(c) = Σ_j w_j · e_j(c) + TRUSTED · [c is trusted] + ANYWAY · [c is the first]``. What is
    not known of one concept is taken to be the mean of what is known of the others: a concept
    without a further name is neither nearer to a text nor farther from it. Equal scores keep their
    order.

    Examples
    --------
    >>> worth, order = weigh([[0.2, 0.1, 0, 0], [0.9, 0.3, 0, 0]])
    >>> order
    [1, 0]
    """
    given = np.array(evidence, dtype=np.float64)
    fits = trusted is None or len(trusted) == len(given)
    if given.ndim != 2 or given.shape[1] != len(weights) or not fits:
        raise InvalidInput(
            f"evidence of the shape {given.shape} was given with {len(weights)} weights; expected "
            "a row for each concept, trusted or not, and a column for each weight"
        )
    known = ~np.isnan(given)
    means = np.where(known, given, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    worth = np.where(known, given, means) * np.asarray(weights, dtype=np.float64)
    if len(worth) < 2 or np.all(np.ptp(worth, axis=0) < _SAME):
        return None
    ahead = np.zeros((len(worth), 2))
    ahead[:, 0] = TRUSTED * (np.ones(len(worth)) if trusted is None else np.asarray(trusted))
    ahead[0, 1] = ANYWAY
    worth = np.hstack([worth, ahead])
    ranks = -np.round(worth.sum(axis=1) / _SAME)
    return worth, [int(place) for place in np.argsort(ranks, kind="stable")]


def kinship(above: Mapping[str, int], others: Iterable[Mapping[str, int]]) -> float:
    """Say how near a concept is to the nearest of others in a hierarchy.

    Parameters
    ----------
    above : mapping of str to int
        The concept itself with 0, and all above it with the edges up to them.
    others : iterable of mapping of str to int
        The same of each of the others.

    Returns
    -------
    float
        ``1 / (1 + d)`` of the least number of edges ``d`` through a common ancestor: 1 for the
        concept itself, 1/3 for a sibling; 0 where nothing is above both.

    Examples
    --------
    >>> kinship({"cat": 0, "pet": 1}, [{"dog": 0, "pet": 1}, {"stone": 0}])
    0.3333333333333333
    """
    nearest = [
        min(above[each] + other[each] for each in common)
        for other in others
        if (common := above.keys() & other.keys())
    ]
    return 1 / (1 + min(nearest)) if nearest else 0.0


# --- namesakes ---
# MODULE: Concepts that share the name by which a search found the best candidate.
#
# A sieve finds all concepts of a name by the way; a search finds as many as are wanted, and which of
# those with equal scores are among them depends on how many that are.

_NAMESAKES_SAME = 1e-6
"""Scores that differ by less are equal."""


def with_namesakes(
    lookup: Lookup,
    answers: Mapping[str, Answer],
    chosen: Filter,
    *,
    names: Names,
    never: frozenset[int] = frozenset(),
) -> dict[str, Answer]:
    """Find what is tied with the best candidates of a search.

    Parameters
    ----------
    lookup : Lookup
        What found them.
    answers : mapping of str to Answer
        What its `find` returned for the same filter and names.
    chosen : Filter
        What may be found.
    names : Names
        What was searched.
    never : frozenset of int
        Concepts that may not be found.

    Returns
    -------
    dict of str to Answer
        `Answer.tied` holds the concepts with a name that the first sieve takes for that of the best
        candidate, and that scores as it does, the best first. Without a sieve, and where means of
        names were searched, nothing is tied.
    """
    found = dict(answers)
    asked = {
        string: target
        for string, answer in answers.items()
        if answer.candidates and (target := _target(lookup, answer)) is not None
    }
    if not asked or not lookup.sieves:
        return found
    texts = [answers[string].candidates[0].name for string in asked]
    forms = list(normalise_all(texts, lookup.sieves[0].steps))
    several: dict[str, tuple[Int32Array, TieRule]] = {}
    for (string, target), rows in zip(asked.items(), names.find(0, forms), strict=True):
        its = never | names.forbidden_for(string)
        allowed = names.filter(chosen, target, its, by_name=True)
        kept = rows if allowed.allowed is None else rows[allowed.allowed[rows]]
        if len(np.unique(allowed.ties.concept_of_row[kept])) > 1:
            several[string] = (kept, allowed.ties)
    scores = lookup.searchers.scores(list(several), [rows for rows, _ in several.values()], names)
    for (string, (rows, ties)), each in zip(several.items(), scores, strict=True):
        found[string] = _with_tied(lookup, found[string], rows, each, ties, names)
    return found


def _with_tied(
    lookup: Lookup,
    answer: Answer,
    rows: Int32Array,
    scores: npt.NDArray[np.float64],
    ties: TieRule,
    names: Names,
) -> Answer:
    best = answer.candidates[0]
    own = ties.concept_of_row[rows] == lookup.terminology.ordinal(best.id)
    same = rows[np.abs(scores - scores[own].max(initial=-np.inf)) < _NAMESAKES_SAME]
    known = {one.id: one for one in answer.candidates}
    tied = [
        lookup.candidate(concept, names.name(row), best.score, best.sieve, best.parts)
        for concept, row in concepts_of(same, ties)
    ]
    others = [known.get(one.id, one) for one in tied if one.id != best.id]
    return answer._replace(tied=(best, *others[: MOST_TIED - 1])) if others else answer


def _target(lookup: Lookup, answer: Answer) -> Target | None:
    """Return the step of the search that found the best candidate by one of its names."""
    sieve = answer.candidates[0].sieve
    steps = lookup.searchers.steps
    named = {"search": steps[0], **{step.name: step for step in steps}}
    target = named.get(sieve)
    return None if target is None or target.by_concept else target


# --- context ---
# MODULE: Choosing among the concepts of one name by what stands around a mention.
#
# It is asked only where the best candidates of a mention are tied: the same name belongs to several
# concepts, or an abbreviation stands for several. Everything else is left as it is. See
# `canonym.linking.homonyms.weigh` for the sum.

AHEAD = ("scope", "first anyway")
"""What concepts have ahead without a context, among `Candidate.context`."""

_SIEVES = frozenset(sieve.name for sieve in SIEVES)
_NAMES = 50
_KINDS = (*EVIDENCE, *AHEAD)


class Decided(NamedTuple):
    """A link, and the answers to the strings that were looked up for it."""

    link: Link
    answers: Mapping[str, Answer]


class _Found(NamedTuple):
    """A mention whose concept is plain: its type, and the id and the types of the concept."""

    type: str
    id: str
    types: frozenset[str]


class Contexts:
    """Looks at the surroundings of mentions that a name alone does not decide.

    Parameters
    ----------
    terminology : Terminology
        Whose names, definitions and hierarchy describe the concepts.

    Notes
    -----
    Four kinds of evidence count for a concept:

    ``document``
        The largest cosine between a phrase of the document, or another mention in it, and another
        name of the concept or a phrase of its definition.
    ``sentence``
        The same with the phrases of the mention's sentence.
    ``hierarchy``
        How near the concept is to one that another mention stands for, see
        `canonym.linking.homonyms.kinship`.
    ``types``
        The share of the other mentions, of those of the same type where there are any, whose
        concept has a semantic type of this one; or 1 where the type of the mention is called like
        one of the concept's.

    Only mentions that a sieve decides, and that are not tied themselves, count as other mentions.
    Vectors are those of the encoder that comes with canonym, whatever the index has: its cosines
    are what the weights were chosen for. Phrases are found by English function words.
    """

    def __init__(self, terminology: Terminology) -> None:
        self._terminology = terminology

    @functools.cached_property
    def _encoder(self) -> Encoder:
        return make_encoder("default")

    def settle(self, text: str, decided: Sequence[Decided]) -> list[Link]:
        """Put tied candidates in the order that their surroundings speak for.

        Parameters
        ----------
        text : str
            Of the document; where it is empty, the contexts of the mentions are looked at.
        decided : sequence of Decided
            All mentions of the document.

        Returns
        -------
        list of Link
            One per mention. What is not tied, or where the context says nothing, is what was given.
        """
        if not any(_tied(part, one) for one in decided for part in _parts(one)):
            return [one.link for one in decided]
        page = _Page(self._terminology, self._encoder, text, decided)
        return [_with_parts(one, page) for one in decided]


class _Page:
    """A document while its mentions are settled; remembers vectors and descriptions."""

    def __init__(
        self, terminology: Terminology, encoder: Encoder, text: str, decided: Sequence[Decided]
    ) -> None:
        self._terminology = terminology
        self._encoder = encoder
        self._text = text
        self._strings = [part.searched for one in decided for part in _parts(one)]
        self._found = list(_plain(decided))
        self._vectors: dict[str, Float32Array] = {}
        self._above: dict[str, dict[str, int]] = {}

    def order(self, part: Link, mention: Mention, tied: Sequence[Candidate]) -> Link:
        """Return a link with its tied candidates in their order."""
        evidence = np.full((len(tied), len(EVIDENCE)), math.nan)
        evidence[:, 0], evidence[:, 1] = self._similarities(part, mention, tied)
        evidence[:, 2] = self._kinships(tied)
        evidence[:, 3] = self._shared_types(mention, tied)
        scopes = [SCOPES.index(one.scope) for one in tied]
        weighed = weigh(evidence, trusted=[scope == min(scopes) for scope in scopes])
        if weighed is None:
            return part
        worth, order = weighed
        told = [dict(zip(_KINDS, row, strict=True)) for row in worth.tolist()]
        settled = [replace(tied[place], context=told[place]) for place in order]
        names = {one.id for one in tied}
        rest = [one for one in part.candidates if one.id not in names]
        return replace(part, candidates=tuple([*settled, *rest][: len(part.candidates)]))

    def _similarities(
        self, part: Link, mention: Mention, tied: Sequence[Candidate]
    ) -> tuple[list[float], list[float]]:
        texts = (mention.text, part.mention.text)
        sentence, around = sentence_of(
            self._text or mention.context, mention.text, start=mention.start if self._text else None
        )
        forms = {normalise(part.searched, STRONG), normalise(part.mention.text, STRONG)}
        others = [each for each in self._strings if normalise(each, STRONG) not in forms]
        whole = list(dict.fromkeys([*phrases(without(around, texts)), *others]))
        near = phrases(without(sentence, texts))
        document, beside = [], []
        for one in tied:
            described = self._vectors_of(self._description(one, part, texts))
            document.append(_largest(described, self._vectors_of(whole)))
            beside.append(_largest(described, self._vectors_of(near)))
        return document, beside

    def _description(self, one: Candidate, part: Link, texts: Iterable[str]) -> list[str]:
        # The name that all of them have tells nothing.
        shared = {normalise(each, UNORDERED) for each in (one.name, part.searched)}
        names = [name.text for name in self._terminology.names(one.id)[:_NAMES]]
        definition = self._terminology.concept(one.id).definition
        further = [name for name in names if normalise(name, UNORDERED) not in shared]
        return list(dict.fromkeys([*further, *phrases(without(definition, texts))]))

    def _vectors_of(self, texts: Sequence[str]) -> Float32Array:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            vectors = np.asarray(self._encoder.encode(new), dtype=np.float32)
            self._vectors.update(zip(new, vectors, strict=True))
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])

    def _kinships(self, tied: Sequence[Candidate]) -> list[float]:
        others = [self._all_above(id_) for id_ in dict.fromkeys(one.id for one in self._found)]
        return [kinship(self._all_above(one.id), others) for one in tied]

    def _all_above(self, id_: str) -> dict[str, int]:
        known = self._above.get(id_)
        if known is None:
            known = self._above[id_] = {id_: 0}
            level, distance = [id_], 0
            while level:
                distance += 1
                reached = {p for each in level for p in self._terminology.parents(each)}
                level = sorted(reached - known.keys())
                known.update(dict.fromkeys(level, distance))
        return known

    def _shared_types(self, mention: Mention, tied: Sequence[Candidate]) -> list[float]:
        alike = [one for one in self._found if one.type == mention.type] or self._found
        called = type_words((mention.type,))
        shares = []
        for one in tied:
            types = set(one.types)
            share = sum(bool(types & other.types) for other in alike) / max(len(alike), 1)
            shares.append(max(share, float(bool(called & type_words(one.types)))))
        return shares


def _parts(one: Decided) -> tuple[Link, ...]:
    return one.link.parts or (one.link,)


def _tied(part: Link, one: Decided) -> tuple[Candidate, ...]:
    answer = one.answers.get(part.searched)
    return answer.tied if answer is not None and part.candidates else ()


def _with_parts(one: Decided, page: _Page) -> Link:
    settled = []
    for part in _parts(one):
        tied = _tied(part, one)
        settled.append(page.order(part, one.link.mention, tied) if tied else part)
    return replace(one.link, parts=tuple(settled)) if one.link.parts else settled[0]


def _plain(decided: Iterable[Decided]) -> Iterator[_Found]:
    for one in decided:
        for part in _parts(one):
            if part.nil or not part.candidates or _tied(part, one):
                continue
            best = part.candidates[0]
            if best.sieve in _SIEVES:
                yield _Found(one.link.mention.type, best.id, frozenset(best.types))


def _largest(one: Float32Array, other: Float32Array) -> float:
    return float((one @ other.T).max()) if len(one) and len(other) else math.nan
