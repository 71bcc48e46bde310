"""Forms of one word: *diabetic* and *diabetes*.

Beginning alike is not enough: *perioral* is not *periocular*, and *protein* no *proteinuria*. What
is left of both without an ending has to be the same. The endings are those of English and Latin,
and the most frequent ones of German, French and Spanish.
"""

from __future__ import annotations

import functools

from canonym.rules import shipped

_LEAST = 4  # letters of what forms of a word share
_ENDINGS = tuple(rule.form for rule in shipped().of_kind("inflected ending"))


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
    stems = (word[: -len(end)] for end in _ENDINGS if word.endswith(end))
    return frozenset((word, *(stem for stem in stems if len(stem) >= _LEAST)))
