"""Short forms that have one usual reading in notes: *HTN* is hypertension.

They are the rules of the kind "reading" of the book (`canonym.rules`), and say where they count. A
form in capitals also has a plural, and is read in small letters unless these are a word (*sob*).
One in small letters is read in any case (*fx*), and one in both as it stands (*hypoK*).

What several specialties read in their own way, such as *MS*, *CP* or *CHD*, is in
`canonym.mentions.readings`, where a text chooses.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

from canonym.regex import regex
from canonym.rules import Rule, current, once_a_book

BESIDE_WORDS, BESIDE_A_RESULT = "beside words", "beside a result"
ANYWHERE, LISTS, TEXTS = "", "list", "text"
"""Where a reading counts: beside others only, in a list, or in running text."""

_ALONE = (ANYWHERE, LISTS, TEXTS)
_WORD = regex(r"(?<![\w/+-])[^\W\d_]{2,8}(?![\w/+-])")


def _forms_of(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield every form that a rule reads, and its reading."""
    short, reading = rule.form, rule.means
    yield short, reading
    if rule.where not in _ALONE:
        return
    if short.islower():
        yield from ((form, reading) for form in (short.title(), short.upper()))
    elif short.isupper():
        yield f"{short}s", reading if reading.endswith("s") else f"{reading}s"
        if rule.where != TEXTS and short.lower() not in rule.unless.split():
            yield short.lower(), reading


@once_a_book
def _readings() -> Mapping[str, Mapping[str, str]]:
    """Return the reading of every form, by where it counts."""
    readings: dict[str, dict[str, str]] = {}
    for rule in current().of_kind("reading"):
        of_place = readings.setdefault(rule.where, {})
        for form, reading in _forms_of(rule):
            of_place.setdefault(form, reading)
    return readings


@once_a_book
def _in_lists() -> Mapping[str, str]:
    readings = _readings()
    return {**readings.get(LISTS, {}), **readings.get(ANYWHERE, {})}


@once_a_book
def text_readings() -> Mapping[str, str]:
    """Return the reading of every form that is read in running text."""
    readings = _readings()
    return {**readings.get(TEXTS, {}), **readings.get(ANYWHERE, {})}


@once_a_book
def results() -> str:
    """Return what a test may be, such as *elevated*, as part of a regular expression."""
    return "|".join(re.escape(rule.form) for rule in current().of_kind("result"))


@once_a_book
def _tested() -> re.Pattern[str]:
    # Next to each other: the result in *high-risk ALT* and *low back pain, HR* is of something else.
    return re.compile(
        rf"(?<![\w-])(?i:{results()})\s+([^\W\d_]{{2,4}})(?![\w/+-])"
        rf"|(?<![\w/+-])([^\W\d_]{{2,4}})\s+(?i:{results()})(?![\w-])"
    )


def usual_reading(text: str) -> str:
    """Return a mention with its clinical abbreviations written out, "" where it has none.

    >>> usual_reading("HTN, uncontrolled"), usual_reading("fx left wrist"), usual_reading("OA")
    ('hypertension, uncontrolled', 'fracture left wrist', '')
    """
    usual, words = _in_lists(), _WORD.findall(text)
    readings = {word: usual[word] for word in words if word in usual}
    if len(text.split()) > 1:
        within = _readings().get(BESIDE_WORDS, {})
        readings.update((word, within[word]) for word in words if word in within)
        tests = _readings().get(BESIDE_A_RESULT, {})
        beside = itertools.chain.from_iterable(_tested().findall(text))
        readings.update((test, tests[test]) for test in beside if test in tests)
    if not readings:
        return ""
    return _WORD.sub(lambda match: readings.get(match[0], match[0]), text)
