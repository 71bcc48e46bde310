"""What kind of error a wrong concept is: BioSyn's table of errors, assigned by rule.

BioSyn's authors sorted their errors by hand (§6.2). Here the first rule of these that applies
decides; all of them see the prepared string of the mention, the name that matched, the names of the
right concepts, and the hierarchy where the terminology has one.

==================  ================================================================================
kind                when
==================  ================================================================================
not in terminology  the terminology has none of the right concepts, so nothing could be found
no concept          no concept was given to a mention that has one, or one to a mention that has
                    none
wrong parts         every concept found is right, and yet they are not those of the mention one to
                    one; found by `canonym.evaluation.error_kinds`
contextual entity   the string is the matched name, letter for letter: the same name, another
                    concept
abbreviation        the mention is one short word with two capitals or more, and was not written out
hypernym            the mention is more general than the annotation: the concept found is an
                    ancestor of a right one; or, where the hierarchy is silent, the words of the
                    mention are some of the words of a name of a right concept
hyponym             the mention is more specific: a descendant; or all words of such a name are
                    words of the mention, which has more
incomplete synset   the string shares no word with any name of the right concepts
overlapped entity   the string shares a word with the matched name
other               everything else
==================  ================================================================================

Words are those of BioSyn's normal form, a plural ``s`` taken off. Rules find other numbers than
people do: the annotators saw the text around a mention, the rules see names only.

References
----------
Sung, Jeon, Lee and Kang (2020), Biomedical Entity Representations with Synonym Marginalization,
section 6.2 and table 5."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import FoundConcept
from canonym.evaluation.metrics import columns
from canonym.evaluation.outcomes import RankedAnswer
from canonym.evaluation.questions import Question
from canonym.evaluation.run import Run
from canonym.terminology import Terminology
from canonym.text import biosyn_normal

# --- error kinds ---

ERROR_KINDS: dict[str, str] = {
    "incomplete synset": "no name of the right concept shares a word with the mention",
    "contextual entity": "the matched name is the mention itself, of another concept",
    "overlapped entity": "the mention shares words with the matched name",
    "abbreviation": "a short form that nothing wrote out",
    "hypernym": "the mention is more general than the annotated concept",
    "hyponym": "the mention is more specific than the annotated concept",
    "other": "no rule applies",
    "no concept": "NIL was said of a mention with a concept, or a concept of one without",
    "wrong parts": "each concept found is right, but parts are missing or too many",
    "not in terminology": "the terminology does not have the right concept",
}
"""Every kind of error and its meaning, in the order of the published table; ours come last."""

PUBLISHED: tuple[str, ...] = tuple(ERROR_KINDS)[:7]
"""The kinds of the published table."""


class ErrorKinds:
    """Sorts wrong answers into kinds.

    Parameters
    ----------
    names : callable
        Takes the id of a concept and returns its names; none for an unknown concept.
    parents : callable, optional
        Takes the id of a concept and returns the ids of its parents. Without it, words decide what
        is more general.

    Examples
    --------
    >>> names = {"C1": ["campomelia cumming type"], "C2": ["campomelic syndrome"]}
    >>> kinds = ErrorKinds(lambda id: names.get(id, ()))
    >>> kinds.kind("campomelia", "campomelic syndrome", "C2", ["C1"])
    'hypernym'
    """

    def __init__(
        self,
        names: Callable[[str], Iterable[str]],
        parents: Callable[[str], Iterable[str]] | None = None,
    ) -> None:
        self._names = names
        self._parents = parents
        self._words_of: dict[str, tuple[frozenset[str], ...]] = {}
        self._above: dict[str, frozenset[str]] = {}

    def kind(
        self,
        searched: str,
        matched: str,
        predicted: str | None,
        gold: Iterable[str],
        *,
        mention: str = "",
    ) -> str:
        """Return the kind of one error.

        Parameters
        ----------
        searched : str
            The string that was looked up, after preparation.
        matched : str
            The name that it was nearest to.
        predicted : str or None
            The wrong concept; None is NIL.
        gold : iterable of str
            The right concepts; none for NIL.
        mention : str
            The mention as it stands in the text; by default `searched`.

        Returns
        -------
        str
            A key of `ERROR_KINDS`.

        Raises
        ------
        InvalidInput
            If `predicted` is one of `gold`, which is no error.
        """
        right = sorted(set(gold))
        if predicted in right or (predicted is None and not right):
            raise InvalidInput(f"{predicted!r} is right: there is no error to sort")
        known = [words for id_ in right for words in self._words(id_)]
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
        relation = self._by_hierarchy(predicted, right) or _by_words(words, known)
        if relation:
            return relation
        if not any(words & name for name in known):
            return "incomplete synset"
        if words & _words(biosyn_normal(matched)):
            return "overlapped entity"
        return "other"

    def _words(self, id_: str) -> tuple[frozenset[str], ...]:
        if id_ not in self._words_of:
            found = dict.fromkeys(_words(biosyn_normal(name)) for name in self._names(id_))
            self._words_of[id_] = tuple(found)
        return self._words_of[id_]

    def _by_hierarchy(self, predicted: str, right: Iterable[str]) -> str:
        if any(predicted in self._ancestors(id_) for id_ in right):
            return "hypernym"
        return "hyponym" if self._ancestors(predicted).intersection(right) else ""

    def _ancestors(self, id_: str) -> frozenset[str]:
        if self._parents is None:
            return frozenset()
        if id_ not in self._above:
            found: set[str] = set()
            level = {id_}
            while level:
                level = {parent for child in level for parent in self._parents(child)} - found
                found |= level
            self._above[id_] = frozenset(found - {id_})
        return self._above[id_]


def looks_short(text: str) -> bool:
    """Tell whether a mention is one word of two to six characters, two or more of them capitals."""
    return 2 <= len(text) <= 6 and " " not in text and sum(letter.isupper() for letter in text) >= 2


def _words(normal: str) -> frozenset[str]:
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in normal.split()
    )


def _by_words(words: frozenset[str], names: Iterable[frozenset[str]]) -> str:
    found = set()
    for name in names:
        if words and words < name:
            found.add("hypernym")
        elif name and name < words:
            found.add("hyponym")
    return "hypernym" if "hypernym" in found else "hyponym" if found else ""


# --- wrong answers ---
# MODULE: The wrong answers of a run: what kind of error each is, and why it was given.


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
    answers: Sequence[RankedAnswer],
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
    answers: Sequence[RankedAnswer], reading: str, question: Question
) -> tuple[RankedAnswer, bool]:
    """Return the answer to blame, and whether it is right and only the parts are not."""
    for answer in answers:
        top = _top(answer, reading, question.concepts)
        said = None if answer.nil or top is None else top.id
        if said is None and not question.concepts:
            continue
        if said not in question.concepts:
            return answer, False
    return answers[0], True


def _top(answer: RankedAnswer, reading: str, concepts: frozenset[str]) -> FoundConcept | None:
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
