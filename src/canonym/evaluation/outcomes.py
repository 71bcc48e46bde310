"""Evaluated mentions as ids alone, and the places at which the right ids stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import FoundConcept, FoundName
from canonym.evaluation.questions import Question
from canonym.linking.confidence import confidence_features
from canonym.types import Link

# --- cases ---

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Case:
    """One evaluated mention: what is right, what was predicted, and what kind of mention it is.

    Parameters
    ----------
    gold : tuple of frozenset of str
        One set per part of the mention; any id of a set is right for that part. A mention with one
        concept, or with several of which each alone is right, has one part; a composite has one per
        concept; NIL is ``()``. An empty set is a part that stands for no concept: it asks for
        nothing and is passed over.
    ranked : tuple of tuple of str
        One ranking of concept ids per predicted part, best first; NIL is ``()``. Each place counts
        as it stands, so an id that is given twice takes two places. An empty ranking is passed
        over.
    score : float
        Confidence in the decision; larger is surer.
    candidates : tuple of tuple of str
        What the search had found per part before anything was refused as NIL; ``()`` when that is
        `ranked`. Only the recall of the candidates looks at it.
    seen_mention : bool, optional
        Whether the mention's normalised text is a mention of the training data. None is unknown,
        here and below.
    seen_concept : bool, optional
        Whether a gold concept has a mention in the training data.
    homonym : bool, optional
        Whether the terminology has the mention's text under several concepts.
    abbreviation : bool, optional
        Whether the mention is an abbreviation.
    composite : bool
        Whether the annotators gave several concepts for the one mention, even where a protocol
        joins them into one part.
    type : str
        The annotated type, may be empty.
    length : int, optional
        Words of the mention.
    frequency : int, optional
        Mentions of the gold concept in the training data.

    Raises
    ------
    InvalidInput
        If a part of `gold` is not a set, a ranking is a string, an id is empty, or a count is
        negative.

    Examples
    --------
    >>> case = Case(gold=(frozenset({"MESH:D1", "MESH:D2"}),), ranked=(("MESH:D3", "MESH:D2"),))
    >>> case.nil, case.predicted_nil
    (False, False)
    """

    gold: tuple[frozenset[str], ...]
    ranked: tuple[tuple[str, ...], ...]
    score: float = 0.0
    candidates: tuple[tuple[str, ...], ...] = ()
    seen_mention: bool | None = None
    seen_concept: bool | None = None
    homonym: bool | None = None
    abbreviation: bool | None = None
    composite: bool = False
    type: str = ""
    length: int | None = None
    frequency: int | None = None

    def __post_init__(self) -> None:
        for part in self.gold:
            if not isinstance(part, AbstractSet):
                raise InvalidInput(
                    f"gold has the part {part!r}; each part is a set of ids, as in "
                    "(frozenset({'MESH:D003920'}),)"
                )
            _check_ids(part)
        for ranking in (*self.ranked, *self.candidates):
            if isinstance(ranking, str | AbstractSet):
                raise InvalidInput(
                    f"a ranking is {ranking!r}; each part has a tuple of ids, best first, as in "
                    "(('MESH:D003920', 'MESH:D003924'),)"
                )
            _check_ids(ranking)
        for name in ("length", "frequency"):
            count = getattr(self, name)
            if count is not None and count < 0:
                raise InvalidInput(f"{name} is {count}; a count of at least 0 is expected")

    @property
    def nil(self) -> bool:
        """Whether no concept is right."""
        return not any(self.gold)

    @property
    def predicted_nil(self) -> bool:
        """Whether no concept was predicted."""
        return not any(self.ranked)


def _check_ids(ids: Iterable[str]) -> None:
    for id_ in ids:
        if not isinstance(id_, str) or not id_:
            raise InvalidInput(
                f"{id_!r} is no concept id; leave the part out, or empty, where there is none"
            )


def match_parts(
    gold: Sequence[AbstractSet[str]], ranked: Sequence[Sequence[str]]
) -> tuple[int, ...]:
    """Say how deep rankings have to be read until the parts of a mention are found.

    Parameters
    ----------
    gold : sequence of set of str
        Acceptable ids of each part.
    ranked : sequence of sequence of str
        A ranking per predicted part, in any order of the parts.

    Returns
    -------
    tuple of int
        Rising cut-offs: reading the first ``result[j]`` places of every ranking is the least that
        finds ``j + 1`` parts. It is shorter than `gold` when parts are never found.

    Notes
    -----
    A predicted part can stand for one gold part only. With ``r_gp`` the first place of an id of
    gold part ``g`` in ranking ``p``, the number found at ``k`` is the size of the largest matching
    of the bipartite graph with the edges ``r_gp ≤ k``, so the order of the parts does not matter
    and one lucky ranking does not count twice.

    Examples
    --------
    >>> match_parts([{"A"}, {"B"}], [["B", "C"], ["D", "A"]])
    (1, 2)
    """
    if len(gold) == len(ranked) == 1:
        place = _first_place(gold[0], ranked[0])
        return (place,) if place else ()
    edges = sorted(
        (place, g, p)
        for g, part in enumerate(gold)
        for p, ranking in enumerate(ranked)
        if (place := _first_place(part, ranking))
    )
    found: list[int] = []
    partners: list[list[int]] = [[] for _ in gold]
    taken: dict[int, int] = {}
    matched: set[int] = set()
    for place, g, p in edges:
        partners[g].append(p)
        # A new edge lengthens a largest matching by at most one; the path may start at any gold
        # part that is still without a partner.
        for free in range(len(gold)):
            if free not in matched and _augment(free, partners, taken, set()):
                matched.add(free)
                found.append(place)
                break
    return tuple(found)


def _augment(g: int, partners: list[list[int]], taken: dict[int, int], tried: set[int]) -> bool:
    for p in partners[g]:
        if p not in tried:
            tried.add(p)
            if p not in taken or _augment(taken[p], partners, taken, tried):
                taken[p] = g
                return True
    return False


def _first_place(part: AbstractSet[str], ranking: Sequence[str]) -> int:
    """Return the first place, from 1, of an id of `part`; 0 if there is none."""
    return next((place for place, id_ in enumerate(ranking, start=1) if id_ in part), 0)


class Tally(NamedTuple):
    """What all metrics are computed from, one entry per case and one per part found.

    Attributes
    ----------
    n_gold, n_predicted : ndarray, shape (n,), int64
        Parts with gold ids, and parts with a prediction, of each case; 0 is NIL.
    cases, places : ndarray, shape (m,), int64
        Case and cut-off of each part found in the rankings (see `match_parts`), rising by case
        and then by cut-off.
    candidate_cases, candidate_places : ndarray, shape (l,), int64
        The same in the candidates.
    """

    n_gold: IntArray
    n_predicted: IntArray
    cases: IntArray
    places: IntArray
    candidate_cases: IntArray
    candidate_places: IntArray

    @property
    def n(self) -> int:
        """Number of cases."""
        return len(self.n_gold)


def tally(cases: Iterable[Case]) -> Tally:
    """Find the right ids in the rankings of every case, once for all metrics.

    Raises
    ------
    InvalidInput
        If there are no cases.
    """
    n_gold, n_predicted = [], []
    ranked: list[tuple[int, int]] = []
    candidates: list[tuple[int, int]] = []
    for i, case in enumerate(cases):
        gold = [part for part in case.gold if part]
        rankings = [ranking for ranking in case.ranked if ranking]
        n_gold.append(len(gold))
        n_predicted.append(len(rankings))
        places = match_parts(gold, rankings)
        ranked.extend((i, place) for place in places)
        if case.candidates:
            places = match_parts(gold, case.candidates)
        candidates.extend((i, place) for place in places)
    if not n_gold:
        raise InvalidInput(
            "no mentions to evaluate: give at least one; did a filter or another prefix of the ids "
            "leave none?"
        )
    in_ranked = np.array(ranked, dtype=np.int64).reshape(-1, 2)
    in_candidates = np.array(candidates, dtype=np.int64).reshape(-1, 2)
    return Tally(
        np.array(n_gold, dtype=np.int64),
        np.array(n_predicted, dtype=np.int64),
        *in_ranked.T,
        *in_candidates.T,
    )


# --- readings ---
# MODULE: Answers read as right or wrong: what was found for a question becomes the cases of a metric.


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
        What that is taken from, see `canonym.linking.confidence.confidence_features`; empty where nothing was
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
    return tuple(confidence_features(link).tolist()) if link.candidates else ()


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
