"""The judge, fitted to annotated mentions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.io.numbers import log
from canonym.linking.evidence import FloatArray, evidence_of
from canonym.linking.judge import MENTIONS, Judge, fit_judge, shipped_judge
from canonym.linking.links import LinkOptions
from canonym.linking.pipeline import Pipeline
from canonym.mentions.documents import check_document
from canonym.ranking.reliability import ece
from canonym.terminology import Terminology
from canonym.terminology.ids import ConceptIds
from canonym.types import Document, Link, Mention

_log = logging.getLogger(__name__)

_FOLDS = 5


class Observed(NamedTuple):
    """Evidence ``(n, d)`` of links, whether each is right, and the document of each."""

    evidence: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    document: npt.NDArray[np.int64]


# --- annotated mentions ---------------------------------------------------------------------------


def annotated_documents(
    terminology: Terminology, corpus: Iterable[Document | Mention], types: Sequence[str]
) -> tuple[list[Document], Callable[[str], str | None]]:
    """Return documents with their annotated mentions only, and a function that finds their ids.

    Mentions with a gold concept, or annotated as NIL, are kept; with `types` only those of these
    types.

    Raises
    ------
    InvalidInput
        If no mention has one of the types, or the terminology has none of the ids.
    """
    find = ConceptIds(terminology).find
    if isinstance(corpus, str) or not isinstance(corpus, Iterable):
        raise InvalidInput(f"the corpus is {corpus!r:.80}; expected a list of Document or Mention")
    documents = [
        check_document(
            Document(item.document_id, "", (item,)) if isinstance(item, Mention) else item
        )
        for item in corpus
    ]
    known = {mention.type for document in documents for mention in document.mentions}
    missing = [type_ for type_ in types if type_ not in known]
    if missing:
        raise InvalidInput(
            f"no mention is of the type {missing[0]!r}; there are {', '.join(sorted(known))}"
        )
    annotated = [_annotated(document, types) for document in documents]
    gold_ids = {
        id_ for document in annotated for mention in document.mentions for id_ in mention.ids
    }
    if gold_ids and not any(map(find, sorted(gold_ids))):
        raise InvalidInput(
            f"none of the {len(gold_ids):,} different ids of the corpus, such as "
            f"{min(gold_ids)!r}, is in the terminology: every link would count as wrong; is the "
            "corpus annotated with another one?"
        )
    return annotated, find


def _annotated(document: Document, types: Sequence[str]) -> Document:
    mentions = tuple(
        mention
        for mention in document.mentions
        if (mention.ids or mention.rule == "nil") and (not types or mention.type in types)
    )
    return replace(document, mentions=mentions)


def _folds(groups: Sequence[int], n: int) -> npt.NDArray[np.int64]:
    """Return the fold of each item; items of one group share a fold."""
    distinct, place = np.unique(np.asarray(groups), return_inverse=True)
    order = np.random.default_rng(0).permutation(len(distinct))
    fold = np.empty(len(distinct), dtype=np.int64)
    fold[order] = np.arange(len(distinct)) % n
    return fold[place]


# --- confidence -----------------------------------------------------------------------------------


def fit_confidence(
    pipeline: Pipeline,
    corpus: Iterable[Document | Mention] | None,
    *,
    types: Sequence[str] = (),
) -> tuple[Judge, dict[str, float]]:
    """Adapt the judge, and say how good it is; see `canonym.Linker.fit_confidence`."""
    shipped = shipped_judge([encoder.name for encoder in pipeline.search.encoders])
    if corpus is None and types:
        raise InvalidInput(
            f"types is {tuple(types)}, which are those of mentions; expected with a corpus only"
        )
    if corpus is None:
        return shipped, {}
    seen = observe(pipeline, corpus, types=types)
    _log.info("fit a judge to %s links", len(seen.right))
    adapted = fit_judge(seen.evidence, seen.right, source=MENTIONS, start=shipped)
    predicted, before = cross_fitted(seen, shipped), shipped.predict(seen.evidence)
    if _loss(before, seen) <= _loss(predicted, seen):
        unchanged = pipeline.judge or shipped
        return unchanged, _figures(unchanged.predict(seen.evidence), seen)
    return adapted, _figures(predicted, seen)


def _figures(predicted: FloatArray, seen: Observed) -> dict[str, float]:
    answered = predicted >= 0.9
    right = seen.right[answered].mean() if answered.any() else float("nan")
    return {
        "links": float(len(seen.right)),
        "right": float(seen.right.mean()),
        "ece": ece(predicted, seen.right),
        "answered at 0.9": float(answered.mean()),
        "right at 0.9": float(right),
    }


def _loss(predicted: FloatArray, seen: Observed) -> float:
    """Return the mean logarithmic loss of probabilities."""
    return float(-log(np.where(seen.right, predicted, 1 - predicted)).mean())


def observe(
    pipeline: Pipeline,
    corpus: Iterable[Document | Mention],
    *,
    types: Sequence[str] = (),
) -> Observed:
    """Link annotated mentions, and compare the links with the annotations.

    Raises
    ------
    InvalidInput
        If no annotated mention has a candidate; and as `annotated_documents` does.
    """
    rows, right, of_document = [], [], []
    documents, find = annotated_documents(pipeline.terminology, corpus, types)
    options: LinkOptions = {"k": 2 if pipeline.judge is None else pipeline.judge.n_candidates}
    for number, (document, links) in enumerate(pipeline.link_documents(documents, options)):
        for mention, link in zip(document.mentions, links, strict=True):
            # An id that the terminology does not have is a concept that cannot be found.
            gold = [find(id_) or "" for id_ in mention.ids]
            for part, is_right in judged(link, gold, mention.rule):
                rows.append(evidence_of(part, pipeline.vocabulary))
                right.append(is_right)
                of_document.append(number)
    if not rows:
        raise InvalidInput(
            "no annotated mention has a candidate: give a corpus with ids of the terminology"
        )
    return Observed(np.array(rows), np.array(right), np.array(of_document))


def judged(link: Link, gold: Sequence[str], rule: str) -> Iterator[tuple[Link, bool]]:
    """Yield a link, or each of its parts, with whether its best candidate is right.

    Links without a candidate are left out. One concept for a mention that stands for several
    together is wrong.
    """
    whole = rule == "all" and len(gold) > 1
    for part in link.parts or (link,):
        if part.candidates:
            yield part, part.candidates[0].id in gold and (bool(link.parts) or not whole)


def cross_fitted(seen: Observed, start: Judge) -> FloatArray:
    """Predict the links of each fifth of the documents from those of the others, ``(n,)``."""
    fold = _folds(seen.document.tolist(), _FOLDS)
    predicted = np.empty(len(seen.right))
    for number in np.unique(fold):
        here = fold == number
        judge = fit_judge(
            seen.evidence[~here], seen.right[~here], source=MENTIONS, start=start, fewest=1
        )
        predicted[here] = judge.predict(seen.evidence[here])
    return predicted
