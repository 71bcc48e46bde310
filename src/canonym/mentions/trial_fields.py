"""Clean the fields of clinical-trial records: doses, forms, schedules, arms, combinations."""

from __future__ import annotations

import re

from canonym.mentions.drug_lines import (
    AMOUNT,
    CODE,
    DOSE,
    EDGES,
    ROUTE,
    SCHEDULE,
    form_of,
    trimmed,
)
from canonym.regex import GAP, regex
from canonym.rules import once_a_book
from canonym.text.words import forms_of, words_of_kind

_KINDS = words_of_kind("kind of intervention")
_COMBINATION = regex(forms_of("combination"), re.IGNORECASE)
_JOINTS = regex(
    r"(?<!\s)\s+(?:(?:plus|vs\.?|versus|followed\s+by|alternating\s+with)\s+(?!host\b)|\+\s*)"
    r"|(?<=[a-z]{3})\+\s*(?=\w{3})",  # but not the charge in "Na+ channel" and "CD4+ cells"
    re.IGNORECASE,
)
_LIST = regex(rf"{GAP}(?:,|;|/|&|\band\b|\bwith\b)\s*", re.IGNORECASE)

_DOSE = rf"{DOSE}|{AMOUNT}\s*(?:[mn]?l|dl|ppm|percent|cfu|pfu|actuat)\b"
_TIMES = rf"{SCHEDULE}|\bbiweekly\b|\bfor\s+\d+\s*cycles?\b|\bon\s+days?\s+[\d,\s and–-]+"
_ARMS = forms_of("arm of a trial")


@once_a_book
def _noise() -> re.Pattern[str]:
    forms = rf"\b(?:{form_of('alone behind release')}|injections?|infusions?|patch(?:es)?)(?=\W|$)"
    return re.compile("|".join((CODE, _DOSE, _TIMES, forms, _ARMS)), re.IGNORECASE)


_ROUTE = regex(ROUTE, re.IGNORECASE)
_COUNTED = tuple(words_of_kind("word before a number"))


def clean_trial_field(text: str) -> tuple[str, ...]:
    """Strip a trial's condition or intervention down to the names in it, several for a combination.

    A piece of which nothing would be left is returned unchanged. Miftahutdinov et al. (2021, §5.1)
    take a mention with *combination*, *combine*, *combined*, *plus*, *vs* or *+* for composite.
    After *combination*, commas, slashes, *and* and *with* separate as well;
    elsewhere they do not, as in "hand, foot and mouth disease".

    >>> clean_trial_field("Drug: Ibuprofen 600 mg tab")
    ('Ibuprofen',)
    >>> clean_trial_field("combination of ribociclib + capecitabine")
    ('ribociclib', 'capecitabine')
    """
    kind, colon, name = text.partition(":")
    text = " ".join((name if colon and kind.strip().lower() in _KINDS else text).split())
    pieces = []
    for chunk in _JOINTS.split(text):
        announced = _COMBINATION.search(chunk)
        pieces.extend(_LIST.split(_COMBINATION.sub(",", chunk)) if announced else [chunk])
    worded = [piece for piece in pieces if any(letter.isalnum() for letter in piece)]
    cleaned = (_strip(piece) for piece in worded or pieces)
    return tuple(dict.fromkeys(piece for piece in cleaned if piece)) or ((text,) if text else ())


def _strip(piece: str) -> str:
    bare, n_removed = _noise().subn(" ", piece)
    # "Oral cancer" and "stage IV" name no route: one is taken for a route beside a dose or a form,
    # or at the end.
    for route in reversed([*_ROUTE.finditer(bare)]):
        before, behind = bare[: route.start()], bare[route.end() :]
        is_last = not behind.strip() and not before.rstrip().lower().endswith(_COUNTED)
        if n_removed or is_last:
            bare = f"{before} {behind}"
    bare = trimmed(bare)
    return bare if any(letter.isalpha() for letter in bare) else piece.strip(EDGES)
