"""Exact look-ups before any search: verbatim, in normal form, with the words in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from canonym.linking.filters import Filter
from canonym.linking.names import Names
from canonym.linking.settings import Sieve
from canonym.ranking.pooling import TieRule
from canonym.text import normalise_all
from canonym.types import Int32Array


def sift(
    strings: Sequence[str], sieves: Sequence[Sieve], names: Names, filters: Sequence[Filter]
) -> dict[str, tuple[Sieve, list[tuple[int, int]]]]:
    """Look strings up in one sieve after the other; the first that knows a string decides.

    Returns the sieve and the (concept, row) pairs of each string that a sieve knows. Of several
    filters, one per step of the search, the first that leaves any row is used.
    """
    found: dict[str, tuple[Sieve, list[tuple[int, int]]]] = {}
    for number, sieve in enumerate(sieves):
        left = [string for string in strings if string not in found]
        forms = list(normalise_all(left, sieve.steps))
        for string, rows in zip(left, names.find(number, forms), strict=True):
            for chosen in filters if len(rows) else ():
                kept = rows if chosen.allowed is None else rows[chosen.allowed[rows]]
                if len(kept):
                    found[string] = (sieve, concepts_of(kept, chosen.ties))
                    break
    return found


def concepts_of(rows: Int32Array, ties: TieRule) -> list[tuple[int, int]]:
    """Return the concepts of equal rows, the most trusted first, with the best row of each."""
    owners = ties.concept_of_row[rows]
    scope = ties.scope_of_row[rows] if ties.by_scope else np.zeros(len(rows), dtype=np.int8)
    order = np.lexsort((rows, ties.concept_rank[owners], scope))
    best: dict[int, int] = {}
    for place in order.tolist():
        best.setdefault(int(owners[place]), int(rows[place]))
    return list(best.items())
