"""What annotators decided before: how often a text was given a concept."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from canonym.indexes.vectors import take_vectors
from canonym.linking.lookup import Lookup
from canonym.linking.names import Names
from canonym.linking.search import Searchers
from canonym.linking.settings import SIEVES
from canonym.linking.targets import TARGETS
from canonym.ranking.overlap import Overlap, overlap, type_words
from canonym.ranking.pooling import marginal_score
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.text import STRONG, normalise
from canonym.types import SCOPES, Candidate, Link

# --- decisions ---


@dataclass
class Decisions:
    """How often annotators gave a text a concept.

    Attributes
    ----------
    pairs : dict of str to Counter of str
        Ids by normal form of the mention.
    concepts, prefixes : Counter of str
        Ids, and what stands before their colon.
    """

    pairs: dict[str, Counter[str]] = field(default_factory=dict)
    concepts: Counter[str] = field(default_factory=Counter)
    prefixes: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, ids: Iterable[str], times: int = 1) -> None:
        """Count a decision; a negative number takes it back."""
        self.count(normalise(text, STRONG), dict.fromkeys(ids, times))

    def count(self, text: str, times: Mapping[str, int]) -> None:
        """Count decisions for a text in normal form, by id."""
        of = self.pairs.setdefault(text, Counter())
        for id_, n in times.items():
            of[id_] += n
            self.concepts[id_] += n
            self.prefixes[_prefix(id_)] += n

    def look(self, text: str, id: str, name: str) -> tuple[float, ...]:
        """Return what is known of a text and a name in normal form, and a concept.

        Returns
        -------
        tuple of float
            ``log(1 + n)`` of the decisions for the two; their share of the decisions for the text,
            NaN where there are none; ``log(1 + n)`` of the decisions for the concept, and for the
            name, whatever the concept; and the share of all decisions whose ids have the prefix of
            this one, NaN where there are none.
        """
        of = self.pairs.get(text, _NONE)
        whole, all_of_them = sum(of.values()), sum(self.prefixes.values())
        return (
            math.log1p(of[id]),
            of[id] / whole if whole else math.nan,
            math.log1p(self.concepts[id]),
            math.log1p(sum(self.pairs.get(name, _NONE).values())),
            self.prefixes[_prefix(id)] / all_of_them if all_of_them else math.nan,
        )


def _prefix(id: str) -> str:
    return id.partition(":")[0] if ":" in id else ""


_NONE: Counter[str] = Counter()

# --- closeness ---
# MODULE: How near all the names of a concept are to a string, and not the best of them alone.
#
# A stray synonym may be as near as a name of the right concept; it seldom has company. Where the
# terminology has a hierarchy, how far down in it a concept is stands beside that.

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


# --- candidate features ---
# MODULE: What tells the candidates of a link apart, as numbers.
#
# Most of it is at hand anyway: what each scorer said, how name and label look beside the mention,
# what kind of name it is, what annotators decided before, and which concepts the rest of a document
# is about.

SIMILARITY = "similarity"
"""What a candidate's score was before, among its parts."""

COMPANY = "mentions with it first"
"""``log(1 + n)`` of the other mentions of the document whose first candidate is this concept, see
`canonym.linking.features.with_company`."""

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
    """Return the names of the features that `candidate_features` finds, in their order."""
    scorers = (f"{name}{rest}" for name in encoders for rest in _SCORER)
    return (
        *("score", "score behind the best", "place", "sieve", "scope"),
        *("name is the label", "name is the mention"),
        *(f"{part} of the name" for part in Overlap._fields),
        *(f"{part} of the label" for part in Overlap._fields),
        *("concepts of that name", *_COUNTS, *_NAMES, *_KINDS, *COMPANIES, *scorers),
    )


def candidate_features(
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


# --- company ---
# MODULE: What the mentions of one document say for each other's candidates.
#
# A document is about a few concepts, and names the same one in several ways: *renal damage* beside
# *acute kidney injury* is more likely to be that than elsewhere. Less so *attenuated polyposis*
# beside *polyposis*: who adds a word may mean a kind of it.


def with_company(links: Sequence[Link]) -> list[Link]:
    """Say of each candidate how many other mentions of the document have it first.

    Parameters
    ----------
    links : sequence of Link
        All of a document, their candidates with `Candidate.near` of
        `canonym.linking.features.with_closeness`.

    Returns
    -------
    list of Link
        The same with ``log(1 + n)`` under `canonym.linking.features.COMPANY`, and of the mentions
        of each of its `canonym.linking.features.COMPANIES` under that. Mentions of one normal
        form count once, and not for themselves; one that is NIL does not count. What comes first
        goes by all names of a concept. Where a document has no second mention nothing is known, and
        nothing is changed.

    Examples
    --------
    >>> from canonym.types import Candidate, Mention
    >>> def found(text, *ids):
    ...     near = [Candidate(id, id, 0.9 - 0.1 * n, id) for n, id in enumerate(ids)]
    ...     return Link(Mention(text), tuple(near), searched=text)
    >>> links = with_company([found("renal damage", "D1", "D2"), found("kidney injury", "D2")])
    >>> [round(one.near[COMPANY], 2) for one in links[0].candidates]
    [0.0, 0.69]
    """
    parts: dict[str, Link] = {}
    for link in links:
        for part in link.parts or (link,):
            if part.candidates and not part.nil:
                parts.setdefault(normalise(part.searched, STRONG), part)
    if len(parts) < 2:
        return list(links)
    forms: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for form, part in parts.items():
        forms.setdefault(_first(part), []).append((form, frozenset(form.split())))
    return [_told(link, forms) for link in links]


def _first(part: Link) -> str:
    # What is found by the mention itself is not compared with anything: it is first.
    nearness = marginals_of(part)
    return part.candidates[int(np.where(np.isnan(nearness), math.inf, nearness).argmax())].id


def _told(link: Link, forms: dict[str, list[tuple[str, frozenset[str]]]]) -> Link:
    if link.parts:
        return replace(link, parts=tuple(_told(part, forms) for part in link.parts))
    form = normalise(link.searched, STRONG)
    own = frozenset(form.split())
    candidates = []
    for one in link.candidates:
        beside = [words for other, words in forms.get(one.id, ()) if other != form]
        kinds = Counter(
            SHORTER if words < own else LONGER if words > own else OTHERS for words in beside
        )
        near = {what: math.log1p(kinds[what]) for what in COMPANIES}
        candidates.append(replace(one, near={**one.near, COMPANY: math.log1p(len(beside)), **near}))
    return replace(link, candidates=tuple(candidates))
