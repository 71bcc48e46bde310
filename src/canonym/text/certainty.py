"""Links that may be accepted unseen: one rule for the service, for reviews and for exports."""

from __future__ import annotations

from collections.abc import Container

from canonym.text import PLAIN, normalise
from canonym.text.short_forms import is_short_form
from canonym.types import Candidate, Link

LEAST_CONFIDENCE = 0.85
"""From this confidence on a link is certain; chosen on dev parts by ``benchmarks/match.py``."""

LEAST_MARGIN = 0.05
"""Without a confidence: how far the second concept has to be from having the name as well."""

_TRUSTED = {"label", "exact"}
_HARMLESS = {"abbreviation", *PLAIN}


def is_certain(
    link: Link,
    least: float = LEAST_CONFIDENCE,
    *,
    added: Container[tuple[str, str]] = (),
) -> bool:
    """Tell whether the best candidate of a link may be accepted unseen.

    Parameters
    ----------
    link : Link
        Made with ``k`` of at least 2, so that a homonym is among its candidates.
    least : float
        Where the link has a confidence, the least that will do, from 0 to 1.
    added : container of (str, str)
        Names that people added to the index, each with the id of its concept.

    Notes
    -----
    A name that a person added is certain where no other concept has it. A short form such as "DM"
    is not: it stands for something else in the next text. Otherwise the confidence decides. Where
    the index has none, the mention has to be verbatim the label or an exact name of one concept
    alone, and the similarity of the second concept at most ``1 - LEAST_MARGIN``. Composite mentions
    and NIL are never certain.

    Examples
    --------
    >>> from canonym.types import Mention
    >>> found = Candidate("T:1", "Myocardial infarction", 1.0, "Heart attack", sieve="verbatim")
    >>> link = Link(Mention("heart attack"), (found,), searched="heart attack")
    >>> is_certain(link)
    True
    """
    if link.id is None or link.parts:
        return False
    best = link.candidates[0]
    if _has_name_alone(link) and (best.name, best.id) in added:
        return True
    if is_short_form(link.searched or link.mention.text) or is_short_form(best.name):
        return False
    if link.confidence is not None:
        return link.confidence >= least
    second = max((one.similarity for one in link.candidates[1:]), default=0.0)
    return _has_name_alone(link) and second <= 1 - LEAST_MARGIN


def is_verbatim(link: Link, candidate: Candidate) -> bool:
    """Tell whether the mention of a link is the label or an exact name of one of its candidates.

    It is so up to case and punctuation, and with the abbreviations of its document written out. A
    corrected spelling is not verbatim.
    """
    return (
        candidate.sieve == "verbatim"
        and candidate.scope in _TRUSTED
        and normalise(candidate.name) == normalise(link.searched or link.mention.text)
        and all(step.name in _HARMLESS for step in link.steps)
    )


def _has_name_alone(link: Link) -> bool:
    best, *others = link.candidates
    return is_verbatim(link, best) and all(one.sieve != "verbatim" for one in others)
