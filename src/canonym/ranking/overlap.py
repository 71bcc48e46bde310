"""How alike two strings are on the face of it: the words, letters and numerals they share."""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["Overlap", "overlap"]


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
    a, b = one.split(), other.split()
    of_a, of_b = set(a), set(b)
    shared = len(of_a & of_b)
    grams_a, grams_b = _grams(one), _grams(other)
    numbers_a, numbers_b = _numbers(of_a), _numbers(of_b)
    return Overlap(
        words=shared / max(len(of_a | of_b), 1),
        covered=shared / max(len(of_a), 1),
        covering=shared / max(len(of_b), 1),
        letters=2 * len(grams_a & grams_b) / max(len(grams_a) + len(grams_b), 1),
        first=float(bool(a) and bool(b) and a[0] == b[0]),
        last=float(bool(a) and bool(b) and a[-1] == b[-1]),
        numerals=float(numbers_a == numbers_b) if numbers_a or numbers_b else math.nan,
        length=math.log((len(other) + 1) / (len(one) + 1)),
    )


def _grams(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)} if text else set()


def _numbers(words: set[str]) -> set[str]:
    return {word for word in words if any(character.isdigit() for character in word)}
