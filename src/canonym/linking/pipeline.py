"""A block of mentions at a time: prepared, looked up together, decided one by one; then the links
of a document together, where names alone do not decide; then each as far as it was taught.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from canonym.linking.confidence import Confidence, graded
from canonym.linking.decision import decide, parts_of
from canonym.linking.features import with_closeness, with_company
from canonym.linking.filters import Filter
from canonym.linking.homonyms import Contexts, Decided, with_namesakes
from canonym.linking.lookup import Answer, Lookup
from canonym.linking.reranker import POOL, Reranker
from canonym.mentions.prepare import Prepared
from canonym.types import Document, Link, Mention

__all__ = ["Finish", "answer_block", "settled"]


class Finish(NamedTuple):
    """What is done to a link in the end.

    Parameters
    ----------
    lookup : Lookup
        Of the linker.
    k : int
        Candidates wanted.
    reranking : Reranker, optional
        Puts candidates in a better order.
    confidence : Confidence, optional
        Says how sure each link is.
    min_confidence : float, optional
        Links that are less sure are NIL.
    """

    lookup: Lookup
    k: int
    reranker: Reranker | None = None
    confidence: Confidence | None = None
    min_confidence: float | None = None

    @property
    def shown(self) -> int:
        """Candidates that are left to be graded; a confidence looks at the second as well."""
        return self.k if self.confidence is None else max(self.k, 2)

    @property
    def wanted(self) -> int:
        """Candidates that have to be found."""
        return self.shown if self.reranker is None else max(self.shown, POOL)

    def apply(self, links: Sequence[Link]) -> list[Link]:
        """Return links, all of a document or a single one, as a caller receives them."""
        if self.reranker is not None:
            near = with_company([with_closeness(self.lookup, link) for link in links])
            links = [self.reranker.apply(link, self.shown) for link in near]
        return [graded(link, self.confidence, self.min_confidence, self.k) for link in links]


def answer_block(
    lookup: Lookup,
    prepared: Sequence[tuple[Mention, Prepared]],
    k: int,
    chosen: Filter,
    min_score: float | None,
    *,
    ties: bool = False,
) -> Iterator[Decided]:
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
    ties : bool
        Whether to find all concepts of the best candidate's name where a search found it.

    Yields
    ------
    Decided
        One per mention, in order.
    """
    names = lookup.names()
    # What a mention does not stand for holds for all its strings: those mentions go together for
    # which the same is forbidden.
    never = [names.forbidden_for(mention.text) for mention, _ in prepared]
    answers: dict[frozenset[int], Mapping[str, Answer]] = {}
    for each in dict.fromkeys(never):
        parts = [
            part
            for (_, one), its in zip(prepared, never, strict=True)
            if its == each
            for part in parts_of(one)
        ]
        strings = dict.fromkeys(text for part in parts for text in part.texts)
        guesses = dict.fromkeys(text for part in parts for text in part.guesses)
        unsearched = guesses.keys() - strings.keys()
        found = lookup.find(
            list(strings | guesses), k, chosen, names=names, never=each, unsearched=unsearched
        )
        if ties:
            found = with_namesakes(lookup, found, chosen, names=names, never=each)
        answers[each] = found
    for (mention, one), its in zip(prepared, never, strict=True):
        yield Decided(decide(mention, one, answers[its], min_score), answers[its])


def settled(
    decided: Iterator[Decided], contexts: Contexts, documents: deque[Document] | None
) -> Iterator[list[Link]]:
    """Order what is tied by its context, a document at a time.

    Parameters
    ----------
    decided : iterator of Decided
        In order.
    contexts : Contexts
        What looks at the surroundings.
    documents : deque of Document, optional
        Those with mentions; drawing from `decided` appends to it, at least up to the mention's own.
        Without it every mention stands for itself.

    Yields
    ------
    list of Link
        Those of a document, one per mention.
    """
    for first in decided:
        if documents is None:
            yield contexts.settle("", [first])
        else:
            document = documents.popleft()
            rest = itertools.islice(decided, len(document.mentions) - 1)
            yield contexts.settle(document.text, [first, *rest])
