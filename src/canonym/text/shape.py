"""The words and signs of a text, read once: by them most readers see that they need not look.

A reader that asks for words or signs which no text without them can satisfy asks here first. Which
these are it takes from the rules of the book, so that a new rule counts by itself.
"""

from __future__ import annotations

from functools import lru_cache
from string import ascii_letters, digits
from typing import NamedTuple

from canonym.regex import regex

WORD = regex(r"\w+")
ALNUM = regex(r"[^\W_]+")
LETTERS = regex(r"[^\W\d_]+")
HYPHENED = regex(r"[^\W_]+(?:-[^\W_]+)*")
DIGIT = regex(r"\d")
NUMBER = regex(r"\d+")
BRACKETED = regex(r"\([^()]*\)")
"""Words; runs of letters and digits, of letters, and of digits; words with hyphens, digits, and
round brackets with what is in them."""

_PLAIN = frozenset(f"{ascii_letters}{digits} ")
DIGITS = frozenset(digits)
"""The digits of ASCII."""


class Shape(NamedTuple):
    """The `words` of a text in small letters and in order, all that are `there`, and its `signs`.

    A word is a run of letters, digits and underscores. `characters` are all that the text has, and
    its `signs` those that are neither letters, digits nor spaces of ASCII.
    """

    words: tuple[str, ...]
    there: frozenset[str]
    characters: frozenset[str]
    signs: frozenset[str]


@lru_cache(maxsize=32)  # readers ask about a text one after the other
def shape_of(text: str) -> Shape:
    """Return the shape of a text.

    >>> shape_of("Pain, left knee").words, sorted(shape_of("(+) rash").signs)
    (('pain', 'left', 'knee'), ['(', ')', '+'])
    """
    words = tuple(map(str.lower, WORD.findall(text)))
    characters = frozenset(text)
    return Shape(words, frozenset(words), characters, characters - _PLAIN)
