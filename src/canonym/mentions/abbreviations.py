"""Long forms of the abbreviations that a document defines itself.

Two engines find the definitions: Ab3P, through the optional ``pyab3p``, and Schwartz and Hearst's
algorithm, which needs no library. The answer names the engine that was used.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from string import ascii_uppercase, digits
from typing import Any

from canonym.errors import InvalidInput, require
from canonym.io.forks import Lock
from canonym.regex import regex
from canonym.text import STRONG, tokens
from canonym.text.shape import ALNUM
from canonym.text.short_forms import spelt_by
from canonym.text.words import words_of_kind

ENGINES = ("auto", "ab3p", "schwartz-hearst")
"""Names of the engines; ``auto`` is Ab3P where it is installed and Schwartz–Hearst elsewhere."""

# Ab3P copies a sentence into a buffer of fixed size and ends the process when that overflows.
_BLOCK = 8_000
# The time that Ab3P takes for a block grows with the square of its brackets.
_MOST_BRACKETS = 500
_BRACKETS = "()[]"
# Ab3P writes these differently, cannot find its own sentences again, and prints them with the text.
_TAMED = str.maketrans({"\x00": " ", "|": " ", "_": "-", "`": "'"})
# The rest after a short form in its parentheses: "(DEN: 10 mg/kg/day)", "(PCPA 100 mg/kg)".
_DOSE = regex(
    r"([(\[]\s*[^\W\d_][\w+'’-]{1,9})\s*(?:[:=;,]\s*)?"
    r"\d[\d.,–-]*\s*(?:[kmµμun]?g|mcg|[mµμu]?l|[mµμun]?mol|[mµμun]?M|IU|U|units?|%)(?!\w)[^()\[\]]*"
    r"(?=[)\]])"
)
_SENTENCE_END = regex(r"(?<=[.!?])\s+(?=[A-Z(])")

_CAPITALS = tuple(f"{ascii_uppercase}{digits}")
_LEAST_SHORT = 3  # letters and digits of a short form that may stand for itself
# Words that names of quite different concepts share.
_GENERAL = words_of_kind("general word")
# Capitals on one side of a dash, an equals sign, a colon or a slash, words on the other.
_SEPARATOR = regex(r"(?<!\s)\s+[-–—=:|/]\s+|[=:/]\s*")


class Abbreviations(Mapping[str, str]):
    """Short forms of one document and their long forms; a mapping that cannot be changed.

    Of several definitions of a short form the first one holds. `engine` is the engine that found
    them, ``"ab3p"`` or ``"schwartz-hearst"``, and empty when a person did.

    >>> forms = Abbreviations({"WD": "Wilson disease"})
    >>> forms["WD"], len(forms)
    ('Wilson disease', 1)
    """

    __slots__ = ("_forms", "engine")

    def __init__(
        self, forms: Mapping[str, str] | Iterable[tuple[str, str]] = (), *, engine: str = ""
    ) -> None:
        self._forms: dict[str, str] = {}
        self.engine = engine
        for short, long in forms.items() if isinstance(forms, Mapping) else forms:
            self._forms.setdefault(short, long)

    def __getitem__(self, short: str) -> str:
        return self._forms[short]

    def __iter__(self) -> Iterator[str]:
        return iter(self._forms)

    def __len__(self) -> int:
        return len(self._forms)

    def __repr__(self) -> str:
        return f"Abbreviations({self._forms!r}, engine={self.engine!r})"


def find_abbreviations(text: str, *, engine: str = "auto") -> Abbreviations:
    """Find the abbreviations that a text defines, by one of `ENGINES`; safe in many threads.

    Differences
    -----------
    Both engines look a second time without the doses beside short forms, which hide definitions
    such as "diethylnitrosamine (DEN: 10 mg/kg/day)". The Schwartz–Hearst engine prefers words whose
    initials spell the short form to the shortest match, and reads a plural short form ("APCs")
    without its s where the s matches nothing.

    References
    ----------
    Schwartz and Hearst (2003), A simple algorithm for identifying abbreviation definitions in
    biomedical text. Sohn, Comeau, Kim and Wilbur (2008), Abbreviation definition identification
    based on automatic precision estimates.

    >>> find_abbreviations("Wilson disease (WD) is rare.", engine="schwartz-hearst")
    Abbreviations({'WD': 'Wilson disease'}, engine='schwartz-hearst')
    """
    if engine not in ENGINES:
        raise InvalidInput(f"unknown abbreviation engine {engine!r}; use {', '.join(ENGINES)}")
    if engine == "auto":
        engine = "ab3p" if find_spec("pyab3p") else "schwartz-hearst"
    text = " ".join(text.encode("utf-8", "replace").decode("utf-8").translate(_TAMED).split())
    find = _find_with_ab3p if engine == "ab3p" else _find_by_letters
    pairs = list(find(text))
    without_doses = _DOSE.sub(r"\1", text)
    if without_doses != text:
        # Afterwards: definitions of the unchanged text count first.
        pairs += find(without_doses)
    return Abbreviations(pairs, engine=engine)


_lock = Lock()
_finder: Any = None


def _find_with_ab3p(text: str) -> list[tuple[str, str]]:
    global _finder
    module = require("pyab3p", "finding abbreviations with Ab3P", "text")
    best: dict[str, tuple[float, str]] = {}  # of each short form, in the order of the text
    # The C++ object keeps state while it works.
    with _lock:
        if _finder is None:
            _finder = module.Ab3p()
        # Some bytes of each definition are never freed. The memory around them is, unless a long
        # text keeps all definitions until its end: then each of those bytes holds a page.
        for out in (out for block in _blocks(text) for out in _finder.get_abbrs(block)):
            if out.short_form not in best or out.prec > best[out.short_form][0]:
                best.pop(out.short_form, None)  # it takes its place among those of equal certainty
                best[out.short_form] = out.prec, out.long_form
    # Of several definitions the one that Ab3P is surest of comes first.
    surest = sorted(best.items(), key=lambda item: -item[1][0])
    return [(short, long) for short, (_, long) in surest]


def _blocks(text: str) -> Iterator[str]:
    """Cut a long text, between sentences where possible, else between words, else anywhere.

    So is a text cut that is full of brackets.
    """
    start = 0
    while (stop := _stop(text, start)) < len(text):
        ends = [match.start() for match in _SENTENCE_END.finditer(text, start, stop)]
        cut = ends[-1] if ends else text.rfind(" ", start + 1, stop)
        cut = cut if cut > start else stop
        yield text[start:cut]
        start = cut + text.startswith(" ", cut)
    yield text[start:]


def _stop(text: str, start: int) -> int:
    """Return where a block from `start` has to end."""
    stop = start + _BLOCK
    if sum(text.count(bracket, start, stop) for bracket in _BRACKETS) <= _MOST_BRACKETS:
        return stop
    brackets = (place for place in range(start, stop) if text[place] in _BRACKETS)
    return next(itertools.islice(brackets, _MOST_BRACKETS, None))


def _find_by_letters(text: str) -> Iterator[tuple[str, str]]:
    """Yield short forms and long forms in the order of the text."""
    for sentence in _SENTENCE_END.split(text):
        for before, inside in _parentheses(sentence):
            inside = re.split(r"[;,]\s", inside)[0].strip(" '\"")
            if _is_short(inside):
                most = min(len(inside) + 5, 2 * len(inside))  # words of a long form
                long = _long_form(inside, " ".join(before.rsplit(None, most)[-most:]))
                if long is not None:
                    yield inside, long
            elif before.strip():
                short = before.rsplit(None, 1)[-1].strip("([{'\"")
                long = _long_form(short, inside) if _is_short(short) else None
                if long is not None and inside.endswith(long):
                    yield short, long


def _parentheses(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the text before each pair of parentheses and inside it, innermost pairs first."""
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


def _long_form(short: str, text: str) -> str | None:
    """Find the shortest end of `text` that spells `short`, its first letter at a word's start."""
    long_form = spelt_by(short, text)
    if long_form is None and short[-1:] == "s" and short[-2:-1] in _CAPITALS:  # "APCs" of "APC"
        long_form = spelt_by(short[:-1], text)
    if long_form is None:
        return None
    too_long = len(ALNUM.findall(long_form)) > min(len(short) + 5, 2 * len(short))
    if too_long or len(long_form) <= len(short) or short in long_form.split():
        return None
    return None if long_form.count("(") != long_form.count(")") else long_form


def expand(mention: str, abbreviations: Mapping[str, str]) -> str:
    """Replace each short form that is a whole word, or its plural, by its long form; case counts.

    A long form that the mention has already is not repeated: the short form beside it goes.

    >>> forms = {"HPT": "hyperparathyroidism", "APC": "adenomatous polyposis coli"}
    >>> expand("primary HPT", forms)
    'primary hyperparathyroidism'
    >>> expand("adenomatous polyposis coli (APC) tumors", forms)
    'adenomatous polyposis coli tumors'
    """
    present = [short for short in abbreviations if short and short in mention]
    for short in sorted(present, key=len, reverse=True):
        long = abbreviations[short]
        is_there = long.lower() in mention.lower()
        mention = (_without_gloss if is_there else _substitute)(mention, short, long)
    return mention


def without_own_short_forms(text: str) -> tuple[str, str]:
    """Return a text without the short forms that it explains itself, and that of all of it.

    >>> without_own_short_forms("chronic kidney disease (CKD) stage 3")
    ('chronic kidney disease stage 3', '')
    >>> without_own_short_forms("COPD - chronic obstructive pulmonary disease")
    ('chronic obstructive pulmonary disease', 'COPD')
    >>> without_own_short_forms("hepatitis (HBV)"), without_own_short_forms("TB - meningitis")
    (('hepatitis (HBV)', ''), ('TB - meningitis', ''))
    """
    if "(" in text or "[" in text:
        forms = find_abbreviations(text, engine="schwartz-hearst")
        plain = expand(text, forms)
        return plain, next((short for short, long in forms.items() if long == plain), "")
    for short, long in _beside(text):
        is_spelt = len(short) >= _LEAST_SHORT or len(ALNUM.findall(long)) == len(short)
        if is_spelt and _is_symbol(short) and _long_form(short, long) == long:
            return long, short
    return text, ""


def _is_symbol(text: str) -> bool:
    """Tell whether a text is one short form with two capitals at least."""
    return _is_short(text) and text.isalnum() and sum(map(str.isupper, text)) > 1


def _beside(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands on both sides of the only separator of a text, either side first."""
    sides = _SEPARATOR.split(text.strip())
    if len(sides) == 2:
        yield sides[0], sides[1]
        yield sides[1], sides[0]


def _without_gloss(mention: str, short: str, long: str) -> str:
    """Drop "(SHORT)" after the long form, or "SHORT (" before it."""
    gloss = re.escape(short)
    name = re.escape(long)
    mention = re.sub(rf"(?i:({name}\w*))\s*[(\[]\s*{gloss}s?\s*[)\]]", r"\1", mention)
    return re.sub(rf"(?<!\w){gloss}s?\s*[(\[]\s*(?i:({name}\w*))\s*[)\]]", r"\1", mention)


def _substitute(mention: str, short: str, long: str) -> str:
    pattern = re.compile(rf"(?<!\w){re.escape(short)}(?:s(?!\w)|(?!\w))")
    return functools.reduce(
        lambda text, piece: _join(_join(text, long), piece), pattern.split(mention)
    )


def _join(left: str, right: str) -> str:
    """Put two strings together, once where the end of one is the beginning of the other."""
    words = right.split(" ")
    for n in range(min(len(words), left.count(" ") + 1), 0, -1):
        shared = " ".join(words[:n]).strip()
        ends = left.rstrip()
        if shared and ends.lower().endswith(shared.lower()):
            start = len(ends) - len(shared)
            if start == 0 or not ends[start - 1].isalnum():
                return ends[:start] + right.lstrip()
    return left + right


def stands_for_itself(short: str, long: str, names: Iterable[str]) -> bool:
    """Tell whether a short form means the concept that has it as a name, and has these names too.

    Its document defines it by a long form that is no name. A gene is known by its short form,
    *LKB1*, whatever its long form is. Other short forms are names of something else in most texts,
    unless a name of the concept shares a word with the long form.

    >>> stands_for_itself("LKB1", "liver kinase B1", ["LKB1", "STK11"])
    True
    >>> stands_for_itself("RS", "rabbit syndrome", ["RS", "Retinoschisis"])
    False
    """
    beside = long.lower().split()
    form = _bare("".join(word for word in short.split() if word.lower() not in beside))
    if len(form) < _LEAST_SHORT:
        return False
    if any(letter.isdecimal() for letter in form):
        return True
    others = list(names)
    if _bare(short) not in map(_bare, others):  # in another case it is another short form
        return False
    words = _long_words(long) - _long_words(short)
    return any(words & _long_words(name) for name in others)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _long_words(text: str) -> set[str]:
    return {word for word in tokens(text, STRONG) if len(word) > _LEAST_SHORT} - _GENERAL
