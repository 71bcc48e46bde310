"""Short forms that have one usual reading in notes: *HTN* is hypertension.

They are the rules of the kind "reading" of the book (`canonym.rules`), and say where they count. A
form in capitals has a plural (*UTIs*, *UTIS*) and is read in small letters, unless that is a word
(*sob*). One in small letters is read in any case (*fx*), one in both as it stands (*hypoK*), and so
is every form that counts beside other words alone. Its rule may have the words: *ca* beside *lung*.

What several specialties read in their own way, such as *MS*, *CP* or *CHD*, is in
`canonym.mentions.readings`, where a text chooses.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from canonym.regex import regex
from canonym.rules import Rule, any_of, current, once_a_book
from canonym.text.shape import HYPHENED, shape_of
from canonym.text.words import words_of_kind

BESIDE_WORDS, BESIDE_A_RESULT = "beside words", "beside a result"
ANYWHERE, LISTS, TEXTS = "", "list", "text"
"""Where a reading counts: beside others only, in a list, or in running text."""

_ALONE = (ANYWHERE, LISTS, TEXTS)
CAPITALS = regex(r"(?<![\w/+&.-])[A-Z]{2,5}(?![\w/+&-])")
"""Short forms in capitals."""

_FORM = regex(r"(?<![\w/+-])[^\W\d_]{2,8}\d?(?![\w/+-])")
_DETAILS = words_of_kind("degree") | words_of_kind("side")
_LEAST = 4  # letters of a beginning; shorter ones are words
LEAST_LETTERS = 3
"""Letters of a short form whose plural may have a capital S: *DVTS*."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, as they rise."""
    return sorted({word.lower() for word in HYPHENED.findall(text)})


def cell_of(text: str) -> list[str]:
    """Return the words of a cell that may choose a reading in any item, not how bad or where it is.

    >>> cell_of("RAS, severe left knee pain")
    ['knee', 'pain', 'ras']
    """
    if shape_of(text).there.isdisjoint(_forms()):
        return []
    return [word for word in words_of(text) if len(word) > 1 and word not in _DETAILS]


def begins(words: Sequence[str], stem: str) -> bool:
    """Tell whether one of words, which rise, begins with a stem; a short one is a word itself."""
    place = bisect_left(words, stem)
    if place == len(words):
        return False
    return words[place] == stem or (len(stem) >= _LEAST and words[place].startswith(stem))


def _forms_of(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield every form that a rule reads, and its reading."""
    short, reading = rule.form, rule.means
    forms = {short: reading}
    if rule.where == BESIDE_A_RESULT and not short.isupper():
        forms |= dict.fromkeys((short.lower(), short.upper()), reading)
    elif short.islower() and (rule.where in _ALONE or len(short) >= LEAST_LETTERS):
        forms |= dict.fromkeys((short.title(), short.upper()), reading)
    elif rule.where in _ALONE and short.isupper():
        plural = reading if reading.endswith("s") else f"{reading}s"
        forms[f"{short}s"] = plural
        others = (
            {} if rule.where == TEXTS else dict.fromkeys((short.lower(), short.title()), reading)
        )
        if len(short) >= LEAST_LETTERS and short[-1] != "S":
            others[f"{short}S"] = plural
        words = rule.unless.split()
        forms |= {form: text for form, text in others.items() if form.lower() not in words}
    return iter(forms.items())


@once_a_book
def _readings() -> Mapping[str, Mapping[str, str]]:
    """Return the reading of every form, by where it counts."""
    rules = current().of_kind("reading")
    own = {rule.form for rule in (*rules, *current().of_kind("one of several"))}
    readings: dict[str, dict[str, str]] = {}
    for rule in rules:
        for form, reading in _forms_of(rule):
            if form in own and form != rule.form:  # HLHS is more than one HLH
                continue
            # In a text *Ida* is a name.
            is_name = rule.where == ANYWHERE and rule.form.isupper() and form.istitle()
            place = LISTS if is_name else rule.where
            readings.setdefault(place, {}).setdefault(form, reading)
    return readings


@once_a_book
def _in_lists() -> Mapping[str, str]:
    return {**_readings().get(LISTS, {}), **_readings().get(ANYWHERE, {})}


@once_a_book
def text_readings() -> Mapping[str, str]:
    """Return the reading of every form that is read in running text."""
    return {**_readings().get(TEXTS, {}), **_readings().get(ANYWHERE, {})}


@once_a_book
def _within() -> Mapping[str, Sequence[Rule]]:
    """Return the readings of every form beside others, the first of them last."""
    within: dict[str, list[Rule]] = {}
    for rule in reversed(current().of_kind("reading")):
        for form, _ in _forms_of(rule) if rule.where == BESIDE_WORDS else ():
            within.setdefault(form, []).append(rule)
    return within


@once_a_book
def _tested() -> re.Pattern[str]:
    # Next to each other: the result in *high-risk ALT* and *low back pain, HR* is of another thing.
    return re.compile(
        rf"(?<![\w-])(?i:{any_of('result')})\s+([^\W\d_]{{2,5}})(?![\w/+-])"
        rf"|(?<![\w/+-])([^\W\d_]{{2,5}})\s+(?i:{any_of('result')})(?![\w-])"
    )


@once_a_book
def _forms() -> frozenset[str]:
    """Return every form in small letters."""
    tests = _readings().get(BESIDE_A_RESULT, {})
    return frozenset(form.lower() for form in (*_in_lists(), *_within(), *tests))


def usual_reading(text: str, cell: Sequence[str] = ()) -> str:
    """Return a mention with its clinical abbreviations written out, "" where it has none.

    The words of the `cell` that it is part of, which rise, may choose a reading too.

    >>> usual_reading("HTN, uncontrolled"), usual_reading("fx left wrist"), usual_reading("OA")
    ('hypertension, uncontrolled', 'fracture left wrist', '')
    >>> usual_reading("DNS", ["dns", "snoring"])
    'deviated nasal septum'
    """
    if shape_of(text).there.isdisjoint(_forms()):
        return ""
    usual, words = _in_lists(), _FORM.findall(text)
    readings = {word: usual[word] for word in words if word in usual}
    others, is_alone = sorted({*words_of(text), *cell}), len(text.split()) == 1
    if len(others) > 1:
        readings.update(
            (word, rule.means)
            for word in words
            for rule in _within().get(word, ())
            if any(begins(others, stem) for stem in rule.beside) or not (rule.beside or is_alone)
            if not any(begins(others, stem) for stem in rule.unless.split())
        )
    if not is_alone:
        tests = _readings().get(BESIDE_A_RESULT, {})
        beside = itertools.chain.from_iterable(_tested().findall(text))
        readings.update((test, tests[test]) for test in beside if test in tests)
    if not readings:
        return ""
    return _FORM.sub(lambda match: readings.get(match[0], match[0]), text)
