"""The words of semantic types, which terminologies and annotators call differently."""

from __future__ import annotations

import functools

from canonym.text import STRONG, normalise, tokens

_SHORTEST_WORD = 4


@functools.lru_cache(maxsize=1 << 12)  # a terminology has a few dozen
def type_words(types: tuple[str, ...]) -> frozenset[str]:
    """Return the words of types, those of four letters and more, to tell whether two are alike.

    >>> type_words(("Disease or Syndrome",)) & type_words(("Specific disease", "Sign"))
    frozenset({'disease'})
    """
    words = (word for name in types for word in tokens(normalise(name, STRONG)))
    return frozenset(word for word in words if len(word) >= _SHORTEST_WORD)
