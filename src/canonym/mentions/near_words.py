"""Words near to another one: a single edit away, or of the same sound.

Words with the same first letter and nearly the same length lie together. Which letters a word has
is a number, so that most of the others are left out by arithmetic alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.mentions.slips import first_letters, is_one_edit, sounds_like

_REACH = 3  # letters that what sounds alike is longer or shorter

Counted = list[tuple[int, str]]
"""Words after the number of names that have them, frequent ones first."""


class NearWords:
    """Some words of a `Speller`, for which those near to a word are looked up.

    `places` are the words that are meant, among the arrays of the speller; `decoded` returns the
    word at a place.
    """

    def __init__(
        self,
        arrays: Mapping[str, npt.NDArray[Any]],
        places: npt.NDArray[np.intp],
        decoded: Callable[[int], str],
    ) -> None:
        letters, starts = arrays["letters"], arrays["starts"]
        # Bytes of the form 10xxxxxx continue a character of UTF-8.
        lengths = np.add.reduceat(letters & 0xC0 != 0x80, starts[:-1], dtype=np.int64)
        keys = _key(letters[starts[:-1]].astype(np.int64), lengths)
        self._places = places[np.argsort(keys[places], kind="stable")]
        self._keys = keys[self._places]
        self._signatures = arrays["signatures"][self._places]
        self._consonants = _consonants(self._signatures)
        self._counts, self._decoded = arrays["counts"].data, decoded

    def one_edit_from(self, word: str) -> Counted:
        """Return the words that are one edit away and begin alike."""
        # An edit changes one character, of at most four bytes; each byte may set one bit of the
        # signature and clear another.
        n_bits, own = (2 if word.isascii() else 8), np.uint32(signature(word.encode()))
        first, second = (letter.encode()[0] for letter in (word[0], word[1:2] or word[0]))
        near = self._within(first, len(word), 1)
        other = self._signatures[near] ^ own
        for _ in range(n_bits):
            other &= other - np.uint32(1)  # the lowest bit goes
        counted = self._counted(self._places[near][other == 0])
        if second != first:  # what begins with both letters, the other way round, has the same ones
            near = self._within(second, len(word), 1)
            counted += self._counted(self._places[near][self._signatures[near] == own])
        alike = (
            (count, known)
            for count, known in counted
            if _begin_alike(word, known) and is_one_edit(word, known)
        )
        return sorted(alike, key=_frequent_first)

    def sounding_like(self, word: str) -> Counted:
        """Return the words that sound alike.

        Their consonants are the same, but for those that sound alike or are silent.
        """
        consonants = _consonants(np.uint32(signature(word.encode())))
        near: Counted = []
        for first in first_letters(word):
            of_letter = self._within(first.encode()[0], len(word), _REACH)
            alike = self._places[of_letter][self._consonants[of_letter] == consonants]
            near += [pair for pair in self._counted(alike) if sounds_like(word, pair[1])]
        return sorted(near, key=_frequent_first)

    def _within(self, first: int, length: int, reach: int) -> slice:
        """Return where the words of a first byte and about a length are."""
        key = _key(first, length)
        keys = self._keys.data  # of whose single items a search in Python takes a fifth of the time
        return slice(bisect_left(keys, key - reach), bisect_left(keys, key + reach + 1))

    def _counted(self, places: npt.NDArray[np.intp]) -> Counted:
        return [(self._counts[place], self._decoded(place)) for place in places.tolist()]


def signature(word: bytes) -> int:
    """Return a number that says which letters a word has, in UTF-8."""
    letters = 0
    for letter in word:
        letters |= 1 << (letter & 31)
    return letters


_SIBILANT, _SILENT = (np.uint32(signature(letters)) for letters in (b"ckqsxz", b"aeiouyhwpf"))


def _consonants(signatures: Any) -> Any:
    """Return signatures without vowels and what may be silent, those that sound alike as one."""
    sibilant = (signatures & _SIBILANT != 0).astype(np.uint32)
    return (signatures & ~(_SIBILANT | _SILENT)) | sibilant


def _key(first: Any, length: Any) -> Any:
    """Return a number that rises with the first byte of a word, and then with its letters."""
    return (first << 32) + length


def _begin_alike(first: str, second: str) -> bool:
    """Tell whether words begin with the same letter, or with the same two the other way round."""
    return first[0] == second[0] or first[:2] == second[1::-1]


def _frequent_first(word: tuple[int, str]) -> tuple[int, str]:
    return -word[0], word[1]
