"""Likely slips: *diabetis* is meant to be *diabetes*, and *coumadin* is no *coumarin*.

A word that a terminology lacks may be a word of its own. People leave a letter out, double one,
swap two, or write what sounds alike. Another consonant makes another word more often, unless words
beside it say what is meant.
"""

from __future__ import annotations

import re
from itertools import groupby

from canonym.text import PLAIN, normalise

_VOWELS = frozenset("aeiouy")
_SOUND_ALIKE = ("ckq", "cs", "kx", "sz", "gj", "dt", "bp", "fv", "mn", "vw", "hw")
_SILENT = ("gn", "mn", "pn", "ps", "pt")  # "neumonia"
_ION = re.compile("[cst]ion(?=s?$)")  # as -tion sounds
_WORD = re.compile(r"[^\W\d_]+")


def is_likely_slip(written: str, meant: str) -> bool:
    """Tell whether what was written is likely to be meant so.

    Words that are no likely slips do not count where they are less than half of the letters.

    >>> is_likely_slip("diabitis", "diabetes"), is_likely_slip("pnuemonia", "pneumonia")
    (True, True)
    >>> is_likely_slip("coumadin", "coumarin"), is_likely_slip("enema", "edema")
    (False, False)
    >>> is_likely_slip("acute myocardiag infarction", "acute myocardial infarction")
    True
    """
    words, others = (_WORD.findall(normalise(text, PLAIN)) for text in (written, meant))
    if len(words) != len(others):
        return True
    pairs = zip(words, others, strict=True)
    unlikely = sum(len(word) for word, other in pairs if not _is_likely(word, other))
    return 2 * unlikely < sum(map(len, words))


def _is_likely(word: str, other: str) -> bool:
    """Tell whether one word is likely to be a slip of another, a letter or two away."""
    if _undoubled(word) == _undoubled(other):
        return True  # "hemmorhage"
    if word[0] != other[0]:
        return other.startswith(_SILENT) and other[1:] == word
    if _ION.search(word) and _ION.search(other):
        word, other = _ION.sub("tion", word), _ION.sub("tion", other)
    start = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), None)
    if start is None or len(word) != len(other):
        return True  # a letter more or less
    letters, others = word[start:], other[start:]
    while len(letters) > 1 and letters[-1] == others[-1]:
        letters, others = letters[:-1], others[:-1]
    if sorted(letters) == sorted(others):
        return True  # two letters that changed places
    return all(_sound_alike(*pair) for pair in zip(letters, others, strict=True))


def _undoubled(word: str) -> str:
    return "".join(letter for letter, _ in groupby(word))


def _sound_alike(letter: str, other: str) -> bool:
    if letter in _VOWELS or other in _VOWELS:
        return letter in _VOWELS and other in _VOWELS
    return letter == other or any(letter in alike and other in alike for alike in _SOUND_ALIKE)
