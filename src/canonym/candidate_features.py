"""What tells the candidates of a link apart, as numbers.

Most of it is at hand anyway: what each scorer said, how name and label look beside the mention,
what kind of name it is, what annotators decided before, and which concepts the rest of a document
is about.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from canonym.closeness import DEPTH, MARGINAL, MEAN, SECOND, WIDTH
from canonym.decisions import Decisions
from canonym.ranking.overlap import Overlap, overlap, type_words
from canonym.settings import SIEVES
from canonym.text import STRONG, normalise
from canonym.types import SCOPES, Candidate, Link

__all__ = [
    "COMPANIES",
    "COMPANY",
    "LONGER",
    "OTHERS",
    "SHORTER",
    "feature_names",
    "features_of",
    "marginals_of",
]

COMPANY = "mentions with it first"
"""``log(1 + n)`` of the other mentions of the document whose first candidate is this concept, see
`canonym.company.with_company`."""

SHORTER = "shorter mentions with it first"
"""The same of mentions whose words are among those of the mention: what it may be a kind of."""

LONGER = "longer mentions with it first"
"""The same of mentions that have all words of the mention and more: what may be kinds of it."""

OTHERS = "other mentions with it first"
"""The same of all mentions that are neither: what has another name."""

COMPANIES = (SHORTER, LONGER, OTHERS)
"""`COMPANY` by how the words of the mentions compare, as fitted re-rankers know it."""

_SIEVES = {sieve.name: float(len(SIEVES) - place) for place, sieve in enumerate(SIEVES)}
_COUNTS = (
    "decisions",
    "share of decisions",
    "decisions for the concept",
    "decisions for the name",
    "share of decisions with its prefix",
)
_NAMES = ("names", "second name", "second name behind the best", "second name behind the first")
_KINDS = ("depth", "depth below the first", "type is the mention's")
_SCORER = ("", " behind the best", " mean", " mean behind the best")


def feature_names(encoders: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the features that `features_of` finds, in their order."""
    scorers = (f"{name}{rest}" for name in encoders for rest in _SCORER)
    return (
        *("score", "score behind the best", "place", "sieve", "scope"),
        *("name is the label", "name is the mention"),
        *(f"{part} of the name" for part in Overlap._fields),
        *(f"{part} of the label" for part in Overlap._fields),
        *("concepts of that name", *_COUNTS, *_NAMES, *_KINDS, *COMPANIES, *scorers),
    )


def features_of(
    link: Link, decisions: Decisions, encoders: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Return what tells candidates apart.

    Parameters
    ----------
    link : Link
        Undivided, its candidates with `Candidate.near`.
    decisions : Decisions
        What annotators decided before, this mention left out.
    encoders : sequence of str
        The scorers, whose parts a candidate has.

    Returns
    -------
    ndarray, shape (n, len(feature_names(encoders))), float64
        NaN where something is not known.
    """
    mention, candidates = normalise(link.searched, STRONG), link.candidates
    called = type_words((link.mention.type,))
    names = [_normal(one.name) for one in candidates]
    owners = Counter(names)
    best = max((one.score for one in candidates), default=0.0)
    said = [_said(one, encoders) for one in candidates]
    most = [_highest(row[column] for row in said) for column in range(2 * len(encoders))]
    seconds = [one.near.get(SECOND, math.nan) for one in candidates]
    highest = _highest(seconds)
    depths = [one.near.get(DEPTH, math.nan) for one in candidates]
    rows = []
    for place, (one, name) in enumerate(zip(candidates, names, strict=True)):
        label = _normal(one.label)
        as_name = overlap(mention, name)
        scorers: list[float] = []
        for column, value in enumerate(said[place]):
            scorers += (value, value - most[column])
        rows.append(
            [
                one.score,
                one.score - best,
                math.log1p(place),
                _SIEVES.get(one.sieve, 0.0),
                float(SCOPES.index(one.scope)),
                float(name == label),
                float(name == mention),
                *as_name,
                *(as_name if name == label else overlap(mention, label)),
                math.log(owners[name]),
                *decisions.look(mention, one.id, name),
                math.log(one.near[WIDTH]) if WIDTH in one.near else math.nan,
                seconds[place],
                seconds[place] - highest,
                seconds[place] - one.score,
                depths[place],
                depths[place] - depths[0],
                float(bool(called & type_words(one.types))) if called and one.types else math.nan,
                *(one.near.get(what, math.nan) for what in COMPANIES),
                *scorers,
            ]
        )
    return np.array(rows, dtype=np.float64).reshape(len(candidates), len(feature_names(encoders)))


def marginals_of(link: Link) -> npt.NDArray[np.float64]:
    """Return how near all the names of each candidate are together.

    Parameters
    ----------
    link : Link
        Undivided, its candidates with `Candidate.near`.

    Returns
    -------
    ndarray, shape (n,), float64
        `canonym.ranking.pooling.marginal_score`; NaN for a candidate that a sieve found, or whose
        name is the mention: no others are as near.
    """
    mention = normalise(link.searched, STRONG)
    return np.array(
        [
            math.nan
            if one.sieve in _SIEVES or _normal(one.name) == mention
            else one.near.get(MARGINAL, one.score)
            for one in link.candidates
        ],
        dtype=np.float64,
    )


def _highest(values: Iterable[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _said(one: Candidate, encoders: Sequence[str]) -> list[float]:
    """Return, by encoder, the score of a concept's best name and the mean of its names."""
    found = []
    for name in encoders:
        found.append(one.near.get(name, one.parts.get(name, math.nan)))
        found.append(one.near.get(name + MEAN, math.nan))
    return found


@functools.lru_cache(maxsize=1 << 15)  # the same names are candidates again and again
def _normal(text: str) -> str:
    return normalise(text, STRONG)
