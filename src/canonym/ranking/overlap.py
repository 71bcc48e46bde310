"""Words, letters and numerals that two strings share."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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


def overlaps(
    texts: Sequence[str], ones: npt.NDArray[np.intp], others: npt.NDArray[np.intp]
) -> npt.NDArray[np.float64]:
    """Compare pairs of strings in normal form, given by their places; the fields of `Overlap`.

    All is 0 but `numerals` and `length` where one is empty.

    >>> texts = ["diabetes type 1", "type 2 diabetes"]
    >>> (found,) = overlaps(texts, np.array([0]), np.array([1]))
    >>> Overlap(*found.round(2).tolist())[:4]
    (0.5, 0.67, 0.67, 0.57)
    """
    shapes = [_shape(text) for text in texts]
    pairs = list(zip(ones.tolist(), others.tolist(), strict=True))
    words, grams, numbers, ends = ([shape[kind] for shape in shapes] for kind in range(4))
    n_words, n_grams, n_numbers, length = (
        np.array([len(one) for one in kind], dtype=np.int64)
        for kind in (words, grams, numbers, texts)
    )
    shared = np.array([len(words[a] & words[b]) for a, b in pairs], dtype=np.int64)
    letters = np.array([len(grams[a] & grams[b]) for a, b in pairs], dtype=np.int64)
    found = np.empty((len(pairs), len(Overlap._fields)))
    found[:, 0] = shared / np.maximum(n_words[ones] + n_words[others] - shared, 1)
    found[:, 1] = shared / np.maximum(n_words[ones], 1)
    found[:, 2] = shared / np.maximum(n_words[others], 1)
    found[:, 3] = 2 * letters / np.maximum(n_grams[ones] + n_grams[others], 1)
    found[:, 4] = [ends[a][0] == ends[b][0] != "" for a, b in pairs]
    found[:, 5] = [ends[a][1] == ends[b][1] != "" for a, b in pairs]
    found[:, 6] = [numbers[a] == numbers[b] for a, b in pairs]
    found[(n_numbers[ones] == 0) & (n_numbers[others] == 0), 6] = math.nan
    ratios = (length[others] + 1) / (length[ones] + 1)
    found[:, 7] = [math.log(ratio) for ratio in ratios.tolist()]
    return found


@functools.lru_cache(maxsize=1 << 12)  # a terminology has a few dozen
def type_words(types: tuple[str, ...]) -> frozenset[str]:
    """Return the words of types, those of four letters and more, to tell whether two are alike.

    >>> type_words(("Disease or Syndrome",)) & type_words(("Specific disease", "Sign"))
    frozenset({'disease'})
    """
    words = (word for each in types for word in tokens(normalise(each, STRONG)))
    return frozenset(word for word in words if len(word) >= _SHORTEST_WORD)


class _Shape(NamedTuple):
    words: frozenset[str]
    grams: frozenset[str]
    numbers: frozenset[str]
    ends: tuple[str, str]


@functools.lru_cache(maxsize=1 << 15)  # the same names are candidates again and again
def _shape(text: str) -> _Shape:
    words = text.split()
    padded = f" {text} "
    grams = [padded[i : i + 3] for i in range(len(padded) - 2)] if text else []
    numbers = [word for word in words if not word.isalpha() and any(map(str.isdigit, word))]
    ends = (words[0], words[-1]) if words else ("", "")
    return _Shape(frozenset(words), frozenset(grams), frozenset(numbers), ends)
