"""What the questions of an evaluation teach a re-ranker."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from canonym.evaluation.dictionary import Dictionary
from canonym.evaluation.questions import QuestionSet
from canonym.evaluation.reranked import candidates_in_documents, decisions_of
from canonym.linking.features import Decisions, feature_names
from canonym.linking.fitting import pools_of
from canonym.linking.reranker import Reranker
from canonym.ranking.additive_model import fit_additive_model
from canonym.types import Link

__all__ = ["Lesson", "fit_to_questions", "lessons_of", "weighed"]

_KNOTS, _RIDGE, _SMOOTHNESS = 8, 30.0, 8.0  # chosen on dev parts by cross-validation


class Lesson(NamedTuple):
    """A string in a document with its candidates, the concepts that are right, earlier decisions,
    how often the string was asked there, and how many mentions the lesson counts as.
    """

    link: Link
    gold: frozenset[str]
    decisions: Decisions
    times: int = 1
    weight: float = 1.0


def lessons_of(dictionary: Dictionary, asked: QuestionSet) -> list[Lesson]:
    """Return what a re-ranker can learn from questions: every distinct string of a document once.

    Where annotators decided differently for a string of one document, what they decided most often
    is right. A string that was asked n times counts ⌈√n⌉ times in all its documents together: what
    is frequent matters, and does not drown the rest.
    """
    gold: dict[tuple[str, int], Counter[frozenset[str]]] = {}
    for question in asked.questions:
        for text in question.parts:
            gold.setdefault((text, question.document), Counter())[question.concepts] += 1
    documents = candidates_in_documents(dictionary, asked)
    decisions = decisions_of(asked)
    found = [
        Lesson(documents[place][text], times.most_common(1)[0][0], decisions, times.total())
        for (text, place), times in gold.items()
        if documents[place][text].candidates
    ]
    return weighed(found)


def weighed(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Return lessons with the weights that `lessons_of` describes."""
    total: Counter[str] = Counter()
    for one in lessons:
        total[one.link.searched] += one.times
    return [
        one._replace(weight=one.times * math.ceil(math.sqrt(n)) / n)
        for one in lessons
        for n in [total[one.link.searched]]
    ]


def fit_to_questions(lessons: Sequence[Lesson], encoders: Sequence[str]) -> Reranker:
    """Fit a re-ranker to lessons; it knows no decisions.

    Raises
    ------
    InvalidInput
        If no lesson has a right and a wrong candidate.
    """
    names = feature_names(encoders)
    pools = pools_of([(one.link, one.gold, one.decisions) for one in lessons], encoders)
    model = fit_additive_model(
        pools.features,
        pools.right,
        names,
        there=pools.there,
        weights=[one.weight for one in lessons],
        knots=_KNOTS,
        smoothness=_SMOOTHNESS,
        ridge=_RIDGE,
    )
    return Reranker(model, Decisions(), tuple(encoders))
