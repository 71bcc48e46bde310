"""Answers to the questions of an evaluation, from this process or from several."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from operator import attrgetter

from canonym.evaluation.dictionary import Dictionary
from canonym.evaluation.outcomes import RankedAnswer
from canonym.evaluation.questions import Question, QuestionSet
from canonym.evaluation.reranked import RerankedDictionary
from canonym.io.processes import Reopened, ordered_map

Answers = tuple[tuple[RankedAnswer, ...], ...]
"""One answer per part of each question."""

_SHARES = 4  # parts of the questions for each process, which take different times


def answer_questions(
    searched: Dictionary | RerankedDictionary, question_set: QuestionSet, k: int, *, workers: int
) -> Answers:
    """Rank names and concepts of every part of each question, in that many processes.

    No answer depends on the questions of other documents.
    """
    task = _Answer(searched, k)
    sets = _shares(question_set, _SHARES * workers) if workers > 1 else iter([question_set])
    return tuple(chain.from_iterable(ordered_map(task, sets, workers=workers)))


class _Answer:
    """Answers some questions, in whatever process it is called."""

    def __init__(self, searched: Dictionary | RerankedDictionary, k: int) -> None:
        self._searched = Reopened(searched)
        self._k = k

    def __call__(self, question_set: QuestionSet) -> Answers:
        searched = self._searched.value
        if isinstance(searched, RerankedDictionary):
            return searched.answers(question_set, self._k)
        strings = [text for one in question_set.questions for text in one.parts]
        found = searched.find(strings, self._k)
        return tuple(
            tuple(RankedAnswer(text, *found[text]) for text in one.parts)
            for one in question_set.questions
        )


def _shares(question_set: QuestionSet, n: int) -> Iterator[QuestionSet]:
    """Yield the questions of whole documents, in about `n` shares."""
    least = max(len(question_set.questions) // n, 1)
    questions: list[Question] = []
    for _, of_document in groupby(question_set.questions, key=attrgetter("document")):
        questions += of_document
        if len(questions) >= least:
            yield _of(questions, question_set)
            questions = []
    if questions:
        yield _of(questions, question_set)


def _of(questions: list[Question], question_set: QuestionSet) -> QuestionSet:
    documents = {one.document for one in questions}
    beside = tuple(one for one in question_set.beside if one[0] in documents)
    return QuestionSet(tuple(questions), (), (), (), 0, beside)
