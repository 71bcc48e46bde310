"""Clinical shorthand: *w/o* is *without*, and its slash parts nothing; *DM2* is a diabetes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from canonym.mentions.marks import ARROWS
from canonym.regex import regex
from canonym.rules import any_of, current, once_a_book, shipped
from canonym.text.qualifiers import is_finding
from canonym.text.shape import shape_of
from canonym.text.words import forms_of

_SIDES = {"l": "left", "r": "right"}
# A letter alone is a side beside a part of the body; RT in capitals is a therapy.
_SIDE = r"(?P<side>[RL]|[RrLl]t|LT|RT(?=\.? (?i:atri|ventric)))"
_SIDE_WORDS = frozenset(("l", "r", "lt", "rt"))
_SEXES = str.maketrans({sign: ARROWS[sign] for sign in "♂♀"})
_ARROWS = "".join(arrow for arrow in ARROWS if arrow not in "♂♀")
_HINTS = frozenset((*".-/&+#", *ARROWS))  # of which all other shorthand has one
_HISTORIES = {rule.form: rule.means for rule in shipped().of_kind("history in short")}
_SIGNS = frozenset("/&+")  # within shorthand: *c/o*, *n&v*, *d+v*
# Shorthand that is not in the table, such as "t/t" and "o/e".
_LONE_LETTERS = regex(r"(?<![\w/])[a-z](?:/[a-z])+(?![\w/])")
# Without "type", small letters are no number: "dm i" is two words of other languages.
_DIABETES = regex(
    r"(?<![^\W_])(?:DM[ -]?(?:([12]|(?-i:II?))|type ?([12]|II?))|T([12])DM|type ([12]|II?) DM)"
    r"(?![^\W_])",
    re.IGNORECASE,
)
# "H.T.N.", but not the "e.g." of a sentence: three letters at least.
_DOTTED = regex(r"(?<![\w.])[^\W\d_](?:\.[^\W\d_]){2,}\.?(?!\w)")
_TYPE_OF_DIABETES = regex(
    r"\b(?:type (?:[12]|II?)|juvenile|gestational) diabetes\b(?! (?:mellitus|insipidus))",
    re.IGNORECASE,
)
_MANY = 8  # letters of a text that is written in capitals


class _Table(NamedTuple):
    """What shorthand says, which of it means nothing else in capitals, and where it stands."""

    means: dict[str, str]
    understood: frozenset[str]
    pattern: re.Pattern[str]


@once_a_book
def parts_of_the_body() -> frozenset[str]:
    """Return words for parts of the body, beside which a letter may be a side."""
    return frozenset(rule.form for rule in current().of_kind("part of the body"))


@once_a_book
def _beside_parts() -> list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    """Return number signs and sides beside parts of the body, and what is written for them."""
    body = "|".join(sorted(parts_of_the_body(), reverse=True))
    bones = any_of("part of the body", ["bone"])
    return [
        (
            re.compile(
                rf"(?<![\w#])# ?(?=(?:(?:(?i:{forms_of('word before a bone')})\.? )*"
                rf"(?P<bone>(?i:{bones})\b)))"
            ),
            _fracture,
        ),
        (re.compile(rf"\b(?P<part>(?i:{body}))s? ?#s?(?!\w| ?\d)"), r"\g<part> fracture"),
        (
            re.compile(rf"(?<![\w/+&.-]){_SIDE}\.?\s+(?=(?i:{body})\b)"),
            lambda match: f"{_SIDES[match['side'][0].lower()]} ",
        ),
        (
            re.compile(rf"\b(?P<part>(?i:{body})(?: [a-z]+)?)(?:\s*,\s*|\s+)\(?{_SIDE}\)?\.?$"),
            lambda match: f"{_SIDES[match['side'][0].lower()]} {match['part']}",
        ),
    ]


@once_a_book
def _table() -> _Table:
    rules = current().of_kind("shorthand")
    forms = sorted((rule.form for rule in rules), key=len, reverse=True)
    spelt = "|".join(map(re.escape, forms))
    return _Table(
        {rule.form: rule.means for rule in rules},
        # *B/C* may be two types, and *D/T* two vaccines.
        frozenset(rule.form for rule in rules if rule.where == "capitals"),
        # "w/" may touch the next word. Nothing else may: "c/ope" is no "c/o".
        re.compile(rf"(?i)(?<![\w/&.-])(?:(?:{spelt})(?![\w/&])|w/(?=[a-z]{{2}}))"),
    )


def write_out(text: str) -> str:
    """Write out shorthand such as *w/o*, *r/t* and *N/V*, and sides beside parts of the body.

    Of shorthand in capitals only what can mean nothing else is written out, unless all of the text
    is in capitals.

    >>> write_out("diabetes w/o complications"), write_out("ulcer r/t diabetes")
    ('diabetes without complications', 'ulcer related to diabetes')
    >>> write_out("N/V"), write_out("hepatitis B/C")
    ('nausea and vomiting', 'hepatitis B/C')
    >>> write_out("R knee pain"), write_out("hip pain (L)"), write_out("L dopa")
    ('right knee pain', 'left hip pain', 'L dopa')
    >>> write_out("#left femur"), write_out("L wrist #"), write_out("# 2 asthma")
    ('fracture left femur', 'left wrist fracture', '# 2 asthma')
    >>> write_out("Hx-gout")
    'history of gout'
    >>> write_out("↑ K"), write_out("Hb ↓↓"), write_out("↑ K ↓ Na")
    ('increased K', 'decreased Hb', '↑ K ↓ Na')
    >>> write_out("♂ infertility")
    'male infertility'
    >>> write_out("recurrent U.T.I."), write_out("s.o.b."), write_out("e.g. fever")
    ('recurrent UTI', 'SOB', 'e.g. fever')
    """
    shape = shape_of(text)
    if _HINTS.isdisjoint(shape.signs) and _SIDE_WORDS.isdisjoint(shape.there):
        return text
    text = _DOTTED.sub(lambda match: match[0].replace(".", "").upper(), text)
    if not _SIGNS.isdisjoint(text):
        text = _table().pattern.sub(_written_out, text)
    short, _, name = text.partition("-")
    if name[:1].isalpha() and (history := _HISTORIES.get(short.lower())):
        text = f"{history} {name}"
    for pattern, written in _beside_parts():
        text = pattern.sub(written, text)
    if not shape.signs.isdisjoint("♂♀"):
        text = " ".join(text.translate(_SEXES).split())
    if not shape.signs.isdisjoint(_ARROWS):
        what, ends = text.strip(f"{_ARROWS} "), [text.strip()[0], text.strip()[-1]]
        arrows = [end for end in ends if end in _ARROWS]
        if len(arrows) == 1 and what[:1].isalpha() and not {*what}.intersection(_ARROWS):
            return f"{ARROWS[arrows[0]].strip()} {what}"
    return text


def with_side(text: str) -> str:
    """Return a text with the letter at its beginning or end as the side that it may be.

    >>> with_side("R rotator cuff tear"), with_side("SNHL (L)"), with_side("L-dopa")
    ('right rotator cuff tear', 'left SNHL', 'L-dopa')
    """
    words = text.split()
    for place in (0, -1) if len(words) > 1 else ():
        if (letter := words[place].strip("()")) in ("L", "R"):
            del words[place]
            return f"{_SIDES[letter.lower()]} {' '.join(words)}".rstrip(" ,")
    return text


def _fracture(match: re.Match[str]) -> str:
    """Read "#" before a bone as a fracture, but before what ails it as a number: *# knee pain*."""
    return match[0] if is_finding(match.string[match.end("bone") :]) else "fracture "


def diabetes_name(text: str) -> str:
    """Return the name of the diabetes that *DM* and its type stand for, else "".

    *DM2* is a myotonic dystrophy too, so this counts only where nothing has that name.

    >>> diabetes_name("DM type I"), diabetes_name("dm2"), diabetes_name("DM")
    ('type 1 diabetes mellitus', 'type 2 diabetes mellitus', '')
    """
    match = _DIABETES.fullmatch(text)
    if match is None:
        return ""
    number = next(filter(None, match.groups()))
    return f"type {len(number) if number[0] in 'Ii' else number} diabetes mellitus"


def diabetes_phrases(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where a text says a type of diabetes, and its name in full.

    >>> [*diabetes_phrases("has type 1 diabetes and DM2")]
    [(4, 19, 'type 1 diabetes mellitus'), (24, 27, 'type 2 diabetes mellitus')]
    """
    for match in _TYPE_OF_DIABETES.finditer(text):
        yield match.start(), match.end(), f"{match[0]} mellitus"
    for match in _DIABETES.finditer(text):
        yield match.start(), match.end(), diabetes_name(match[0])


def hide_shorthand(text: str, guard: Mapping[int, int]) -> str:
    """Translate the characters of shorthand by a table, so that nothing is split there."""
    if _SIGNS.isdisjoint(text):
        return text
    text = _table().pattern.sub(
        lambda match: match[0].translate(guard) if _is_meant(match) else match[0], text
    )
    return _LONE_LETTERS.sub(lambda match: match[0].translate(guard), text)


def _is_meant(match: re.Match[str]) -> bool:
    form = match[0]
    if not any(map(str.isupper, form)) or form.lower() in _table().understood:
        return True
    n_letters = sum(map(str.isalpha, match.string))
    return match.string.isupper() and n_letters >= _MANY and form != "B/C"


def _written_out(match: re.Match[str]) -> str:
    if not _is_meant(match):
        return match[0]
    long = _table().means[match[0].lower()]
    # "w/fever": the next word follows at once.
    follows = match.string[match.end() : match.end() + 1]
    return f"{long} " if follows.isalnum() else long
