"""Choosing among the concepts of one name by what stands around a mention.

It is asked only where the best candidates of a mention are tied: the same name belongs to several
concepts, or an abbreviation stands for several. Everything else is left as it is. See
`canonym.ranking.context.weigh` for the sum.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from canonym.encoders import make_encoder
from canonym.lookup import Answer
from canonym.mentions.surroundings import phrases, sentence_of, without
from canonym.ranking.context import EVIDENCE, kinship, weigh
from canonym.ranking.overlap import type_words
from canonym.settings import SIEVES
from canonym.terminology import Terminology
from canonym.text import STRONG, UNORDERED, normalise
from canonym.types import SCOPES, Candidate, Encoder, Float32Array, Link, Mention

__all__ = ["AHEAD", "Contexts", "Decided"]

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
        `canonym.ranking.context.kinship`.
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
