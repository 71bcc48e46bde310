"""Search across languages: names in one language find concepts by their names in another.

An encoder whose languages share a space finds "heart attack" by "infarto de miocardio". Every pair
of languages is tried in both directions, on the concepts with names in both.

References
----------
Yuan et al. (2020), CODER, section 5.3.1: the nearest English names of names in other languages.

Examples
--------
>>> from canonym import Concept, Linker, Name, Terminology
>>> terminology = Terminology.build(
...     [
...         Concept("X:1", "malaria"),
...         Name("Malaria tropica", "X:1", language="de"),
...         Concept("X:2", "asthma"),
...         Name("Asthma bronchiale", "X:2", language="de"),
...     ]
... )
>>> linker = Linker.build(terminology, encoders=["chargrams"])
>>> [(one.source, one.target, one.n, one.accuracy[1].value) for one in crosslingual(linker)]
[('de', 'en', 2, 1.0), ('en', 'de', 2, 1.0)]
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.statistics import Interval, bound
from canonym.linker import Linker
from canonym.terminology import Terminology
from canonym.text import normalise

_Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Crossing:
    """Accuracy of names of one language for concepts with names in another.

    `n` names of the language `source` are looked up among names in `target`. `n_concepts` have
    names in both and are the right answers; `n_searched` have names in the target language and are
    the possible ones. `accuracy` is, by cut-off, the share of the names whose concept is among the
    first ``k``, with its 95 % interval. `n_same` names have an equal name of their concept in the
    target language; `different` is the accuracy of the others, NaN where there are none.
    """

    source: str
    target: str
    n: int
    n_concepts: int
    n_searched: int
    accuracy: dict[int, Interval]
    n_same: int
    different: dict[int, Interval]


class _Query(NamedTuple):
    """A name, its concepts with names in the target language, and whether one of these is equal."""

    text: str
    concepts: frozenset[int]
    same: bool


def crosslingual(
    linker: Linker,
    *,
    languages: Sequence[str] = (),
    k: Sequence[int] = (1, 5),
    most: int = 10_000,
    seed: int = 0,
) -> list[Crossing]:
    """Measure the accuracy of an index across languages, in both directions of every pair.

    `languages` are BCP 47 tags of the terminology, all by default, and `k` cut-offs. Of more than
    `most` names in a direction so many are drawn, by `seed`, which is also that of the intervals.
    Crossings come by source, then target; those without a concept with names in both are left out.
    Raises `InvalidInput` if the terminology has fewer than two languages or lacks one, the index
    has no encoder, or an option is invalid.

    Sieves play no role, and only names in the target language are searched. A name of several
    concepts counts as right for each of them. Many names are equal in Latin letters and find the
    equal name, so the result also has the accuracy of the others.
    """
    terminology = linker.terminology
    known = [tag for tag in terminology.languages() if tag]
    wanted = list(dict.fromkeys(languages or known))
    if len(wanted) < 2:
        raise InvalidInput(
            f"names in {', '.join(wanted) or 'no language'} cross no border; at least "
            "two languages are expected"
        )
    if not k or min(k) < 1 or most < 1:
        raise InvalidInput(f"k is {list(k)} and most is {most}; numbers of at least 1 are expected")
    if not linker.manifest["encoders"]:
        raise InvalidInput("the index has no encoder: without one nothing is near anything")
    # rows_where raises for a tag that the terminology does not have.
    rows = {tag: np.flatnonzero(terminology.rows_where(languages=[tag])) for tag in wanted}
    found = []
    for source, target in itertools.permutations(wanted, 2):
        queries = _questions(terminology, rows[source], rows[target])
        if not queries:
            continue
        rng = np.random.default_rng(seed)
        drawn = np.sort(rng.permutation(len(queries))[:most])
        found.append(
            _cross(linker, source, target, [queries[i] for i in drawn], sorted(set(k)), seed)
        )
    return found


def _questions(terminology: Terminology, source: _Rows, target: _Rows) -> list[_Query]:
    owners = terminology.concept_of_row()
    names: dict[int, set[str]] = {}
    for concept, text in zip(owners[target].tolist(), _texts(terminology, target), strict=True):
        names.setdefault(concept, set()).add(normalise(text))
    concepts: dict[str, set[int]] = {}
    for concept, text in zip(owners[source].tolist(), _texts(terminology, source), strict=True):
        if concept in names and normalise(text):
            concepts.setdefault(text, set()).add(concept)
    return [
        _Query(text, frozenset(its), any(normalise(text) in names[concept] for concept in its))
        for text, its in concepts.items()
    ]


def _texts(terminology: Terminology, rows: _Rows) -> list[str]:
    return [name.text for name in terminology.names_at(rows)]


def _cross(
    linker: Linker, source: str, target: str, queries: list[_Query], k: list[int], seed: int
) -> Crossing:
    chosen = linker.pipeline.filters.choose(languages=[target])
    hits = linker.pipeline.nearest([one.text for one in queries], k[-1], chosen)
    places = []
    for one in queries:
        ranked = (hit.concept for hit in hits.get(one.text, ()))
        places.append(next((i for i, c in enumerate(ranked, start=1) if c in one.concepts), 0))
    place = np.array(places)
    same = np.array([one.same for one in queries])

    def accuracy(chosen: Any) -> dict[int, Interval]:
        its = place[chosen]
        if not len(its):
            return dict.fromkeys(k, Interval(math.nan, math.nan, math.nan))
        return {at: bound((its > 0) & (its <= at), rng=seed) for at in k}

    return Crossing(
        source,
        target,
        len(queries),
        len(frozenset().union(*(one.concepts for one in queries))),
        chosen.n_concepts,
        accuracy(np.ones(len(queries), dtype=bool)),
        int(same.sum()),
        accuracy(~same),
    )
