"""Kinds of error: BioSyn's table, assigned to wrong answers by rule.

BioSyn's authors sorted their errors by hand (§6.2). Here the first of these rules that applies
decides. Every rule sees the prepared string of the mention, the name that matched, the names of the
right concepts, and the hierarchy where the terminology has one.

==================  ================================================================================
kind                when
==================  ================================================================================
not in terminology  the terminology has none of the right concepts, so nothing could be found
no concept          NIL was predicted for a mention with a concept, or a concept for one without
wrong parts         every concept found is right, but they do not match the mention's one to one
contextual entity   the string is the matched name, letter for letter: the same name, another
                    concept
abbreviation        the mention is one short word with two capitals or more, and was not written out
hypernym            the mention is more general than the annotation: the concept found is an
                    ancestor of a right one; or, without a hierarchy, the words of the mention are
                    some of the words of a name of a right concept
hyponym             the mention is more specific: a descendant; or it has all words of such a name
                    and more
incomplete synset   the string shares no word with any name of the right concepts
overlapped entity   the string shares a word with the matched name
other               everything else
==================  ================================================================================

Words are those of BioSyn's normal form, without a plural ``s``. Rules find other numbers than
people: the annotators saw the text around a mention, the rules see names only.

References
----------
Sung, Jeon, Lee and Kang (2020), Biomedical Entity Representations with Synonym Marginalization,
section 6.2 and table 5.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import FoundConcept
from canonym.evaluation.metrics import columns
from canonym.evaluation.outcomes import RankedAnswer
from canonym.evaluation.questions import Question, looks_short
from canonym.evaluation.run import Run
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import edges_up
from canonym.text import biosyn_normal

ERROR_KINDS: dict[str, str] = {
    "incomplete synset": "no name of the right concept shares a word with the mention",
    "contextual entity": "the matched name is the mention itself, of another concept",
    "overlapped entity": "the mention shares words with the matched name",
    "abbreviation": "a short form that nothing wrote out",
    "hypernym": "the mention is more general than the annotated concept",
    "hyponym": "the mention is more specific than the annotated concept",
    "other": "no rule applies",
    "no concept": "NIL was predicted for a mention with a concept, or a concept for one without",
    "wrong parts": "each concept found is right, but parts are missing or too many",
    "not in terminology": "the terminology does not have the right concept",
}
"""Every kind of error and its meaning, in the order of the published table; ours come last."""

PUBLISHED: tuple[str, ...] = tuple(ERROR_KINDS)[:7]
"""The kinds of the published table."""


class ErrorKinds:
    """Sorts wrong answers into kinds.

    `names` and `parents` take the id of a concept and return its names, and the ids of its parents.
    Without parents, words decide what is more general.

    >>> names = {"C1": ["campomelia cumming type"], "C2": ["campomelic syndrome"]}
    >>> kinds = ErrorKinds(lambda id: names.get(id, ()))
    >>> kinds.kind("campomelia", "campomelic syndrome", "C2", ["C1"])
    'hypernym'
    """

    def __init__(
        self,
        names: Callable[[str], Iterable[str]],
        parents: Callable[[str], Iterable[str]] = lambda _: (),
    ) -> None:
        self._names_of = functools.cache(
            lambda id_: tuple(dict.fromkeys(_words(biosyn_normal(name)) for name in names(id_)))
        )
        self._above = functools.cache(lambda id_: frozenset(edges_up(id_, parents)) - {id_})

    def kind(
        self,
        searched: str,
        matched: str,
        predicted: str | None,
        gold: Iterable[str],
        *,
        mention: str = "",
    ) -> str:
        """Return the kind of one error, a key of `ERROR_KINDS`.

        `searched` is the prepared string, `matched` the nearest name, and `mention` the text as
        written. `predicted` is the wrong concept, None for NIL.
        """
        right = sorted(set(gold))
        if predicted in right or (predicted is None and not right):
            raise InvalidInput(f"{predicted!r} is right: there is no error to sort")
        known = [words for id_ in right for words in self._names_of(id_)]
        if right and not known:
            return "not in terminology"
        if predicted is None or not right:
            return "no concept"
        normal = biosyn_normal(searched)
        if normal == biosyn_normal(matched):
            return "contextual entity"
        mention = mention or searched
        if looks_short(mention) and normal == biosyn_normal(mention):
            return "abbreviation"
        words = _words(normal)
        if relation := self._by_hierarchy(predicted, right) or _by_words(words, known):
            return relation
        if not any(words & name for name in known):
            return "incomplete synset"
        if words & _words(biosyn_normal(matched)):
            return "overlapped entity"
        return "other"

    def _by_hierarchy(self, predicted: str, right: Iterable[str]) -> str:
        if any(predicted in self._above(id_) for id_ in right):
            return "hypernym"
        return "hyponym" if self._above(predicted).intersection(right) else ""


def _words(normal: str) -> frozenset[str]:
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in normal.split()
    )


def _by_words(words: frozenset[str], names: Sequence[frozenset[str]]) -> str:
    if words and any(words < name for name in names):
        return "hypernym"
    return "hyponym" if any(name and name < words for name in names) else ""


@dataclass(frozen=True, slots=True)
class LabelledConcept:
    """A concept as shown: its id, and its label, empty where the terminology has none."""

    id: str
    label: str

    def __str__(self) -> str:
        return f"{self.id} {self.label}".rstrip()


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """A mention that a system has wrong, and the evidence.

    `searched` is the string looked up, of the first wrong part; `matched` the nearest name with its
    `score`; `predicted` the wrong concept, None for NIL. `place` is the first place, from 1, of a
    right concept among the candidates, `best_name` and `best_score` the name that found it; None,
    "" and NaN where there is none.
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
        """The reason for the answer, in a sentence or two."""
        text = f"“{self.searched}” was looked up"
        if self.matched:
            text += f"; the nearest name is “{self.matched}” ({self.score:.3f})"
        else:
            text += "; nothing was found"
        if self.predicted is None and self.matched:
            text += ", which was refused"
        if self.place is not None:
            text += (
                f". A right concept is in place {self.place}, by “{self.best_name}” "
                f"({self.best_score:.3f})"
            )
        elif self.gold:
            text += ". No right concept is among the candidates"
        return f"{text}."


class WrongTimes(NamedTuple):
    """A wrong answer, the first of its kind, and the number of mentions with the same."""

    answer: WrongAnswer
    n: int


def group_answers(wrong: Iterable[WrongAnswer]) -> list[WrongTimes]:
    """Group equal mistakes, of one string, answer and right concept; the highest score first."""
    groups: dict[object, list[WrongAnswer]] = {}
    for answer in wrong:
        mistake = (answer.kind, answer.searched, answer.predicted, answer.gold)
        groups.setdefault(mistake, []).append(answer)
    repeated = [WrongTimes(some[0], len(some)) for some in groups.values()]
    return sorted(
        repeated, key=lambda g: math.inf if math.isnan(g.answer.score) else -g.answer.score
    )


def find_wrong_answers(run: Run, reading: str) -> list[WrongAnswer]:
    """List the mentions that are wrong in one reading, in the order of the corpus.

    Of several parts the first wrong one is described.
    """
    if reading not in run.scored:
        raise InvalidInput(f"the run has no reading {reading!r}; it has {', '.join(run.scored)}")
    terminology = run.concept_ids.terminology
    learned: dict[str, list[str]] = {}
    for text, id_ in run.learned:
        learned.setdefault(id_, []).append(text)
    kinds = ErrorKinds(
        # The texts of training mentions were searched like any other name.
        lambda id_: (*(n.text for n in terminology.names(id_)), *learned.get(id_, ())),
        terminology.parents,
    )
    right = columns(run.scored[reading], "accuracy@1")[:, 0]
    described = []
    for question, answers, value in zip(run.questions, run.answers, right.tolist(), strict=True):
        if not value:
            described.append(_describe(question, answers, reading, kinds, terminology))
    return described


def _describe(
    question: Question,
    answers: Sequence[RankedAnswer],
    reading: str,
    kinds: ErrorKinds,
    terminology: Terminology,
) -> WrongAnswer:
    concepts = question.concepts
    answer, whole = _first_wrong(answers, reading, question)
    top = _top(answer, reading, concepts)
    predicted = None if answer.nil or top is None else top.id
    mention, matched = question.mention, top.name if top else ""
    if whole:
        kind = "wrong parts"
    else:
        written = mention.text if len(answers) == 1 else ""
        kind = kinds.kind(answer.searched, matched, predicted, concepts, mention=written)
    numbered = enumerate(answer.concepts, start=1)
    place, best = next(((i, hit) for i, hit in numbered if hit.id in concepts), (None, None))
    return WrongAnswer(
        kind,
        mention.document_id,
        mention.text,
        mention.type,
        mention.start,
        mention.end,
        answer.searched,
        matched,
        top.score if top else float("nan"),
        None if predicted is None else _labelled(predicted, terminology),
        tuple(_labelled(id_, terminology) for id_ in sorted(concepts)),
        place,
        best.name if best else "",
        best.score if best else float("nan"),
    )


def _first_wrong(
    answers: Sequence[RankedAnswer], reading: str, question: Question
) -> tuple[RankedAnswer, bool]:
    """Return the first wrong answer; if every answer is right, only the parts are wrong."""
    for answer in answers:
        top = _top(answer, reading, question.concepts)
        predicted = None if answer.nil or top is None else top.id
        if predicted is None and not question.concepts:
            continue
        if predicted not in question.concepts:
            return answer, False
    return answers[0], True


def _top(answer: RankedAnswer, reading: str, concepts: frozenset[str]) -> FoundConcept | None:
    """Return the concept in first place; a name counts as a right concept if it carries one."""
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
