"""Words of everyday English, which are no slips of a terminology's words.

*Serious* is a word of its own, though a terminology may have *serous* alone, and an *injection* is
no *infection*. The words are those that the vocabulary of the encoder `contextual` has whole, some
20,000, and their forms with the usual endings.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

_VOCABULARY = Path(__file__).parents[1] / "models" / "contextual" / "tokenizer.json"
_LEAST = 4  # letters of a word without its ending
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "ly")
_VERBAL = ("ed", "ing", "er", "ers")  # before them a final e goes, or a consonant is doubled


def is_english(word: str) -> bool:
    """Tell whether a word, in small letters, is one of everyday English.

    >>> [is_english(word) for word in ("serious", "injections", "printed", "diarrea")]
    [True, True, True, False]
    """
    words = _words()
    if word in words or (word.startswith("un") and word[2:] in words):
        return True
    stems = ((word[: -len(end)], end) for end in _ENDINGS if word.endswith(end))
    return any(
        stem in words
        or (
            end in _VERBAL
            and (f"{stem}e" in words or (stem[-1] == stem[-2] and stem[:-1] in words))
        )
        for stem, end in stems
        if len(stem) >= _LEAST
    )


@functools.cache
def _words() -> frozenset[str]:
    vocabulary = json.loads(_VOCABULARY.read_bytes())["model"]["vocab"]
    return frozenset(word for word in vocabulary if len(word) >= _LEAST and word.isalpha())
