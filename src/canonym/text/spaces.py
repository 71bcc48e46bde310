"""Names that are equal but for their spaces: *heartattack*, *non toxic goiter*, *TLR-9*.

Both sides are compared without spaces. A space that only one side has counts where words stand on
both sides of it, or letters that are written as signs: the D of *vitaminD*, the 9 of *TLR9*.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator

from canonym.regex import regex
from canonym.text.shape import ALNUM
from canonym.text.words import forms_of, words_of_kind

_BETWEEN_DIGITS = regex(r"(?<=\d) (?=\d)")
_PARTED = regex(
    rf"\b(?:{forms_of('prefix that is parted')})[- ](?=[^\W\d_]{{4}})([^\W\d_]+)", re.IGNORECASE
)
_WORD = 3  # letters; of a long name two
_LONG = 12
_SMALL = frozenset(("of", "in"))  # they stand between words
_VOWELS = frozenset("aeiouy")
_ENDINGS = frozenset("aeilmnorstuwy")  # the e of *vitamine* and the s of *proteins* are no signs


def joined(forms: Iterable[str]) -> list[str]:
    """Return normal forms without their spaces, but for those between digits.

    >>> joined(["heart attack", "stage 1 2"])
    ['heartattack', 'stage1 2']
    """
    return [_BETWEEN_DIGITS.sub("\n", form).replace(" ", "").replace("\n", " ") for form in forms]


def ends_in_sign(text: str) -> bool:
    """Tell whether a word ends in a capital S, which is no ending: *proteinS*.

    >>> ends_in_sign("proteinS deficiency"), ends_in_sign("proteins"), ends_in_sign("PROTEINS")
    (True, False, False)
    """
    words = ALNUM.findall(text) if "S" in text else ()
    return any(word[-1] == "S" and word[-2:-1].islower() for word in words)


def with_prefixes_joined(text: str, knows: Callable[[str], bool]) -> str:
    """Return a text with the prefixes of known words written to them, or the same text.

    >>> with_prefixes_joined("non-toxic goiter, non-linear", {"nontoxic"}.__contains__)
    'nontoxic goiter, non-linear'
    """
    if "-" not in text and " " not in text:
        return text
    return _PARTED.sub(lambda match: _together(match[0], knows), text)


def _together(written: str, knows: Callable[[str], bool]) -> str:
    word = written.replace("-", "").replace(" ", "")
    return word if knows(word.lower()) else written


def are_joints(form: str, of_name: str, text: str, name: str) -> bool:
    """Tell whether words stand where the form of a text has spaces that the form of a name lacks.

    Or the other way round; the forms are equal but for spaces.

    >>> are_joints("heartattack", "heart attack", "heartattack", "Heart attack")
    True
    >>> are_joints("vitamind", "vitamin d", "vitaminD", "Vitamin D")
    True
    >>> are_joints("vitamine", "vitamin e", "vitamine", "Vitamin E")
    False
    """
    if len(form.replace(" ", "")) < _WORD:
        return False
    shortest = _WORD - (len(form) > _LONG)
    gaps = (
        *((gap, text, name) for gap in _gaps(form, of_name)),
        *((gap, name, text) for gap in _gaps(of_name, form)),
    )
    return all(
        len(word) >= shortest or _is_sign(word, written, other, letters)
        for gap, written, other in gaps
        for word, letters in zip(gap, (_VOWELS, _ENDINGS), strict=True)
    )


def _gaps(form: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield the words on both sides of each space of a form that the other form lacks."""
    ends, place = set[int](), 0
    for word in other.split():
        place += len(word)
        ends.add(place)
    place = 0
    for word, behind in itertools.pairwise(form.split()):
        place += len(word)
        if place not in ends:
            yield word, behind


def _is_sign(word: str, written: str, other: str, letters: frozenset[str]) -> bool:
    """Tell whether a short word, `written` apart in one text, may be a part of a word elsewhere.

    A single letter may not where it is among those that end or begin words.
    """
    if word in _SMALL:
        return True
    if any(map(str.isdigit, word)):  # but no number that stands for a roman one
        return word in written.lower() and word in other.lower()
    if word in words_of_kind("prefix that is parted"):
        return True
    sign = word.upper()
    if f"{sign}." in written:  # *M. orale* is not "Morale"
        return False
    behind = (before[-1:] for before in other.split(sign)[:-1])
    if any(map(str.islower, behind)) or f"-{sign}" in written or f"{sign}-" in written:
        return True
    return word not in letters and len(word) == 1
