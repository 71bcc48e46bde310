"""Words that were written together: *vitaminD*, *typeIIdiabetes*, *heartattack*.

A word that a terminology does not know may be several that it knows, with a space left out. Letters
change to capitals or digits where it is to be cut, or both sides are words by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from canonym.regex import regex
from canonym.rules import shipped
from canonym.text import PLAIN, normalise
from canonym.text.words import forms_of, words_of_kind

Beginnings = Callable[[str], Iterable[tuple[int, int]]]
"""Gives the known words that a text in small letters begins with: their letters, and the number of
names that have each."""

MOST_READINGS = 3
"""Readings of a word that are returned, at most."""

_SHORTEST, _LONGEST = 4, 60  # characters of a word that is read
_PLAIN_SHORTEST = 6  # and of one in small letters alone
_MOST_PIECES = 5
_WORD, _LONG = 3, 4  # letters of a word, and of one that is clear
_COMMON = 2  # names with a word that is clear, where nothing else shows where to cut
_CLEARLY = 3  # so many times the names of another reading
# They begin more words than they are: cardiotoxicity is one word, whether a name has "cardio".
_PREFIXES = words_of_kind("prefix of many words")
_PARTED = regex(
    rf"\b(?:{forms_of('prefix that is parted')})[- ](?=[^\W\d_]{{4}})([^\W\d_]+)", re.IGNORECASE
)
_SMALL = tuple(rule.form for rule in shipped().of_kind("word inside others"))
# No word, but what stands beside one: the B of hepatitis, the IIb of a stage, B12, H1N1, CD4.
_SIGN = regex(
    r"[A-Z]|[IVX]{1,4}[abc]?|(?:[A-Z]{0,3}|[a-z])\d+(?:(?:[A-Z]{1,3}|[a-z])\d+)?[A-Za-z]?"
)
# In small letters only what is no ending of a word: not the e of vitamine, the a of vitamina.
_NUMERALS = frozenset({"ii", "iii", "iv", "vi", "vii", "viii", "ix"})
_LETTERS = frozenset("bcdfghjkpqvxz")
_LONGEST_SMALL_SIGN = 4


def without_gaps(text: str, knows: Callable[[str], bool]) -> str:
    """Return a text with the prefixes of known words written to them, or the same text.

    >>> without_gaps("non-toxic goiter, non-linear", {"nontoxic"}.__contains__)
    'nontoxic goiter, non-linear'
    """
    if "-" not in text and " " not in text:
        return text
    return _PARTED.sub(lambda match: _together(match, knows), text)


def _together(match: re.Match[str], knows: Callable[[str], bool]) -> str:
    word = match[0].replace("-", "").replace(" ", "")
    return word if knows(word.lower()) else match[0]


class Reading(NamedTuple):
    """Pieces that a word may consist of.

    `names` is the number of names that have the rarest word among them. A clear reading counts even
    where the whole is no name: it is the only one, and all of its words are long and frequent.
    """

    pieces: tuple[str, ...]
    names: int
    is_clear: bool


class _Piece(NamedTuple):
    text: str
    names: int  # that have it; 0 for what is no word
    is_clear: bool
    is_free: bool  # nothing but the words shows that it ends here


_Way = tuple[_Piece, ...]
_Rank = tuple[int, int, int]


def readings(word: str, beginnings: Beginnings, *, least: int = 1) -> tuple[Reading, ...]:
    """Return what a word of letters and digits may consist of, the fewest pieces first.

    Only the first reading may be clear. A word that is one piece has no reading. Where nothing but
    the words shows where to cut, words of three letters and those of a clear reading have to be in
    `least` names: large terminologies have many odd words.

    >>> names = {"hepatitis": 90, "virus": 70, "vitamin": 40, "heart": 200, "attack": 20}
    >>> def beginnings(text):
    ...     return [(len(word), n) for word, n in names.items() if text.startswith(word)]
    >>> [reading.pieces for reading in readings("hepatitisBvirus", beginnings)]
    [('hepatitis', 'B', 'virus')]
    >>> [reading.pieces for reading in readings("heartattack", beginnings)]
    [('heart', 'attack')]
    >>> readings("vitamine", beginnings)
    ()
    """
    shortest = _PLAIN_SHORTEST if word.islower() and word.isalpha() else _SHORTEST
    if not shortest <= len(word) <= _LONGEST:
        return ()
    plain = normalise(word, PLAIN)
    if len(plain) != len(word) or " " in plain:
        return ()
    ways = _Cutter(word, plain, beginnings, least).ways(0, _MOST_PIECES)
    ranked = sorted((_rank(way), way) for way in ways if _is_likely(way))
    return tuple(
        Reading(tuple(piece.text for piece in way), -rank[2], not place and _is_clear(ranked))
        for place, (rank, way) in enumerate(ranked[:MOST_READINGS])
    )


def _is_likely(way: _Way) -> bool:
    """Tell whether a way has words, and a longer one where nothing else shows where to cut.

    Whatever else stands at the end stands behind a word: slowing is not "slow in g".
    """
    longest = max((len(piece.text) for piece in way if piece.names), default=0)
    if not (way[-1].names or way[-1].is_clear) and (len(way) < 2 or not way[-2].names):
        return False
    return longest >= (_LONG if any(piece.is_free for piece in way) else _WORD)


def _rank(way: _Way) -> _Rank:
    rarest = min(piece.names for piece in way if piece.names)
    return len(way), sum(piece.is_free for piece in way), -rarest


def _is_clear(ranked: list[tuple[_Rank, _Way]]) -> bool:
    """Tell whether the first of some ways is clear, and no other is nearly as good."""
    (best, way), *others = ranked
    if not all(piece.is_clear for piece in way):
        return False
    return all(rank[:2] != best[:2] or best[2] <= _CLEARLY * rank[2] for rank, _ in others)


class _Cutter:
    """Cuts one word in all ways."""

    def __init__(self, word: str, plain: str, beginnings: Beginnings, least: int) -> None:
        self._word, self._plain, self._beginnings, self._least = word, plain, beginnings, least
        self._marks = _marks(word)
        self._pieces: dict[int, list[tuple[int, _Piece]]] = {}

    def ways(self, start: int, most: int) -> list[_Way]:
        """Return the ways to cut the word from a place on into so many pieces at most."""
        if start == len(self._word):
            return [()]
        if not most:
            return []
        pieces = self._pieces.get(start)
        if pieces is None:
            pieces = self._pieces[start] = [*self._words(start), *self._others(start)]
        return [(piece, *rest) for stop, piece in pieces for rest in self.ways(stop, most - 1)]

    def _words(self, start: int) -> list[tuple[int, _Piece]]:
        """Return the known words that begin at a place, and where they end."""
        n, is_marked, words = len(self._word), start in self._marks, []
        for letters, names in self._beginnings(self._plain[start:]):
            stop = start + letters
            if letters < _LONG and names < self._least and not (is_marked and stop in self._marks):
                continue
            stops = (stop, n) if stop == n - 1 and self._plain[stop] == "s" else (stop,)
            for end in stops:
                is_free = end not in self._marks
                apart = is_marked and not is_free
                if end - start >= _WORD - apart and end - start < n:
                    is_clear = letters >= _LONG - apart
                    if not apart:
                        is_prefix = end < n and _is_prefix(self._plain[start:end])
                        is_clear &= names >= max(_COMMON, self._least) and not is_prefix
                    piece = _Piece(self._word[start:end], names, is_clear, is_free)
                    words.append((end, piece))
        return words

    def _others(self, start: int) -> Iterator[tuple[int, _Piece]]:
        """Yield the signs and small words that begin at a place, and where they end."""
        n = len(self._word)
        for stop in sorted(self._marks) if start in self._marks else ():
            if start < stop and stop - start < n and _SIGN.fullmatch(self._word, start, stop):
                # In front it may be the first letter of a word: Asystole.
                yield stop, _Piece(self._word[start:stop], 0, start >= _LONG, False)
        if start > _WORD and n - start <= _LONGEST_SMALL_SIGN and start not in self._marks:
            sign, before = self._plain[start:], self._plain[start - 1]
            # A letter twice is a slip, and a single one after a short word is one in most cases.
            if _is_small_sign(sign) and sign != before and start + len(sign) > _LONG + 1:
                yield n, _Piece(self._word[start:], 0, False, False)
        if (not start or start >= _WORD) and self._plain.startswith(_SMALL, start):
            for word in _SMALL:
                stop = start + len(word)
                if self._plain.startswith(word, start) and stop - start < n:
                    # At an end it may be a part of the word: inactive.
                    is_inner = start > 0 and stop < n
                    yield stop, _Piece(self._word[start:stop], 0, is_inner, stop not in self._marks)


def _is_prefix(text: str) -> bool:
    return text.endswith(("o", "yl")) or text in _PREFIXES


def _is_small_sign(text: str) -> bool:
    number = text[1:]
    return text in _NUMERALS or (text[0] in _LETTERS and (not number or number.isdecimal()))


def _marks(word: str) -> frozenset[int]:
    """Return the ends of a word, and where its letters turn to capitals, digits, or back.

    >>> sorted(_marks("typeIDiabetes2"))
    [0, 4, 5, 6, 13, 14]
    """
    if word.islower() and word.isalpha():
        return frozenset((0, len(word)))
    kinds = "".join(
        "U" if letter.isupper() else "1" if letter.isdecimal() else "l" for letter in word
    )
    turns = {at for at in range(1, len(word)) if kinds[at - 1] != kinds[at]}
    # Of several capitals the last begins a word: the D of typeIDiabetes.
    turns |= {at for at in range(1, len(word) - 1) if kinds[at - 1 : at + 2] == "UUl"}
    return frozenset((0, len(word), *turns))
