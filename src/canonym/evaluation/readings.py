"""Answers read as right or wrong: what was found for a question becomes the cases of a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from canonym.confidence import features_of
from canonym.errors import InvalidInput
from canonym.evaluation.cases import Case
from canonym.evaluation.found import FoundConcept, FoundName
from canonym.evaluation.questions import Question
from canonym.types import Link

__all__ = ["Answer", "answers_of_link", "read_answers", "signs_of"]


class Answer(NamedTuple):
    """What was found for one part of a question.

    Attributes
    ----------
    searched : str
        The string that was looked up.
    names : tuple of FoundName
        Distinct names, best first; empty where the linker was asked, which ranks concepts only.
    concepts : tuple of FoundConcept
        Concepts by their best names, best first.
    nil : bool
        Whether the answer is that no concept fits, whatever was found.
    confidence : float, optional
        The probability that the first concept is right, where the linker has learned to tell.
    signs : tuple of float
        What that is taken from, see `canonym.confidence.features_of`; empty where nothing was
        found, or where only names were searched.
    """

    searched: str
    names: tuple[FoundName, ...]
    concepts: tuple[FoundConcept, ...]
    nil: bool = False
    confidence: float | None = None
    signs: tuple[float, ...] = ()


def answers_of_link(link: Link) -> tuple[Answer, ...]:
    """Return one answer per part of a link; an undivided link is its only part."""
    return tuple(
        Answer(
            part.searched,
            (),
            tuple(FoundConcept(found.id, found.name, found.score) for found in part.candidates),
            part.nil,
            part.confidence,
            signs_of(part),
        )
        for part in (link.parts or (link,))
    )


def signs_of(link: Link) -> tuple[float, ...]:
    """Return what the confidence of an undivided link is taken from; nothing without candidates."""
    return tuple(features_of(link).tolist()) if link.candidates else ()


def read_answers(
    questions: Sequence[Question],
    answers: Sequence[Sequence[Answer]],
    reading: str,
    *,
    concepts_named: Mapping[str, int] | None = None,
) -> tuple[Case, ...]:
    """Read the answers to all questions in one of the ways of `canonym.evaluation.protocols`.

    Parameters
    ----------
    questions : sequence of Question
        What was asked.
    answers : sequence of sequence of Answer
        One per part of each question.
    reading : str
        ``"lenient"``, ``"strict"`` or ``"complete"``.
    concepts_named : mapping of str to int, optional
        How many concepts of the searched terminology have a prepared string as a name.

    Returns
    -------
    tuple of Case
        One per question. To be scored with the composite rule ``"all"``.

    Raises
    ------
    InvalidInput
        If there is no such reading, or not one answer list per question.

    Notes
    -----
    In the lenient and the strict reading every part looks for any id of the mention, so that the
    case has one gold set, the union, per predicted part. A name stands in the lenient ranking as
    an id of the mention if it carries one, and as its first id otherwise.
    """
    if reading not in _READERS:
        raise InvalidInput(f"there is no reading {reading!r}; there are {', '.join(_READERS)}")
    if len(questions) != len(answers):
        raise InvalidInput(
            f"{len(questions):,} questions have {len(answers):,} answers; one for each is expected"
        )
    read = _READERS[reading]
    counts = concepts_named or {}
    cases = []
    for question, found in zip(questions, answers, strict=True):
        gold, ranked = read(question, found)
        known = concepts_named is not None
        several = any(counts.get(text, 0) > 1 for text in (*question.parts, question.text))
        cases.append(
            Case(
                gold=gold,
                ranked=ranked,
                score=min((_score(answer, reading) for answer in found), default=0.0),
                candidates=tuple(tuple(c.id for c in answer.concepts) for answer in found)
                if any(answer.nil for answer in found)
                else (),
                seen_mention=question.seen_mention,
                seen_concept=question.seen_concept,
                homonym=several if known else None,
                abbreviation=question.abbreviation,
                composite=question.composite,
                type=question.mention.type,
                length=len(question.text.split()),
                frequency=question.frequency,
            )
        )
    return tuple(cases)


_Read = tuple[tuple[frozenset[str], ...], tuple[tuple[str, ...], ...]]


def _lenient(question: Question, answers: Sequence[Answer]) -> _Read:
    wanted = question.concepts
    ranked = tuple(
        tuple(next((id_ for id_ in name.ids if id_ in wanted), name.ids[0]) for name in one.names)
        for one in answers
    )
    return (wanted,) * len(answers), ranked


def _strict(question: Question, answers: Sequence[Answer]) -> _Read:
    return (question.concepts,) * len(answers), _concepts(answers)


def _complete(question: Question, answers: Sequence[Answer]) -> _Read:
    return question.gold, _concepts(answers)


def _concepts(answers: Sequence[Answer]) -> tuple[tuple[str, ...], ...]:
    return tuple(() if one.nil else tuple(found.id for found in one.concepts) for one in answers)


_READERS: dict[str, Any] = {"lenient": _lenient, "strict": _strict, "complete": _complete}


def _score(answer: Answer, reading: str) -> float:
    if answer.confidence is not None:
        return answer.confidence
    found: Sequence[FoundName | FoundConcept] = (
        answer.names if reading == "lenient" else answer.concepts
    )
    return found[0].score if found else 0.0
