"""Words, letters and numerals that two strings share."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

from canonym.text import STRONG, normalise, tokens

_SHORTEST_WORD = 4


class Overlap(NamedTuple):
    """The overlap of two strings.

    ``words``, in [0, 1], are those that both have of those that either has; ``covered`` and
    ``covering`` the share of the words of the first that the second has, and the other way round;
    ``letters`` is Dice's coefficient of character 3-grams. ``first`` and ``last`` are 1 where both
    begin, or end, with the same word: in English the last word of a name tends to say what kind of
    thing it is. ``numerals`` is 1 where they have the same numbers, NaN where neither has any:
    "type 1" is not "type 2". ``length`` is the logarithm of the length of the second by that of the
    first.
    """

    words: float
    covered: float
    covering: float
    letters: float
    first: float
    last: float
    numerals: float
    length: float


def overlap(one: str, other: str) -> Overlap:
    """Compare two strings in normal form; all is 0 but `numerals` and `length` if one is empty.

    >>> found = overlap("diabetes type 1", "type 2 diabetes")
    >>> round(found.words, 2), found.numerals, found.last
    (0.5, 0.0, 0.0)
    """
    a, b = _shape(one), _shape(other)
    shared = len(a.words & b.words)
    return Overlap(
        words=shared / max(len(a.words | b.words), 1),
        covered=shared / max(len(a.words), 1),
        covering=shared / max(len(b.words), 1),
        letters=2 * len(a.grams & b.grams) / max(len(a.grams) + len(b.grams), 1),
        first=float(bool(a.first) and a.first == b.first),
        last=float(bool(a.last) and a.last == b.last),
        numerals=float(a.numbers == b.numbers) if a.numbers or b.numbers else math.nan,
        length=math.log((len(other) + 1) / (len(one) + 1)),
    )


@functools.lru_cache(maxsize=1 << 12)  # a terminology has a few dozen
def type_words(types: tuple[str, ...]) -> frozenset[str]:
    """Return the words of types, those of four letters and more, to tell whether two are alike.

    >>> type_words(("Disease or Syndrome",)) & type_words(("Specific disease", "Sign"))
    frozenset({'disease'})
    """
    words = (word for each in types for word in tokens(normalise(each, STRONG)))
    return frozenset(word for word in words if len(word) >= _SHORTEST_WORD)


class _Shape(NamedTuple):
    first: str
    last: str
    words: frozenset[str]
    grams: frozenset[str]
    numbers: frozenset[str]


@functools.lru_cache(maxsize=1 << 15)  # the same names are candidates again and again
def _shape(text: str) -> _Shape:
    words = text.split()
    padded = f" {text} "
    grams = [padded[i : i + 3] for i in range(len(padded) - 2)] if text else []
    numbers = [word for word in words if any(character.isdigit() for character in word)]
    ends = (words[0], words[-1]) if words else ("", "")
    return _Shape(*ends, frozenset(words), frozenset(grams), frozenset(numbers))
