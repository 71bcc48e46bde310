"""A dictionary whose nearest concepts a re-ranker puts in order, a document at a time."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from canonym.errors import InvalidInput, Mismatch
from canonym.evaluation.dictionary import Dictionary, FoundConcept, FoundName
from canonym.evaluation.outcomes import RankedAnswer, signs_of
from canonym.evaluation.protocols import Protocol
from canonym.evaluation.questions import QuestionSet
from canonym.linker import Linker
from canonym.linking.features import (
    AnnotationCounts,
    Candidates,
    Compared,
    document_counts,
    marginals,
    name_scores,
)
from canonym.linking.pipeline import link_of
from canonym.linking.reranker import (
    POOL,
    Reranker,
    check_order,
    open_order,
)
from canonym.linking.search import BatchHits, ConceptHit, Draft
from canonym.types import SCOPES, Mention


class RerankedDictionary:
    """A dictionary whose nearest concepts a re-ranker puts in order.

    The re-ranker knows the annotations of the training mentions. Without `context` the other
    mentions of a document do not count.

    Raises
    ------
    Mismatch
        If the re-ranker was fitted to other encoders.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        reranker: Reranker,
        *,
        context: bool = True,
    ) -> None:
        found = dictionary.linker.encoder_names
        if reranker.encoders != found:
            raise Mismatch(
                f"the re-ranker was fitted to the encoders {', '.join(reranker.encoders)}, and "
                f"{', '.join(found) or 'none'} are evaluated"
            )
        self._dictionary = dictionary
        self._reranker = reranker
        self._context = context

    def __reduce__(self) -> tuple[Any, ...]:
        own = self._reranker, self._context
        return _reopened, (*self._dictionary.__reduce__(), *own)

    @classmethod
    def open(
        cls,
        order: str | Path | Reranker,
        dictionary: Dictionary,
        question_set: QuestionSet,
        *,
        context: bool = True,
    ) -> RerankedDictionary:
        """Open an order that is not the nearest, with the annotations of the training mentions."""
        encoders = dictionary.linker.encoder_names
        reranker = order if isinstance(order, Reranker) else open_order(order, encoders)
        if reranker is None:
            raise InvalidInput("the nearest order is that of the dictionary itself")
        reranker = replace(reranker, annotations=annotations_of(question_set))
        return cls(dictionary, reranker, context=context)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for a reader of the figures."""
        if self._reranker.by_names:
            also = ", and by what the other mentions of a document find" if self._context else ""
            return (f"the {POOL} nearest concepts were put in order by all of their names{also}",)
        known = sum(map(len, self._reranker.annotations.pairs.values()))
        of = f"and {known:,} decisions of training mentions" if known else "and no decisions"
        knows = "knows" if self._context else "does not know"
        return (
            f"the {POOL} nearest concepts of each string were put in order by a re-ranker, "
            f"{self.digest[:12]}, {of}; it {knows} what the other mentions of a document find",
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the re-ranker."""
        return self._reranker.digest

    @property
    def linker(self) -> Linker:
        """The linker of the dictionary."""
        return self._dictionary.linker

    def concepts_named(self, text: str) -> tuple[str, ...]:
        """Return the ids of the concepts that have a string as a name, labels first, then by id."""
        return self._dictionary.concepts_named(text)

    def answers(self, question_set: QuestionSet, k: int) -> tuple[tuple[RankedAnswer, ...], ...]:
        """Rank names and concepts of every part of each question; the first 20 in a new order.

        Scores of concepts are shares of the 20, those of others 0. Names are in the order of the
        best concepts that were found by them.
        """
        wanted = list(dict.fromkeys(text for one in question_set.questions for text in one.parts))
        plain = self._dictionary.find(wanted, max(k, POOL))
        compared = compare_documents(self._dictionary, question_set, context=self._context)
        known: dict[tuple[str, bytes], RankedAnswer] = {}

        def answer(text: str, document: int) -> RankedAnswer:
            one = compared[document][text]
            # Of a string in another document only the counts of other mentions differ.
            key = text, one.counts.tobytes()
            if key not in known:
                known[key] = self._ranked(one, plain[text], k)
            return known[key]

        return tuple(
            tuple(answer(text, one.document) for text in one.parts)
            for one in question_set.questions
        )

    def _ranked(
        self,
        compared: Compared,
        plain: tuple[tuple[FoundName, ...], tuple[FoundConcept, ...]],
        k: int,
    ) -> RankedAnswer:
        candidates, features = compared.candidates, self._reranker.features(compared)
        (draft,) = self._reranker.order_hits(candidates, features, POOL)
        link = link_of(draft, candidates.found)
        linker = self._dictionary.linker
        judged = linker.judge.of([link], linker.pipeline.vocabulary) if linker.judge else [None]
        ranked = {one.id: FoundConcept(one.id, one.name, one.score) for one in link.candidates}
        names, concepts = plain
        for other in concepts:
            ranked.setdefault(other.id, other._replace(score=0.0))
        best: dict[str, FoundName] = {}
        for concept in ranked.values():
            ids = self._dictionary.concepts_named(concept.name)
            best.setdefault(concept.name, FoundName(concept.name, ids, concept.score))
        for name in names:
            best.setdefault(name.text, name._replace(score=0.0))
        return RankedAnswer(
            link.searched,
            tuple(best.values())[:k],
            tuple(ranked.values())[:k],
            confidence=judged[0],
            signs=signs_of(link),
        )


def _reopened(
    opened: Callable[..., Dictionary],
    arguments: tuple[Any, ...],
    reranker: Reranker,
    context: bool,
) -> RerankedDictionary:
    return RerankedDictionary(opened(*arguments), reranker, context=context)


class _DictionaryHits(BatchHits):
    """Hits of a dictionary, whose concepts have their labels among their names."""

    def label(self, hit: ConceptHit) -> str:
        return self._label(hit.concept)

    @functools.cache  # noqa: B019  # it goes with the evaluation
    def _label(self, concept: int) -> str:
        scopes = self.names.base.ties.scope_of_row
        rows, _ = self.names.rows_of(np.array([concept]), self.names.n_base)
        labels = rows[scopes[rows] == SCOPES.index("label")]
        return self.names.name(int(labels[0])).text if len(labels) else ""


def check_ordering(order: str | Path | Reranker, protocol: Protocol) -> None:
    """Refuse an unknown order, or one that the protocol cannot use, before anything takes time."""
    if not isinstance(order, Reranker):
        check_order(order)
    if order != "nearest" and not protocol.prepared:
        raise InvalidInput(
            f"an order was given for the protocol {protocol.name!r}, which takes an index as it "
            "is: give the order to the index, `canonym index --order`"
        )


def compare_documents(
    dictionary: Dictionary, question_set: QuestionSet, *, context: bool = True
) -> dict[int, dict[str, Compared]]:
    """Find the nearest concepts of all strings of each document, and compare them."""
    strings: dict[int, dict[str, None]] = {}
    for one in question_set.questions:
        strings.setdefault(one.document, {}).update(dict.fromkeys(one.parts))
    for document, text in question_set.beside:
        if document in strings:
            strings[document][text] = None
    pipeline = dictionary.linker.pipeline
    chosen = pipeline.filters.choose()
    found = _DictionaryHits(pipeline.search, pipeline.names.snapshot(), chosen, pipeline.concepts)
    every = list(dict.fromkeys(text for texts in strings.values() for text in texts))
    nearest = pipeline.nearest([text for text in every if text], POOL, chosen, found)
    candidates = Candidates([_draft(text, nearest.get(text, ())) for text in every], found)
    scores = name_scores(candidates)
    unknown = np.full((len(candidates), 4), math.nan)
    alone = Compared(candidates, scores, marginals(candidates, scores), unknown)
    of_text = dict(zip(every, alone.split(), strict=True))
    compared: dict[int, dict[str, Compared]] = {}
    for document, texts in strings.items():
        compared[document] = {text: of_text[text] for text in texts}
        if context:
            drafts = [of_text[text].candidates.drafts[0] for text in texts]
            counts = document_counts(drafts, [of_text[text].marginal for text in texts])
            for text, of_hits in zip(texts, counts, strict=True):
                compared[document][text] = of_text[text]._replace(counts=of_hits)
    return compared


def _draft(text: str, hits: Sequence[ConceptHit]) -> Draft:
    return Draft(Mention(text), text, tuple(hit._replace(found_by="search") for hit in hits))


def annotations_of(question_set: QuestionSet) -> AnnotationCounts:
    """Return the annotations of the training mentions, where the protocol has them as names."""
    counts = AnnotationCounts()
    for (text, concept), times in zip(question_set.learned, question_set.times, strict=True):
        counts.add(text, [concept], times)
    return counts
