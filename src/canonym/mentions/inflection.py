"""Forms of one word: *diabetic* and *diabetes*.

Beginning alike is not enough: *perioral* is not *periocular*, and *protein* no *proteinuria*. What
is left of both without an ending has to be the same. The endings are those of English and Latin,
and the most frequent ones of German, French and Spanish.
"""

from __future__ import annotations

import functools

from canonym.text.words import words_of_kind

_LEAST = 4  # letters of what forms of a word share
_ENDINGS = words_of_kind("inflected ending")
_LONGEST = max(map(len, _ENDINGS))


def are_inflected(word: str, other: str) -> bool:
    """Tell whether two words are likely to be forms of one.

    >>> are_inflected("diabetic", "diabetes"), are_inflected("occlusion", "occlusive")
    (True, True)
    >>> are_inflected("perioral", "periocular"), are_inflected("malleus", "malleolus")
    (False, False)
    """
    if word[:_LEAST] != other[:_LEAST] or not (word.isalpha() and other.isalpha()):
        return False
    return not _stems(word).isdisjoint(_stems(other))


@functools.lru_cache(maxsize=1 << 14)
def _stems(word: str) -> frozenset[str]:
    """Return a word without each ending that it may have, and as it is."""
    ends = range(max(_LEAST, len(word) - _LONGEST), len(word))
    return frozenset((word, *(word[:at] for at in ends if word[at:] in _ENDINGS)))
