"""Evidence of how likely a link is to be right, which the judge looks at and explains itself by."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.linking.hits import KIN, LOOKED_AT, PREFERRED, since_split
from canonym.linking.languages import SEVERAL
from canonym.linking.settings import SIEVES
from canonym.mentions.additions import names_another
from canonym.mentions.inflection import are_inflected
from canonym.mentions.opposites import IMPLIED, SMALL
from canonym.mentions.slips import is_likely_slip
from canonym.ranking.letters import gain
from canonym.text import PLAIN, STRONG, UNORDERED, normalise
from canonym.text.memo import strong_forms
from canonym.text.qualifiers import (
    BROADER,
    QUALIFIERS,
    bare_name,
    is_finding,
    is_rest,
    is_unspecified,
)
from canonym.text.shape import ALNUM, shape_of
from canonym.text.short_forms import as_meant, is_short_form
from canonym.types import (
    CORRECTION,
    ONE_OF_SEVERAL,
    OTHER_READINGS,
    SCOPES,
    USUAL_READING,
    Candidate,
    Link,
    Step,
)

FloatArray = npt.NDArray[np.float64]

_USUAL_LEAD = 0.07  # in the middle fifth of what the shipped judge learned from
_USUAL_RELATIVE_LEAD = 0.18
_LEAST_ROOM, _LEAST_SIMILARITY = 1e-3, 1e-6

_SIEVES = ("verbatim", "normalised", "reordered")
_BARE = "reordered"  # what a name without its qualifiers counts as: all its words are there
_KNOWING = frozenset(sieve.name for sieve in SIEVES)

CONDITIONS = (
    *("small words alone", "names another", "a sign more or less", "unlikely slip", "lone slip"),
    *("rest of a class", "item lost", "items as one", "left open", "one of several"),
    *("usual of several", "unusual"),
)
"""What seldom holds, and then bounds how likely a link is to be right, see `conditions_of`."""

EVIDENCE: tuple[str, ...] = (
    *("similarity", "lead", "agreement", *_SIEVES, "shared", "alone", "contradicts"),
    *("words of the mention in the name", "words of the name in the mention", "letters"),
    *("words", "length", "digits", "short form", "words of the name"),
    *("words left over", "words missing", "narrower or close", "letters decide"),
    *("scope", "label"),
    *("known letters", "all known", "unknown letters", "corrected", "cut apart", "broader"),
    *("similarity across languages", "lead across languages", "density"),
    *("rise", "relative lead"),
    *CONDITIONS,
)
"""Everything that a judge may look at, see `evidence_of`."""

RELATIONS = ("rise", "relative lead")
_SIMILARITIES = (*EVIDENCE[:2], "similarity across languages", "lead across languages")
_CURVED = tuple(name for name in EVIDENCE if name not in CONDITIONS)
BY_SIMILARITIES = tuple(name for name in _CURVED if name not in RELATIONS)
BY_RELATIONS = tuple(name for name in _CURVED if name not in _SIMILARITIES)
"""What the curves of the judge of known encoders look at, and those of any."""

# Longer strings, and more words that differ, tell no more.
_MOST_WORDS, _MOST_NAME_WORDS, _MOST_LETTERS = 8, 10, 40
_MOST_LEFT, _MOST_MISSING = 5, 6
# What says nothing of a name in another language than the mention.
_OF_ONE_LANGUAGE = (
    *("similarity", "lead", "words of the mention in the name", "words of the name in the mention"),
    *("letters", "words left over", "words missing", "narrower or close", "letters decide"),
    *("known letters", "all known", "unknown letters"),
)
# Steps to another text, but for its spelling.
_REWRITTEN = (
    *("entities", "markup", "encoding", "abbreviation", "trial field", "drug line", "genus"),
    *("shorthand", "gloss", "finding", "space", "status", QUALIFIERS, BROADER),
)


_SPELT = tuple(name for name in STRONG if name in (*PLAIN, "possessive", "spelling"))


class Vocabulary(NamedTuple):
    """What a judge knows of a terminology and its encoders.

    `coverage` gives the share of a text in words that the terminology has, `density` is the
    logarithm of the number of names that a concept has on average, `background` is a similarity
    that other things have as well (`canonym.linking.background`). Similarities are cosines, or of
    the form ``1 / (1 + d)`` where they are `euclidean`.
    """

    coverage: Callable[[str], float]
    density: float
    background: float = 0.0
    euclidean: bool = False

    def distance(self, similarity: float) -> float:
        """Return how far a similarity is from that of the same name, as cosines are."""
        if self.euclidean:  # the square of a distance is to a cosine as 2 to what it lacks of 1
            return (1 / max(similarity, _LEAST_SIMILARITY) - 1) ** 2 / 2
        return max(1.0 - similarity, 0.0)


def rivals(link: Link) -> list[Candidate]:
    """Return the candidates behind the best one, without those that give way to it, and its kin."""
    best, *others = link.candidates
    wish = best.context.get(PREFERRED, 0.0)
    return [
        other
        for other in others
        if KIN not in other.context and other.context.get(PREFERRED, wish) >= wish
    ]


def _hides_rivals(link: Link) -> bool:
    """Tell whether kin come behind what a search found, and hide what comes behind them."""
    return link.candidates[0].sieve not in _KNOWING and any(
        KIN in other.context for other in link.candidates[1:2]
    )


def signs_of(link: Link) -> dict[str, float]:
    """Return what scores and sieves show of an undivided link with up to two candidates.

    The score of the best candidate; its margin to the second concept (the score, without one); the
    share of scorers that prefer it to the second (1 for a sieve, or without a second); one number
    per sieve, 1 if it decided; whether the second concept has the name too; whether there is no
    second; and whether its name contradicts the mention. Concepts that a caller prefers less than
    the best one, and that are called like it, are passed over.
    """
    best, others = link.candidates[0], rivals(link)
    sieved = best.sieve in _KNOWING
    sieve = _BARE if best.sieve == "bare" else best.sieve
    score = best.score
    if _is_spelt_otherwise(link):
        sieve, score = "verbatim", 1.0
    hidden = _hides_rivals(link)
    margin = best.score - others[0].score if others else best.score
    return {
        "score": score,
        "margin": _USUAL_LEAD if hidden else margin,
        "agreement": 1.0 if sieved or hidden or not others else _agreement(best, others[0]),
        **{name: float(sieve == name) for name in _SIEVES},
        "shared": float(sieved and bool(others) and _same_name(best, others[0])),
        "alone": float(not others and not hidden),
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

    Notes
    -----
    With the similarities ``s₁``, ``s₂`` and ``s₈`` of the first, second and eighth candidate and
    the background ``b`` the relative lead is ``(s₁ − s₂) / (1 − s₈)``, and the rise
    ``1 − (1 − s₁) / √((1 − s₈)(1 − b))``, from 0 to 1 (the same name): what is near may be one of
    many that are, and still not be what has nothing in common. An eighth below the background is
    taken to have that. Where vectors are compared by Euclidean distance, half its square stands for
    ``1 − s``.
    """
    best, others = link.candidates[0], rivals(link)
    signs = signs_of(link)
    room, distance = _room(link, vocabulary), vocabulary.distance
    away = math.sqrt(room * distance(vocabulary.background))
    is_spelt = best.sieve == "normalised" and signs["verbatim"] == 1  # see `_is_spelt_otherwise`
    text = best.name if is_spelt else link.searched or link.mention.text
    form, name = normalise(text), normalise(as_meant(best.name, text))
    words, name_words = set(form.split()), set(name.split())
    grams, name_grams = _grams(form), _grams(name)
    both = len(words & name_words)
    known = vocabulary.coverage(text if is_spelt else _as_written(link))
    steps = {step.name for step in link.steps}
    lead = best.score - others[0].score if others else 1.0
    ahead = distance(others[0].score) - distance(best.score) if others else 1.0
    relative_lead = min(ahead / room, 1.0)
    if best.sieve in _KNOWING:  # nothing else was looked for
        lead, signs["alone"] = math.nan, 0.0
    elif _hides_rivals(link):
        lead, relative_lead = _USUAL_LEAD, _USUAL_RELATIVE_LEAD
    elif others and _bare_form(best.name) == _bare_form(others[0].name):
        signs["agreement"], is_shared = 1.0, _same_words(best.name, others[0].name)
        # "Asthma NOS" is no rival of "Asthma", and what comes behind is not known.
        signs["shared"], lead = float(is_shared), math.nan if is_shared else _USUAL_LEAD
        relative_lead = _USUAL_RELATIVE_LEAD
    values = {
        **signs,
        "similarity": signs["score"],
        "lead": lead,
        "rise": 1.0 - min(distance(signs["score"]) / away, 1.0),
        "relative lead": lead if math.isnan(lead) else relative_lead,
        "words of the mention in the name": both / max(len(words), 1),
        "words of the name in the mention": both / max(len(name_words), 1),
        "letters": 2 * len(grams & name_grams) / max(len(grams) + len(name_grams), 1),
        "words": min(len(words), _MOST_WORDS),
        "length": min(len(form), _MOST_LETTERS),
        "digits": any(map(str.isdigit, form)),
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
        **conditions_of(link),
    }
    asked = [encoder for encoder, part in best.parts.items() if part]
    if asked and SEVERAL.issuperset(asked):
        values |= dict.fromkeys(_OF_ONE_LANGUAGE, math.nan)
        values |= {"similarity across languages": best.score, "lead across languages": lead}
    return np.array([values[name] for name in EVIDENCE], dtype=np.float64)


def _room(link: Link, vocabulary: Vocabulary) -> float:
    """Return how far the eighth candidate is from the same name.

    In a short list the eighth may be anything, and the background counts.
    """
    eighth = link.candidates[LOOKED_AT - 1 :][:1]
    floor = max(vocabulary.background, *(candidate.score for candidate in eighth), 0.0)
    return max(vocabulary.distance(floor), _LEAST_ROOM)


def _is_spelt_otherwise(link: Link) -> bool:
    """Tell whether a mention is the name but for British spelling or a possessive."""
    best, text = link.candidates[0], link.searched or link.mention.text
    return best.sieve == "normalised" and normalise(text, _SPELT) == normalise(best.name, _SPELT)


def _same_name(best: Candidate, second: Candidate) -> bool:
    """Tell whether a sieve found the second by the same name, and not by a part of the mention."""
    if second.sieve != best.sieve:
        return False
    if best.sieve == "bare":  # "X, unspecified" is what X means rather than "X (moderate)"
        return _is_narrower(second.name) <= _is_narrower(best.name)
    return _same_words(best.name, second.name)


def _is_narrower(name: str) -> bool:
    return (bare := bare_name(name)) is not None and bare.is_narrower


def _bare_form(name: str) -> str:
    """Return the normal form of a name without its qualifiers."""
    bare = bare_name(name)
    return strong_forms([name if bare is None else bare.text])[0]


def _same_words(name: str, other: str) -> bool:
    return normalise(name, UNORDERED) == normalise(other, UNORDERED)


def _agreement(best: Candidate, second: Candidate) -> float:
    """Return the share of encoders that prefer the best; of those that were asked."""
    asked = [name for name, part in best.parts.items() if part or second.parts.get(name)]
    ahead = sum(best.parts[name] > second.parts.get(name, -math.inf) for name in asked)
    return ahead / len(asked) if asked else 1.0


def _as_written(link: Link) -> str:
    """Return the mention before its spelling was corrected: what is corrected looks known."""
    texts = (step.after for step in since_split(link.steps) if step.name in _REWRITTEN)
    return next(texts, link.mention.text)


def _grams(text: str) -> set[str]:
    framed = f" {text} "
    return {framed[place : place + 3] for place in range(len(framed) - 2)}


# --- conditions -----------------------------------------------------------------------------------

_NEARLY = 0.9
_SIGNS = frozenset({"positive", "negative", "±"})
_CAPITALS, _ROMAN = frozenset(ascii_uppercase), frozenset("IVX")
_GRADED = frozenset(("grade", "stage"))
_UNSAID = SMALL | IMPLIED


def conditions_of(link: Link) -> dict[str, bool]:
    """Return which of `CONDITIONS` hold of an undivided link with a candidate.

    A search found a name that has the words of the mention, and small ones beside them; or one that
    says so much more or less that it may mean another thing. Only the name, or only the mention,
    has a sign: *PCOS+*. A word was corrected to one that it is no likely slip of (*coumadin* and
    *coumarin*); or it is all of the mention, and may be a name that the terminology lacks. The best
    is one of several that stand beside what the mention says: of *anemia NEC* the unspecified one,
    of *infections, splenomegaly* one of two. An abbreviation has several readings, of which this is
    the usual one, or an unusual one.
    """
    best, steps = link.candidates[0], {step.name for step in link.steps}
    against, is_corrected = best.against, CORRECTION in steps
    is_searched = best.sieve == "search" and not against.contradictions
    has_same_words = is_searched and _has_same_words(link, best)
    has_readings, is_usual = OTHER_READINGS in steps, USUAL_READING in steps
    conditions = (
        has_same_words,
        is_searched and not has_same_words and _is_another(link, best),
        not _SIGNS.isdisjoint((*against.left_over, *against.missing)),
        is_corrected and not all(map(_is_likely, link.steps)),
        is_corrected and len(link.mention.text.split()) == 1,
        _is_rest(link, best),
        _loses_item(link, best),
        _joins_items(link, best),
        _leaves_open(link, best),
        ONE_OF_SEVERAL in steps,
        has_readings and is_usual,
        has_readings and not is_usual,
    )
    return dict(zip(CONDITIONS, conditions, strict=True))


def _is_rest(link: Link, best: Candidate) -> bool:
    """Tell whether a mention is the rest of a class, or of a grade, and the best not specified.

    An "Unspecified intraventricular hemorrhage of newborn" is none of grade 3.
    """
    said = [step.before for step in link.steps if step.name == BROADER]
    label = best.label.lower()
    is_ungraded = label.startswith("unspecified") or label.endswith(", unspecified")
    is_ungraded |= "unspecified grade" in label or "unspecified stage" in label
    if is_ungraded and any(not _GRADED.isdisjoint(shape_of(text).words) for text in said):
        return True
    return any(map(is_rest, said)) and is_unspecified(best.label)


def _leaves_open(link: Link, best: Candidate) -> bool:
    """Tell whether a mention leaves open what the best label says, as another concept does.

    *Diabetes in pregnancy* need not be the gestational one.
    """
    words, said = _said_by([link.mention.text, best.label])
    if not words < said or "unspecified" in said:
        return False
    return words | {"unspecified"} in _said_by([other.label for other in link.candidates[1:]])


def _said_by(texts: Sequence[str]) -> list[set[str]]:
    return [{*form.split()} - _UNSAID for form in strong_forms(texts)]


def _loses_item(link: Link, best: Candidate) -> bool:
    """Tell whether a mention lists a finding that the best name lacks.

    *Infections, splenomegaly* are more than a splenomegaly.
    """
    if not _may_lose(link, best):
        return False
    forms = strong_forms([item for item in _items(link) if is_finding(item)])
    return any(set(best.against.left_over).issuperset(form.split()) for form in forms)


def _joins_items(link: Link, best: Candidate) -> bool:
    """Tell whether a mention lists findings alone, and the best name has other forms of them.

    *Hypotonia, seizures* are not "Hypotonic seizures".
    """
    against = best.against
    is_inflected = against.relation == "close" and not against.left_over and not against.missing
    is_other = is_inflected or any(map(_is_inflection, link.steps))
    return is_other and _may_lose(link, best) and all(map(is_finding, _items(link)))


def _is_inflection(step: Step) -> bool:
    """Tell whether a correction put other forms of words in their place."""
    if step.name != CORRECTION:
        return False
    pairs = zip(step.before.split(), step.after.split(), strict=False)
    return any(
        word != other and are_inflected(word.strip(","), other.strip(",")) for word, other in pairs
    )


def _may_lose(link: Link, best: Candidate) -> bool:
    return len(_items(link)) > 1 and (best.sieve == "search" or _is_corrected(link))


def _items(link: Link) -> list[str]:
    return [item for item in link.mention.text.split(", ") if item.strip(" ,")]


def _is_corrected(link: Link) -> bool:
    return any(step.name == CORRECTION for step in link.steps)


def _is_another(link: Link, best: Candidate) -> bool:
    """Tell whether the best name may mean another thing than the mention.

    A short form does that was not asked for, where the label says nothing that the mention does:
    *kidney failure, chronic* is no corticorelin, though "CRF" is a name of both. A short form of
    the mention that the name lacks may say anything: *TE fistula* is more than "Fistula".
    """
    text = link.searched or link.mention.text
    if names_another(best.against, best.name) or _leaves_short_form(best, text):
        return True
    if not is_short_form(best.name) or is_short_form(text):
        return False
    words, others = (
        {word[:4] for word in form.split()} for form in strong_forms([text, best.label])
    )
    return words.isdisjoint(others)


def _leaves_short_form(best: Candidate, text: str) -> bool:
    if best.against.relation != "broader" or text.isupper():
        return False
    return any(
        1 < len(word) < 6 and _CAPITALS.issuperset(word) and not _ROMAN.issuperset(word)
        for word in ALNUM.findall(text)
        if word.lower() in best.against.left_over
    )


def _is_likely(step: Step) -> bool:
    return step.name != CORRECTION or is_likely_slip(step.before, step.after)


def _has_same_words(link: Link, best: Candidate) -> bool:
    """Tell whether a search found a name with other small words: *right knee pain*, "Pain in …"."""
    against, text = best.against, link.searched or link.mention.text
    return (
        best.score >= _NEARLY
        and against.relation == "equal"
        and not against.left_over
        and _UNSAID.issuperset(against.missing)
        and not is_short_form(text)
        and all(step.name != CORRECTION for step in link.steps)
    )
