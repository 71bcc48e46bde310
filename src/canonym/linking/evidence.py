"""Features of links, by which a judge tells how likely they are right."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.linking.hits import PREFERRED
from canonym.linking.languages import SEVERAL
from canonym.linking.settings import SIEVES
from canonym.ranking.letters import gain
from canonym.text import normalise
from canonym.text.memo import strong_forms
from canonym.text.qualifiers import BROADER, QUALIFIERS
from canonym.text.short_forms import as_meant, is_short_form
from canonym.types import SCOPES, Candidate, Link

FloatArray = npt.NDArray[np.float64]

_SIEVES = ("verbatim", "normalised", "reordered")
_BARE = "reordered"  # what a name without its qualifiers counts as: all its words are there
_KNOWING = frozenset(sieve.name for sieve in SIEVES)

SIGNS: tuple[str, ...] = (
    *("score", "margin", "agreement", *_SIEVES),
    *("shared", "alone", "contradicts"),
)
"""What scores and sieves show, see `signs_of`."""

EVIDENCE: tuple[str, ...] = (
    *("similarity", "lead", "agreement", *_SIEVES, "shared", "alone", "contradicts"),
    *("words of the mention in the name", "words of the name in the mention", "letters"),
    *("words", "length", "digits", "short form", "words of the name"),
    *("words left over", "words missing", "narrower or close", "letters decide"),
    *("scope", "label"),
    *("known letters", "all known", "unknown letters", "corrected", "cut apart", "broader"),
    *("similarity across languages", "lead across languages", "density"),
)
"""Everything that a judge looks at, see `evidence_of`."""

# Longer strings, and more words that differ, tell no more.
_MOST_WORDS, _MOST_NAME_WORDS, _MOST_LETTERS = 8, 10, 40
_MOST_LEFT, _MOST_MISSING = 5, 6
# What says nothing of a name in another language than the mention.
_OF_ONE_LANGUAGE = (
    *("similarity", "lead", "words of the mention in the name", "words of the name in the mention"),
    *("letters", "words left over", "words missing", "narrower or close", "letters decide"),
    *("known letters", "all known", "unknown letters"),
)
_SPLIT = ("composite", "list")
# Steps to another text, but for its spelling.
_REWRITTEN = (
    *("entities", "markup", "encoding", "abbreviation", "trial field", "drug line", "genus"),
    *("shorthand", "gloss", "finding", "space", "status", QUALIFIERS, BROADER),
)


class Vocabulary(NamedTuple):
    """What a judge knows of a terminology.

    `coverage` gives the share of a text in words that the terminology has, `density` is the
    logarithm of the number of names that a concept has on average.
    """

    coverage: Callable[[str], float]
    density: float


def rivals(link: Link) -> list[Candidate]:
    """Return the candidates behind the best one, without those that give way to it."""
    best, *others = link.candidates
    wish = best.context.get(PREFERRED, 0.0)
    return [other for other in others if other.context.get(PREFERRED, wish) >= wish]


def signs_of(link: Link) -> dict[str, float]:
    """Return `SIGNS` of an undivided link, with two candidates if there are so many.

    The score of the best candidate; its margin to the second concept (the score, without one); the
    share of scorers that prefer it to the second (1 for a sieve, or without a second); one number
    per sieve, 1 if it decided; whether the second concept has the name too; whether there is no
    second; and whether its name contradicts the mention. Concepts that a caller prefers less than
    the best one, and that are called like it, are passed over.
    """
    best, others = link.candidates[0], rivals(link)
    sieved = best.sieve in _KNOWING
    sieve = _BARE if best.sieve == "bare" else best.sieve
    return {
        "score": best.score,
        "margin": best.score - others[0].score if others else best.score,
        "agreement": 1.0 if sieved or not others else _agreement(best, others[0]),
        **{name: float(sieve == name) for name in _SIEVES},
        "shared": float(sieved and bool(others) and _same_name(best, others[0])),
        "alone": float(not others),
        "contradicts": float(bool(best.against.contradictions)),
    }


def evidence_of(link: Link, vocabulary: Vocabulary) -> FloatArray:
    """Return `EVIDENCE` of an undivided link with a candidate, ``(len(EVIDENCE),)`` float64.

    To the signs of `signs_of`, with similarities in the place of scores, comes what the string
    that was looked up and the name found have in common: the words of each that the other has, as a
    share; Dice's coefficient of their 3-grams; what is left over and missing; whether letters
    decided between near names (`canonym.ranking.letters`); what kind of string it is, and what
    preparing it took; how many of its letters are in words of the terminology; and the density of
    that. NaN: unknown. Of a link that a sieve made, no second candidate is looked at unless it has
    the name too: often none was searched for. Of a link that only encoders of several languages
    made, words and letters tell nothing, and similarities have a scale of their own.
    """
    best, others = link.candidates[0], rivals(link)
    signs = signs_of(link)
    text = link.searched or link.mention.text
    form, name = normalise(text), normalise(as_meant(best.name, text))
    words, name_words = set(form.split()), set(name.split())
    grams, name_grams = _grams(form), _grams(name)
    both = len(words & name_words)
    known = vocabulary.coverage(_as_written(link))
    steps = {step.name for step in link.steps}
    lead = best.score - others[0].score if others else 1.0
    if best.sieve in _KNOWING:  # nothing else was looked for
        lead, signs["alone"] = math.nan, 0.0
    values = {
        **signs,
        "similarity": best.score,
        "lead": lead,
        "words of the mention in the name": both / max(len(words), 1),
        "words of the name in the mention": both / max(len(name_words), 1),
        "letters": 2 * len(grams & name_grams) / max(len(grams) + len(name_grams), 1),
        "words": min(len(words), _MOST_WORDS),
        "length": min(len(form), _MOST_LETTERS),
        "digits": any(letter.isdigit() for letter in form),
        "short form": is_short_form(text),
        "words of the name": min(len(name.split()), _MOST_NAME_WORDS),
        "words left over": min(len(best.against.left_over), _MOST_LEFT),
        "words missing": min(len(best.against.missing), _MOST_MISSING),
        "narrower or close": best.against.relation in ("narrower", "close", "related"),
        "letters decide": 0.0 if best.sieve in _KNOWING else gain(*strong_forms([text, best.name])),
        "scope": SCOPES.index(best.scope),
        "label": best.name == best.label,
        "known letters": known,
        "all known": known == 1,
        "unknown letters": (1 - known) * len(form.replace(" ", "")),
        "corrected": "correction" in steps,
        "cut apart": "space" in steps,
        "broader": BROADER in steps,
        "similarity across languages": math.nan,
        "lead across languages": math.nan,
        "density": vocabulary.density,
    }
    asked = [encoder for encoder, part in best.parts.items() if part]
    if asked and SEVERAL.issuperset(asked):
        values |= dict.fromkeys(_OF_ONE_LANGUAGE, math.nan)
        values |= {"similarity across languages": best.score, "lead across languages": lead}
    return np.array([values[name] for name in EVIDENCE], dtype=np.float64)


def _same_name(best: Candidate, second: Candidate) -> bool:
    """Tell whether a sieve found the second by the same name, and not by a part of the mention."""
    if second.sieve != best.sieve:
        return False
    if best.sieve == "bare":  # the qualifiers differ
        return True
    words, others = (sorted(form.split()) for form in strong_forms([best.name, second.name]))
    return words == others


def _agreement(best: Candidate, second: Candidate) -> float:
    """Return the share of encoders that prefer the best; of those that were asked."""
    asked = [name for name, part in best.parts.items() if part or second.parts.get(name)]
    ahead = sum(best.parts[name] > second.parts.get(name, -math.inf) for name in asked)
    return ahead / len(asked) if asked else 1.0


def _as_written(link: Link) -> str:
    """Return the mention before its spelling was corrected: what is corrected looks known."""
    steps = itertools.takewhile(lambda step: step.name not in _SPLIT, reversed(link.steps))
    texts = (step.after for step in steps if step.name in _REWRITTEN)
    return next(texts, link.mention.text)


def _grams(text: str) -> set[str]:
    framed = f" {text} "
    return {framed[place : place + 3] for place in range(len(framed) - 2)}
