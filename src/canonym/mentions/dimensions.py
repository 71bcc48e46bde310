"""Names that say how wide, long or large something is, in an adjective or with a noun.

A *decreased width* is narrow, and excludes what is wide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from canonym.rules import shipped
from canonym.types import Contradiction

LOW = frozenset({"low", "lower", "lowered", "decreased", "decrease", "reduced", "reduction"})
"""Words for less of something."""

HIGH = frozenset({"high", "higher", "elevated", "elevation", "increased", "increase", "raised"})
"""Words for more of it."""

DIMENSIONS = {
    rule.form: tuple(tuple(words.split()) for words in rule.means.split(" | "))
    for rule in shipped().of_kind("dimension")
}
"""Dimensions, and the words for little of each and for much."""

_NOUNS = frozenset(DIMENSIONS)


def dimension_contrasts(words: Sequence[str], others: Sequence[str]) -> Iterator[Contradiction]:
    """Yield what one side says with a noun and the other denies with an adjective.

    >>> [*dimension_contrasts("decreased width of nose".split(), "wide nose".split())]
    [Contradiction(kind='opposite', mention='decreased width', name='wide')]
    """
    for noun, senses in DIMENSIONS.items() if _NOUNS.intersection((*words, *others)) else ():
        for side, opposite, is_mention in ((words, others, True), (others, words, False)):
            if noun not in side:
                continue
            for levels, contrary in ((LOW, senses[1]), (HIGH, senses[0])):
                said, denied = _first(side, levels), _first(opposite, contrary)
                if said and denied and noun not in opposite:
                    pair = (f"{said} {noun}", denied)
                    yield Contradiction("opposite", *(pair if is_mention else pair[::-1]))


def _first(words: Sequence[str], known: Collection[str]) -> str:
    return next((word for word in words if word in known), "")
