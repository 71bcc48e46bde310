"""Findings in plain words: *low potassium* is hypokalemia.

Similarity knows that both speak of a laboratory, and hardly which way a value went. Here the words
of a direction and of what is measured make the name that clinicians have for it. What is measured,
and what may be inflamed, are rules of the book.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from canonym.regex import regex
from canonym.rules import current, once_a_book
from canonym.text.shape import shape_of
from canonym.text.words import forms_of, words_of_kind

_INFLAMMATION = regex(
    r"(?P<how>(?:acute|chronic|subacute) )?(?:inflammation(?: of(?: the| an?)?|,)? (?P<organ>.+)"
    r"|inflamed (?P<inflamed>.+)|(?P<before>.+) inflammation)"
)
_OF_BLOOD = words_of_kind("measured where blood is named")
_LOW, _RAISED = forms_of("low value"), forms_of("raised value")
_DIRECTION = rf"(?:(?P<low>{_LOW})|{_RAISED}|{forms_of('rising value')})"
_SAYING = frozenset(  # of which each text has one
    ("urine", "urinary", *_LOW.split("|"), *_RAISED.split("|"), *words_of_kind("rising value"))
)
_AMOUNT = f"(?:{forms_of('amount of what is measured')})"
_VERY = "(?:(?:abnormally|very|too) )?"
_HIGH = f"{_VERY}(?:{_RAISED})"


def _table(kind: str) -> dict[str, str]:
    """Return what each word of the forms of a kind means, the first rule of it."""
    table: dict[str, str] = {}
    for rule in current().of_kind(kind):
        for word in rule.form.split("|"):
            table.setdefault(word, rule.means)
    return table


class _Tables(NamedTuple):
    """What is measured or inflamed, by the rules of the book, and the texts that say so."""

    blood: dict[str, str]
    named: dict[str, str]
    urine: dict[str, str]
    organs: list[tuple[re.Pattern[str], str]]
    finding: re.Pattern[str]
    in_urine: re.Pattern[str]
    high_in_urine: re.Pattern[str]


@once_a_book
def _tables() -> _Tables:
    blood, named, urine = map(_table, ("in blood", "measured", "in urine"))
    measured = rf"(?P<what>{'|'.join(urine)})s?(?: {_AMOUNT})?"
    before = measured.replace("what", "of")
    what = "|".join((*blood, *named))
    return _Tables(
        blood,
        named,
        urine,
        [(re.compile(rule.form), rule.means) for rule in current().of_kind("inflamed")],
        re.compile(
            rf"(?:(?:finding|observation) of )?{_VERY}{_DIRECTION}"
            rf"(?: in| of)?(?: {_AMOUNT} of)?"
            rf"(?P<fluid> blood| serum| plasma| circulating)? (?P<what>{what})"
            rf"s?(?: {_AMOUNT})?(?P<place>(?: in (?:the )?|, )(?:blood|serum|plasma))?"
        ),
        re.compile(rf"(?:{_HIGH} )?{measured} in (?:the )?urine"),
        # Without a direction this is a test, and no finding.
        re.compile(rf"{_HIGH} (?:{measured}(?:,)? urine|(?:urine|urinary) {before})"),
    )


def finding_name(text: str) -> str:
    """Return what clinicians call a finding in plain words, "" for any other text.

    >>> finding_name("inflammation of the skin"), finding_name("chronic liver inflammation")
    ('dermatitis', 'chronic hepatitis')
    >>> finding_name("low plasma glucose"), finding_name("inflammation marker")
    ('hypoglycemia', '')
    """
    if "inflam" in text.lower():
        match = _INFLAMMATION.fullmatch(" ".join(text.lower().split()))
        organ = (match["organ"] or match["inflamed"] or match["before"]) if match else ""
        name = next((name for form, name in _tables().organs if form.fullmatch(organ)), "")
        return f"{match['how'] or ''}{name}" if match and name else ""
    return measurement_name(text)


def measurement_name(text: str) -> str:
    """Return what clinicians call a value that is too low or too high; "" for any other text.

    >>> measurement_name("low plasma glucose"), measurement_name("Elevated platelet count")
    ('hypoglycemia', 'thrombocytosis')
    >>> measurement_name("blood in the urine"), measurement_name("low back pain")
    ('hematuria', '')
    >>> measurement_name("high glucose, urine"), measurement_name("low sodium in urine")
    ('glycosuria', '')
    """
    if _SAYING.isdisjoint(shape_of(text).there):
        return ""
    plain = " ".join(text.lower().replace("-", " ").split())
    tables = _tables()
    if match := tables.in_urine.fullmatch(plain) or tables.high_in_urine.fullmatch(plain):
        return tables.urine.get(match.groupdict().get("of") or match["what"], "")
    match = tables.finding.fullmatch(plain)
    if match is None:
        return ""
    what, is_low = match["what"], match["low"] is not None
    if what in _OF_BLOOD and not (match["fluid"] or match["place"]):
        return ""
    if names := tables.named.get(what):
        return names.split("/")[0 if is_low else 1]
    return f"{'hypo' if is_low else 'hyper'}{tables.blood[what]}emia"
