"""Distance of wrong predictions from the right concept in a hierarchy."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from canonym.errors import InvalidInput
from canonym.evaluation.outcomes import ScoredMention, match_parts
from canonym.terminology.hierarchy import edges_between, edges_up

KINDS: tuple[str, ...] = ("parent", "child", "sibling", "ancestor", "descendant", "elsewhere")
"""Relations of a wrong concept to the right one, in the order in which they are tried."""


class HierarchyError(NamedTuple):
    """A wrong concept in first place, and the right one nearest to it."""

    mention: int  # its position
    predicted: str
    gold: str
    kind: str  # the relation of `predicted` to `gold`, one of `KINDS`
    distance: int | None  # edges by way of a common ancestor; None if they have none


class HierarchySummary(NamedTuple):
    """Errors by kind."""

    counts: dict[str, int]  # of each of `KINDS`
    n: int  # in all
    mean_distance: float  # over the errors that have a distance; NaN if none has
    n_unconnected: int  # errors without a distance


def hierarchy_errors(
    mentions: Iterable[ScoredMention], parents: Mapping[str, Collection[str]]
) -> list[HierarchyError]:
    """Place every wrong prediction relative to the right concept.

    Parameters
    ----------
    mentions : iterable of ScoredMention
        In any order. Mentions with NIL on either side are ignored.
    parents : mapping of str to collection of str
        Parents of concepts; cycles do no harm.

    Returns
    -------
    list of HierarchyError
        One for each predicted part whose first concept is wrong. A part is wrong if the largest
        matching of parts leaves it over.

    Raises
    ------
    InvalidInput
        If there are no mentions.

    Notes
    -----
    A concept with several relations to the gold gets the first of `KINDS`. Of several gold concepts
    the one of the first kind is reported, then the nearest, then the first by id. The distance is
    ``min_a d(predicted, a) + d(gold, a)`` over the common ancestors ``a``, with ``d`` the number of
    ``is_a`` edges upwards. Both concepts count as their own ancestors.

    Examples
    --------
    >>> parents = {"poodle": ["dog"], "beagle": ["dog"], "dog": ["animal"]}
    >>> mention = ScoredMention(gold=(frozenset({"poodle"}),), ranked=(("beagle", "poodle"),))
    >>> hierarchy_errors([mention], parents)[0][-2:]
    ('sibling', 2)
    """
    lines = _Lines(parents)
    errors: list[HierarchyError] = []
    n = 0
    for i, mention in enumerate(mentions):
        n += 1
        gold = [part for part in mention.gold if part]
        first = [[ranking[0]] for ranking in mention.ranked if ranking]
        wrong, missed = _unmatched(gold, first)
        # An extra part of a mention whose gold parts are all found is compared with all of them.
        ids = sorted({id_ for part in missed or gold for id_ in part})
        errors.extend(
            _nearest(i, predicted, ids, lines)
            for (predicted,) in wrong
            if ids and predicted not in ids
        )
    if not n:
        raise InvalidInput("no mentions to evaluate: give at least one")
    return errors


def summarise_errors(errors: Iterable[HierarchyError]) -> HierarchySummary:
    """Count errors by kind, also those that do not occur, and average their distances."""
    errors = list(errors)
    counts = Counter(error.kind for error in errors)
    distances = [error.distance for error in errors if error.distance is not None]
    mean = sum(distances) / len(distances) if distances else float("nan")
    return HierarchySummary(
        {kind: counts[kind] for kind in KINDS}, len(errors), mean, len(errors) - len(distances)
    )


class _Lines:
    """Distances from concepts to their ancestors, found once for each.

    `ancestors` maps a concept itself and all its ancestors to the fewest edges upwards.
    """

    def __init__(self, parents: Mapping[str, Collection[str]]) -> None:
        self.parents = parents
        self.ancestors = functools.cache(
            lambda id_: edges_up(id_, lambda child: parents.get(child, ()))
        )

    def kind(self, predicted: str, gold: str) -> str:
        """Return the relation of `predicted` to `gold`."""
        up = self.ancestors(gold).get(predicted)
        down = self.ancestors(predicted).get(gold)
        if up == 1:
            return "parent"
        if down == 1:
            return "child"
        if not set(self.parents.get(predicted, ())).isdisjoint(self.parents.get(gold, ())):
            return "sibling"
        if up is not None:
            return "ancestor"
        return "elsewhere" if down is None else "descendant"

    def distance(self, first: str, second: str) -> int | None:
        """Count the edges between two concepts by way of a common ancestor."""
        return edges_between(self.ancestors(first), self.ancestors(second))


def _unmatched(
    gold: list[frozenset[str]], ranked: list[list[str]]
) -> tuple[list[list[str]], list[frozenset[str]]]:
    """Return the predicted and the gold parts that a largest matching leaves over."""
    n_matched = len(match_parts(gold, ranked))
    right, left = list(ranked), list(gold)
    wrong: list[list[str]] = []
    for n in reversed(range(len(ranked))):
        if len(match_parts(gold, [*right[:n], *right[n + 1 :]])) == n_matched:
            wrong.insert(0, right.pop(n))
    missed: list[frozenset[str]] = []
    for n in reversed(range(len(gold))):
        if len(match_parts([*left[:n], *left[n + 1 :]], right)) == n_matched:
            missed.insert(0, left.pop(n))
    return wrong, missed


def _nearest(mention: int, predicted: str, gold: list[str], lines: _Lines) -> HierarchyError:
    def order(error: HierarchyError) -> tuple[int, float]:
        far = float("inf") if error.distance is None else error.distance
        return KINDS.index(error.kind), far

    related = ((id_, lines.kind(predicted, id_), lines.distance(predicted, id_)) for id_ in gold)
    return min((HierarchyError(mention, predicted, *relation) for relation in related), key=order)
