"""A filter of phrases: which stretches of a text can be names, by one number for each bag of words.

Every word has a number, and a bag of words the sum of them, so that the sum of any stretch is the
difference of two running sums. A stretch whose sum is a name's is one of its names, or, once in
2⁶⁴, something else: whoever asks looks the stretch up afterwards.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError
from canonym.indexes import BoolArray, load_array
from canonym.indexes.verbatim import keys_of

Numbers = npt.NDArray[np.uint64]
Lengths = npt.NDArray[np.uint8]

PHRASES = "bags"
"""Folder of what finds names in texts, where the index has the sieve of unordered words."""

_KEPT = 1 << 17
_MOST = 255  # words of a name

GENERAL = 0.015
"""Share of the names from which on a word is too general to be a name alone."""

_SMALL = frozenset({"of", "the"})
_LEAST = 100  # names with a word that is too general


@dataclass(frozen=True, slots=True)
class PhraseFilter:
    """The bags of many names, in arrays that open memory-mapped.

    `sums` of the names and numbers of their `words` rise, uint64; `longest` has the words of the
    longest name with each word, uint8. `common` are the numbers of the words that are too general
    to be a name alone, those of at least `GENERAL` of all names ("disease"). `pairs` are the
    rising sums of words that stand side by side in some name.
    """

    sums: Numbers
    words: Numbers
    longest: Lengths
    common: Numbers
    pairs: Numbers

    @classmethod
    def build(cls, batches: Iterable[Sequence[str]]) -> PhraseFilter:
        """Take names as strings of words, in batches of any size."""
        collected = PhraseFilterBuilder()
        for batch in batches:
            collected.add(batch)
        return collected.finish()

    def has(self, sums: Numbers) -> BoolArray:
        """Tell which sums are those of names."""
        return _found(self.sums, sums)[0]

    def too_general(self, numbers: Numbers) -> BoolArray:
        """Tell which words are too general to be a name alone."""
        return np.isin(numbers, self.common)

    def limits(self, numbers: Numbers) -> Lengths:
        """Return the words of the longest name with each word, 0 for a word of no name."""
        known, places = _found(self.words, numbers)
        limits = np.zeros(len(numbers), dtype=np.uint8)
        limits[known] = self.longest[places[known]]
        return limits

    def has_pair(self, sums: Numbers) -> BoolArray:
        """Tell which sums are those of two words that stand side by side in some name."""
        return _found(self.pairs, sums)[0]

    def save(self, folder: Path) -> None:
        """Write ``sums.npy``, ``words.npy`` and others to an existing folder."""
        for name in ("sums", "words", "longest", "common", "pairs"):
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> PhraseFilter:
        """Open saved bags, memory-mapped."""
        sums = load_array(folder / "sums.npy", (None,), np.uint64)
        words = load_array(folder / "words.npy", (None,), np.uint64)
        longest = load_array(folder / "longest.npy", (None,), np.uint8)
        common = load_array(folder / "common.npy", (None,), np.uint64)
        pairs = load_array(folder / "pairs.npy", (None,), np.uint64)
        if len(words) != len(longest):
            raise ReadError(
                folder, f"holds {len(words):,} words and {len(longest):,} lengths; build it again"
            )
        return cls(sums, words, longest, common, pairs)


class PhraseFilterBuilder:
    """Collects names, so that one pass over them can build several indexes."""

    def __init__(self) -> None:
        self._numbers = WordNumbers()
        self._n = 0
        # What was merged comes first; the rest waits until it is as much.
        self._sums = [np.empty(0, dtype=np.uint64)]
        self._pairs = [np.empty(0, dtype=np.uint64)]
        self._words = [_CountedWords.of(self._sums[0], np.empty(0, dtype=np.uint8))]

    def add(self, names: Sequence[str]) -> None:
        """Take names, each a string of words."""
        words = [name.split() for name in names if name]
        lengths = np.array([len(of_form) for of_form in words], dtype=np.int64)
        if not len(lengths):
            return
        self._n += len(words)
        numbers = self._numbers.of([word for of_form in words for word in of_form])
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        self._sums.append(np.unique(np.add.reduceat(numbers, starts)))
        of_word = np.repeat(np.minimum(lengths, _MOST), lengths).astype(np.uint8)
        self._words.append(_CountedWords.of(numbers, of_word))
        if sum(map(len, self._sums[1:])) > len(self._sums[0]):
            self._merge()

    def add_pairs(self, names: Sequence[str]) -> None:
        """Take the words that stand side by side in names, each a string of words in its order."""
        words = [
            word for name in names for word in (*(w for w in name.split() if w not in _SMALL), "")
        ]
        if words:
            numbers = self._numbers.of(words)
            ends = np.array([not word for word in words])
            sums = numbers[:-1] + numbers[1:]
            self._pairs.append(np.unique(sums[~(ends[:-1] | ends[1:])]))
        if sum(map(len, self._pairs[1:])) > len(self._pairs[0]):
            self._pairs = [np.unique(np.concatenate(self._pairs))]

    def finish(self) -> PhraseFilter:
        """Return the bags of all names that were taken."""
        self._merge()
        words = self._words[0]
        common = words.numbers[words.counts >= max(GENERAL * self._n, _LEAST)]
        pairs = np.unique(np.concatenate(self._pairs))
        return PhraseFilter(self._sums[0], words.numbers, words.longest, common, pairs)

    def _merge(self) -> None:
        self._sums = [np.unique(np.concatenate(self._sums))]
        self._words = [_CountedWords.merged(self._words)]


class _CountedWords(NamedTuple):
    """Rising numbers of words, the words of the longest name with each, and how many have it."""

    numbers: Numbers
    longest: Lengths
    counts: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, numbers: Numbers, longest: Lengths) -> _CountedWords:
        """Count words that stand in any order, again and again."""
        return cls.merged([cls(numbers, longest, np.ones(len(numbers), dtype=np.uint32))])

    @classmethod
    def merged(cls, parts: Sequence[_CountedWords]) -> _CountedWords:
        """Return all words of several parts, each once."""
        every = (np.concatenate(column) for column in zip(*parts, strict=True))
        all_numbers, all_longest, all_counts = every
        numbers, places = np.unique(all_numbers, return_inverse=True)
        longest = np.zeros(len(numbers), dtype=np.uint8)
        np.maximum.at(longest, places, all_longest)
        counts = np.zeros(len(numbers), dtype=np.uint32)
        np.add.at(counts, places, all_counts)
        return cls(numbers, longest, counts)


class WordNumbers:
    """The numbers of words, remembered up to a limit."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, words: Sequence[str]) -> Numbers:
        """Return the number of each word, ``(n,)`` uint64."""
        known = self._known
        new = [word for word in dict.fromkeys(words) if word not in known]
        fresh = dict(zip(new, keys_of(new).tolist(), strict=True))
        number_of: Callable[[str], int] = known.__getitem__
        if len(known) + len(fresh) <= _KEPT:  # never cleared: other threads may be reading
            known.update(fresh)
        elif fresh:
            number_of = ChainMap(fresh, known).__getitem__
        return np.fromiter(map(number_of, words), dtype=np.uint64, count=len(words))


def _found(rising: Numbers, numbers: Numbers) -> tuple[BoolArray, npt.NDArray[np.intp]]:
    """Return which numbers are there, and where they would be."""
    if not len(rising):
        return np.zeros(len(numbers), dtype=np.bool_), np.zeros(len(numbers), dtype=np.intp)
    places = np.minimum(np.searchsorted(rising, numbers), len(rising) - 1)
    return rising[places] == numbers, places
