"""The names of an evaluation in the order of a re-ranker."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from canonym.errors import InvalidInput, Mismatch
from canonym.evaluation.dictionary import Dictionary, FoundConcept, FoundName
from canonym.evaluation.outcomes import RankedAnswer, signs_of
from canonym.evaluation.protocols import Protocol
from canonym.evaluation.questions import QuestionSet
from canonym.linker import Linker
from canonym.linking.confidence import Confidence
from canonym.linking.features import COMPANIES, Decisions, with_closeness, with_company
from canonym.linking.reranker import POOL, Reranker, check_order, confidence_of, open_order
from canonym.types import SCOPES, Candidate, Link, Mention

__all__ = ["Ordered", "candidates_in_documents", "candidates_of", "check_ordering", "decisions_of"]


class Ordered:
    """A dictionary whose nearest concepts a re-ranker puts in order.

    Parameters
    ----------
    dictionary : Dictionary
        What finds them.
    reranking : Reranker
        What orders them; knows the decisions of the training mentions.
    confidence : Confidence, optional
        How sure what it puts first is.
    context : bool
        Whether the other mentions of a document count.

    Raises
    ------
    Mismatch
        If it was fitted to other encoders.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        reranking: Reranker,
        confidence: Confidence | None = None,
        *,
        context: bool = True,
    ) -> None:
        found = dictionary.linker.encoder_names
        if reranking.encoders != found:
            raise Mismatch(
                f"the re-ranker was fitted to the encoders {', '.join(reranking.encoders)}, and "
                f"{', '.join(found) or 'none'} are evaluated"
            )
        self._dictionary = dictionary
        self._reranking = reranking
        self._confidence = confidence
        self._context = context

    @classmethod
    def by(
        cls,
        order: str | Path | Reranker,
        dictionary: Dictionary,
        asked: QuestionSet,
        *,
        context: bool = True,
    ) -> Ordered:
        """Open a re-ranker, and let it know what the training mentions of a protocol decided."""
        encoders = dictionary.linker.encoder_names
        found = order if isinstance(order, Reranker) else open_order(order, encoders)
        sure = None if isinstance(order, Reranker) else confidence_of(order, encoders)
        assert found is not None, "the nearest order needs no re-ranker"
        reranker = replace(found, decisions=decisions_of(asked))
        return cls(dictionary, reranker, sure, context=context)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of figures has to know."""
        if self._reranking.by_names:
            also = ", and by what the other mentions of a document find" if self._context else ""
            return (f"the {POOL} nearest concepts were put in order by all of their names{also}",)
        known = sum(map(len, self._reranking.decisions.pairs.values()))
        of = f"and {known:,} decisions of training mentions" if known else "and no decisions"
        return (
            f"the {POOL} nearest concepts of each string were put in order by a re-ranker, "
            f"{self.digest[:12]}, {of}; it "
            + ("knows" if self._context else "does not know")
            + " what the other mentions of a document find",
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the re-ranker."""
        return self._reranking.digest

    @property
    def linker(self) -> Linker:
        """The linker of the dictionary."""
        return self._dictionary.linker

    def concepts_named(self, text: str) -> tuple[str, ...]:
        """Return the ids of the concepts that have a string as a name, labels first, then by id."""
        return self._dictionary.concepts_named(text)

    def answers(self, asked: QuestionSet, k: int) -> tuple[tuple[RankedAnswer, ...], ...]:
        """Rank names and concepts as `Dictionary.find` does; the first 20 concepts in a new order.

        Questions of one document are answered together, for what stands beside a string counts.

        Returns
        -------
        tuple of tuple of RankedAnswer
            One per part of each question. Scores of concepts are shares of the 20, those of others
            0. Names are in the order of the best concepts that were found by them.
        """
        wanted = list(dict.fromkeys(text for one in asked.questions for text in one.parts))
        plain = self._dictionary.find(wanted, max(k, POOL))
        documents = candidates_in_documents(self._dictionary, asked, context=self._context)
        known: dict[tuple[str, tuple[float | None, ...]], RankedAnswer] = {}

        def answer(text: str, document: int) -> RankedAnswer:
            link = documents[document][text]
            # Only the company of a string is another in another document.
            beside = (one.near.get(what) for one in link.candidates for what in COMPANIES)
            key = text, tuple(beside)
            if key not in known:
                known[key] = self._ranked(link, plain[text], k)
            return known[key]

        return tuple(
            tuple(answer(text, one.document) for text in one.parts) for one in asked.questions
        )

    def _ranked(
        self, link: Link, plain: tuple[tuple[FoundName, ...], tuple[FoundConcept, ...]], k: int
    ) -> RankedAnswer:
        link = self._reranking.apply(link, POOL)
        sure = None if self._confidence is None else self._confidence.of(link)
        of = {one.id: FoundConcept(one.id, one.name, one.score) for one in link.candidates}
        names, concepts = plain
        for other in concepts:
            of.setdefault(other.id, other._replace(score=0.0))
        best: dict[str, FoundName] = {}
        for concept in of.values():
            ids = self._dictionary.concepts_named(concept.name)
            best.setdefault(concept.name, FoundName(concept.name, ids, concept.score))
        for name in names:
            best.setdefault(name.text, name._replace(score=0.0))
        ranked, found = tuple(best.values())[:k], tuple(of.values())[:k]
        return RankedAnswer(link.searched, ranked, found, confidence=sure, signs=signs_of(link))


def check_ordering(order: str | Path | Reranker, protocol: Protocol) -> None:
    """Refuse a re-ranker that cannot be used, before anything takes time.

    Raises
    ------
    InvalidInput
        If there is no such file, or the protocol asks a linker as it is.
    """
    if not isinstance(order, Reranker):
        check_order(order)
    if order != "nearest" and not protocol.prepared:
        raise InvalidInput(
            f"an order was given for the protocol {protocol.name!r}, which takes an index as it is: "
            "give the order to the index, `canonym index --order`"
        )


def candidates_of(dictionary: Dictionary, strings: Sequence[str]) -> dict[str, Link]:
    """Return the nearest concepts of strings as a re-ranker wants them."""
    lookup = dictionary.linker.lookup
    names, scopes = lookup.names(), lookup.filters.choose().ties.scope_of_row

    @functools.cache
    def label(concept: int) -> str:  # the concepts of a dictionary have theirs among their names
        rows = names.rows_of(concept)
        labels = rows[scopes[rows] == SCOPES.index("label")]
        return names.name(int(labels[0])).text if len(labels) else ""

    found = lookup.search([text for text in strings if text], POOL, lookup.filters.choose())
    links = {}
    for text in strings:
        candidates: list[Candidate] = []
        for concept, row, score, parts in found.get(text, ()):
            one = lookup.candidate(concept, names.name(row), score, "search", parts)
            candidates.append(replace(one, label=label(concept)))
        link = Link(Mention(text), tuple(candidates), searched=text)
        links[text] = with_closeness(lookup, link)
    return links


def candidates_in_documents(
    dictionary: Dictionary, asked: QuestionSet, *, context: bool = True
) -> dict[int, dict[str, Link]]:
    """Return the nearest concepts of all strings of each document, with their company."""
    strings: dict[int, dict[str, None]] = {}
    for one in asked.questions:
        strings.setdefault(one.document, {}).update(dict.fromkeys(one.parts))
    for document, text in asked.beside:
        if document in strings:
            strings[document][text] = None
    links = candidates_of(dictionary, list(dict.fromkeys(itertools.chain(*strings.values()))))
    if not context:
        return {
            document: {text: links[text] for text in texts} for document, texts in strings.items()
        }
    return {
        document: dict(zip(texts, with_company([links[text] for text in texts]), strict=True))
        for document, texts in strings.items()
    }


def decisions_of(asked: QuestionSet) -> Decisions:
    """Return what the training mentions of a protocol decided; nothing where they are no names."""
    found = Decisions()
    for (text, concept), times in zip(asked.learned, asked.times, strict=True):
        found.add(text, [concept], times)
    return found
