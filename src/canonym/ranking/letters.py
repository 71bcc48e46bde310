"""Letters of names that are nearly as near to a mention, and which name they speak for.

An encoder takes *syncope* for *heat syncope* rather than for *syncope and collapse*. The letters
tell them apart.

A name gains `COUPLED` where it is the mention and something more (*syncope*: syncope and collapse),
and `LETTERED` where it ends with the letter and the noun behind it (*alpha cell*: pancreatic alpha
cell). The gains were chosen on hand-written lists and on the development parts of two corpora.
"""

from __future__ import annotations

from canonym.text.words import words_of_kind

COUPLED, LETTERED = 0.03, 0.1

_GREEK = words_of_kind("name of a letter")
# *Calcium L-threonate* is a salt of L-threonate.
_CHEMICAL = ("ate", "ine", "ol", "ide", "ene", "one", "ose", "ium", "yl", "ane", "acid")
_MOST_WORDS = 2


def most_gain(mention: str) -> float:
    """Return the most that a name can gain for a mention in normal form.

    >>> most_gain("syncope"), most_gain("cancer of the breast")
    (0.03, 0.0)
    """
    words = mention.split()
    if not 0 < len(words) <= _MOST_WORDS:
        return 0.0
    return LETTERED if len(words) == _MOST_WORDS and _is_letter(words[0]) else COUPLED


def gain(mention: str, name: str) -> float:
    """Return what a name gains for a mention, both in the normal form `canonym.text.STRONG`.

    >>> gain("syncope", "syncope and collapse"), gain("syncope", "heat syncope")
    (0.03, 0.0)
    """
    words, others = mention.split(), name.split()
    n = len(words)
    if not 0 < n < len(others):
        return 0.0
    if others[n] in ("and", "or") and others[:n] == words:
        return COUPLED
    if others[-n:] != words:
        return 0.0
    if others[-n - 1] in ("and", "or") and len(others) == n + 2:
        return COUPLED
    is_lettered = n == _MOST_WORDS and _is_letter(words[0]) and not words[1].endswith(_CHEMICAL)
    return LETTERED if is_lettered and not any(map(_is_letter, others[:-n])) else 0.0


def _is_letter(word: str) -> bool:
    return (len(word) == 1 and word.isalpha()) or word in _GREEK
