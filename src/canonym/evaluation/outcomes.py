"""Evaluated mentions as concept ids, and the places of the right ids in the rankings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import FoundConcept, FoundName
from canonym.evaluation.protocols import READINGS
from canonym.evaluation.questions import Question
from canonym.linking import evidence
from canonym.types import Link

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ScoredMention:
    """An evaluated mention: the right concepts, the predicted ones, and the kind of mention.

    Parameters
    ----------
    gold : tuple of frozenset of str
        One set per part of the mention; any id of a set is right for that part. A mention of one
        concept has one part, and so has one of several alternatives. A composite has one part per
        concept. NIL is ``()``. An empty set is a part without a concept and is ignored.
    ranked : tuple of tuple of str
        One ranking of concept ids per predicted part, best first; NIL is ``()``. Every place
        counts, so a repeated id takes two places. An empty ranking is ignored.
    score : float
        Confidence in the decision; larger is surer.
    candidates : tuple of tuple of str
        Search results per part before anything was refused as NIL; ``()`` if equal to `ranked`.
        Only the recall of the candidates uses them.
    seen_mention : bool, optional
        Whether the normalised text is a mention of the training data. None is unknown, here and
        below.
    seen_concept : bool, optional
        Whether a gold concept has a mention in the training data.
    homonym : bool, optional
        Whether the terminology has the text under several concepts.
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
    >>> gold = (frozenset({"MESH:D1", "MESH:D2"}),)
    >>> mention = ScoredMention(gold=gold, ranked=(("MESH:D3", "MESH:D2"),))
    >>> mention.nil, mention.predicted_nil
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


# --- matching -------------------------------------------------------------------------------------


def match_parts(
    gold: Sequence[AbstractSet[str]], ranked: Sequence[Sequence[str]]
) -> tuple[int, ...]:
    """Return the cut-offs at which the parts of a mention are found.

    `gold` has the acceptable ids of each part, `ranked` a ranking for each predicted part, in any
    order of the parts. The cut-offs rise: ``j + 1`` parts are found in the first ``result[j]``
    places of every ranking, and not in fewer. There are fewer than `gold` if parts are never found.

    Notes
    -----
    A predicted part can stand for one gold part only. With ``r_gp`` the first place of an id of
    gold part ``g`` in ranking ``p``, the number found at ``k`` is the size of the largest matching
    of the bipartite graph with the edges ``r_gp ≤ k``. The order of the parts thus does not matter,
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
    places: list[int] = []
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
                places.append(place)
                break
    return tuple(places)


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
    """The counts behind all metrics: one entry per mention, and one per part found.

    Cut-offs are those of `match_parts`; they rise within a mention, and mentions rise.
    """

    n_gold: IntArray  # (n,): parts with gold ids of each mention; 0 is NIL
    n_predicted: IntArray  # (n,): parts with a prediction; 0 is NIL
    mentions: IntArray  # (m,): the mention of each part found in the rankings
    places: IntArray  # (m,): its cut-off
    candidate_mentions: IntArray  # (l,): the same in the candidates
    candidate_places: IntArray  # (l,)

    @property
    def n(self) -> int:
        """Number of mentions."""
        return len(self.n_gold)


def tally(mentions: Iterable[ScoredMention]) -> Tally:
    """Find the right ids in the rankings of every mention, once for all metrics."""
    n_gold, n_predicted = [], []
    ranked: list[tuple[int, int]] = []
    candidates: list[tuple[int, int]] = []
    for i, mention in enumerate(mentions):
        gold = [part for part in mention.gold if part]
        rankings = [ranking for ranking in mention.ranked if ranking]
        n_gold.append(len(gold))
        n_predicted.append(len(rankings))
        places = match_parts(gold, rankings)
        ranked.extend((i, place) for place in places)
        if mention.candidates:
            places = match_parts(gold, mention.candidates)
        candidates.extend((i, place) for place in places)
    if not n_gold:
        raise InvalidInput(
            "no mentions to evaluate: give at least one; did a filter or another prefix of the ids "
            "leave none?"
        )
    in_ranked = np.array(ranked, dtype=np.int64).reshape(-1, 2)
    in_candidates = np.array(candidates, dtype=np.int64).reshape(-1, 2)
    n_parts = np.array([n_gold, n_predicted], dtype=np.int64)
    return Tally(*n_parts, *in_ranked.T, *in_candidates.T)


# --- answers --------------------------------------------------------------------------------------


class RankedAnswer(NamedTuple):
    """Names and concepts found for one part of a question, best first.

    A linker ranks concepts only. `confidence` is the probability that the first concept is right,
    and `signs` are its features; None and empty where nothing estimates it.
    """

    searched: str
    names: tuple[FoundName, ...]
    concepts: tuple[FoundConcept, ...]
    nil: bool = False
    confidence: float | None = None
    signs: tuple[float, ...] = ()


def answers_of_link(link: Link) -> tuple[RankedAnswer, ...]:
    """Return one answer per part of a link; an undivided link is its only part."""
    return tuple(
        RankedAnswer(
            part.searched,
            (),
            tuple(FoundConcept(c.id, c.name, c.score) for c in part.candidates),
            part.nil,
            part.confidence,
            signs_of(part),
        )
        for part in (link.parts or (link,))
    )


def signs_of(link: Link) -> tuple[float, ...]:
    """Return the signs of an undivided link as numbers; none without candidates."""
    return tuple(evidence.signs_of(link).values()) if link.candidates else ()


def read_answers(
    questions: Sequence[Question],
    answers: Sequence[Sequence[RankedAnswer]],
    reading: str,
    *,
    concepts_named: Mapping[str, int] | None = None,
) -> tuple[ScoredMention, ...]:
    """Score the answers to all questions in one reading of `canonym.evaluation.protocols`.

    `answers` has one answer per part of each question. `concepts_named` counts the concepts that
    have a prepared string as a name. The result is meant for the composite rule ``"all"``.

    Notes
    -----
    In the lenient and the strict reading every part looks for any id of the mention. The result
    then has one gold set, the union, per predicted part. In the lenient ranking a name stands as an
    id of the mention if it carries one, and as its first id otherwise.
    """
    if reading not in READINGS:
        raise InvalidInput(f"there is no reading {reading!r}; there are {', '.join(READINGS)}")
    if len(questions) != len(answers):
        raise InvalidInput(
            f"{len(questions):,} questions have {len(answers):,} answers; one for each is expected"
        )
    scored = []
    for question, answer_parts in zip(questions, answers, strict=True):
        homonym = None
        if concepts_named is not None:
            texts = (*question.parts, question.text)
            homonym = any(concepts_named.get(text, 0) > 1 for text in texts)
        scored.append(
            ScoredMention(
                gold=question.gold
                if reading == "complete"
                else (question.concepts,) * len(answer_parts),
                ranked=tuple(_ranking(answer, reading, question) for answer in answer_parts),
                score=min((_score(answer, reading) for answer in answer_parts), default=0.0),
                candidates=tuple(tuple(c.id for c in answer.concepts) for answer in answer_parts)
                if any(answer.nil for answer in answer_parts)
                else (),
                seen_mention=question.seen_mention,
                seen_concept=question.seen_concept,
                homonym=homonym,
                abbreviation=question.abbreviation,
                composite=question.composite,
                type=question.mention.type,
                length=len(question.text.split()),
                frequency=question.frequency,
            )
        )
    return tuple(scored)


def _ranking(answer: RankedAnswer, reading: str, question: Question) -> tuple[str, ...]:
    """Return the ids that are predicted for a part, best first."""
    if reading == "lenient":
        right = question.concepts
        return tuple(
            next((id_ for id_ in name.ids if id_ in right), name.ids[0]) for name in answer.names
        )
    return () if answer.nil else tuple(concept.id for concept in answer.concepts)


def _score(answer: RankedAnswer, reading: str) -> float:
    if answer.confidence is not None:
        return answer.confidence
    ranked: Sequence[FoundName | FoundConcept] = (
        answer.names if reading == "lenient" else answer.concepts
    )
    return ranked[0].score if ranked else 0.0
