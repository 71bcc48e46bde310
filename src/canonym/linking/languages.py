"""The choice of encoders for a string: those of an index that read its language.

The default encoder reads English, the multilingual one ten languages in two scripts, the universal
one fifteen languages. English is asked of the first of these that an index has. Any other language
is asked of those that read several, whose similarities are summed; but not of one that has hardly
seen its script. *Cancer du poumon* has English words, and its *du* tells.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from canonym.mentions.english import LEAST, is_english
from canonym.mentions.spelling import Speller
from canonym.regex import regex
from canonym.terminology import Terminology
from canonym.text.words import forms_of
from canonym.types import Link

MULTILINGUAL, UNIVERSAL = "multilingual", "universal"
"""Encoders that read several languages, by name."""

EncoderMask = Callable[[Sequence[str]], npt.NDArray[np.float64]]
"""Takes n strings, and returns 1 for each that an encoder is asked for, ``(encoders, n)``."""

_LATIN = frozenset(("LATIN",))
_SCRIPTS = {
    "default": _LATIN,
    "contextual": _LATIN,
    # It reads Greek in Latin letters, and the universal encoder has learned none. Cyrillic it reads
    # so too: of everyday names the sum of both finds 25 of 40, the universal encoder alone 30.
    MULTILINGUAL: _LATIN | {"CJK", "HIRAGANA", "KATAKANA", "GREEK"},
}
_ENGLISH = 0.5  # share of a string in words of the terminology
_RANKS = {MULTILINGUAL: 1, UNIVERSAL: 2}
SEVERAL = frozenset(_RANKS)
"""Encoders that read several languages."""

# Spanish, French, German, Italian and Portuguese, but for words that English names have too.
_FUNCTION_WORDS = regex(rf"(?<=\w)\s(?:{forms_of('foreign function word')})\s", re.IGNORECASE)


def choose_encoders(
    names: Sequence[str], terminology: Terminology, speller: Speller | None
) -> EncoderMask | None:
    """Return what chooses between the encoders of these names, or None where all are summed.

    The words of a terminology tell whether a string is English, if all its names are.
    """
    ranks = np.array([_RANKS.get(name, 0) for name in names])
    kinds = set(ranks.tolist())
    if len(kinds) < 2:
        return None
    share = speller.vocabulary_coverage if speller and _is_english(terminology) else None
    if not share and not {1, 2} <= kinds:
        return None
    english = ranks == ranks.min()
    others = ranks >= (1 if share else 0)
    unread = others & (ranks != 1) if 2 in kinds else others

    def asked(strings: Sequence[str]) -> npt.NDArray[np.float64]:
        rows = [
            english
            if share and share(string) >= _ENGLISH and not _FUNCTION_WORDS.search(string)
            else (others if reads(MULTILINGUAL, string) else unread)
            for string in strings
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, len(ranks)).T

    return asked


def _is_english(terminology: Terminology) -> bool:
    return not {tag.partition("-")[0] for tag in terminology.languages()} - {"", "en"}


def reads(encoder: str, string: str) -> bool:
    """Whether an encoder, by name, knows the scripts of half of the letters of a string.

    Of encoders that do not come with canonym it is not known, and taken for granted.
    """
    if string.isascii() or encoder not in _SCRIPTS:
        return True
    scripts = [_script(letter) for letter in string if letter.isalpha()]
    return 2 * sum(script in _SCRIPTS[encoder] for script in scripts) >= len(scripts)


def is_unread(link: Link, encoders: Sequence[str], coverage: Callable[[str], float]) -> bool:
    """Tell whether encoders, by name, hardly know the language of a mention, or its script.

    `coverage` gives the share of a string in words of the terminology.
    """
    text = link.mention.text
    if not any(reads(encoder, text) for encoder in encoders):
        return True
    return link.nil and SEVERAL.isdisjoint(encoders) and is_foreign(text, coverage)


def is_foreign(string: str, coverage: Callable[[str], float]) -> bool:
    """Tell whether a string in Latin letters is of another language than English names.

    It has words between others that English lacks, or letters, and few of its words are of the
    terminology: `coverage` gives their share. *Not motivated to do anything* is English.
    """
    looks_foreign = bool(_FUNCTION_WORDS.search(string)) or any(
        letter.isalpha() and not letter.isascii() and _script(letter) in _LATIN for letter in string
    )
    if not looks_foreign or coverage(string) >= _ENGLISH:
        return False
    words = [word for word in string.lower().split() if len(word) >= LEAST]
    return not words or not all(map(is_english, words))


@functools.lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
