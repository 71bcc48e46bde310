"""The numbers that papers print about a corpus: mentions, distinct ones, lengths, signs, types."""

from __future__ import annotations

import statistics
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from canonym.corpora.census import take_census
from canonym.corpora.gold import NO_CONCEPT
from canonym.errors import InvalidInput
from canonym.types import Document, Mention
from reproduce.splits import Selection, refined


class Counts(NamedTuple):
    """Mentions, and those with a concept, each with the number of distinct ones.

    Mentions are distinct that differ in more than case and white space.
    """

    n: int
    n_linked: int
    n_distinct: int
    n_distinct_linked: int


class Lengths(NamedTuple):
    """Lengths of the texts of mentions."""

    mean: float
    median: float
    most: int


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """What a corpus holds.

    `types` are the counts of each type, the most frequent first; `n_concepts` are different gold
    ids. `n_composite`, `n_nil` and `n_unknown` are mentions that stand for several concepts at
    once, for none, and without a gold id. `with_numeral` and `with_punctuation` are shares of the
    mentions, from 0 to 1, with a digit, and with a sign that is neither letter, digit nor white
    space. `characters` are code points, `words` stretches between white space. `unseen` are the
    mentions that training does not have, each once; None where no training part was given.
    """

    n_documents: int
    n_concepts: int
    mentions: Counts
    types: dict[str, Counts]
    n_composite: int
    n_nil: int
    n_unknown: int
    with_numeral: float
    with_punctuation: float
    characters: Lengths
    words: Lengths
    unseen: Selection | None = None


def describe_corpus(
    items: Iterable[Document | Mention], *, training: Iterable[Document | Mention] | None = None
) -> CorpusStatistics:
    """Count what a corpus holds, as tables 1 and 3 of the DILBERT paper do.

    `training` are parts of the corpus that a system may have seen. Documents that occur twice count
    twice, as `canonym.corpora.take_census` says. Raises `InvalidInput` if there is no mention.

    Miftahutdinov, Kadurin, Kudrin and Tutubalina (2021), Drug and Disease Interpretation Learning
    with Biomedical Entity Representation Transformer.

    >>> mentions = [Mention("Hip", ids=("D1",)), Mention("hip"), Mention("vitamin D3")]
    >>> found = describe_corpus(mentions)
    >>> found.mentions
    Counts(n=3, n_linked=1, n_distinct=2, n_distinct_linked=1)
    >>> round(found.with_numeral, 3), found.characters
    (0.333, Lengths(mean=5.333333333333333, median=3, most=10))
    """
    items = list(items)
    mentions = _mentions(items)
    if not mentions:
        raise InvalidInput("the corpus has no mention: there is nothing to count")
    census = take_census(items)
    by_type = {type_: [m for m in mentions if m.type == type_] for type_ in census.types}
    texts = [mention.text for mention in mentions]
    ids = {id_ for mention in mentions for id_ in mention.ids if id_.lower() not in NO_CONCEPT}
    return CorpusStatistics(
        n_documents=census.n_documents,
        n_concepts=len(ids),
        mentions=_count(mentions),
        types={
            type_: _count(found)
            for type_, found in sorted(by_type.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        },
        n_composite=census.n_composite,
        n_nil=census.n_nil,
        n_unknown=census.n_unknown,
        with_numeral=_share(texts, str.isdigit),
        with_punctuation=_share(texts, _is_punctuation),
        characters=_lengths([len(text) for text in texts]),
        words=_lengths([len(text.split()) for text in texts]),
        unseen=None if training is None else refined(mentions, _mentions(training)),
    )


def _mentions(items: Iterable[Document | Mention]) -> list[Mention]:
    return [
        mention
        for item in items
        for mention in (item.mentions if isinstance(item, Document) else (item,))
    ]


def _count(mentions: Iterable[Mention]) -> Counts:
    texts, linked = [], []
    for mention in mentions:
        text = " ".join(mention.text.lower().split())
        texts.append(text)
        if any(id_.lower() not in NO_CONCEPT for id_ in mention.ids):
            linked.append(text)
    return Counts(len(texts), len(linked), len(set(texts)), len(set(linked)))


def _share(texts: list[str], is_wanted: Callable[[str], bool]) -> float:
    return sum(any(map(is_wanted, text)) for text in texts) / len(texts)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _lengths(lengths: list[int]) -> Lengths:
    return Lengths(statistics.fmean(lengths), statistics.median(lengths), max(lengths))
