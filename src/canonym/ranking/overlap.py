"""How alike two strings are on the face of it: the words, letters and numerals they share."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

from canonym.text import STRONG, normalise, tokens

_SHORTEST_WORD = 4


class Overlap(NamedTuple):
    """What two strings share.

    Attributes
    ----------
    words : float
        Words that both have, of those that either has, in [0, 1].
    covered, covering : float
        Share of the words of the first that the second has, and the other way round.
    letters : float
        Dice's coefficient of their character 3-grams, in [0, 1].
    first, last : float
        1 where they begin, or end, with the same word, 0 otherwise. In English the last word of a
        name tends to say what kind of thing it is.
    numerals : float
        1 where they have the same numbers, 0 where not, NaN where neither has any: "type 1" is not
        "type 2".
    length : float
        Logarithm of the length of the second by that of the first, in characters.
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
    """Compare two strings in normal form.

    Parameters
    ----------
    one, other : str
        Words with spaces between them; see `canonym.text.normalise`.

    Returns
    -------
    Overlap
        All 0 but for ``numerals`` and ``length`` where a string is empty.

    Examples
    --------
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
