"""Cancers that have spread: *breast cancer metastatic to the liver*, *RCC (mets: lung, bone)*.

How notes say so are rows of the kind ``spread``, with *P* for the cancer and *S* for the sites,
which are words that have such a place. A row with the place ``any`` takes any words for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from canonym.mentions.cues import find_cues
from canonym.regex import regex
from canonym.rules import any_of, current, once_a_book, phrase_expression
from canonym.text.shape import shape_of
from canonym.text.words import words_of_kind

_LONGEST = 150
_SPREADING = words_of_kind("word of a spread")
_SAID = frozenset(("negated", "uncertain", "hypothetical"))
_ARROWS = frozenset("\u2192>")
_SIGNS = regex(r" ?(?:(?P<arrow>\u2192|-{1,2}>|=>)|[():,]|(?<= )[-\u2013](?= )) ?")
_JOINT = regex(r",? and | ?[,&/+] ?", re.IGNORECASE)


def cancer_and_sites(text: str) -> tuple[str, ...]:
    """Return a cancer and its metastases where a text has both, nothing else where not.

    >>> cancer_and_sites("breast cancer metastatic to the liver")
    ('breast cancer', 'liver metastasis')
    >>> cancer_and_sites("RCC (mets: rib, lung)")
    ('RCC', 'rib metastasis', 'lung metastasis')
    >>> cancer_and_sites("melanoma without lung mets"), cancer_and_sites("liver mets")
    ((), ())
    """
    shape = shape_of(text)
    may_spread = not shape.there.isdisjoint(_SPREADING) or not _ARROWS.isdisjoint(shape.signs)
    if len(text) > _LONGEST or not may_spread:
        return ()
    plain = " ".join(text.split())
    plain = _SIGNS.sub(lambda sign: " mets " if sign["arrow"] else ", ", plain).strip(" ,")
    for pattern in _spreads():
        match = pattern.fullmatch(plain)
        said = find_cues(match["P"]) if match else []
        if match is None or any(_SAID.intersection(cue.rule.flags) for cue in said):
            continue  # "melanoma without lung mets"
        sites = (site.strip().removeprefix("the ") for site in _JOINT.split(match["S"]))
        return (match["P"], *dict.fromkeys(f"{site} metastasis" for site in sites if site))
    return ()


@once_a_book
def _spreads() -> Sequence[re.Pattern[str]]:
    """Return the ways to say what has spread where."""
    word, site = (any_of("part of a composite", [it]) for it in ("primary", "metastatic site"))
    sites = rf"(?:(?:the|left|right|bilateral|L|R)\s+)?{site}"
    cancer = rf"(?P<P>(?:[^,;?]*\b)?{word}(?:\s[^,;?]+?)??|(?:cancer|ca|carcinoma)\s[^,;?]+?)"
    places = {
        "": rf"(?P<S>{sites}(?:(?:{_JOINT.pattern}){sites})*)",
        "any": r"(?P<S>(?!distant|multiple|\w+spread)(?:[^,;?]+(?:, [^,;?]+)*,? and )?[^,;?]+)",
    }
    ways = []
    for rule in current().of_kind("spread"):
        slots = {"P": cancer, "S": places[rule.where]}
        form = re.split(r"\b([PS])\b", phrase_expression(rule.form))
        ways.append(re.compile("".join(slots.get(part, part) for part in form), re.IGNORECASE))
    return ways
