"""The wrong answers of a run: what kind of error each is, and why it was given."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import FoundConcept
from canonym.evaluation.error_kinds import ErrorKinds
from canonym.evaluation.metrics import columns
from canonym.evaluation.outcome import Run
from canonym.evaluation.outcomes import Answer
from canonym.evaluation.questions import Question
from canonym.terminology import Terminology

__all__ = ["LabelledConcept", "WrongAnswer", "WrongTimes", "find_wrong_answers", "group_answers"]


@dataclass(frozen=True, slots=True)
class LabelledConcept:
    """A concept as it is shown: its id, and its label, empty where the terminology has none."""

    id: str
    label: str

    def __str__(self) -> str:
        return f"{self.id} {self.label}".rstrip()


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """One mention that a system has wrong, and what led to it.

    Parameters
    ----------
    kind : str
        A key of `canonym.evaluation.error_kinds.ERROR_KINDS`.
    document, mention, type : str
        Where it is, as the corpus has it.
    start, end : int, optional
        Its offsets.
    searched : str
        The string that was looked up: of the first part that is wrong.
    matched : str
        The name that it was nearest to, empty if nothing was found.
    score : float
        Of that name.
    predicted : LabelledConcept, optional
        The wrong concept; None is NIL.
    gold : tuple of LabelledConcept
        All right concepts, by id.
    place : int, optional
        The first place, from 1, of a right concept among the candidates; None if there is none.
    best_name : str
        The name by which that concept was found.
    best_score : float
        Its score; NaN if there is none.
    """

    kind: str
    document: str
    mention: str
    type: str
    start: int | None
    end: int | None
    searched: str
    matched: str
    score: float
    predicted: LabelledConcept | None
    gold: tuple[LabelledConcept, ...]
    place: int | None
    best_name: str
    best_score: float

    @property
    def explanation(self) -> str:
        """Why it was given, in a sentence or two."""
        said = f"“{self.searched}” was looked up"
        if self.matched:
            said += f"; the nearest name is “{self.matched}” ({self.score:.3f})"
        else:
            said += "; nothing was found"
        if self.predicted is None and self.matched:
            said += ", which was refused"
        if self.place is not None:
            said += (
                f". A right concept is in place {self.place}, by “{self.best_name}” "
                f"({self.best_score:.3f})"
            )
        elif self.gold:
            said += ". No right concept is among the candidates"
        return f"{said}."


class WrongTimes(NamedTuple):
    """A wrong answer, the first of its kind, and how many mentions have the same."""

    answer: WrongAnswer
    n: int


def group_answers(wrong: Iterable[WrongAnswer]) -> list[WrongTimes]:
    """Put equal mistakes together: one string, one answer, one right concept.

    Parameters
    ----------
    wrong : iterable of WrongAnswer
        In any order.

    Returns
    -------
    list of WrongTimes
        By score, highest first; equal scores in the order given, mistakes without a score last.
    """
    groups: dict[object, list[WrongAnswer]] = {}
    for one in wrong:
        groups.setdefault((one.kind, one.searched, one.predicted, one.gold), []).append(one)
    found = [WrongTimes(some[0], len(some)) for some in groups.values()]
    return sorted(found, key=lambda g: math.inf if math.isnan(g.answer.score) else -g.answer.score)


def find_wrong_answers(run: Run, reading: str) -> list[WrongAnswer]:
    """List the mentions that are wrong in one reading, in the order of the corpus.

    Parameters
    ----------
    run : Run
        The evaluation.
    reading : str
        One of the run's readings.

    Returns
    -------
    list of WrongAnswer
        One per wrong mention; of several parts the first wrong one is described.

    Raises
    ------
    InvalidInput
        If the run does not have the reading.
    """
    if reading not in run.cases:
        raise InvalidInput(f"the run has no reading {reading!r}; it has {', '.join(run.cases)}")
    terminology = run.concept_ids.terminology
    learned: dict[str, list[str]] = {}
    for text, id_ in run.learned:
        learned.setdefault(id_, []).append(text)
    kinds = ErrorKinds(
        # What training mentions are called was searched like any other name.
        lambda id_: (*(n.text for n in terminology.names(id_)), *learned.get(id_, ())),
        terminology.parents,
    )
    right = columns(run.cases[reading], "accuracy@1")[:, 0]
    found = []
    for question, answers, value in zip(run.questions, run.answers, right.tolist(), strict=True):
        if not value:
            found.append(_describe(question, answers, reading, kinds, terminology))
    return found


def _describe(
    question: Question,
    answers: Sequence[Answer],
    reading: str,
    kinds: ErrorKinds,
    terminology: Terminology,
) -> WrongAnswer:
    concepts = question.concepts
    answer, whole = _first_wrong(answers, reading, question)
    top = _top(answer, reading, concepts)
    predicted = None if answer.nil or top is None else top.id
    mention = question.mention
    if whole:
        kind = "wrong parts"
    else:
        kind = kinds.kind(
            answer.searched,
            top.name if top else "",
            predicted,
            concepts,
            mention=mention.text if len(answers) == 1 else "",
        )
    place, best = next(
        ((i, found) for i, found in enumerate(answer.concepts, start=1) if found.id in concepts),
        (None, None),
    )
    return WrongAnswer(
        kind,
        mention.document_id,
        mention.text,
        mention.type,
        mention.start,
        mention.end,
        answer.searched,
        top.name if top else "",
        top.score if top else float("nan"),
        None if predicted is None else _labelled(predicted, terminology),
        tuple(_labelled(id_, terminology) for id_ in sorted(concepts)),
        place,
        best.name if best else "",
        best.score if best else float("nan"),
    )


def _first_wrong(
    answers: Sequence[Answer], reading: str, question: Question
) -> tuple[Answer, bool]:
    """Return the answer to blame, and whether it is right and only the parts are not."""
    for answer in answers:
        top = _top(answer, reading, question.concepts)
        said = None if answer.nil or top is None else top.id
        if said is None and not question.concepts:
            continue
        if said not in question.concepts:
            return answer, False
    return answers[0], True


def _top(answer: Answer, reading: str, concepts: frozenset[str]) -> FoundConcept | None:
    """Return what stands in first place; a name stands for a right concept if it has one."""
    if reading != "lenient":
        return answer.concepts[0] if answer.concepts else None
    if not answer.names:
        return None
    name = answer.names[0]
    id_ = next((id_ for id_ in name.ids if id_ in concepts), name.ids[0])
    return FoundConcept(id_, name.text, name.score)


def _labelled(id_: str, terminology: Terminology) -> LabelledConcept:
    if terminology.resolve(id_) is None:
        return LabelledConcept(id_, "")
    return LabelledConcept(id_, terminology.concept(id_).label)
