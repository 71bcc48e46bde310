"""Headings in a cell: *CC: cough. Dx: asthma*, *Allergies: latex*, *S: … O: … A: … P: …*."""

from __future__ import annotations

import re
from collections.abc import Sequence

from canonym.mentions.clinical import usual_reading
from canonym.mentions.cues import find_cues
from canonym.mentions.lists import listing_of
from canonym.regex import regex
from canonym.rules import Rule, any_of, current, once_a_book, phrase_expression
from canonym.text.shape import BRACKETED, LETTERS

__all__ = ["completed", "sections"]

_SOAP = regex(r"\s(?=[SOAP]: )")  # subjective, objective, assessment, plan


def completed(text: str) -> tuple[str, ...]:
    """Return what stands below a heading whose word belongs to each item, none where none does.

    >>> completed("Allergies: PCN (rash), latex"), completed("Mets - lung (?)")
    (('PCN allergy', 'latex allergy'), ('? lung metastases',))
    >>> completed("Allergies: NKDA"), completed("Allergies: latex (not confirmed)")
    ((), ())
    """
    may_be_headed = ": " in text or "- " in text or "\u2013 " in text
    for rule, heading in _completing() if may_be_headed else ():
        match = heading.match(text.lstrip())
        if match is None or ":" in (rest := text.lstrip()[match.end() :]):
            continue
        plain = BRACKETED.sub(lambda remark: " ?" * ("?" in remark[0]), rest.replace(";", ","))
        listing = listing_of(" ".join(plain.split()))
        pieces = [*filter(LETTERS.search, (plain,) if listing is None else listing.pieces)]
        items = [piece.partition(" - ")[0].strip() for piece in pieces]  # "latex - rash"
        # What is said of an item, or that there is none, as "NKDA" does, is read elsewhere.
        said = (
            cue.rule.flags for it in (rest, *map(usual_reading, items)) for cue in find_cues(it)
        )
        asks = ("? " if "?" in piece else "" for piece in pieces)
        names = (rule.means.replace("X", item.strip("? ")) for item in items)
        return () if any(said) else tuple(map(str.__add__, asks, names))
    return ()


def sections(text: str) -> tuple[str, ...]:
    """Cut a cell at headings behind others; those of the patient beside others are left out.

    >>> sections("CC: cough. Dx: asthma"), sections("PGF - colon ca. Own: polyps")
    (('CC: cough', 'Dx: asthma'), ('PGF - colon ca', 'polyps'))
    >>> sections("S: cough A: asthma")
    ('S: cough', 'A: asthma')
    """
    if ":" not in text:
        return (text,)
    return tuple((_SOAP if _SOAP.match(f" {text}") else _headings()).split(text))


@once_a_book
def _headings() -> re.Pattern[str]:
    return re.compile(
        rf"(?<=[\w)])[.,;]*\s+(?i:{any_of('heading of oneself')})\s*:\s*"
        r"|(?<=[\w)+])(?:[.;]\s+|\s{2,}|\s*\n)(?=(?:[A-Z][\w/&]+(?: [\w/&]+){0,2}|[+-]ve) ?:\s)"
    )


@once_a_book
def _completing() -> Sequence[tuple[Rule, re.Pattern[str]]]:
    """Return the headings that complete their items, each with its rule."""
    rules, ends = current().of_kind("heading of its items"), r"(?: ?:| [-\u2013]) "
    forms = (f"(?:{phrase_expression(rule.form)}){ends}" for rule in rules)
    return [*zip(rules, (re.compile(form, re.IGNORECASE) for form in forms), strict=True)]
