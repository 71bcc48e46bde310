"""A block of mentions at a time: prepared, looked up together, decided one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from canonym.confidence import Confidence, graded
from canonym.decision import decide, parts_of
from canonym.filters import Filter
from canonym.lookup import Answer, Lookup
from canonym.mentions.prepare import Prepared
from canonym.reranking import POOL, Reranking
from canonym.types import Link, Mention

__all__ = ["answer_block"]


def answer_block(
    lookup: Lookup,
    prepared: Sequence[tuple[Mention, Prepared]],
    k: int,
    chosen: Filter,
    min_score: float | None,
    *,
    reranking: Reranking | None = None,
    confidence: Confidence | None = None,
    min_confidence: float | None = None,
) -> Iterator[Link]:
    """Link prepared mentions, all of them against the names of one moment.

    Parameters
    ----------
    lookup : Lookup
        Of the linker.
    prepared : sequence of (Mention, Prepared)
        Mentions and their strings.
    k : int
        Candidates wanted.
    chosen : Filter
        What may be found.
    min_score : float or None
        Best candidates that score less are NIL.
    reranking : Reranking, optional
        Puts candidates in a better order.
    confidence : Confidence, optional
        Says how sure each link is.
    min_confidence : float, optional
        Links that are less sure are NIL.

    Yields
    ------
    Link
        One per mention, in order.
    """
    names = lookup.names()
    # Confidence looks at the second candidate as well, wanted or not.
    shown = k if confidence is None else max(k, 2)
    wanted = shown if reranking is None else max(shown, POOL)
    # What a mention does not stand for holds for all its strings: those mentions go together for
    # which the same is forbidden.
    never = [names.forbidden_for(mention.text) for mention, _ in prepared]
    answers: dict[frozenset[int], Mapping[str, Answer]] = {}
    for each in dict.fromkeys(never):
        strings = dict.fromkeys(
            text
            for (_, one), its in zip(prepared, never, strict=True)
            if its == each
            for part in parts_of(one)
            for text in (part.text, *part.alternatives)
        )
        answers[each] = lookup.find(list(strings), wanted, chosen, names=names, never=each)
    for (mention, one), its in zip(prepared, never, strict=True):
        link = decide(mention, one, answers[its], min_score)
        if reranking is not None:
            link = reranking.apply(link, shown)
        yield graded(link, confidence, min_confidence, k)
