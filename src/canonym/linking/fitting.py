"""Fitting the confidence of a linker to annotated mentions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.linking.confidence import METHODS, Confidence, confidence_features, fit_model
from canonym.linking.features import (
    Decisions,
    candidate_features,
    feature_names,
    with_closeness,
    with_company,
)
from canonym.linking.reranker import POOL, Reranker
from canonym.ranking.additive_model import AdditiveModel, fit_additive_model
from canonym.types import Document, Link, Mention

if TYPE_CHECKING:
    from canonym.linker import Linker
    from canonym.terminology import Terminology

# --- calibrated ---

_FOLDS = 5


class Observed(NamedTuple):
    """Links and what is known of them.

    ``features`` is ``(n, d)`` float64, ``right`` ``(n,)`` bool, ``document`` ``(n,)`` int64: which
    document each is from.
    """

    features: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    document: npt.NDArray[np.int64]


def judged(link: Link, gold: Sequence[str], rule: str) -> Iterator[tuple[Link, bool]]:
    """Say of a link, or of each of its parts, whether its best candidate is right.

    Parameters
    ----------
    link : Link
        The decision for an annotated mention.
    gold : sequence of str
        Ids of the right concepts, as the terminology writes them.
    rule : str
        Of the mention: ``"any"``, ``"all"`` or ``"nil"``.

    Yields
    ------
    tuple of Link and bool
        Nothing where there is no candidate. One concept for a mention that stands for several
        together is wrong.
    """
    whole = rule == "all" and len(gold) > 1
    for part in link.parts or (link,):
        if part.candidates:
            yield part, part.candidates[0].id in gold and (bool(link.parts) or not whole)


def observe(
    linker: Linker, corpus: Iterable[Document | Mention], *, types: Sequence[str] = ()
) -> Observed:
    """Link annotated mentions and say which links are right.

    Parameters
    ----------
    linker : Linker
        What links.
    corpus : iterable of Document or Mention
        Mentions without a gold concept, and without being NIL, are left out.
    types : sequence of str
        Only mentions of these types.

    Raises
    ------
    InvalidInput
        If there is no mention of a type, or no mention with a candidate, or the corpus has ids and
        the terminology none of them.
    """
    features, right, of = [], [], []
    asked, find = asked_of(linker.terminology, corpus, types)
    for number, (document, links) in enumerate(linker.link_documents(asked, k=2)):
        for mention, link in zip(document.mentions, links, strict=True):
            # An id that the terminology does not have is a concept that cannot be found.
            gold = [find(id_) or "" for id_ in mention.ids]
            for part, true in judged(link, gold, mention.rule):
                features.append(confidence_features(part))
                right.append(true)
                of.append(number)
    if not features:
        raise InvalidInput(
            "no annotated mention has a candidate: give a corpus with ids of the terminology"
        )
    return Observed(np.array(features), np.array(right), np.array(of))


def fit_confidence(
    linker: Linker,
    corpus: Iterable[Document | Mention],
    *,
    types: Sequence[str] = (),
    method: str = METHODS[0],
) -> tuple[Confidence, dict[str, float]]:
    """Fit a confidence to annotated mentions; see `canonym.Linker.fit_confidence`.

    Returns
    -------
    tuple of Confidence, and dict of str to float
        What was fitted, and how good it is.

    Raises
    ------
    InvalidInput
        As `canonym.Linker.fit_confidence` does.
    """
    from canonym.ranking.reliability import ece

    seen = observe(linker, corpus, types=types)
    fitted = fit_model(seen.features, seen.right, method=method)
    sure = cross_fitted(seen, method=method)
    answered = sure >= 0.9
    return fitted, {
        "links": float(fitted.n),
        "right": fitted.n_right / fitted.n,
        "ece": ece(sure, seen.right),
        "answered at 0.9": float(answered.mean()),
        "right at 0.9": float(seen.right[answered].mean()) if answered.any() else float("nan"),
    }


def asked_of(
    terminology: Terminology, corpus: Iterable[Document | Mention], types: Sequence[str]
) -> tuple[list[Document], Callable[[str], str | None]]:
    """Return the documents of a corpus with what can be asked of them, and what finds their ids.

    Raises
    ------
    InvalidInput
        As `observe` does.
    """
    from canonym.terminology.ids import ConceptIds

    find = ConceptIds(terminology).find
    documents = [
        item if isinstance(item, Document) else Document(item.document_id, "", (item,))
        for item in corpus
    ]
    _check_types(documents, types)
    asked = [_asked(document, types) for document in documents]
    given = {id_ for document in asked for mention in document.mentions for id_ in mention.ids}
    if given and not any(map(find, sorted(given))):
        raise InvalidInput(
            f"none of the {len(given):,} different ids of the corpus, such as {min(given)!r}, is "
            "in the terminology: every link would count as wrong; is the corpus annotated with "
            "another one?"
        )
    return asked, find


def _check_types(documents: Sequence[Document], types: Sequence[str]) -> None:
    known = {mention.type for document in documents for mention in document.mentions}
    missing = [type_ for type_ in types if type_ not in known]
    if missing:
        raise InvalidInput(
            f"no mention is of the type {missing[0]!r}; there are {', '.join(sorted(known))}"
        )


def _asked(document: Document, types: Sequence[str]) -> Document:
    mentions = tuple(
        mention
        for mention in document.mentions
        if (mention.ids or mention.rule == "nil") and (not types or mention.type in types)
    )
    return replace(document, mentions=mentions)


def cross_fitted(seen: Observed, *, method: str) -> npt.NDArray[np.float64]:
    """Predict the links of each fifth of the documents from those of the others, ``(n,)``."""
    documents = np.unique(seen.document)
    order = np.random.default_rng(0).permutation(len(documents))
    fold_of = np.empty(len(documents), dtype=np.int64)
    fold_of[order] = np.arange(len(documents)) % _FOLDS
    fold = fold_of[np.searchsorted(documents, seen.document)]
    sure = np.empty(len(seen.right))
    for number in np.unique(fold):
        here = fold == number
        model = fit_model(seen.features[~here], seen.right[~here], method=method, fewest=1)
        sure[here] = model.predict(seen.features[here])
    return sure


# --- reranker fitting ---
# MODULE: Fitting the re-ranker of a linker to annotated mentions.

_RERANKER_FITTING_FOLDS = 3
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
) -> tuple[Reranker, dict[str, float]]:
    """Fit a re-ranker to annotated mentions; see `canonym.Linker.fit_reranker`.

    Returns
    -------
    tuple of Reranker, and dict of str to float
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
    for fold in range(_RERANKER_FITTING_FOLDS):
        here = fold_of == fold
        rest = [one for one, held in zip(seen, here, strict=True) if not held]
        model = _fitted(_pools(rest, encoders), encoders)
        known = _decisions(rest)
        for place in np.flatnonzero(here):
            link = Reranker(model, known, encoders).apply(seen[place].link, 1)
            after[place] = link.candidates[0].id in seen[place].gold
    before = np.array([one.link.candidates[0].id in one.gold for one in seen])
    there = np.array([any(c.id in one.gold for c in one.link.candidates) for one in seen])
    found = Reranker(_fitted(_pools(seen, encoders), encoders), _decisions(seen), encoders)
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
    plain.reranker = plain.confidence = None
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
        features[row, :n] = candidate_features(link, decisions, encoders)
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


def _fitted(pools: Pools, encoders: Sequence[str]) -> AdditiveModel:
    names = feature_names(encoders)
    return fit_additive_model(pools.features, pools.right, names, there=pools.there, knots=_KNOTS)


def _folds(documents: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return the fold of each link: documents stay whole, unless there are too few of them."""
    if (
        len(set(documents)) < _RERANKER_FITTING_FOLDS
    ):  # one text, or a list of names that came as one
        documents = range(len(documents))
    distinct, place = np.unique(np.asarray(documents), return_inverse=True)
    order = np.random.default_rng(0).permutation(len(distinct))
    fold = np.empty(len(distinct), dtype=np.int64)
    fold[order] = np.arange(len(distinct)) % _RERANKER_FITTING_FOLDS
    return fold[place]
