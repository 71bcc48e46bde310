"""Concepts that share the name by which a search found the best candidate.

A sieve finds all concepts of a name by the way; a search finds as many as are wanted, and which of
those with equal scores are among them depends on how many that are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from canonym.filters import Filter
from canonym.lookup import MOST_TIED, Answer, Lookup, concepts_of
from canonym.ranking.pooling import TieRule
from canonym.spaces import Names
from canonym.targets import Target
from canonym.text import normalise_all
from canonym.types import Int32Array

__all__ = ["with_namesakes"]

_SAME = 1e-6
"""Scores that differ by less are equal."""


def with_namesakes(
    lookup: Lookup,
    answers: Mapping[str, Answer],
    chosen: Filter,
    *,
    names: Names,
    never: frozenset[int] = frozenset(),
) -> dict[str, Answer]:
    """Find what is tied with the best candidates of a search.

    Parameters
    ----------
    lookup : Lookup
        What found them.
    answers : mapping of str to Answer
        What its `find` returned for the same filter and names.
    chosen : Filter
        What may be found.
    names : Names
        What was searched.
    never : frozenset of int
        Concepts that may not be found.

    Returns
    -------
    dict of str to Answer
        `Answer.tied` holds the concepts with a name that the first sieve takes for that of the best
        candidate, and that scores as it does, the best first. Without a sieve, and where means of
        names were searched, nothing is tied.
    """
    found = dict(answers)
    asked = {
        string: target
        for string, answer in answers.items()
        if answer.candidates and (target := _target(lookup, answer)) is not None
    }
    if not asked or not lookup.sieves:
        return found
    texts = [answers[string].candidates[0].name for string in asked]
    forms = list(normalise_all(texts, lookup.sieves[0].steps))
    several: dict[str, tuple[Int32Array, TieRule]] = {}
    for (string, target), rows in zip(asked.items(), names.find(0, forms), strict=True):
        its = never | names.forbidden_for(string)
        allowed = names.filter(chosen, target, its, by_name=True)
        kept = rows if allowed.allowed is None else rows[allowed.allowed[rows]]
        if len(np.unique(allowed.ties.concept_of_row[kept])) > 1:
            several[string] = (kept, allowed.ties)
    scores = lookup.searchers.scores(list(several), [rows for rows, _ in several.values()], names)
    for (string, (rows, ties)), each in zip(several.items(), scores, strict=True):
        found[string] = _with_tied(lookup, found[string], rows, each, ties, names)
    return found


def _with_tied(
    lookup: Lookup,
    answer: Answer,
    rows: Int32Array,
    scores: npt.NDArray[np.float64],
    ties: TieRule,
    names: Names,
) -> Answer:
    best = answer.candidates[0]
    own = ties.concept_of_row[rows] == lookup.terminology.ordinal(best.id)
    same = rows[np.abs(scores - scores[own].max(initial=-np.inf)) < _SAME]
    known = {one.id: one for one in answer.candidates}
    tied = [
        lookup.candidate(concept, names.name(row), best.score, best.sieve, best.parts)
        for concept, row in concepts_of(same, ties)
    ]
    others = [known.get(one.id, one) for one in tied if one.id != best.id]
    return answer._replace(tied=(best, *others[: MOST_TIED - 1])) if others else answer


def _target(lookup: Lookup, answer: Answer) -> Target | None:
    """Return the step of the search that found the best candidate by one of its names."""
    sieve = answer.candidates[0].sieve
    steps = lookup.searchers.steps
    named = {"search": steps[0], **{step.name: step for step in steps}}
    target = named.get(sieve)
    return None if target is None or target.by_concept else target
