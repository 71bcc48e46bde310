"""Abbreviations of several readings in running text: *MS* is sclerosis, a valve, a drug or a state.

The other words of a text choose. Each reading has words that stand beside it, given by how they
begin. The reading with most of them is meant; without any, or where two have as many, the
abbreviation is left alone. Some readings are no concept of medicine, such as the guidelines of
the *ICH*: they are here so that nothing else is read. Where a list has an abbreviation alone, its
readings are what it may stand for.

They are the rules of the kind "one of several" of the book (`canonym.rules`), the more usual first.
`canonym.mentions.clinical` has the abbreviations of one usual reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from canonym.mentions.clinical import LEAST_LETTERS, begins, text_readings, words_of
from canonym.mentions.shorthand import diabetes_name
from canonym.regex import regex
from canonym.rules import current, once_a_book
from canonym.text.shape import HYPHENED


class _Reading(NamedTuple):
    """A reading of an abbreviation, with the beginnings of words beside it, which rise."""

    text: str
    beside: tuple[str, ...]
    share: float


@once_a_book
def _several() -> Mapping[str, tuple[_Reading, ...]]:
    readings: dict[str, tuple[_Reading, ...]] = {}
    for rule in current().of_kind("one of several"):
        own = (word.lower() for word in HYPHENED.findall(rule.means) if len(word) > _LEAST)
        beside = tuple(sorted({*rule.beside, *own}))
        reading = _Reading(rule.means, beside, rule.share or 0)
        readings[rule.form] = (*readings.get(rule.form, ()), reading)
    return readings


@once_a_book
def _without_usual() -> frozenset[str]:
    return frozenset(rule.form for rule in current().of_kind("no usual reading"))


_ALL_NOTES = 3  # collections of notes


# A number behind makes a substance of it, "PSC 833", unless it is a dose.
_SHORT = regex(
    r"(?<![\w/+&.-])[^\W\d_]{2,8}\d?(?![\w/+&-]|[ ]\d{2}(?!\d*[ ]?(?:m?c?g|m[lL]|mEq|units?|%)\b))"
)
_LEAST = 4  # letters of a word of a reading that speaks for nothing
_NEARLY_ALL = 0.9  # no word of another item unseats that: *OA hips; glaucoma*
_LONGEST_CELL = 1_000  # characters of a cell and the text beside it
_LONGEST = 10  # characters of a type of diabetes in short


def clinical_readings(text: str) -> dict[str, str]:
    """Return what the clinical abbreviations of a text stand for in it, those that are sure.

    >>> clinical_readings("PE was ruled out by CT angiography. HTN.")
    {'PE': 'pulmonary embolism', 'HTN': 'hypertension'}
    >>> clinical_readings("On PE the lungs are clear, abdomen soft."), clinical_readings("MS today")
    ({'PE': 'physical examination'}, {})
    """
    several, usual = _several(), text_readings()
    shorts = dict.fromkeys(match[0] for match in _SHORT.finditer(text))
    words: list[str] = []
    readings: dict[str, str] = {}
    for short in shorts:
        if of_short := several.get(_listed(short)):
            words = words or words_of(text)
            reading = _choose(of_short, [word for word in words if word != short.lower()])
        else:
            reading = usual.get(short, "")
        if reading:
            readings[short] = reading
    return readings


def readings_in(*texts: str) -> dict[str, str]:
    """Return what the abbreviations of several readings stand for, where words of texts choose.

    >>> readings_in("CP/palps, troponin neg"), readings_in("CP", "a spastic child with CP")
    ({'CP': 'chest pain'}, {'CP': 'cerebral palsy'})
    """
    text = " ".join(texts).replace("/", " ")
    read = clinical_readings(text) if len(text) <= _LONGEST_CELL else {}
    usual = {short: of[0] for short in read if (of := _several().get(_listed(short)))}
    return {
        short: long
        for short, long in read.items()
        if short in usual
        and long not in text.lower()  # "transient ischemic attack (TIA)" says it itself
        and (usual[short].share < _NEARLY_ALL or usual[short].text == long)
    }


def readings_of(text: str) -> tuple[str, ...]:
    """Return what an abbreviation that is all of a text may stand for, in the order of the table.

    >>> readings_of("PVC"), readings_of("RLS"), readings_of("CP on exertion")
    (('premature ventricular contraction', 'pulmonary vascular congestion', 'polyvinyl chloride'), \
('restless legs syndrome',), ())
    """
    if len(text) > _longest():
        return ()
    short = _listed(text.upper() if text.islower() else text)
    if several := _several().get(short):
        return tuple(reading.text for reading in several)
    return tuple(filter(None, [text_readings().get(short) or diabetes_name(text)]))


@once_a_book
def _longest() -> int:
    """Return the characters of the longest form, with an *s* behind it."""
    return max(_LONGEST, *(len(form) + 1 for form in (*_several(), *text_readings())))


@once_a_book
def common_readings() -> tuple[str, ...]:
    """Return the readings that all notes agree on."""
    rules = current().of_kind("reading")
    return tuple({rule.means: 0 for rule in rules if rule.share == 1 and rule.n == _ALL_NOTES})


def has_usual(short: str) -> bool:
    """Tell whether one reading of an abbreviation is more usual than the others."""
    return _listed(short if short in text_readings() else short.upper()) not in _without_usual()


def has_several(short: str) -> bool:
    """Tell whether an abbreviation has several readings, between which a text chooses."""
    return _listed(short) in _several()


def _listed(short: str) -> str:
    """Return the form of several readings that a short form is the plural of, or itself."""
    plural = short[:-1].isupper() and (
        short[-1] == "s" or (short[-1] == "S" and len(short) > LEAST_LETTERS)
    )
    if not plural or short in _several() or short in text_readings():
        return short
    return short[:-1]


def _choose(readings: Sequence[_Reading], words: Sequence[str]) -> str:
    """Return the reading with most of its words among these, which rise; "" where none leads."""
    counts = [sum(begins(words, stem) for stem in reading.beside) for reading in readings]
    most = max(counts)
    return readings[counts.index(most)].text if most and counts.count(most) == 1 else ""
