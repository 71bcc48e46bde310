"""Words of a text that look like names and are none: "was", "all", "Her", "can", "Allergies:".

The rule: a name of a few letters that is written in capitals (*WAS*, *ALL*, *CAN*) is only found in
capitals, a word of a few capitals is no name that is written small, and a function word is no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.rules import any_of, once_a_book
from canonym.text.short_forms import SHORT
from canonym.text.words import words_of_kind

_ADJECTIVE = tuple(words_of_kind("ending of an adjective") - {"oid"})  # a thyroid is a noun
_LEAST = 2  # letters before the ending of an adjective
_AROUND = 60  # characters on each side that tell whether a text is all in capitals


def looks_alike(text: str, names: Iterable[str], around: str = "") -> bool:
    """Tell whether a word of a text only looks like these names; `around` is the text beside it.

    >>> looks_alike("was", ["WAS"]), looks_alike("WAS", ["WAS"]), looks_alike("colds", ["Cold"])
    (True, False, False)
    """
    bare = text[:-1] if text[-1:] == "s" and text[:-1].isupper() else text
    if is_capitals(text) and is_capitals(around):
        # In a heading of capitals case says nothing.
        return text.lower() in FUNCTION_WORDS
    if any(name in (text, bare) for name in names):
        return text in FUNCTION_WORDS
    if text.lower() in FUNCTION_WORDS:
        return True
    if len(bare) > SHORT:
        return False
    return all(_is_acronym(name) or is_capitals(bare) for name in names)


def section_titles(text: str) -> Sequence[tuple[int, int]]:
    """Return where titles of the sections of a note stand: they name what is below them.

    >>> [section_titles(text) for text in ("Present illness: gout", "No illness: he fell")]
    [[(0, 15)], []]
    """
    return [match.span() for match in _title().finditer(text)] if ":" in text else []


@once_a_book
def _title() -> re.Pattern[str]:
    return re.compile(
        rf"(?:^[ \t]*|(?<=[.;] )){any_of('title of a section')}(?=[ \t]*:)", re.I | re.M
    )


def is_out_of_order(text: str) -> bool:
    """Tell whether the words of a name stand in an order in which they are no phrase.

    >>> [is_out_of_order(text) for text in ("deficiency of C7", "cancer of renal", "B hepatitis")]
    [False, True, True]
    """
    words = text.lower().split()
    first, last = words[0], words[-1]
    return (
        len(first) < 2
        or first.isdecimal()
        or not FUNCTION_WORDS.isdisjoint((first, last))
        or last[_LEAST:].endswith(_ADJECTIVE)
    )


def beside(text: str, start: int, end: int) -> str:
    """Return the text before and behind a word, as far as `looks_alike` looks."""
    return text[max(0, start - _AROUND) : start] + text[end : end + _AROUND]


def is_capitals(text: str) -> bool:
    """Tell whether all letters are capitals; not where there are none."""
    return text.isupper()


def _is_acronym(name: str) -> bool:
    return sum(map(str.isupper, name)) > 1 and len(name) <= SHORT + 1
