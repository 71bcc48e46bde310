"""Codes and ids in a mention: the whole of it, or a part with a label beside it.

*I10*, *HP:0001250* and *SNOMED CT 22298006* are written in the place of a name. Tables often have a
name with them: *M10.9 - gout*, *gout (M10.9)*. Here a text is only taken apart; a terminology tells
which of the parts are its ids.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from canonym.regex import regex
from canonym.text.characters import dashes, width
from canonym.text.shape import DIGIT, LETTERS, WORD

LONGEST = 400
"""Characters of a text that is taken apart."""

_MOST_DIGITS = 2  # of a word that is no code: COVID19, DM2
_BRACKETS = frozenset("()[]{}<>|")
_EDGES = " \t\r\n\v\f\u00a0'\"`\u201c\u201d\u2018\u2019.,;"
_MARKS = " \t\r\n\u00a0-:|,;=/"
_FOOTNOTES = "*\u2020\u2021"
_OPEN, _CLOSED = "([{<|", ")]}>|"
_BRACKETED = regex(r"[(\[{<|]([^()\[\]{}<>|\d]*\d[^()\[\]{}<>|]*)[)\]}>|]")
_GLUED = regex(
    r"(?P<code>(?:[A-Za-z][\w.]*:)?[A-Za-z]{0,5}\d[\w.]*)[-:|/=,;]\s*(?P<label>[^\W\d_]{2}.*)",
    re.DOTALL,
)
_MOST_WORDS = 3  # of a code with its prefix: SNOMED CT 22298006


class Reading(NamedTuple):
    """A code in a text, which may have a prefix, and the label `beside` it.

    `marked` tells whether more than a space is between the two.
    """

    code: str
    beside: str = ""
    marked: bool = True


def may_hold_code(text: str) -> bool:
    """Tell whether a text can hold a code at all: most names have no digit and no colon."""
    return DIGIT.search(text) is not None or ":" in text or "\uff1a" in text


def read_codes(text: str) -> list[Reading]:
    """Return the ways to read a text as a code, or as a code and a label; the whole of it first.

    >>> read_codes("heart attack")
    []
    >>> read_codes("M10.9 - gout")[1]
    Reading(code='M10.9', beside='gout', marked=True)
    >>> read_codes("gout (ICD-10: M10.9)")[1]
    Reading(code='ICD-10: M10.9', beside='gout', marked=True)
    """
    if len(text) > LONGEST or not may_hold_code(text):
        return []
    text = tidy(text)
    whole = _unwrapped(text)
    if not whole:
        return []
    readings = [Reading(whole)]
    if "://" not in whole and DIGIT.search(whole):
        readings += _beside(text.strip(_EDGES))
    return [readings[0], *(reading for reading in readings[1:] if _is_sound(reading))]


def whole_code(text: str) -> str:
    """Return a text that is meant to be a code without what may stand around it."""
    return _unwrapped(tidy(text))


def tidy(text: str) -> str:
    """Return a text with plain dashes, and letters and digits of one width."""
    return text if text.isascii() else dashes(width(text))


def _unwrapped(text: str) -> str:
    """Return a text without what stands around it: blanks, quotes, brackets, a full stop."""
    text = text.strip(_EDGES)
    if text[:1] in _OPEN and text[-1:] in _CLOSED and text[:1]:
        text = text[1:-1].strip(_EDGES)
    text = text.removesuffix(".-")  # as some write a category of ICD
    return text.rstrip(_FOOTNOTES)


def _is_sound(reading: Reading) -> bool:
    """Tell whether a code is in one piece, and a word beside it: there may be another code."""
    return (
        bool(reading.code)
        and _BRACKETS.isdisjoint(reading.code)
        and any(map(_is_word, WORD.findall(reading.beside)))
    )


def _is_word(text: str) -> bool:
    """Tell whether a piece of a label has letters side by side, and hardly a digit."""
    has_letters = any(len(letters) > 1 for letters in LETTERS.findall(text))
    return has_letters and len(DIGIT.findall(text)) <= _MOST_DIGITS


def _beside(text: str) -> list[Reading]:
    """Return the readings of a text as a code with something beside it."""
    pairs: list[tuple[str, str]] = []
    if not _BRACKETS.isdisjoint(text):
        first = _BRACKETED.match(text)
        start = max(text.rfind(bracket, 0, -1) for bracket in _OPEN)
        last = _BRACKETED.fullmatch(text, max(start, 0))
        pairs += [(first[1], text[first.end() :])] if first else []
        pairs += [(last[1], text[:start])] if last else []
    if glued := _GLUED.fullmatch(text):
        pairs.append((glued["code"], glued["label"]))
    marked = (Reading(_unwrapped(code), _label(label)) for code, label in pairs if label.strip())
    return [*marked, *_at_an_end(text)]


def _at_an_end(text: str) -> list[Reading]:
    """Read "CODE - label" and "label - CODE"; words of a prefix may be before the code."""
    first, last = text.split(maxsplit=_MOST_WORDS), text.rsplit(maxsplit=_MOST_WORDS)
    readings = []
    for n in range(1, min(_MOST_WORDS + 1, len(first))):
        if _is_code_like(first[n - 1]):
            code, label = " ".join(first[:n]), text.split(maxsplit=n)[n]
            marked = code[-1] in _MARKS or label[0] in _MARKS + _OPEN
            readings.append(Reading(_unwrapped(code.strip(_MARKS)), _label(label), marked))
        if _is_code_like(last[-1]):
            code, label = " ".join(last[-n:]), text.rsplit(maxsplit=n)[0]
            marked = label[-1] in _MARKS or code[0] in _MARKS
            readings.append(Reading(_unwrapped(code.strip(_MARKS)), _label(label), marked))
    return readings


def _is_code_like(word: str) -> bool:
    """Tell whether a word has a digit, and is more than a small number: "type 2" is no code."""
    return DIGIT.search(word) is not None and (len(word) > 2 or not word.isdigit())


def _label(text: str) -> str:
    """Return a label without marks and brackets around it."""
    text = text.strip(_MARKS)
    if text[:1] in _OPEN and text[-1:] in _CLOSED:
        text = text[1:-1].strip(_MARKS)
    return text
