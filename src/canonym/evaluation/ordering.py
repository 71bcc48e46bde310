"""The names of an evaluation in the order of a re-ranker, and re-rankers fitted to protocols."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from canonym.candidate_features import feature_names
from canonym.closeness import with_closeness
from canonym.confidence import Confidence
from canonym.decisions import Decisions
from canonym.errors import InvalidInput, Mismatch
from canonym.evaluation.dictionary import Dictionary
from canonym.evaluation.found import FoundConcept, FoundName
from canonym.evaluation.protocols import Protocol
from canonym.evaluation.questions import Asked
from canonym.linker import Linker
from canonym.ranking.curves import fit_reranker
from canonym.reranker_files import check_reranker, confidence_of, open_reranker
from canonym.reranker_fitting import pools_of
from canonym.reranking import POOL, Reranking
from canonym.types import SCOPES, Candidate, Link, Mention

__all__ = [
    "Lesson",
    "Ordered",
    "check_ordering",
    "decisions_of",
    "fit_to_questions",
    "lessons_of",
]

_KNOTS, _RIDGE, _SMOOTHNESS = 8, 30.0, 8.0  # chosen on dev parts by cross-validation


class Ordered:
    """A dictionary whose nearest concepts a re-ranker puts in order.

    Parameters
    ----------
    dictionary : Dictionary
        What finds them.
    reranking : Reranking
        What orders them; knows the decisions of the training mentions.
    confidence : Confidence, optional
        How sure what it puts first is.

    Raises
    ------
    Mismatch
        If it was fitted to other encoders.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        reranking: Reranking,
        confidence: Confidence | None = None,
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
        self._sure: dict[str, float | None] = {}

    @classmethod
    def by(cls, spec: str | Path | Reranking, dictionary: Dictionary, asked: Asked) -> Ordered:
        """Open a re-ranker, and let it know what the training mentions of a protocol decided."""
        encoders = dictionary.linker.encoder_names
        found = spec if isinstance(spec, Reranking) else open_reranker(spec, encoders)
        sure = None if isinstance(spec, Reranking) else confidence_of(spec, encoders)
        return cls(dictionary, replace(found, decisions=decisions_of(asked)), sure)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of figures has to know."""
        if self._reranking.by_names:
            return (f"the {POOL} nearest concepts were put in order by all of their names",)
        known = sum(map(len, self._reranking.decisions.pairs.values()))
        of = f"and {known:,} decisions of training mentions" if known else "and no decisions"
        return (
            f"the {POOL} nearest concepts of each string were put in order by a re-ranker, "
            f"{self.digest[:12]}, {of}",
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

    def sure(self, text: str) -> float | None:
        """Return the probability that the best concept of a string is right, if that is known."""
        return self._sure.get(text)

    def find(
        self, strings: Iterable[str], k: int
    ) -> dict[str, tuple[tuple[FoundName, ...], tuple[FoundConcept, ...]]]:
        """Rank names and concepts as `Dictionary.find` does; the first 20 concepts in a new order.

        Their scores are shares of the 20, those of others 0. Names are in the order of the best
        concepts that were found by them.
        """
        wanted = list(dict.fromkeys(strings))
        plain = self._dictionary.find(wanted, max(k, POOL))
        links = candidates_of(self._dictionary, wanted)
        found = {}
        for text in wanted:
            link = self._reranking.apply(links[text], POOL)
            ordered = link.candidates
            if self._confidence is not None:
                self._sure[text] = self._confidence.of(link)
            of = {one.id: FoundConcept(one.id, one.name, one.score) for one in ordered}
            names, concepts = plain[text]
            for other in concepts:
                of.setdefault(other.id, other._replace(score=0.0))
            best: dict[str, FoundName] = {}
            for concept in of.values():
                ids = self._dictionary.concepts_named(concept.name)
                best.setdefault(concept.name, FoundName(concept.name, ids, concept.score))
            for name in names:
                best.setdefault(name.text, name._replace(score=0.0))
            found[text] = tuple(best.values())[:k], tuple(of.values())[:k]
        return found


def check_ordering(spec: str | Path | Reranking | None, protocol: Protocol) -> None:
    """Refuse a re-ranker that cannot be used, before anything takes time.

    Raises
    ------
    InvalidInput
        If there is no such file, or the protocol asks a linker as it is.
    """
    if spec is not None and not protocol.prepared:
        raise InvalidInput(
            f"a re-ranker was given for the protocol {protocol.name!r}, under which a linker is "
            "asked as it is: let the index have it, see `canonym index --reranker`"
        )
    if not isinstance(spec, Reranking):
        check_reranker(spec)


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


def decisions_of(asked: Asked) -> Decisions:
    """Return what the training mentions of a protocol decided; nothing where they are no names."""
    found = Decisions()
    for (text, concept), times in zip(asked.learned, asked.times, strict=True):
        found.add(text, [concept], times)
    return found


class Lesson(NamedTuple):
    """A string with its candidates, the concepts that are right, earlier decisions, and how often
    the string was asked.
    """

    link: Link
    gold: frozenset[str]
    decisions: Decisions
    times: int = 1


def lessons_of(dictionary: Dictionary, asked: Asked) -> list[Lesson]:
    """Return what a re-ranker can learn from questions: every distinct string of theirs once.

    Where annotators decided differently for a string, what they decided most often is right.
    """
    gold: dict[str, Counter[frozenset[str]]] = {}
    for question in asked.questions:
        for text in question.parts:
            gold.setdefault(text, Counter())[question.concepts] += 1
    links = candidates_of(dictionary, list(gold))
    decisions = decisions_of(asked)
    return [
        Lesson(links[text], times.most_common(1)[0][0], decisions, times.total())
        for text, times in gold.items()
        if links[text].candidates
    ]


def fit_to_questions(lessons: Sequence[Lesson], encoders: Sequence[str]) -> Reranking:
    """Fit a re-ranker to lessons; it knows no decisions.

    A string that was asked n times counts ⌈√n⌉ times: what is frequent matters, and does not drown
    the rest.

    Raises
    ------
    InvalidInput
        If no lesson has a right and a wrong candidate.
    """
    names = feature_names(encoders)
    pools = pools_of([(one.link, one.gold, one.decisions) for one in lessons], encoders)
    again = np.repeat(np.arange(len(lessons)), [math.ceil(math.sqrt(x.times)) for x in lessons])
    model = fit_reranker(
        pools.features[again],
        pools.right[again],
        names,
        there=pools.there[again],
        knots=_KNOTS,
        smoothness=_SMOOTHNESS,
        ridge=_RIDGE,
    )
    return Reranking(model, Decisions(), tuple(encoders))
