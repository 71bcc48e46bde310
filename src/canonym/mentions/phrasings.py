"""Other phrasings of a finding: *decreased width of face* is a narrow face.

Names of phenotypes follow a pattern, and the next edition of a terminology has another one. What is
made here counts only where it is, as a whole, a name.
"""

from __future__ import annotations

import itertools

from canonym.mentions.dimensions import DIMENSIONS, HIGH, LOW
from canonym.regex import regex

_SAME = (
    *(("big", "large", "enlarged"), ("wide", "broad"), ("little", "small")),
    *(
        ("disease", "disorder"),
        ("diseases", "disorders"),
        ("missing", "absent"),
        ("agenesis", "aplasia", "absence"),
        ("abnormality", "anomaly"),
    ),
    *(("increased", "elevated", "raised", "high"), ("decreased", "reduced", "low", "diminished")),
)
_OTHERS = {word: tuple(w for w in group if w != word) for group in _SAME for word in group}
_HIGHER, _LOWER = _SAME[-2:]
# There the word is part of a name: a little finger need not be small.
_NAMED_SO = regex(
    r"\b(?:big|great|little) (?:finger|toe)s?\b|\blarge (?:b cell|bowel|cell|intestin|vessel)"
)
_FLUIDS = ("", "serum ", "plasma ", "blood ", "circulating ")
_AMOUNTS = ("", " level", " concentration")

_DIMENSION = regex(rf"(\w+) ({'|'.join(DIMENSIONS)}) of (.+)")
_UNDEVELOPED = regex(r"failure of development of (?:a |an |one )?(.+)")
_MEASURED = regex(
    r"\w+ (?:(?:blood|circulating|plasma|serum) )?(.+?) (?:concentration|level)s?"
    r"(?: in (?:blood|plasma|serum))?"
)


def phrasings(text: str) -> tuple[str, ...]:
    """Return what a finding may be called instead, the likelier first; mostly nothing.

    >>> phrasings("Decreased width of the face"), phrasings("Big sella turcica")
    (('narrow face', 'narrowed face'), ('large sella turcica', 'enlarged sella turcica'))
    >>> phrasings("Failure of development of the eyelid")[:2]
    ('absent eyelid', 'missing eyelid')
    >>> phrasings("high creatinine levels")[:2], phrasings("heart attack")
    (('increased creatinine', 'increased serum creatinine'), ())
    """
    words = text.lower().replace(" the ", " ").replace(",", "").split()
    if len(words) < 2:
        return ()
    return tuple(dict.fromkeys(_of_pattern(" ".join(words), words[0]) or _with_others(words)))


def _of_pattern(plain: str, first: str) -> list[str]:
    """Return the phrasings of a text that follows a pattern."""
    is_low, is_high = first in LOW, first in HIGH
    if (is_low or is_high) and (match := _DIMENSION.fullmatch(plain)):
        return [f"{adjective} {match[3]}" for adjective in DIMENSIONS[match[2]][is_high]]
    if first == "failure" and (match := _UNDEVELOPED.fullmatch(plain)):
        return [f"{how} {match[1]}" for how in ("absent", "missing", "agenesis of", "aplasia of")]
    if (is_low or is_high or first == "abnormal") and (match := _MEASURED.fullmatch(plain)):
        levels = _LOWER if is_low else _HIGHER if is_high else (first,)
        ways = itertools.product(levels, _AMOUNTS, _FLUIDS)
        return [f"{level} {fluid}{match[1]}{amount}" for level, amount, fluid in ways]
    return []


def _with_others(words: list[str]) -> list[str]:
    """Return a text with another word for one of its words, in all ways."""
    if _NAMED_SO.search(" ".join(words)):
        return []
    return [
        " ".join((*words[:place], other, *words[place + 1 :]))
        for place, word in enumerate(words)
        for other in _OTHERS.get(word, ())
    ]
