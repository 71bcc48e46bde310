"""How near all the names of a concept are to a string, and not the best of them alone.

A stray synonym may be as near as a name of the right concept; it seldom has company. Where the
terminology has a hierarchy, how far down in it a concept is stands beside that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from canonym.indexes.vectors import take_vectors
from canonym.lookup import Lookup
from canonym.ranking.pooling import marginal_score
from canonym.searching import Searchers
from canonym.spaces import Names
from canonym.targets import TARGETS
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.types import Candidate, Link

__all__ = ["DEPTH", "MARGINAL", "MEAN", "SECOND", "WIDTH", "closeness", "with_closeness"]

MEAN = " mean"
"""What follows the name of an encoder for its mean over the names of a concept."""

SECOND = "second"
"""The weighted mean of all encoders for the name that is second best."""

MARGINAL = "marginal"
"""`canonym.ranking.pooling.marginal_score` of that mean over the names of a concept."""

WIDTH = "names"
"""How many names were looked at."""

DEPTH = "depth"
"""``log(1 + n)`` of the steps from a concept up to a root."""

_MOST = 64  # names of a concept; some have thousands, all of them spellings of one drug


def closeness(
    searchers: Searchers, names: Names, strings: Sequence[str], concepts: Sequence[Sequence[int]]
) -> list[list[dict[str, float]]]:
    """Compare strings with all names of concepts.

    Parameters
    ----------
    searchers : Searchers
        The encoders.
    names : Names
        All names there are.
    strings : sequence of str
        What was looked up, not empty in normal form.
    concepts : sequence of sequence of int
        For each string concepts, by their ordinal.

    Returns
    -------
    list of list of dict of str to float
        For each string and concept, by encoder the best score of its names, and with `MEAN` after
        it the mean of them; `MARGINAL`; `SECOND`, where there is a second name; and `WIDTH`. No
        more than the first 64 names are looked at. Without an encoder nothing but `WIDTH`, and
        nothing at all for a concept whose names are gone.
    """
    if not strings:
        return []
    indexes = names.space(TARGETS["OD-T"]).indexes
    encoded = searchers.encode(strings)
    weights = searchers.weights
    total = sum(weights) or 1.0
    found: list[list[dict[str, float]]] = []
    for place, chosen in enumerate(concepts):
        # A name may have been taken away since the concept was found by it.
        every = [names.rows_of(concept)[:_MOST] for concept in chosen]
        found.append([{WIDTH: float(len(each))} if len(each) else {} for each in every])
        here = [one for one in found[-1] if one]
        rows = [each for each in every if len(each)]
        if not rows or not len(searchers):
            continue
        flat = np.concatenate(rows)[None, :]
        starts = np.cumsum([0, *map(len, rows[:-1])])
        fused = np.zeros(flat.shape[1])
        for name, weight, index, vectors in zip(
            searchers.names, weights, indexes, encoded, strict=True
        ):
            query = take_vectors(vectors, np.array([place]))
            scores = index.score(query, flat)[0].astype(np.float64)
            fused += weight / total * scores
            best = np.maximum.reduceat(scores, starts)
            mean = np.add.reduceat(scores, starts) / [len(each) for each in rows]
            for one, most, middle in zip(here, best.tolist(), mean.tolist(), strict=True):
                one[name] = most
                one[name + MEAN] = middle
        for one, start, each in zip(here, starts.tolist(), rows, strict=True):
            its = fused[start : start + len(each)]
            one[MARGINAL] = marginal_score(its)
            if len(each) > 1:
                one[SECOND] = float(np.partition(its, -2)[-2])
    return found


def with_closeness(lookup: Lookup, link: Link) -> Link:
    """Return a link whose candidates, or those of its parts, say how near all their names are."""
    if link.parts:
        return replace(link, parts=tuple(with_closeness(lookup, part) for part in link.parts))
    if not link.candidates:
        return link
    ordinals = [lookup.terminology.ordinal(one.id) for one in link.candidates]
    known = [ordinal for ordinal in ordinals if ordinal is not None]
    near = iter(closeness(lookup.searchers, lookup.names(), [link.searched], [known])[0])
    hierarchy = _hierarchy(lookup.terminology)
    candidates: list[Candidate] = [
        one if ordinal is None else replace(one, near=next(near) | _depth(hierarchy, one.id))
        for one, ordinal in zip(link.candidates, ordinals, strict=True)
    ]
    return replace(link, candidates=tuple(candidates))


_HIERARCHIES: WeakKeyDictionary[Terminology, Hierarchy | None] = WeakKeyDictionary()


def _hierarchy(terminology: Terminology) -> Hierarchy | None:
    """Return the hierarchy of a terminology, read once; None where it has none."""
    if terminology not in _HIERARCHIES:
        there = Hierarchy.from_terminology(terminology) if terminology.n_relations else None
        _HIERARCHIES[terminology] = there if there is not None and there.n_edges else None
    return _HIERARCHIES[terminology]


def _depth(hierarchy: Hierarchy | None, id_: str) -> dict[str, float]:
    if hierarchy is None or id_ not in hierarchy:
        return {}
    steps = hierarchy.depth(id_)
    return {} if steps is None else {DEPTH: math.log1p(steps)}
