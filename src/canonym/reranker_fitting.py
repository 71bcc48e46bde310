"""Fitting the re-ranker of a linker to annotated mentions."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.calibrated import asked_of
from canonym.candidate_features import feature_names, features_of
from canonym.closeness import with_closeness
from canonym.company import with_company
from canonym.decisions import Decisions
from canonym.errors import InvalidInput
from canonym.ranking.curves import fit_reranker
from canonym.ranking.rerank import Reranker
from canonym.reranking import POOL, Reranking
from canonym.types import Document, Link, Mention

if TYPE_CHECKING:
    from canonym.linker import Linker

__all__ = ["ObservedLink", "Pools", "fit_reranking", "observe_links", "pools_of"]

_FOLDS = 3
_KNOTS = 5
_FEWEST = 50


class Pools(NamedTuple):
    """Features ``(n, k, f)``, which candidates are right ``(n, k)``, and which there are."""

    features: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    there: npt.NDArray[np.bool_]


class ObservedLink(NamedTuple):
    """A link with candidates: its document, the ids that are right, whether it was decided so."""

    document: int
    link: Link
    gold: frozenset[str]
    decided: bool


def fit_reranking(
    linker: Linker, corpus: Iterable[Document | Mention], *, types: Sequence[str] = ()
) -> tuple[Reranking, dict[str, float]]:
    """Fit a re-ranker to annotated mentions; see `canonym.Linker.fit_reranker`.

    Returns
    -------
    tuple of Reranking, and dict of str to float
        What was fitted, and how good it is.

    Raises
    ------
    InvalidInput
        As `canonym.Linker.fit_reranker` does.

    Notes
    -----
    What annotators decided is counted without the document that a mention is in: otherwise every
    training mention would know its own answer.
    """
    seen = observe_links(linker, corpus, types=types)
    encoders = linker.encoder_names
    fold_of = _folds([one.document for one in seen])
    after = np.zeros(len(seen), dtype=bool)
    for fold in range(_FOLDS):
        here = fold_of == fold
        rest = [one for one, held in zip(seen, here, strict=True) if not held]
        model = _fitted(_pools(rest, encoders), encoders)
        known = _decisions(rest)
        for place in np.flatnonzero(here):
            link = Reranking(model, known, encoders).apply(seen[place].link, 1)
            after[place] = link.candidates[0].id in seen[place].gold
    before = np.array([one.link.candidates[0].id in one.gold for one in seen])
    there = np.array([any(c.id in one.gold for c in one.link.candidates) for one in seen])
    found = Reranking(_fitted(_pools(seen, encoders), encoders), _decisions(seen), encoders)
    return found, {
        "links": float(len(seen)),
        "right before": float(before.mean()),
        "right after": float(after.mean()),
        "among the candidates": float(there.mean()),
    }


def observe_links(
    linker: Linker, corpus: Iterable[Document | Mention], *, types: Sequence[str] = ()
) -> list[ObservedLink]:
    """Link annotated mentions without a re-ranker, 20 candidates each.

    Parameters
    ----------
    linker : Linker
        What links.
    corpus : iterable of Document or Mention
        Mentions for which no one concept is right are left out.
    types : sequence of str
        Only mentions of these types.

    Raises
    ------
    InvalidInput
        As `canonym.Linker.fit_reranker` does.
    """
    plain = copy.copy(linker)
    plain.reranking = plain.confidence = None
    documents, find = asked_of(linker.terminology, corpus, types)
    seen: list[ObservedLink] = []
    for number, (document, links) in enumerate(plain.link_documents(documents, k=POOL)):
        near = with_company([with_closeness(linker.lookup, link) for link in links])
        for mention, link in zip(document.mentions, near, strict=True):
            gold = frozenset(filter(None, map(find, mention.ids)))
            several = mention.rule == "all" and len(mention.ids) > 1
            if several and not link.parts:
                continue  # no one concept is right
            for part in link.parts or (link,):
                if part.candidates:
                    decided = not several and not link.parts and bool(gold)
                    seen.append(ObservedLink(number, part, gold, decided))
    n_right = sum(any(c.id in one.gold for c in one.link.candidates) for one in seen)
    if n_right < _FEWEST:
        raise InvalidInput(
            f"{n_right:,} annotated mentions have the right concept among their {POOL} "
            f"candidates; at least {_FEWEST} are expected to fit a re-ranker to"
        )
    return seen


def _decisions(seen: Iterable[ObservedLink]) -> Decisions:
    found = Decisions()
    for one in seen:
        if one.decided:
            found.add(one.link.searched, one.gold)
    return found


def pools_of(
    lessons: Sequence[tuple[Link, frozenset[str], Decisions]], encoders: Sequence[str]
) -> Pools:
    """Return what a re-ranker is fitted to.

    Parameters
    ----------
    lessons : sequence of (Link, frozenset of str, Decisions)
        Undivided links, the ids that are right, and what is known of earlier decisions.
    encoders : sequence of str
        The scorers of the index.
    """
    width = len(feature_names(encoders))
    features = np.full((len(lessons), POOL, width), np.nan)
    right, there = np.zeros((2, len(lessons), POOL), dtype=bool)
    for row, (link, gold, decisions) in enumerate(lessons):
        n = len(link.candidates)
        features[row, :n] = features_of(link, decisions, encoders)
        right[row, :n] = [candidate.id in gold for candidate in link.candidates]
        there[row, :n] = True
    return Pools(features, right, there)


def _lessons(
    seen: Sequence[ObservedLink],
) -> Iterator[tuple[int, tuple[Link, frozenset[str], Decisions]]]:
    """Yield numbered lessons; the decisions are those of the other documents, while it is there."""
    decisions = _decisions(seen)
    rows: dict[int, list[int]] = {}
    for row, one in enumerate(seen):
        rows.setdefault(one.document, []).append(row)
    for members in rows.values():
        own = [seen[row] for row in members if seen[row].decided]
        for one in own:
            decisions.add(one.link.searched, one.gold, -1)
        for row in members:
            yield row, (seen[row].link, seen[row].gold, decisions)
        for one in own:
            decisions.add(one.link.searched, one.gold)


def _pools(seen: Sequence[ObservedLink], encoders: Sequence[str]) -> Pools:
    found: list[Pools | None] = [None] * len(seen)
    for row, lesson in _lessons(seen):
        found[row] = pools_of([lesson], encoders)
    return Pools(*(np.concatenate(parts) for parts in zip(*filter(None, found), strict=True)))


def _fitted(pools: Pools, encoders: Sequence[str]) -> Reranker:
    names = feature_names(encoders)
    return fit_reranker(pools.features, pools.right, names, there=pools.there, knots=_KNOTS)


def _folds(documents: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the fold of each link: documents stay whole, unless there are too few of them."""
    if len(set(documents)) < _FOLDS:  # one text, or a list of names that came as one
        documents = range(len(documents))
    distinct, place = np.unique(np.asarray(documents), return_inverse=True)
    order = np.random.default_rng(0).permutation(len(distinct))
    fold = np.empty(len(distinct), dtype=np.int64)
    fold[order] = np.arange(len(distinct)) % _FOLDS
    return fold[place]
