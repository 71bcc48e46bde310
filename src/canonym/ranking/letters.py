"""Letters of names that are nearly as near to a mention, and which name they speak for.

An encoder takes *genetic* for *allelic* rather than for *gene*, and *syncope* for *heat syncope*
rather than for *syncope and collapse*. The letters tell them apart.

Notes
-----
A name gains a little similarity to the mention:

==========  ===================================================  ===================================
`DERIVED`   one word is derived from the other                   *genetic*: gene
`COUPLED`   the name is the mention and something more           *syncope*: syncope and collapse
`LETTERED`  the name ends with the letter and the noun after it  *alpha cell*: pancreatic alpha cell
==========  ===================================================  ===================================

The gains were chosen on hand-written lists and on the development parts of two corpora.
"""

from __future__ import annotations

import re

from canonym.regex import regex

DERIVED, COUPLED, LETTERED = 0.06, 0.03, 0.1

_STEM = 4  # letters, and half of the longer word
_NOUN = regex(
    r"(?:|e|a|es|le|um|us|on|is|sis|y|ia|[st]?ion|er|or|ment|ity|ing|ex|ix|ax|m|t|te)", re.ASCII
)
_DERIVED = regex(
    r"(?:|s|e|a|um|c|t?ed|ing|(?:t|n|at|et|ac)?ic|t?ical|t?ically|i?al|ally|(?:ion|on|in|u)al|u?lar|ar|ary|"
    r"i?ous|oid|oidal|ian|ean|ive|able)",
    re.ASCII,
)
_GREEK = frozenset(
    """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma
    tau upsilon phi chi psi omega
    """.split()  # noqa: SIM905
)
# *Calcium L-threonate* is a salt of L-threonate.
_CHEMICAL = regex(r"(?:ate|ine|ol|ide|ene|one|ose|ium|yl|ane|acid)$")
_MOST_WORDS = 2


def most_gain(mention: str) -> float:
    """Return the most that a name can gain for a mention in normal form.

    >>> most_gain("genetic"), most_gain("cancer of the breast")
    (0.06, 0.0)
    """
    words = mention.split()
    if len(words) == 1:
        return DERIVED
    if len(words) != _MOST_WORDS:
        return 0.0
    return LETTERED if _is_letter(words[0]) else COUPLED


def gain(mention: str, name: str) -> float:
    """Return what a name gains for a mention, both in the normal form `canonym.text.STRONG`.

    >>> gain("genetic", "gene"), gain("genetic", "allelic")
    (0.06, 0.0)
    >>> gain("syncope", "syncope and collapse"), gain("syncope", "heat syncope")
    (0.03, 0.0)
    """
    words, others = mention.split(), name.split()
    n = len(words)
    if n == 1 and len(others) == 1:
        return DERIVED if is_derived(mention, name) else 0.0
    if not 0 < n < len(others):
        return 0.0
    if others[n] in ("and", "or") and others[:n] == words:
        return COUPLED
    if others[-n:] != words:
        return 0.0
    if others[-n - 1] in ("and", "or") and len(others) == n + 2:
        return COUPLED
    is_lettered = n == _MOST_WORDS and _is_letter(words[0]) and not _CHEMICAL.search(words[1])
    return LETTERED if is_lettered and not any(map(_is_letter, others[:-n])) else 0.0


def is_derived(word: str, noun: str) -> bool:
    """Tell whether a word and a noun differ in their endings only.

    >>> is_derived("intronic", "intron"), is_derived("cirrhotic", "cirrhosis")
    (True, True)
    >>> is_derived("hepatic", "hepatitis"), is_derived("lactic", "lactase")
    (False, False)
    """
    differ = (at for at, (a, b) in enumerate(zip(word, noun, strict=False)) if a != b)
    shared = next(differ, min(len(word), len(noun)))
    longest = max(_STEM, (max(len(word), len(noun)) + 1) // 2)
    # The endings may begin alike: "deleting" and "deletion".
    return any(
        _NOUN.fullmatch(noun, n) and _DERIVED.fullmatch(word, n)
        for n in range(shared, max(longest, shared - 2) - 1, -1)
    )


def _is_letter(word: str) -> bool:
    return (len(word) == 1 and word.isalpha()) or word in _GREEK
