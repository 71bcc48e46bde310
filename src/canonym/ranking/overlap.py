"""Words, letters and numerals that two strings share."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.io.numbers import log
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
    (0.5, 0.67, 0.67, 0.8)
    """
    tokens = " ".join(filter(None, texts)).split(" ")
    word_of = {word: n for n, word in enumerate(dict.fromkeys(tokens))}
    n_words = np.array([text.count(" ") + 1 if text else 0 for text in texts], dtype=np.intp)
    written = np.array([word_of[word] for word in tokens], dtype=np.intp)[: n_words.sum()]
    words = _Sets.of(np.repeat(np.arange(len(texts)), n_words), written, len(texts), len(word_of))
    numeral = np.array([not word.isalpha() and any(map(str.isdigit, word)) for word in word_of])
    grams, numbers = _grams(texts), words.only(numeral)
    length, both = np.array([len(text) for text in texts]), words.shared(ones, others)
    found = np.zeros((len(ones), len(Overlap._fields)))
    found[:, 0] = both / np.maximum(words.sizes[ones] + words.sizes[others] - both, 1)
    found[:, 1] = both / np.maximum(words.sizes[ones], 1)
    found[:, 2] = both / np.maximum(words.sizes[others], 1)
    found[:, 3] = 2 * grams.shared(ones, others)
    found[:, 3] /= np.maximum(grams.sizes[ones] + grams.sizes[others], 1)
    there = np.flatnonzero((n_words[ones] > 0) & (n_words[others] > 0))
    ends = np.cumsum(n_words)
    for column, place in ((4, ends - n_words), (5, ends - 1)):
        one, other = place[ones[there]], place[others[there]]
        found[there, column] = written[one] == written[other]
    either = np.maximum(numbers.sizes[ones], numbers.sizes[others])
    several = np.flatnonzero(numbers.sizes[ones] == numbers.sizes[others])
    equal = numbers.shared(ones[several], others[several]) == either[several]
    found[several, 6] = np.where(either[several] > 0, equal, math.nan)
    ratios = (length[others] + 1) / (length[ones] + 1)
    found[:, 7] = log(ratios)
    return found


class _Sets(NamedTuple):
    """Sets of whole numbers below `n`, one after the other."""

    members: npt.NDArray[np.intp]
    sizes: npt.NDArray[np.intp]
    n: int

    @classmethod
    def of(
        cls, owner: npt.NDArray[np.intp], members: npt.NDArray[np.intp], n_sets: int, n: int
    ) -> _Sets:
        """Collect the members of each owner, equal ones once."""
        keys = np.sort(owner * max(n, 1) + members)
        owner, members = np.divmod(keys[np.diff(keys, prepend=-1) > 0], max(n, 1))
        return cls(members, np.bincount(owner, minlength=n_sets), n)

    def only(self, chosen: npt.NDArray[np.bool_]) -> _Sets:
        """Return the sets without the numbers that are not chosen."""
        kept = chosen[self.members]
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)[kept]
        return _Sets(self.members[kept], np.bincount(owner, minlength=len(self.sizes)), self.n)

    def chosen(self, which: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], ...]:
        """Return the members of the chosen sets, and the place in `which` of each."""
        sizes = self.sizes[which]
        ends, first = np.cumsum(sizes), (np.cumsum(self.sizes) - self.sizes)[which]
        owner = np.repeat(np.arange(len(which)), sizes)
        return self.members[np.arange(len(owner)) + (first - ends + sizes)[owner]], owner

    def shared(
        self, ones: npt.NDArray[np.intp], others: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.intp]:
        """Count what the sets of each pair have in common."""
        distinct, line = np.unique(ones, return_inverse=True)
        table = np.zeros((len(distinct), self.n), dtype=bool)
        members, owner = self.chosen(distinct)
        table[owner, members] = True
        members, owner = self.chosen(others)
        return np.bincount(owner[table[line[owner], members]], minlength=len(others))


def _grams(texts: Sequence[str]) -> _Sets:
    """Return the character 3-grams of each text, a space at both ends; none of an empty one."""
    lengths = np.array([len(text) for text in texts], dtype=np.intp)
    joined = "".join([f" {text} " for text in texts if text])
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    letters, n = _numbered(codes.astype(np.intp), sys.maxunicode + 1)
    owner = np.repeat(np.arange(len(texts)), lengths)
    # A text of n characters has n of them; the next one's begin two places after its last.
    at = np.arange(len(owner)) + 2 * (np.cumsum(lengths > 0) - 1)[owner]
    grams, n = _numbered((letters[at] * n + letters[at + 1]) * n + letters[at + 2], n**3)
    return _Sets.of(owner, grams, len(texts), n)


def _numbered(values: npt.NDArray[np.intp], n: int) -> tuple[npt.NDArray[np.intp], int]:
    """Number values below `n` by their order; return the numbers, and how many differ."""
    if n > 8 * len(values) or not n:
        distinct, numbers = np.unique(values, return_inverse=True)
        return numbers, len(distinct)
    there = np.zeros(n, dtype=bool)
    there[values] = True
    number = np.cumsum(there)
    return number[values] - 1, int(number[-1])


@functools.lru_cache(maxsize=1 << 12)  # a terminology has a few dozen
def type_words(types: tuple[str, ...]) -> frozenset[str]:
    """Return the words of types, those of four letters and more, to tell whether two are alike.

    >>> type_words(("Disease or Syndrome",)) & type_words(("Specific disease", "Sign"))
    frozenset({'disease'})
    """
    words = (word for each in types for word in tokens(normalise(each, STRONG)))
    return frozenset(word for word in words if len(word) >= _SHORTEST_WORD)
