"""Schwartz and Hearst's way of finding the long forms of abbreviations, which needs no library.

References
----------
Schwartz and Hearst (2003), A simple algorithm for identifying abbreviation definitions in
biomedical text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["SENTENCE_END", "find_by_letters"]

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(])")
"""Matches between two sentences."""

_WORD = re.compile(r"[^\W_]+")
# A short form in the plural: "APCs" of "APC".
_PLURAL_SHORT = re.compile(r".*[A-Z0-9]s")


def find_by_letters(text: str) -> Iterator[tuple[str, str]]:
    """Yield short forms and long forms in the order of the text."""
    for sentence in SENTENCE_END.split(text):
        for before, inside in _parentheses(sentence):
            inside = re.split(r"[;,]\s", inside)[0].strip(" '\"")
            if _is_short(inside):
                long = _long_form(inside, _last_words(before, inside))
                if long is not None:
                    yield inside, long
            elif before.strip():
                short = before.split()[-1].strip("([{'\"")
                long = _long_form(short, inside) if _is_short(short) else None
                if long is not None and inside.endswith(long):
                    yield short, long


def _parentheses(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before each pair of parentheses and inside it, innermost pairs first."""
    # Of each open parenthesis: where it is, its own text so far in pieces, where the next starts.
    opened: list[tuple[int, list[str], int]] = []
    for place, character in enumerate(sentence):
        if character in "([":
            opened.append((place, [], place + 1))
        elif character in ")]" and opened:
            start, pieces, left = opened.pop()
            yield sentence[max(0, start - 400) : start], "".join(pieces) + sentence[left:place]
            # The definition in "APC (adenomatous polyposis coli (gene))" is the outer text alone.
            if opened:
                outer, pieces, left = opened.pop()
                pieces.append(sentence[left:start])
                opened.append((outer, pieces, place + 1))


def _is_short(text: str) -> bool:
    return (
        2 <= len(text) <= 10
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(character.isalpha() for character in text)
    )


def _last_words(before: str, short: str) -> str:
    """Return the words that may hold the long form: at most min(|A| + 5, 2 |A|) of them."""
    words = before.split()
    return " ".join(words[-min(len(short) + 5, 2 * len(short)) :])


def _long_form(short: str, text: str) -> str | None:
    """Find the shortest end of `text` that spells `short`, its first letter at a word's start."""
    found = _match_letters(short, text)
    if found is None and _PLURAL_SHORT.fullmatch(short):
        found = _match_letters(short[:-1], text)
    if found is None:
        return None
    too_long = len(_WORD.findall(found)) > min(len(short) + 5, 2 * len(short))
    if too_long or len(found) <= len(short) or short in found.split():
        return None
    return None if found.count("(") != found.count(")") else found


def _match_letters(short: str, text: str) -> str | None:
    # Words whose initials spell the short form beat the shortest match, which for HH would be
    # "hemochromatosis" of "hereditary hemochromatosis".
    letters = [character.lower() for character in short if character.isalnum()]
    starts = [match.start() for match in _WORD.finditer(text)][-len(letters) :]
    if [text[start].lower() for start in starts] == letters:
        return text[starts[0] :].strip()
    place = len(text)
    for i in range(len(short) - 1, -1, -1):
        letter = short[i].lower()
        if not letter.isalnum():
            continue
        place -= 1
        while place >= 0 and (
            text[place].lower() != letter or (i == 0 and place > 0 and text[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return None
    return text[place:].strip()
