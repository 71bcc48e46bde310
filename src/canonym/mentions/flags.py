"""Flags of mentions in running text: negated, historical, hypothetical, of the family.

negspaCy (extra ``flags``) looks in the sentence of a mention for words before and behind it, up to
words that end their reach, as NegEx and ConText do. Its own list decides about negation, with a few
words more. The lists of the other flags are here. They are of English.

References
----------
Chapman et al. (2001), A simple algorithm for identifying negated findings and diseases in discharge
summaries. Harkema et al. (2009), ConText: an algorithm for determining negation, experiencer, and
temporal status from clinical reports.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from canonym.errors import require
from canonym.types import Mention

FLAGS: tuple[str, ...] = ("negated", "historical", "hypothetical", "family")
"""All flags, in the order in which a mention has them."""

_Words = dict[str, list[str]]
_SPANS = "mentions"
# Ends of sentences, and of lines but for those that go on with a small letter.
_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\s*\n\s*(?=[^a-z\s])|\s*\n\s*\n\s*|;\s*")
_TURNS = ["although", "but", "however", "nevertheless", "though", "yet"]
_RELATIVES = (
    *("aunt", "aunts", "brother", "brothers", "cousin", "cousins", "dad", "daughter", "daughters"),
    *("father", "grandfather", "grandma", "grandmother", "grandpa", "grandparents", "mom"),
    *("mother", "nephew", "niece", "parents", "sibling", "siblings", "sister", "sisters", "son"),
    *("sons", "twin", "uncle", "uncles"),
)
_AGES = ("teens", "twenties", "thirties", "forties", "fifties", "sixties")
_SPEAKS = ("brought", "noticed", "reports", "says", "states", "thinks")
_LISTS: dict[str, _Words] = {
    "negated": {  # beside the words of negspaCy
        "preceding_negations": [
            *("excludes", "excluding", "lack of", "lacked", "lacking", "lacks", "negative"),
            *("neither", "nil", "none of", "nor", "nothing suggests", "nothing to suggest"),
        ],
        "following_negations": [
            *("absent", "came back negative", "excluded", "is negative", ": negative", "negative"),
            *(": no", ": none", "not found", "not present", "not seen", "ruled out"),
        ],
        "pseudo_negations": ["no better", "no improvement", "no relief", "no response", "no worse"],
        "termination": [],
    },
    "historical": {
        "preceding_negations": [
            *("childhood", "earlier", "former", "h/o", "history", "hospitalised for"),
            *("hospitalized for", "hx", "past", "pmh", "pmhx", "previous", "previously", "prior"),
            *("recovered from", "remote", "s/p", "status post", "used to have"),
        ],
        "following_negations": [
            *("ago", "as a child", "as a teenager", "as an adolescent", "during childhood"),
            *("in childhood", "in the past", "last month", "last year", "previously"),
            *("when he was", "when she was", "years before", "years earlier"),
            *(f"in {year}" for year in range(1940, 2040)),
            *(f"in {whose} {age}" for whose in ("her", "his") for age in _AGES),
        ],
        "pseudo_negations": [
            *("family history", "history and physical", "history of present illness"),
            *("history taking", "history was", "past the", "past work", "prior to"),
            *(f"past {n}" for n in ("24", "day", "days", "few", "month", "several", "two", "week")),
        ],
        "termination": [
            *("admitted", "complains of", "currently", "now", "presented", "presenting"),
            *("presents", "today", "tonight"),
        ],
    },
    "hypothetical": {
        "preceding_negations": [
            *("any new", "as needed for", "at risk for", "at risk of", "call 911 for", "call for"),
            *("call when", "if", "in case of", "in the case of", "in the event of"),
            *("look out for", "monitor for", "prevention of", "prn", "prophylaxis against"),
            *("prophylaxis for", "report any", "return for", "return to", "return when"),
            *("risk of", "screen for", "screening for", "seek care for", "seek help for"),
            *("seek help when", "should", "signs and symptoms of", "symptoms of", "to avoid"),
            *("to prevent", "unless", "warning signs of", "watch for", "whenever"),
        ],
        "following_negations": ["as needed", "if needed", "prn", "to recur", "when needed"],
        "pseudo_negations": [
            *("as if", "even if", "if not", "return to baseline", "return to normal"),
            *("return to work", "should be", "should have"),
        ],
        "termination": ["because", "since"],
    },
    "family": {
        "preceding_negations": [
            *("family history", "family hx", "fh", "fhx", "maternal", "paternal", "relative"),
            *("relatives", *_RELATIVES),
        ],
        "following_negations": [
            *("in the family", "on the maternal side", "on the paternal side"),
            *(f"in {whose} {one}" for whose in ("her", "his") for one in ("family", *_RELATIVES)),
        ],
        "pseudo_negations": [
            *("father of", "mother of"),
            *(
                f"{word} {whose} {one}"
                for word in ("by", "for", "to", "with")
                for whose in ("her", "his")
                for one in _RELATIVES
            ),
            *(f"{one} {speaks}" for one in _RELATIVES for speaks in _SPEAKS),
        ],
        "termination": ["he", "she", "patient", "the patient", "who presents"],
    },
}


def with_flags(text: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Return mentions with their flags; their places in the text stay as they are.

    A mention that is negated or of the family is not historical: "no history of asthma".

    Raises
    ------
    MissingExtra
        Without negspaCy (extra ``flags``).
    """
    find = finder()
    ends = [match.end() for match in _END.finditer(text)] if mentions else []
    starts = [0, *ends]
    together: dict[tuple[int, int], list[int]] = {}
    for place, mention in enumerate(mentions):
        first = bisect_right(starts, mention.start or 0) - 1
        last = bisect_right(starts, max(mention.start or 0, (mention.end or 0) - 1)) - 1
        together.setdefault((first, last), []).append(place)
    flagged = list(mentions)
    for (first, last), places in together.items():
        begin, end = starts[first], [*ends, len(text)][last]
        spans = [((mentions[n].start or 0) - begin, (mentions[n].end or 0) - begin) for n in places]
        for place, flags in zip(places, find(text[begin:end], spans), strict=True):
            flagged[place] = replace(mentions[place], flags=flags)
    return tuple(flagged)


@functools.cache
def finder() -> Callable[[str, Sequence[tuple[int, int]]], list[tuple[str, ...]]]:
    """Return a function of a sentence and places in it: the flags of each place.

    Raises
    ------
    MissingExtra
        Without negspaCy (extra ``flags``).
    """
    negation = require("negspacy.negation", "flags of mentions", "flags")
    termsets = require("negspacy.termsets", "flags of mentions", "flags")
    spacy = require("spacy", "flags of mentions", "flags")
    nlp = spacy.blank("en")
    known = termsets.termset("en_clinical").get_patterns()
    rules = []
    for flag in FLAGS:
        theirs = known if flag == "negated" else {"termination": _TURNS}
        words = {kind: [*theirs.get(kind, ()), *ours] for kind, ours in _LISTS[flag].items()}
        rules.append(negation.Negex(nlp, flag, words, None, _attribute(flag), None, [_SPANS]))

    def find(sentence: str, places: Sequence[tuple[int, int]]) -> list[tuple[str, ...]]:
        doc = nlp.tokenizer(sentence)
        for token in doc:
            token.is_sent_start = token.i == 0
        spans = [doc.char_span(*place, alignment_mode="expand") for place in places]
        doc.spans[_SPANS] = [span for span in spans if span is not None]
        for rule in rules:
            rule(doc)
        return [() if span is None else _flags(span) for span in spans]

    return find


def _flags(span: Any) -> tuple[str, ...]:
    found = [flag for flag in FLAGS if span._.get(_attribute(flag))]
    if "negated" in found or "family" in found:
        found = [flag for flag in found if flag != "historical"]
    return tuple(found)


def _attribute(flag: str) -> str:
    return f"canonym_{flag}"
