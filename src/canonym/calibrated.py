"""Fitting the confidence of a linker to annotated mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.confidence import METHODS, Confidence, features_of, fit_model
from canonym.errors import InvalidInput
from canonym.types import Document, Link, Mention

if TYPE_CHECKING:
    from canonym.linker import Linker
    from canonym.terminology import Terminology

__all__ = ["Observed", "asked_of", "cross_fitted", "fit_confidence", "judged", "observe"]

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
                features.append(features_of(part))
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
    from canonym.evaluation.calibration import ece

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
    from canonym.evaluation.gold import ConceptIds

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
