"""Links that may be accepted unseen: one rule for the service, for reviews and for exports."""

from __future__ import annotations

from collections.abc import Callable, Container

from canonym.linking.settings import IDS
from canonym.text import PLAIN, normalise
from canonym.text.qualifiers import BROADER, QUALIFIERS
from canonym.text.short_forms import is_short_form
from canonym.types import CORRECTION, USUAL_READING, Candidate, Link

LEAST_CONFIDENCE = 0.85
"""From this confidence on a link is certain; chosen on dev parts by ``benchmarks/match.py``."""

LEAST_MARGIN = 0.03
"""What the similarity of every other concept has to lack to that of a verbatim name."""

_TRUSTED = {"label", "exact"}
_HARMLESS = {"abbreviation", "encoding", "markup", QUALIFIERS, *PLAIN}
_HARMLESS_FOR_IDS = {*_HARMLESS, "code", "replaced"}


def can_auto_accept(
    link: Link,
    least: float = LEAST_CONFIDENCE,
    *,
    added: Container[tuple[str, str]] = (),
    is_below: Callable[[str, str], bool] | None = None,
) -> bool:
    """Tell whether the best candidate of a link may be accepted unseen.

    The link was made with ``k`` of at least 2, so that a homonym is among its candidates. Where it
    has a confidence, `least` is the least that will do, from 0 to 1. `added` are names that people
    added to the index, each with the id of its concept. `is_below` tells whether the concept of the
    first id stands below that of the second.

    Notes
    -----
    An id is certain where it is that of one concept, and nothing beside it says something else.
    A name that a person added is certain where no other concept has it. A short form such as "DM"
    is not: it stands for something else in the next text. Nor is anything where another concept has
    nearly the name, with a similarity above ``1 - LEAST_MARGIN``. A concept below the best one has
    to have the name itself: "Migraine, unspecified" is no rival of "Migraine". Otherwise the
    confidence decides between names with the same words. A name with a word more or less may be
    that of a neighbour, however sure a link is: *Clostridium tetani* is no *C. tetanomorphum*. Nor
    is a word certain that was corrected, filled in or left out. Where a link has no confidence, the
    mention has to be verbatim the label or an exact name. Composite mentions, those with a status
    and NIL are never certain, nor is a candidate whose name contradicts the mention
    (`canonym.types.Against`); such a candidate is no rival either.

    Examples
    --------
    >>> from canonym.types import Mention
    >>> found = Candidate("T:1", "Myocardial infarction", 1.0, "Heart attack", sieve="verbatim")
    >>> link = Link(Mention("heart attack"), (found,), searched="heart attack")
    >>> can_auto_accept(link)
    True
    """
    if link.id is None or link.parts or link.status:
        return False
    best = link.candidates[0]
    if best.against.contradictions:
        return False
    if best.sieve == IDS:
        return is_by_id(link, best) and all(
            candidate.sieve != IDS for candidate in link.candidates[1:]
        )
    verbatim = is_verbatim(link, best)
    rivals = [
        candidate for candidate in link.candidates[1:] if not candidate.against.contradictions
    ]
    if verbatim and (best.name, best.id) in added:
        return all(rival.sieve != "verbatim" for rival in rivals)
    if is_short_form(link.searched or link.mention.text) or is_short_form(best.name):
        return False
    near = (rival for rival in rivals if rival.score > 1 - LEAST_MARGIN)
    narrower = is_below or (lambda _, __: False)
    if any(rival.sieve != "search" or not narrower(rival.id, best.id) for rival in near):
        return False
    if link.confidence is None:
        return verbatim
    guessed = any(step.name in (CORRECTION, USUAL_READING, BROADER) for step in link.steps)
    same = best.against.relation == "equal" and not guessed
    return same and link.confidence >= least


def is_by_id(link: Link, candidate: Candidate) -> bool:
    """Tell whether the mention of a link is an id of one of its candidates, and says no more."""
    return (
        candidate.sieve == IDS
        and candidate.score >= 1
        and all(step.name in _HARMLESS_FOR_IDS for step in link.steps)
    )


def is_verbatim(link: Link, candidate: Candidate) -> bool:
    """Tell whether the mention of a link is the label or an exact name of one of its candidates.

    It is so up to case and punctuation, without qualifiers such as *NOS*, and with the
    abbreviations of its document written out. A corrected spelling is not verbatim.
    """
    return (
        candidate.sieve == "verbatim"
        and candidate.scope in _TRUSTED
        and not candidate.against.contradictions
        and normalise(candidate.name) == normalise(link.searched or link.mention.text)
        and all(step.name in _HARMLESS for step in link.steps)
    )
