"""Concepts of one terminology mapped to those of another.

Pairs are proposed by equal names, by the nearest names both ways, and by cross-references. Their
confidence is a logistic function of what speaks for and against them: names, words that only one of
them has, contradictions, margins to the next best partner on either side, partners of parents and
children, and how many concepts the terminologies share by name. Its weights were fitted on pairs of
terminologies that share concepts, pairs that share none, and concepts whose partners were taken out
(``benchmarks/mapping.py``).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders import make_encoder
from canonym.exchange.auto_accept import LEAST_CONFIDENCE
from canonym.io.curies import usual
from canonym.io.numbers import SAME, exp, first_largest, rounded, weighted_sum
from canonym.mentions.contrasts import against
from canonym.mentions.marks import marks
from canonym.terminology import Terminology
from canonym.text import STRONG, UNORDERED, normalise_all
from canonym.text.type_names import type_words
from canonym.types import Against, ConceptMapping, Float32Array, Name

FEATURES: tuple[str, ...] = (
    "equal labels", "a label equals a name", "equal names", "reordered", "similarity",
    "margin on the left", "margin on the right", "neighbours agree", "neighbours disagree",
    "names of several", "labels contradict", "words differ", "other types",
    "shared by name", "shared by name, similar",
)  # fmt: skip
"""What speaks for or against a pair."""

WEIGHTS: tuple[float, ...] = (
    2.525, 0.256, -0.858, 0.458, 0.978, 3.182, 0.529, 0.987, -0.583, 0.277, 0.041, 0.199,
    -0.238, 2.545, 2.900,
)  # fmt: skip
INTERCEPT = 0.119
"""Of the logistic function; fitted by ``benchmarks/mapping.py --fit``."""

XREF_ODDS: dict[str, float] = {"direct": 20.0, "shared": 5.0, "": 1.0}
"""By how much cross-references multiply the odds of a pair: a choice, which nothing was fitted to.

``direct``: one concept names the other. ``shared``: both name the same concept elsewhere."""

_DECIMALS = 6  # of similarities: beyond them processors differ
_LEAST_BELOW_ROOT = 20
_ROOT_LABELS = frozenset({"all", "root", "thing", "owl:thing", "entity", "top"})
_MOST_OWNERS = 5  # concepts of one name or cross-reference that are all paired
_ROWS, _COLUMNS = 1024, 4096  # of a tile of products, which stays in the cache
_STEPS_UP = 3
_EQUAL_BONUS = 0.5

Pair = tuple[int, int]


class Proposal(NamedTuple):
    """Pairs of concepts by their places, their features, what they share, what speaks against."""

    pairs: list[Pair]
    features: npt.NDArray[np.float64]
    names: dict[Pair, str]
    against: list[Against]
    xrefs: dict[Pair, str]
    left_ids: list[str]
    right_ids: list[str]


def map_terminologies(
    left: Terminology,
    right: Terminology,
    *,
    many: bool = False,
    min_confidence: float = 0.5,
    use_xrefs: bool = True,
    progress: Callable[[int], None] | None = None,
) -> list[ConceptMapping]:
    """Find the concepts that two terminologies share; deprecated ones are left out.

    With `many` a concept may have several partners. Otherwise the most confident pairs come first,
    and each concept has one partner at most. Pairs below `min_confidence` are left out, and so are
    those whose names contradict each other, unless a cross-reference speaks for them; `use_xrefs`
    says whether cross-references count. `progress` is called with the number of names of the left
    side that were searched with. The result is in order of the ids of the left side, and of falling
    confidence.
    """
    proposal = propose(left, right, use_xrefs=use_xrefs, progress=progress)
    return decide(proposal, many=many, min_confidence=min_confidence)


def decide(
    proposal: Proposal, *, many: bool = False, min_confidence: float = 0.5
) -> list[ConceptMapping]:
    """Choose among proposed pairs, as `map_terminologies` does."""
    logits = weighted_sum(proposal.features, WEIGHTS) + INTERCEPT
    odds = exp(-logits) / [XREF_ODDS[proposal.xrefs.get(pair, "")] for pair in proposal.pairs]
    mapped = []
    for n, (pair, odds_against) in enumerate(zip(proposal.pairs, odds.tolist(), strict=True)):
        confidence = 1 / (1 + odds_against)
        is_opposed = bool(proposal.against[n].contradictions) and pair not in proposal.xrefs
        if confidence >= min_confidence and not is_opposed:
            name = proposal.names.get(pair, "")
            how = "name" if name else "xref" if pair in proposal.xrefs else "similarity"
            score = float(proposal.features[n, FEATURES.index("similarity")])
            ids = proposal.left_ids[pair[0]], proposal.right_ids[pair[1]]
            relation = _relation(how, proposal.against[n], confidence)
            mapped.append(ConceptMapping(*ids, confidence, score, how, name, relation))
    mapped.sort(
        key=lambda mapping: (-mapping.confidence, -mapping.score, mapping.left, mapping.right)
    )
    final = mapped if many else list(_one_to_one(mapped))
    return sorted(final, key=lambda mapping: (mapping.left, -mapping.confidence, mapping.right))


def _relation(how: str, opposed: Against, confidence: float) -> str:
    """Return what the right concept is to the left one, as far as the evidence goes."""
    if opposed.contradictions or (opposed.relation != "equal" and how != "xref"):
        return opposed.relation
    return "equal" if how != "similarity" or confidence >= LEAST_CONFIDENCE else "close"


def _one_to_one(mapped: Iterable[ConceptMapping]) -> Iterator[ConceptMapping]:
    taken: set[tuple[str, str]] = set()
    for mapping in mapped:
        ends = {("left", mapping.left), ("right", mapping.right)}
        if taken.isdisjoint(ends):
            taken |= ends
            yield mapping


def propose(
    left: Terminology,
    right: Terminology,
    *,
    use_xrefs: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Proposal:
    """Return every pair that anything speaks for, with its features."""
    left_side, right_side = _Side(left), _Side(right)
    equal = _equal(left_side.forms(STRONG), right_side.forms(STRONG))
    reordered = _equal(left_side.forms(UNORDERED), right_side.forms(UNORDERED))
    partners = _partners(equal), _partners((right, left) for left, right in equal)
    settled = {
        pair for pair in equal if len(partners[0][pair[0]]) == len(partners[1][pair[1]]) == 1
    }
    near = _nearest(left_side, right_side, settled, progress)
    xrefs = _xrefs(left_side, right_side) if use_xrefs else {}
    roots = left_side.roots(), right_side.roots()
    pairs = [
        pair
        for pair in sorted({*equal, *reordered, *near, *xrefs})
        if pair[0] not in roots[0] and pair[1] not in roots[1]
    ]
    nearest = {pair: _nearest_names(left_side, right_side, pair) for pair in pairs}
    base = {pair: nearest[pair].similarity + _EQUAL_BONUS * (pair in equal) for pair in pairs}
    gaps = _gaps(base, 0), _gaps(base, 1)
    partner = dict(settled)
    # The logarithm of the share of concepts that have a partner of the same name. Two with one and
    # two without are added: a few concepts say little about it.
    share = math.log10((len(settled) + 2) / (min(len(left_side.ids), len(right_side.ids)) + 4))
    shared = {pair: names[1:] for pair, names in {**reordered, **equal}.items()}
    opposed = [against(*shared.get(pair, nearest[pair].texts)) for pair in pairs]
    rows = []
    for pair, opposition in zip(pairs, opposed, strict=True):
        tier = equal[pair].tier if pair in equal else -1
        crowd = max(len(partners[0].get(pair[0], ())), len(partners[1].get(pair[1], ())))
        by_name = tier >= 0 or pair in reordered
        rows.append(
            (
                tier == 2, tier == 1, tier == 0, pair in reordered and tier < 0,
                nearest[pair].similarity, gaps[0][pair], gaps[1][pair],
                *_neighbours_agree(left_side, right_side, partner, pair),
                tier >= 0 and crowd > 1,
                tier < 2 and _labels_contradict(left_side, right_side, pair),
                opposition.relation in ("broader", "narrower"),
                _other_types(left_side, right_side, pair),
                share, 0.0 if by_name else share,
            )
        )  # fmt: skip
    return Proposal(
        pairs,
        np.asarray(rows, dtype=np.float64).reshape(len(rows), len(FEATURES)),
        {pair: names[0] for pair, names in shared.items()},
        opposed,
        xrefs,
        left_side.ids,
        right_side.ids,
    )


def _labels_contradict(left: _Side, right: _Side, pair: Pair) -> bool:
    return bool(against(left.labels[pair[0]], right.labels[pair[1]]).contradictions)


def _other_types(left: _Side, right: _Side, pair: Pair) -> bool:
    """Tell whether both concepts have types and none of their words is the same."""
    types = type_words(left.types[pair[0]]), type_words(right.types[pair[1]])
    return all(types) and not types[0] & types[1]


# --- one terminology ------------------------------------------------------------------------------


class _Side:
    """Names of the living concepts of a terminology, each text encoded once."""

    def __init__(self, terminology: Terminology) -> None:
        self.terminology = terminology
        concepts = list(terminology.iter_concepts())
        self.ids = [concept.id for concept in concepts]
        self.labels = [concept.label for concept in concepts]
        self.types = [concept.types for concept in concepts]
        self.place = {id_: place for place, id_ in enumerate(self.ids)}
        rows = np.flatnonzero(terminology.rows_where(deprecated=False))
        self.names: list[Name] = terminology.names_at(rows)
        self.owners: list[int] = terminology.concept_of_row()[rows].tolist()
        texts = {name.text: None for name in self.names}
        self.text_place = {text: place for place, text in enumerate(texts)}
        self.texts = list(texts)
        vectors = make_encoder("default").encode(self.texts)
        lengths = np.linalg.norm(np.asarray(vectors), axis=1, keepdims=True)
        self.vectors: Float32Array = np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
        self.texts_of: dict[int, list[int]] = defaultdict(list)
        self.owners_of: dict[int, list[int]] = defaultdict(list)
        for owner, name in zip(self.owners, self.names, strict=True):
            text = self.text_place[name.text]
            self.texts_of[owner].append(text)
            self.owners_of[text].append(owner)
        self.above: dict[int, list[int]] = defaultdict(list)
        self.below: dict[int, list[int]] = defaultdict(list)
        for relation in terminology.iter_relations("is_a"):
            head, tail = self.place.get(relation.head), self.place.get(relation.tail)
            if head is not None and tail is not None:
                self.above[head].append(tail)
                self.below[tail].append(head)

    def forms(self, steps: tuple[str, ...]) -> dict[str, dict[int, tuple[bool, str]]]:
        """Return the concepts of each normal form: whether it is their label, and the name."""
        owners_of: dict[str, dict[int, tuple[bool, str]]] = defaultdict(dict)
        normal = normalise_all((name.text for name in self.names), steps)
        for form, owner, name in zip(normal, self.owners, self.names, strict=True):
            is_label = name.scope == "label"
            if form and (signs := marks(name.text)):
                form = f"{form} {signs}"
            if form and (is_label or owner not in owners_of[form]):
                owners_of[form][owner] = (is_label, name.text)
        return owners_of

    def texts_without(self, done: set[int]) -> list[int]:
        """Return the places of the texts of all concepts but those that are `done`, in order."""
        owners = self.texts_of.keys() - done
        return sorted({text for owner in owners for text in self.texts_of[owner]})

    def roots(self) -> set[int]:
        """Return the concepts without a parent that stand for all, by place or label."""
        tops = [place for place in self.below if place not in self.above]
        least = max(len({*self.above, *self.below}) / 2, _LEAST_BELOW_ROOT)
        return {
            top
            for top in tops
            if self.labels[top].casefold() in _ROOT_LABELS
            or len(_reached(self.below, top, steps=None)) >= least
        }

    def other_ids(self) -> Iterator[tuple[int, tuple[str, str], bool]]:
        """Yield ids that concepts have elsewhere, and whether they are alternatives."""
        for xref in self.terminology.iter_xrefs():
            place = self.place.get(xref.concept_id)
            if place in self.texts_of:
                yield place, usual(xref.target), xref.kind == "alternative"


# --- what speaks for a pair -----------------------------------------------------------------------


class Equal(NamedTuple):
    """How many of two equal names are labels, and both of them."""

    tier: int
    left: str
    right: str


def _equal(
    left_owners: Mapping[str, dict[int, tuple[bool, str]]],
    right_owners: Mapping[str, dict[int, tuple[bool, str]]],
) -> dict[Pair, Equal]:
    """Return the pairs that share a form; names that contradict each other share none."""
    equal: dict[Pair, Equal] = {}
    for form, owners in left_owners.items():
        partners = right_owners.get(form, {})
        if not partners or len(owners) * len(partners) > _MOST_OWNERS:
            continue
        for left, (is_label, name) in owners.items():
            for right, (is_label_too, name_too) in partners.items():
                tier = is_label + is_label_too
                known = equal.get((left, right))
                if known is not None and known.tier >= tier:
                    continue
                if name == name_too or not against(name, name_too).contradictions:
                    equal[left, right] = Equal(tier, name, name_too)
    return equal


def _partners(pairs: Iterable[Pair]) -> dict[int, set[int]]:
    partners: dict[int, set[int]] = defaultdict(set)
    for left, right in pairs:
        partners[left].add(right)
    return partners


def _nearest(
    left_side: _Side,
    right_side: _Side,
    settled: set[Pair],
    progress: Callable[[int], None] | None,
) -> set[Pair]:
    """Return the owners of each name and of the nearest one on the other side, both ways.

    Concepts that are `settled` neither search nor are found.
    """
    done, done_too = {left for left, _ in settled}, {right for _, right in settled}
    rows, columns = left_side.texts_without(done), right_side.texts_without(done_too)
    if not rows or not columns:
        return set()
    to_right, to_left = nearest_both_ways(
        left_side.vectors[rows], right_side.vectors[columns], progress
    )
    near = {(rows[n], columns[m]) for n, m in enumerate(to_right.tolist())}
    near |= {(rows[n], columns[m]) for m, n in enumerate(to_left.tolist())}
    return {
        (left, right)
        for text, text_too in near
        for left in left_side.owners_of[text]
        for right in right_side.owners_of[text_too]
        if left not in done and right not in done_too
    }


def nearest_both_ways(
    left: Float32Array, right: Float32Array, progress: Callable[[int], None] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the place of the nearest vector of the other side, for every vector of both.

    Each product is made once, tile by tile; of equal products the first counts.
    """
    best, to_right = np.full(len(left), -np.inf, np.float32), np.zeros(len(left), np.int64)
    best_too, to_left = np.full(len(right), -np.inf, np.float32), np.zeros(len(right), np.int64)
    for top in range(0, len(left), _ROWS):
        rows = slice(top, top + _ROWS)
        for start in range(0, len(right), _COLUMNS):
            columns = slice(start, start + _COLUMNS)
            products = left[rows] @ right[columns].T
            highest = products.max(axis=1)
            better = np.flatnonzero(highest > best[rows] + SAME)
            best[rows][better] = highest[better]
            to_right[rows][better] = first_largest(products[better]) + start
            highest = products.max(axis=0)
            better = np.flatnonzero(highest > best_too[columns] + SAME)
            best_too[columns][better] = highest[better]
            to_left[columns][better] = first_largest(products[:, better].T) + top
        if progress is not None:
            progress(min(top + _ROWS, len(left)))
    return to_right, to_left


class _NearestNames(NamedTuple):
    """The largest similarity of the names of two concepts, and these names."""

    similarity: float
    texts: tuple[str, str]


def _nearest_names(left: _Side, right: _Side, pair: Pair) -> _NearestNames:
    texts, texts_too = left.texts_of[pair[0]], right.texts_of[pair[1]]
    if not texts or not texts_too:
        return _NearestNames(0.0, ("", ""))
    vectors = left.vectors[texts].astype(np.float64), right.vectors[texts_too].astype(np.float64)
    products = rounded(vectors[0] @ vectors[1].T, _DECIMALS)
    row, column = np.unravel_index(products.argmax(), products.shape)
    names = left.texts[texts[row]], right.texts[texts_too[column]]
    return _NearestNames(float(products.max()), names)


def _gaps(base: Mapping[Pair, float], side: int) -> dict[Pair, float]:
    """Return by how much each pair is better than the best other one of a concept of a side."""
    scores: dict[int, list[float]] = defaultdict(list)
    for pair, score in base.items():
        scores[pair[side]].append(score)
    gaps = {}
    for pair, score in base.items():
        rivals = sorted(scores[pair[side]])
        rivals.remove(score)
        gaps[pair] = min(max(score - (rivals[-1] if rivals else 0.0), -1.0), 1.0)
    return gaps


def _neighbours_agree(
    left_side: _Side, right_side: _Side, partner: Mapping[int, int], pair: Pair
) -> tuple[bool, bool]:
    """Tell whether a parent or child of a pair has its partner where it should stand.

    The second value is whether some have partners, and all of them stand elsewhere.
    """
    left, right = pair
    ways = ((left_side.above, right_side.above), (left_side.below, right_side.below))
    some = agree = False
    for near, there in ways:
        partners = {partner[place] for place in near.get(left, ()) if place in partner}
        if partners:
            some = True
            agree = agree or not partners.isdisjoint(_reached(there, right))
    return agree, some and not agree


def _reached(
    edges: Mapping[int, list[int]], start: int, *, steps: int | None = _STEPS_UP
) -> set[int]:
    """Return what so many steps reach; None for any number."""
    reached: set[int] = set()
    step = {start}
    while step and (steps is None or steps > 0):
        step = {end for place in step for end in edges.get(place, ())} - reached
        reached |= step
        steps = None if steps is None else steps - 1
    return reached


def _xrefs(left_side: _Side, right_side: _Side) -> dict[Pair, str]:
    """Return the pairs that cross-references speak for: ``direct`` or ``shared``."""
    sides = (left_side, right_side)
    own: list[dict[tuple[str, str], set[int]]] = [defaultdict(set), defaultdict(set)]
    elsewhere: list[dict[tuple[str, str], set[int]]] = [defaultdict(set), defaultdict(set)]
    for side, ids, others in zip(sides, own, elsewhere, strict=True):
        for id_, place in side.place.items():
            if place in side.texts_of:
                ids[usual(id_)].add(place)
        for place, key, is_own in side.other_ids():
            (ids if is_own else others)[key].add(place)
    xrefs: dict[Pair, str] = {}
    for key in elsewhere[0].keys() & elsewhere[1].keys():
        lefts, rights = elsewhere[0][key], elsewhere[1][key]
        if len(lefts) * len(rights) <= _MOST_OWNERS:
            xrefs |= {(left, right): "shared" for left in lefts for right in rights}
    for ids, ids_too in ((elsewhere[0], own[1]), (own[0], elsewhere[1])):
        for key in ids.keys() & ids_too.keys():
            xrefs |= {(left, right): "direct" for left in ids[key] for right in ids_too[key]}
    return xrefs
