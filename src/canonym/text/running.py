"""Running text as words: where each begins and ends, its normal form, and where a phrase may end.

A phrase of the text has the same words in `UNORDERED` normal form as the string that it is: what
a word becomes inside a phrase ("I" in "type I", the s in "Crohn s disease") is found with its
neighbours.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from canonym.regex import regex
from canonym.text import STRONG, normalise
from canonym.text.memo import NUMERAL_WORDS, Remembered
from canonym.text.words import FILLERS, fillers

_LONGEST = 50
_NONE: Mapping[str, str] = {}
_NEAR = 10  # words on each side of a gloss
_MOST_BROKEN = 300
_QUOTE = "['`´ʼ‘’′]"
_ENTITY = r"&(?:apos|quot|amp|lt|gt|nbsp|[nm]dash|[lr][sd]quo);"
_LETTER = (
    r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z](?:acute|caron|cedil|circ|grave|ring|slash|tilde|uml)"
    r"|[AO]Elig|(?:[ao]e|sz)lig|alpha|beta|gamma|delta|epsilon|kappa|lambda|sigma|omega);"
)
_SYMBOLS = "\U0001f000-\U0001faff"
# Words whose form is another one beside other words.
_DEPENDENT = NUMERAL_WORDS | {"s"}
# The sign of a symbol belongs to it: "HER2+", "CD4- T cell", but not "CYP2D6- and CYP3A4-mediated".
_SIGN = r"(?:\+(?![\w(+-])|(?<=[A-Z0-9])-(?=[\s.;:)]|\Z)(?!\s+(?:and|or|to|nor|\d|[a-z]\b)))?"
_ENDS = regex(r"[.,;:!?()\[\]{}\"“”«»]|\s[-–—]+\s")
_BULLETS = tuple("–—*•-")

NO_BREAK, BREAK, PARAGRAPH = range(3)
"""What stands before a word: nothing that ends a phrase; what ends most; what ends all."""


class Words(NamedTuple):
    """The words of a text, in four lists.

    `starts` and `ends` are their offsets, without a possessive s. `forms` are their normal forms:
    empty for *of* and *the*, and several words for "TNFα". `breaks` say what stands before each.
    """

    starts: list[int]
    ends: list[int]
    forms: list[str]
    breaks: list[int]


class TextReader:
    """Reads texts as words, remembering the normal form of every word."""

    def __init__(self) -> None:
        self._forms = Remembered(_form_of)
        self._gaps = Remembered(_kind)

    def read(self, text: str, abbreviations: Mapping[str, str] = _NONE) -> Words:
        """Return the words of a text; a short form of `abbreviations` has the words of the long."""
        # Entities such as &lt; are no words.
        every = _word_pattern("&" in text).finditer(text)
        matches = [match for match in every if match[1] is not None]
        starts = [match.start() for match in matches]
        ends = [match.end(1) for match in matches]
        forms = list(map(self._forms.__getitem__, [match[0] for match in matches]))
        between = lru_cache(_form_between)  # a text may have the same words over and over
        for place, form in enumerate(forms):
            if form in _DEPENDENT:
                around = tuple(match[0] for match in matches[max(place - 1, 0) : place + 2])
                forms[place] = between(around, matches[place][0])
        words = Words(starts, ends, forms, self._breaks(text, starts, ends))
        return _with_long_forms(text, words, abbreviations) if abbreviations else words

    def _breaks(self, text: str, starts: list[int], ends: list[int]) -> list[int]:
        gaps = [text[end:start] for end, start in zip(ends, starts[1:], strict=False)]
        breaks = list(map(self._gaps.__getitem__, gaps))
        for place, gap in enumerate(gaps):
            if gap == ". " and ends[place] - starts[place] == 1 and text[starts[place]].isalpha():
                breaks[place] = NO_BREAK  # the dot of an initial ("E. coli") ends nothing
            elif gap == "\n" and text[starts[place + 1]].isupper():
                breaks[place] = PARAGRAPH  # a line that was wrapped goes on with a small letter
        return [PARAGRAPH, *breaks][: len(starts)]

    def around_glosses(
        self, text: str, words: Words, abbreviations: Mapping[str, str]
    ) -> Iterator[tuple[Words, int]]:
        """Yield the words around each short form in brackets, and how many stand before it.

        "glucose-6-phosphate dehydrogenase (G6PD) deficiency" is a name around a gloss.
        """
        for start, end, _ in _short_forms(text, abbreviations):
            rest = text[end : end + _LONGEST].lstrip()
            if text[start - 1 : start] not in ("(", "[") or rest[:1] not in (")", "]"):
                continue
            end = text.index(rest[0], end) + 1
            cut, after = bisect_left(words.starts, start - 1), bisect_left(words.starts, end)
            gap = text[end : words.starts[after]] if after < len(words.starts) else ""
            if cut and gap and _kind(gap) == NO_BREAK:
                first = max(cut - _NEAR, 0)
                near = [*range(first, cut), *range(after, min(after + _NEAR, len(words.starts)))]
                around = _at(words, near)
                around.breaks[0], around.breaks[cut - first] = PARAGRAPH, NO_BREAK
                yield around, cut - first


def _with_long_forms(text: str, words: Words, abbreviations: Mapping[str, str]) -> Words:
    """Give each short form the words of its long form, and make one word of it."""
    dropped: set[int] = set()
    for start, end, short in _short_forms(text, abbreviations):
        place = bisect_left(words.starts, start)
        if words.starts[place : place + 1] == [start] and place not in dropped:
            words.ends[place] = max(end, words.ends[place])
            words.forms[place] = _form_of(abbreviations[short])
            dropped.update(range(place + 1, bisect_left(words.starts, end)))
    if not dropped:
        return words
    return _at(words, [place for place in range(len(words.starts)) if place not in dropped])


def _short_forms(text: str, abbreviations: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Yield where short forms stand as whole words, or in the plural; the longest first."""
    for short in sorted(abbreviations, key=len, reverse=True):
        start = text.find(short) if short.strip() else -1
        while start >= 0:
            end = start + len(short)
            end += text.startswith("s", end)
            if end > start + len(short) and text[end : end + 1].isalnum():
                end -= 1
            if not (text[end : end + 1].isalnum() or text[max(start - 1, 0) : start].isalnum()):
                yield start, end, short
            start = text.find(short, end)


def _at(words: Words, places: list[int]) -> Words:
    return Words(
        [words.starts[place] for place in places],
        [words.ends[place] for place in places],
        [words.forms[place] for place in places],
        [words.breaks[place] for place in places],
    )


def broken_words(text: str) -> dict[str, str]:
    """Return the words that a hyphen at the end of a line has broken, and how they are written.

    A few hundred at most, for each is looked for in the whole text.

    >>> broken_words("Hyper-\\n  tension, non-\\nHodgkin lymphoma, a cough -\\nand a cold.")
    {'Hyper-\\n  tension': 'Hypertension'}
    """
    words: dict[str, str] = {}
    at = text.find("-", 1)
    while at >= 0 and len(words) < _MOST_BROKEN:
        after = text[at + 1 : at + _LONGEST]
        rest = after.lstrip()
        if rest[:1].islower() and after[: len(after) - len(rest)].count("\n") == 1:
            before = text[max(at - _LONGEST, 0) : at]
            head = "".join(takewhile(str.isalpha, reversed(before)))[::-1]
            tail = "".join(takewhile(str.isalpha, rest))
            if head:
                end = at + 1 + len(after) - len(rest) + len(tail)
                words[text[at - len(head) : end]] = head + tail
        at = text.find("-", at + 1)
    return words


def with_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch with the bracket beside it that belongs to one inside: "SLe(x)".

    >>> with_brackets("the SLe(x) antigen", 4, 9)
    (4, 10)
    """
    for opening, closing in ("()", "[]"):
        more = text.count(opening, start, end) - text.count(closing, start, end)
        if more == 1 and text.startswith(closing, end):
            end += 1
        elif more == -1 and text[:start].endswith(opening):
            start -= 1
    return start, end


def _form_between(tokens: tuple[str, ...], word: str) -> str:
    """Return what a word adds to the form of a phrase with its neighbours."""
    words = Counter(normalise(" ".join(tokens), STRONG).split())
    others = list(tokens)
    others.remove(word)
    for token in others:
        words -= Counter(normalise(token, STRONG).split())
    return " ".join(words.elements())


def _form_of(token: str) -> str:
    form = normalise(token, STRONG)
    return "" if form in FILLERS else fillers(form)


def _kind(gap: str) -> int:
    if not any(map(str.isspace, gap)):
        return NO_BREAK
    lines = [line.lstrip() for line in gap.split("\n")[1:]]
    if not all(lines[:-1]) or any(line.startswith(_BULLETS) for line in lines):
        return PARAGRAPH
    return BREAK if _ENDS.search(gap) or len(gap) > 40 else NO_BREAK


@lru_cache(maxsize=2)
def _word_pattern(entities: bool) -> re.Pattern[str]:
    """Return what matches a word: all that is neither white space nor what `punctuation` drops."""
    dropped = [
        re.escape(character)
        for character in map(chr, range(0x80, 0x10000))
        if unicodedata.category(character)[0] in "PS"
    ]
    letter = rf"[^\s!-/:-@\[-`{{-~{''.join(dropped)}{_SYMBOLS}]"
    quote = f"{_QUOTE}|&apos;" if entities else _QUOTE
    possessive = rf"(?:(?<=[^\W\d_])(?:(?:{quote})[sS])+(?!\w))?"
    if entities:
        return re.compile(rf"{_ENTITY}|((?:{letter}|{_LETTER})+{_SIGN}){possessive}")
    return re.compile(rf"({letter}+{_SIGN}){possessive}")
