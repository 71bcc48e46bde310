"""The items of a cell or a sentence with the sign of each: *fever (+), cough (-)*, *☐ gout*.

Signs are rows of the book (`canonym.rules`): pluses and minuses, boxes, question marks, and answers
such as *yes*, which only stand behind. Where spaces do not tell on which side of a sign its item
is, the other signs do: one list has them all on one side.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from canonym.mentions.cues import find_cues
from canonym.regex import regex
from canonym.rules import current, once_a_book
from canonym.text.shape import shape_of
from canonym.text.words import words_of_kind

SIGN = "sign"
"""The kind of the rows that are signs."""

PRESENT = "present"
"""What a sign means that says no flag: what is there, or ticked."""

_SAID = {"negated": "no", PRESENT: "yes", "uncertain": "no"}  # an empty box beside a ticked one
_SIGN_OF = {"negated": "(-)", PRESENT: "(+)"}  # which says by itself what a bare one says in a list
_NEAR = 200  # characters on each side of a sign that tell where its item is
PLAIN = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
_STOP = regex(r"[,;\n]|[:.]\s|\s--?>?\s|\b(?:with|but)\b", re.IGNORECASE)
_WORD = regex(r"[^\W\d_](?:[^\W\d_]|\W[^\W\d_]\b)")
_GOES_ON = regex(r" [^\W\d_]")
_TIGHT = regex(r"\b[^\W\d_]{4,}[+-](?=\s|[,;/]|\Z)")
_SIGNED = regex(r"\b(?!CD\d)[A-Za-z]\w{1,5}[+-](?=[,;]?\s|[,;]?\Z)")
_RUN = regex(rf"(?:{_SIGNED.pattern}[,;]?\s*){{2,}}")
_MARKERS = words_of_kind("marker of a tumor")
_KINDS = frozenset((word,) for word in words_of_kind("word before a number"))
_ANSWERS = sorted((form for form in words_of_kind(SIGN) if "?" not in form), key=len, reverse=True)
_WORDS = "yes|no|present|absent"  # "ER positive HER2 negative" speaks of a cancer
_ANSWER = regex(
    rf"(?P<item>[^:=?;,.\n]{{2,60}}?)(?:\s*[:=?]\s*(?P<answer>{'|'.join(map(re.escape, _ANSWERS))})"
    rf"|\s+(?P<word>{_WORDS}))(?:[\s,;.]+|\Z)",
    re.IGNORECASE,
)
LAST_BRACKET = regex(r"(?<=\w)\s*[(\[](?P<inside>[^()\[\]]+)[)\]][\s.]*\Z")
"""A bracket behind a name."""

_LONGEST_RESULT, _LONGEST_CODE = 6, 12  # characters
_JOINED = ("and ", "but ", "or ")
_LETTER = 1  # no "n/v"


class Segment(NamedTuple):
    """A stretch of a text, the place of the sign that speaks of it, and what that means."""

    start: int
    end: int
    sign: tuple[int, int]
    means: str

    @property
    def is_behind(self) -> bool:
        """Whether the sign stands behind its item."""
        return self.sign[0] > self.start

    def core(self, text: str) -> str:
        """Return the item without its sign."""
        core = text[self.start : self.sign[0]] if self.is_behind else text[self.sign[1] : self.end]
        return core.strip(" ,;:=~/\t\r\n").rstrip("-\u2013\u2212([ ").removeprefix("for ")


class _Signs(NamedTuple):
    """The expression of all signs, and what each means; each has one of the characters or words."""

    expression: re.Pattern[str]
    meanings: dict[str, str]
    characters: frozenset[str]
    words: frozenset[str]
    boxes: frozenset[str]


@once_a_book
def _signs() -> _Signs:
    meanings = {row.form: row.means for row in current().of_kind(SIGN)}
    forms = sorted(meanings, key=len, reverse=True)
    drawn = [form for form in forms if not form[0].isalpha()]
    own = (next((c for c in form if not (c.isalnum() or c in "() ")), form[0]) for form in drawn)
    written = "|".join(
        r"(?<!\w)" * form[0].isalpha() + re.escape(form) + r"(?!\w)" * form[-1].isalpha()
        for form in forms
    )
    return _Signs(
        re.compile(written, re.IGNORECASE),
        meanings,
        frozenset((*own, *map(chr, PLAIN))),
        frozenset(shape_of(form).words[0] for form in forms if form[0].isalpha()),
        frozenset(row.form for row in current().of_kind(SIGN) if row.where == "box"),
    )


def segments(text: str, *, bullets: bool = False) -> list[Segment]:
    """Return the stretches of a text that signs speak of, in order.

    With `bullets`, a dash at the start of a line is the bullet of a list.

    >>> text = "(+) rash (-) fever"
    >>> [(part.means, part.core(text)) for part in segments(text)]
    [('present', 'rash'), ('negated', 'fever')]
    """
    expression, meanings, characters, words, boxes = _signs()
    shape = shape_of(text)
    if shape.signs.isdisjoint(characters) and shape.there.isdisjoint(words):
        return []
    plain = text.translate(PLAIN)
    tight = _tight(plain)
    sides = [(sign, _side(plain, sign, tight)) for sign in expression.finditer(plain)]
    sides = [(sign, side) for sign, side in sides if side]
    if not sides:
        return []
    bare = {sign[0] for sign, side in sides if sign[0] in "+-" and side != "behind"}
    style = next((side for _, side in sides if side != "either"), "either")
    # In "fever + rash - cough -" each item has its sign, in "gout - rheumatoid factor +" one has.
    is_run = sides[0][0][0] in ("+", "++") and style == "behind"
    is_run = is_run and not plain[sides[-1][0].end() :].strip(" .")
    cues = deque(find_cues(text))  # signs and cues are in order
    signs: list[tuple[re.Match[str], bool]] = []
    for sign, side in sides:
        if not sign[0].strip("+-") and side in ("open", "either"):
            # Between spaces a dash is a minus where a plus stands so too.
            if not is_run and (len(bare) < 2 or style not in ("front", "open")):
                continue
        elif bullets and sign[0] == "-" and _begins_line(plain, sign.start()):
            continue
        says = meanings[sign[0].lower()]
        while cues and cues[0].end <= sign.start():
            cues.popleft()
        others = itertools.takewhile(sign.end().__gt__, (cue.start for cue in cues))
        flags = [cue.rule.flags for cue, _ in zip(cues, others, strict=False)]
        if not flags or (says == "negated" and all(says in of_cue for of_cue in flags)):
            signs.append((sign, (style if side == "either" else side) == "behind"))
    parts: list[Segment] = []
    for place, (sign, is_behind) in enumerate(signs):
        begin, following = parts[-1].end if parts else 0, signs[place + 1 : place + 2]
        if is_behind:
            start, end = _start(plain, begin, sign.start()), sign.end()
        else:
            start, end = sign.start(), _end(plain, sign, following)
        parts.append(Segment(start, end, sign.span(), meanings[sign[0].lower()]))
    if len(parts) == 1 and parts[0].is_behind and plain[slice(*parts[0].sign)] == "-":
        # *TB -* is a result, and behind a name a dash is no more than a dash.
        parts = [part for part in parts if _is_in_short(part.core(text))]
    boxed = [part for part in parts if plain[slice(*part.sign)].lower() in boxes]
    if {part.means for part in boxed} > {PRESENT}:  # beside a ticked box an empty one denies
        parts = [
            part._replace(means="negated") if part in boxed and part.means != PRESENT else part
            for part in parts
        ]
    return [part for part in parts if _WORD.search(part.core(text))]


def _tight(text: str) -> frozenset[int]:
    """Return where the signs at words end, as in *dyspnea+ orthopnea+ edema-* and *HTN+ DM-*.

    A single sign is none, nor are dashes alone: *short-, mid- and long-term*. Short forms have such
    signs where all of a text does, unless they are markers of a tumour: *ER+ PR-*.
    """
    is_run = _RUN.fullmatch(text) is not None and shape_of(text).there.isdisjoint(_MARKERS)
    signs = {sign.end(): sign[0][-1] for sign in (_SIGNED if is_run else _TIGHT).finditer(text)}
    return frozenset(signs if len(signs) > 1 and "+" in signs.values() else ())


def _answered(text: str) -> list[str]:
    """Return the items of a cell each of which has its answer: *fever: no  cough: yes*."""
    answers, end = list[tuple[str, str]](), 0
    while match := _ANSWER.match(text, end):
        answers.append((match["item"].strip(" -"), match["answer"] or match["word"]))
        end = match.end()
    if len(answers) < 2 or end < len(text):
        return []
    drawn = all(not answer.isalpha() for _, answer in answers)
    return [f"{item}: {_SAID[_signs().meanings[a.lower()]] if drawn else a}" for item, a in answers]


def signed_items(text: str) -> list[str]:
    """Cut a cell at the items that have signs of their own; the text alone where none has.

    >>> signed_items("pneumonia, COVID neg"), signed_items("+fever, -cough")
    (['pneumonia', 'COVID neg'], ['(+) fever', '(-) cough'])
    """
    if answered := _answered(text):
        return answered
    bracket = LAST_BRACKET.search(text)
    if bracket and len(inside := signed_items(bracket["inside"])) > 1:
        return [text[: bracket.start()], *inside]
    parts = segments(text)
    if not parts or ("," not in text and all(text[slice(*part.sign)] == "-" for part in parts)):
        return [text]  # "-fever -cough" may be dashes before items
    items, place, asked = list[str](), 0, ""
    for part in parts:
        written = text.translate(PLAIN)[slice(*part.sign)].lower()
        says_more = written in "+-" or _signs().meanings[written] != part.means
        sign = _SIGN_OF.get(part.means, "") if says_more else ""
        own = f"{sign} {part.core(text)}" if sign else text[part.start : part.end]
        before = asked + text[place : part.start].rstrip(" -\u2013")
        items += (*before.split(","), own)
        place = part.end
        # "rash? eczema" may ask about what follows.
        is_asked = part.is_behind and "?" in written and _GOES_ON.match(text, place)
        asked = "? " if is_asked else ""
    items += (asked + text[place:]).split(",")
    return [item.strip(" ,/\t") for item in items if _WORD.search(item)]


def _begins_line(text: str, place: int) -> bool:
    return text[max(place - _NEAR, 0) : place].rstrip(" \t")[-1:] in ("", "\n")


def _start(text: str, begin: int, sign: int) -> int:
    """Return where the item of a sign behind it starts."""
    words = [word.start() for word in _WORD.finditer(text, begin, sign)]
    last = words[-1] if words else begin
    stops = (stop.end() for stop in _STOP.finditer(text, begin, sign))
    return max((stop for stop in stops if stop <= last), default=begin)


def _end(text: str, sign: re.Match[str], following: Sequence[tuple[re.Match[str], bool]]) -> int:
    """Return where the item of a sign before it ends: several signs part the text among them."""
    limit = following[0][0].start() if following else len(text)
    is_heading = text.startswith(": ", sign.end())  # "-ve: gout, asthma"
    is_run = is_heading or ("?" not in sign[0] and following and not following[0][1])
    stops = (stop for stop in _STOP.finditer(text, sign.end() + is_heading, limit))
    return next((stop.start() for stop in stops if not (is_run and stop[0] == ",")), limit)


def _side(text: str, sign: re.Match[str], tight: frozenset[int]) -> str:
    """Tell where the item of a sign is by what stands beside it: front, behind, either.

    "open" is a dash with a space behind it where an item begins; "" is not a sign.
    """
    start, end, written = sign.start(), sign.end(), sign[0]
    before = text[max(start - _NEAR, 0) : start].rstrip(" \t")
    after = text[end : end + _NEAR].lstrip(" \t")
    left, right = text[start - 1 : start].strip(), text[end : end + 1].strip()  # what touches it
    opens = not before or before[-1] in ",;:(/\n\r" or before[-2:] == " -"
    closes = not after or after[0] in ",;.)\n\r"
    closes = closes or (after[0] == "/" and (not right or len(written) > _LETTER))
    has_item = _WORD.search(before) is not None
    if written.isalpha():
        is_kind = not left and shape_of(before).words[-1:] in _KINDS  # "complementation group N"
        is_sign = closes and has_item and left in ("", "(", "=") and not is_kind
        return "behind" if is_sign else ""
    if len(written) > 1 and not written.strip("+"):  # no "Ca++", no "++ edema"
        if left or not has_item:
            return ""
        return "behind" if closes else "" if right or opens else "either"
    if right == "-" or (written in "+-" and (left or "x") in "+-"):  # "(-)-menthol"
        return ""
    if tight and written in "+-" and left and right in ("", ",", ";", "/"):
        return "behind" if end in tight else ""
    if closes or (after.startswith(_JOINED) and written not in "+-"):
        is_glued = left and written in "+-"
        may = not is_glued or (written == "-" and not after and _ends_in_word(before))
        return "behind" if has_item and may else ""
    if written in "+-":
        if not after[:2].replace("/", "").isalpha() or (left and not opens):  # "+n/v"
            return ""
        is_open = written == "-" and not right
        return ("open" if is_open else "front") if opens or right else "either"
    if opens or (right and not left):
        return "front"
    return "behind" if left and ("?" in written or not right) else "either"


def _ends_in_word(text: str) -> bool:
    """Tell whether a text ends in three letters, or in two capitals that are a word."""
    last = text[-3:]
    capitals = last[-2:].isascii() and last[-2:].isalpha() and last[-2:].isupper()
    return (len(last) == 3 and last.isalpha()) or (capitals and not last[:-2].isalnum())


def _is_in_short(text: str) -> bool:
    """Tell whether a text is short enough for a test, or what it is for; a code is longer.

    The end of an inverted name of a chemical is neither: *phenylalanine, 4-borono-*.
    """
    is_prefix = text[:1].isdigit() and "-" in text and text[-1:].islower()
    if is_prefix or not all(c.isalnum() or c in "_-" for c in text):
        return False
    is_code = any(map(str.isdigit, text))
    return 1 < len(text) <= (_LONGEST_CODE if is_code else _LONGEST_RESULT) and (
        is_code or "-" not in text
    )
