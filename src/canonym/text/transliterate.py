"""Words in Cyrillic and Greek letters, spelt as medical English spells them.

Medicine has its words from Greek and Latin, in every language: *гастрит* and *γαστρίτιδα* are
gastritis. An encoder that has learned Latin letters alone finds them once they are written so.
"""

from __future__ import annotations

import functools
import unicodedata

from canonym.regex import regex
from canonym.rules import shipped
from canonym.text.words import rewrites

_WORD = regex("[\u0370-\u03ff\u0400-\u052f\u1f00-\u1fff]{3,}")
_REMEMBERED = 1 << 16

# What a letter is in most words. Parts of words, which are rules too, go before, endings after.
_LETTERS = {rule.form: rule.means for rule in shipped().of_kind("letter")}


def latin(text: str) -> str:
    """Spell the words of a text that are in Cyrillic or Greek letters in Latin ones.

    Words of fewer than three letters stay: they are signs, such as the β of β-blockers.

    >>> latin("острый гастрит"), latin("γαστρίτιδα"), latin("β-blocker")
    ('ostryi gastritis', 'gastritis', 'β-blocker')
    """
    return text if text.isascii() else _WORD.sub(lambda match: _latin_word(match[0]), text)


@functools.lru_cache(maxsize=_REMEMBERED)
def _latin_word(word: str) -> str:
    spelt = unicodedata.normalize("NFD", word.lower())
    spelt = "".join(letter for letter in spelt if not unicodedata.combining(letter))
    for part, written in rewrites("part in other letters"):
        spelt = part.sub(written, spelt)
    spelt = "".join(_LETTERS.get(letter, letter) for letter in spelt)
    for ending, written in rewrites("ending in other letters"):
        changed = ending.sub(written, spelt)
        if changed != spelt:
            return changed
    return spelt
