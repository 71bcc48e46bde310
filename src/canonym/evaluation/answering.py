"""Answers to the questions of an evaluation, from this process or from several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from canonym.evaluation.dictionary import Dictionary, FoundConcept, FoundName
from canonym.evaluation.outcomes import RankedAnswer
from canonym.evaluation.questions import Question
from canonym.io.processes import Reopened, ordered_map

Answers: TypeAlias = tuple[tuple[RankedAnswer, ...], ...]
"""One answer per part of each question."""

_Hits: TypeAlias = dict[str, tuple[tuple[FoundName, ...], tuple[FoundConcept, ...]]]

_SHARES = 4  # parts of the strings for each process, which take different times


def answer_questions(
    dictionary: Dictionary, questions: Sequence[Question], k: int, *, workers: int
) -> Answers:
    """Rank names and concepts of every part of each question, in that many processes."""
    strings = list(dict.fromkeys(text for question in questions for text in question.parts))
    n = _SHARES * workers if workers > 1 else 1
    shares = (strings[number::n] for number in range(n))
    hits: _Hits = {}
    for of_share in ordered_map(_Find(dictionary, k), shares, workers=workers):
        hits |= of_share
    return tuple(
        tuple(RankedAnswer(text, *hits[text]) for text in question.parts) for question in questions
    )


class _Find:
    """Looks strings up in a dictionary, in whatever process it is called."""

    def __init__(self, dictionary: Dictionary, k: int) -> None:
        self._dictionary = Reopened(dictionary)
        self._k = k

    def __call__(self, strings: Sequence[str]) -> _Hits:
        return self._dictionary.value.find(strings, self._k)
