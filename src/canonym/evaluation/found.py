"""What a string finds in the dictionary of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["FoundConcept", "FoundName", "equal_first"]


class FoundName(NamedTuple):
    """A name as a string, the ids of all concepts that have it, and its score."""

    text: str
    ids: tuple[str, ...]
    score: float


class FoundConcept(NamedTuple):
    """A concept, the best of its names, and the score of that."""

    id: str
    name: str
    score: float


def equal_first(
    found: Iterable[FoundConcept], text: str, ids: Sequence[str], k: int
) -> tuple[FoundConcept, ...]:
    """Put concepts that have a string as a name before others of the best score.

    Parameters
    ----------
    found : iterable of FoundConcept
        The `k` best, in order.
    text : str
        The string.
    ids : sequence of str
        The concepts that have it as a name, in the order they are to have.
    k : int
        Concepts wanted. Where all `k` have one score, one of `ids` that is not among them has that
        score as well, for nothing is more similar to a string than the string.

    Returns
    -------
    tuple of FoundConcept
        At most `k`. Concepts with the best score that have the string as a name come by it.
    """
    near = list(found)
    tied = [one.id for one in near if one.score == near[0].score]
    own = [id_ for id_ in ids if id_ in tied or len(tied) == k]
    first = [FoundConcept(id_, text, near[0].score) for id_ in own]
    return (*first, *(one for one in near if one.id not in own))[:k]
