"""Number formats of workbooks: how a cell shows a number that is a code.

A format may fill a number up with zeros, fix its decimals and put text around or between its
digits: ``250.00``, ``003.0``, ``D003920``. What belongs to amounts and not to codes is left off:
marks between thousands, currencies, percent, exponents, fractions. A digit of the value is never
rounded away, for codes that differ in it would become one.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from canonym.regex import regex

_TOKEN = regex(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[(?P<bracket>[^\[\]]*)\]|(?P<blank>[_*].)'
    r"|(?P<digit>[0#?])|(?P<point>\.)|(?P<comma>,)|(?P<end>;)|(?P<literal>[-+ ():!^&'~{}<>=\xa0])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_CONDITION = regex(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_COMPARISONS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "<=": operator.le, ">=": operator.ge, "<>": operator.ne,
    "<": operator.lt, ">": operator.gt, "=": operator.eq,
}  # fmt: skip
_GROUPING = " \xa0\u202f'"
_PLAIN = ("General", "@", "0", "")
# Formats as a spreadsheet shows them, where only the text that is shown is known.
_NUMBER = regex(r"(\D*?)(\d+(?:[.,]\d+)?)(\D*)")
_PARTED = regex(r"[^\W\d_]*\d+(?:[-/: ][^\W\d_]*\d+)+[^\W\d_]*")
_THOUSANDS = regex(r"(-?\d{1,3}(?P<mark>[., \xa0\u202f'’])\d{3}(?:(?P=mark)\d{3})*)([.,]\d+)?")
_OF_AMOUNTS = frozenset("%‰$€£¥.,")


class _Section(NamedTuple):
    """A part of a format: tokens before and after the point, and when it applies.

    A token is a placeholder, one of ``0#?``, or a text. `sound` is false if the format is one of
    amounts, or has no digits.
    """

    whole: tuple[tuple[str, str], ...]
    decimals: tuple[tuple[str, str], ...]
    condition: tuple[str, Decimal] | None
    sound: bool


def formatted(value: int | float, number_format: str) -> str | None:
    """Return a number as its cell shows it; None if the format says nothing about a code.

    >>> formatted(250, "0.00"), formatted(3, "000.0"), formatted(410.15, "0.0")
    ('250.00', '003.0', '410.15')
    >>> formatted(3920, '"D"000000'), formatted(1234.5, "#,##0.00"), formatted(0.25, "0%")
    ('D003920', '1234.50', None)
    """
    if number_format in _PLAIN:
        return None
    written = str(value) if isinstance(value, int) else f"{value:.15g}"
    if not re.fullmatch(r"-?\d+(?:\.\d+)?", written):
        return None
    number = Decimal(written)
    sections = _sections(number_format)
    section = _choose(sections, number)
    if section is None or not section.sound:
        return None
    whole, _, decimals = written.removeprefix("-").partition(".")
    text = _whole(section, whole, decimals) + _decimals(section, decimals)
    if number < 0 and len(sections) == 1:
        text = f"-{text}"
    return None if number < 0 and not text.startswith("-") else text.strip()


def shown_code(value: float, shown: str) -> str | None:
    """Return what a cell shows of a number if that may be a code, with a point before decimals.

    None if digits are hidden, or the text is one of amounts.

    >>> shown_code(250.0, "250,00"), shown_code(3920.0, "D003920"), shown_code(1234.0, "1,234")
    ('250.00', 'D003920', None)
    """
    shown = shown.strip()
    number = Decimal(f"{value:.15g}")
    match = _NUMBER.fullmatch(shown)
    if match:
        before, digits, after = match.groups()
        point = digits.replace(",", ".")
        same = Decimal(f"-{point}" if before == "-" else point) == number
        is_code = same and _OF_AMOUNTS.isdisjoint(before + after)
        return before + point + after if is_code else None
    if grouped := _THOUSANDS.fullmatch(shown):
        text = grouped[1].replace(grouped["mark"], "") + (grouped[3] or "").replace(",", ".")
        return text if Decimal(text) == number else None
    if _PARTED.fullmatch(shown) and Decimal("".join(filter(str.isdecimal, shown))) == number:
        return shown
    return None


@functools.lru_cache(maxsize=1024)
def _sections(number_format: str) -> tuple[_Section, ...]:
    tokens: list[tuple[str, str]] = []
    sections = []
    for match in _TOKEN.finditer(number_format):
        kind = str(match.lastgroup)
        if kind == "end":
            sections.append(_section(tokens))
            tokens = []
        else:
            tokens.append((kind, match[kind]))
    return (*sections, _section(tokens))


def _section(tokens: Sequence[tuple[str, str]]) -> _Section:
    parts: list[list[tuple[str, str]]] = [[], []]
    condition, sound, after_point = None, True, 0
    literals = [text for kind, text in tokens if kind in ("quoted", "escaped", "literal")]
    groups = ("digit", "#") in tokens and all(text in _GROUPING for text in literals)
    for kind, text in tokens:
        if kind == "bracket":
            compared = _CONDITION.fullmatch(text)
            condition = (compared[1], Decimal(compared[2])) if compared else condition
            sound = sound and not text.startswith("$") and not re.fullmatch("[hms]+", text, re.I)
        elif kind == "point" and not after_point:
            after_point = 1
        elif kind == "digit":
            parts[after_point].append((kind, text))
        elif kind in ("quoted", "escaped", "literal"):
            if not groups:
                parts[after_point].append(("text", text))
            sound = sound and _OF_AMOUNTS.isdisjoint(text.replace(".", ""))
        elif kind in ("other", "point"):
            sound = False
    last = max((n for n, (kind, _) in enumerate(tokens) if kind == "digit"), default=-1)
    scaled = any(kind == "comma" for kind, _ in tokens[last + 1 :])
    return _Section(tuple(parts[0]), tuple(parts[1]), condition, sound and last >= 0 and not scaled)


def _choose(sections: Sequence[_Section], number: Decimal) -> _Section | None:
    """Choose the section of a number: by the conditions if there are any, else by its sign."""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None:
                return section
            comparison, limit = section.condition
            if _COMPARISONS[comparison](number, limit):
                return section
        return None
    place = 1 if number < 0 else 2 if number == 0 else 0
    return sections[place] if place < len(sections) else sections[0]


def _whole(section: _Section, digits: str, decimals: str) -> str:
    """Fill the placeholders before the point from the right; the first takes all that is left."""
    rest = digits.lstrip("0")
    places = sum(kind == "digit" for kind, _ in section.whole)
    if not places:
        return "".join(text for _, text in section.whole) + rest
    pieces: list[str] = []
    left = places
    for kind, text in reversed(section.whole):
        if kind == "text":
            pieces.append(text)
            continue
        if left == places and decimals and not any(k == "digit" for k, _ in section.decimals):
            pieces.append(f".{decimals}")  # the format hides them
        left -= 1
        digit = rest[-1:] if left else rest
        rest = rest[:-1] if left else ""
        pieces.append(digit or ("0" if text == "0" else ""))
    return "".join(reversed(pieces))


def _decimals(section: _Section, digits: str) -> str:
    places = sum(kind == "digit" for kind, _ in section.decimals)
    if not places:
        return "".join(text for _, text in section.decimals)
    pieces: list[str] = []
    at = 0
    for kind, text in section.decimals:
        if kind == "text":
            pieces.append(text)
            continue
        at += 1
        digit = digits[at - 1 : at] if at < places else digits[at - 1 :]
        pieces.append(digit or ("0" if text == "0" else ""))
    decimals = "".join(pieces)
    return f".{decimals}" if decimals[:1].isdigit() else decimals
