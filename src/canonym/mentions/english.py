"""Words of everyday English, which are no slips of a terminology's words.

*Serious* is a word of its own, though a terminology may have *serous* alone, and an *injection* is
no *infection*. The words are those that the vocabulary of the encoder `contextual` has whole, some
20,000, and their forms with the usual endings.

*Cold*, *growth* or *sugar* in a list of complaints is a disease. In a text it is more often the
weather, a hormone or a food. They are rules of the kind "ordinary word" of the book; words that say
how, when or in whom, and not what, are of the kind "qualifying word".
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.rules import current, once_a_book
from canonym.text import STRONG, normalise

_VOCABULARY = Path(__file__).parents[1] / "models" / "contextual" / "tokenizer.json"
LEAST = 4
"""Letters that a word has at least, without its ending."""

_ENDINGS = ("s", "es", "d", "ed", "ing", "er", "ers", "ly")
_HISSING = ("s", "x", "z", "o", "ch", "sh")  # es comes behind these
_VOWELS = frozenset("aeiouy")


def is_english(word: str) -> bool:
    """Tell whether a word, in small letters, is one of everyday English.

    >>> [is_english(word) for word in ("serious", "injections", "printed", "trapping")]
    [True, True, True, True]
    >>> [is_english(word) for word in ("diarrea", "vomitting", "stoping", "attackes")]
    [False, False, False, False]
    """
    words = _words()
    if word in words or (word.startswith("un") and word[2:] in words):
        return True
    if not word.endswith(_ENDINGS):
        return False
    stems = ((word[: -len(end)], end) for end in _ENDINGS if word.endswith(end))
    bases = (base for stem, end in stems if len(stem) >= LEAST for base in _bases(stem, end))
    return not words.isdisjoint(bases)


def _bases(stem: str, end: str) -> tuple[str, ...]:
    """Return the words that may have a stem before an ending, by the rules of spelling."""
    if end in ("s", "es"):
        return (stem,) if (end == "es") == stem.endswith(_HISSING) else ()
    if end == "ly" or end == "d":
        return (stem,) if end == "ly" or stem.endswith("e") else ()
    silent = f"{stem}e"
    if stem[-1] == stem[-2] and _doubles(stem[:-1]):
        return stem, stem[:-1], silent
    return (silent,) if stem.endswith("e") or _doubles(stem) else (stem, silent)


def _doubles(stem: str) -> bool:
    """Tell whether a stem is one syllable whose last letter is doubled: *stop*, *stopping*."""
    start, vowel, last = stem[:-2], stem[-2], stem[-1]
    return vowel in _VOWELS and last not in "aeiouywx" and _VOWELS.isdisjoint(start)


@functools.cache
def _words() -> frozenset[str]:
    vocabulary = json.loads(_VOCABULARY.read_bytes())["model"]["vocab"]
    return frozenset(word for word in vocabulary if len(word) >= LEAST and word.isalpha())


@once_a_book
def qualifying_forms() -> tuple[str, ...]:
    """Return the normal forms of words beside a name that make no other name of it."""
    rules = current().of_kind("qualifying word")
    words = (*(rule.form for rule in rules), *FUNCTION_WORDS, *map(str, range(100)))
    single = {form for form in _ordinary() if " " not in form}
    return tuple(sorted(single | {normalise(word, STRONG) for word in words}))


def is_ordinary(text: str) -> bool:
    """Tell whether a text is an ordinary word, or a few, whatever its inflection.

    What is written in capitals is an abbreviation.

    >>> [is_ordinary(text) for text in ("cold", "Changes", "follow-up", "COLD", "fever")]
    [True, True, True, False, False]
    """
    return not text.isupper() and normalise(text, STRONG) in _ordinary()


@once_a_book
def _ordinary() -> frozenset[str]:
    return frozenset(normalise(rule.form, STRONG) for rule in current().of_kind("ordinary word"))
