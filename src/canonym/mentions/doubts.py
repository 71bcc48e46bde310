"""Doubts about a link, and the few certainties, whatever the curves of the judge say of it."""

from __future__ import annotations

from collections.abc import Sequence

from canonym.mentions.additions import names_another
from canonym.mentions.opposites import IMPLIED, SMALL
from canonym.mentions.slips import is_likely_slip
from canonym.regex import regex
from canonym.text.memo import strong_forms
from canonym.text.qualifiers import BROADER, is_finding, is_rest, is_unspecified
from canonym.text.short_forms import is_short_form
from canonym.types import (
    CORRECTION,
    ONE_OF_SEVERAL,
    OTHER_READINGS,
    USUAL_READING,
    Candidate,
    Link,
    Step,
)

CONTRADICTED = 0.5
"""A candidate whose name contradicts the mention is never more likely than this."""

UNUSUAL = 0.25
"""An abbreviation that usually stands for something else is never more likely to be right than
this: of 19 in two corpora, 5 meant the concept that has it as a name."""

USUAL = 0.5
"""So likely at most is the usual reading of an abbreviation of several that is no name itself: of
28 in two corpora, 16 meant it."""

BESIDE = 0.5
"""So likely at most is one of several that stand beside what a mention says: of *subarachnoid
hemorrhage* the traumatic one where there is a nontraumatic one too, of *anemia NEC* the unspecified
one."""

ANOTHER = 0.6
"""A name that says so much more or less than a mention that it may mean another thing
(`canonym.mentions.additions`) is never more likely than this: of 128 such names, 82 were right."""

SIGNED = 0.9
"""A name is never more likely than this where only it, or only the mention, has a sign: *PCOS+*."""

FAR_SLIP = 0.5
"""A word that is no likely slip of the one that it was corrected to (`is_likely_slip`) is never
more likely to be that than this: *coumadin* is no *coumarin*, and an *enema* no *edema*."""

LONE_SLIP = 0.9
"""A mention of one word that was corrected is never more likely than this: what looks misspelt may
be a name that the terminology lacks. Of 95 such names of drugs, 82 were right, and some 5 more by
their letters."""

SAME_WORDS = 0.8
"""A name that has the words of the mention and small ones beside them is never less likely than
this, however near a name with fewer is: of 17 such names in two corpora, 14 were right."""

_NEARLY = 0.9
_SIGNS = frozenset({"positive", "negative", "±"})
_SHORT = regex(r"(?<![^\W_])(?![IVX]+(?![^\W_]))[A-Z]{2,5}(?![^\W_])")
_GRADED = regex(r"(?i)\b(?:grade|stage)\b")
_UNGRADED = regex(r"(?i)^unspecified\b|, unspecified$|\bunspecified (?:grade|stage)\b")
_UNSAID = SMALL | IMPLIED


def bounded(link: Link, probability: float) -> float:
    """Return a probability of the best candidate that keeps within these bounds."""
    best = link.candidates[0]
    if best.against.contradictions:
        probability = min(probability, CONTRADICTED)
    elif _has_same_words(link, best):
        probability = max(probability, SAME_WORDS)
    elif probability > ANOTHER and best.sieve == "search" and _is_another(link, best):
        probability = ANOTHER
    if not _SIGNS.isdisjoint((*best.against.left_over, *best.against.missing)):
        probability = min(probability, SIGNED)
    steps = {step.name for step in link.steps}
    if CORRECTION in steps:
        alone = len(link.mention.text.split()) == 1
        most = (LONE_SLIP if alone else 1.0) if all(map(_is_likely, link.steps)) else FAR_SLIP
        probability = min(probability, most)
    unsaid = _is_rest(link, best) or _loses_item(link, best) or _leaves_open(link, best)
    if ONE_OF_SEVERAL in steps or unsaid:
        probability = min(probability, BESIDE)
    if OTHER_READINGS in steps:
        probability = min(probability, USUAL if USUAL_READING in steps else UNUSUAL)
    return probability


def _is_rest(link: Link, best: Candidate) -> bool:
    """Tell whether a mention is the rest of a class, or of a grade, and the best not specified.

    An "Unspecified intraventricular hemorrhage of newborn" is none of grade 3.
    """
    said = [step.before for step in link.steps if step.name == BROADER]
    if any(map(_GRADED.search, said)) and _UNGRADED.search(best.label):
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
    """Tell whether a mention lists findings, and the best name has not all of them as they are.

    *Infections, splenomegaly* are more than a splenomegaly, and *hypotonia, seizures* are no
    "Hypotonic seizures".
    """
    pieces = [piece for piece in link.mention.text.split(", ") if piece.strip(" ,")]
    findings = [piece for piece in pieces if is_finding(piece)]
    is_corrected = any(step.name == CORRECTION for step in link.steps)
    if not (best.sieve == "search" or is_corrected) or len(pieces) < 2 or not findings:
        return False
    against = best.against
    if any(set(against.left_over).issuperset(form.split()) for form in strong_forms(findings)):
        return True
    is_inflected = against.relation == "close" and not against.left_over and not against.missing
    return (is_inflected or is_corrected) and findings == pieces


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
    return not set(best.against.left_over).isdisjoint(map(str.lower, _SHORT.findall(text)))


def _is_likely(step: Step) -> bool:
    return step.name != CORRECTION or is_likely_slip(step.before, step.after)


def _has_same_words(link: Link, best: Candidate) -> bool:
    """Tell whether a search found a name with other small words: *right knee pain*, "Pain in …"."""
    against, text = best.against, link.searched or link.mention.text
    return (
        best.sieve == "search"
        and best.score >= _NEARLY
        and against.relation == "equal"
        and not against.left_over
        and _UNSAID.issuperset(against.missing)
        and not is_short_form(text)
        and all(step.name != CORRECTION for step in link.steps)
    )
