"""Normalisation steps that look at one character at a time.

Every step is a pure function from a string to a string, does nothing to plain ASCII unless that is
its purpose, and accepts any string whatsoever, lone surrogates included.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Mapping

from canonym.regex import regex
from canonym.rules import shipped
from canonym.text.markup import entities as entities  # a step like those below
from canonym.text.shape import DIGIT, DIGITS, LETTERS
from canonym.text.words import forms_of, words_of_kind

_DASHES = dict.fromkeys(
    [0x058A, *range(0x2010, 0x2016), 0x2043, 0x2212, 0xFE31, 0xFE32, 0xFE58, 0xFE63, 0xFF0D], "-"
)
# The acute accent (U+00B4) must become an apostrophe before NFKC turns it into a space and a mark.
_SINGLE_QUOTES = (
    "`\u00b4\u02b9\u02bb\u02bc\u02bd\u02c8\u0374\u055a\u1fbd\u1fbf\u1fef\u1ffd\u1ffe"
    "\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\uff07"
)
_DOUBLE_QUOTES = "\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033\u2036\u301d\u301e\uff02"
_QUOTES = str.maketrans(
    dict.fromkeys(_SINGLE_QUOTES, "'") | dict.fromkeys(_DOUBLE_QUOTES, '"') | {"\u0149": "'n"}
)

_STROKED = str.maketrans(
    {"ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ł": "l", "Ł": "L", "ħ": "h"}
    | {"ı": "i", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "Th", "ŧ": "t"}
)
# Diacritics of Latin and Greek. Marks of other scripts (Japanese, Arabic, Devanagari, …) spell
# different words and stay, and so does the breve that tells й from и.
_MARKS = regex(
    r"(?<![\u0400-\u0481\u048a-\u052f])[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+"
)

_GREEK_NAMES = {
    letter: rule.form for rule in shipped().of_kind("name of a letter") for letter in rule.means
}
_GREEK_RUN = regex("[\u0370-\u03ff\u1f00-\u1fff]+")
_GLUED = forms_of("letter beside a digit")
_GLUED_NAME = regex(rf"(?<=\d)(?=(?:{_GLUED})(?![^\W\d_]))|(?<![^\W\d_])({_GLUED})(?=\d)")


class _Lazy(dict[int, str]):
    """A translation table that asks what becomes of a character when it first meets it."""

    def __init__(self, after: Callable[[str], str], start: Mapping[int, str]) -> None:
        super().__init__(start)
        self._after = after

    def __missing__(self, code: int) -> str:
        after = self[code] = self._after(chr(code))
        return after


# Format characters, surrogates and control characters carry no meaning here; the control characters
# that str.split takes for whitespace are left to the whitespace step. Trade marks must go before
# NFKC spells them as letters. The rest are blank letters and variation selectors.
_JUNK = _Lazy(
    lambda character: "" if unicodedata.category(character) in ("Cf", "Cs", "Cc") else character,
    {code: chr(code) for code in (*range(0x09, 0x0E), *range(0x1C, 0x20), 0x85)}
    | dict.fromkeys([0x2120, 0x2122], " ")
    | dict.fromkeys([0x115F, 0x1160, 0x3164, 0xFFA0, 0x034F, *range(0x180B, 0x1810)], "")
    | dict.fromkeys([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)], ""),
)
_PUNCTUATION = _Lazy(
    lambda character: " " if unicodedata.category(character)[0] in "PS" else character,
    dict.fromkeys(map(ord, string.punctuation), " "),
)
_IONS = {rule.form: rule.means for rule in shipped().of_kind("ion")}
# "Ca2+", "Ca(2+)", "Ca++", "Ca+2", "Na+"; several in a row, as in "Na+K+". A plus between other
# letters or digits adds or joins: "K+D", "K+1".
_SYMBOL = "|".join(_IONS)
_ION = regex(
    rf"(?<![^\W_])({_SYMBOL})(?: ?\(?[1-4]\+\)?|\(\+\)|\++[2-4]|\++)"
    rf"(?![a-z0-9+]|(?!(?:{_SYMBOL})[0-9(]?\+)[A-Z])"
)
# "HER2+", "CD3+CD4- T cell", "Gram + cocci", "HER2 -ve", "A- blood". A plus behind an electron
# carrier is a charge. A hyphen is a minus only behind a symbol, a word with a digit or two
# capitals, and not where it hangs: "CYP2D6- and CYP3A4-mediated", "IL- 6", "TNF- alpha".
_SIGNED = regex(r"(?<![\w+-])[A-Za-z][A-Za-z0-9]*(?:[+-][A-Za-z0-9]+)*[+-](?![\w(+-])")
_MAYBE_SIGNED = regex(r"\+|-(?![\w(])|-ve\b")
_HANGS = regex(
    r"\s*,(?=[^-]*-)|\s+(?!(?:and|or|nor) \w+[+-](?!\w))"
    r"(?:and|or|to|nor|\d|[a-z]\b|alpha|beta|gamma|delta|kappa|positive|negative)"
)
_CARRIERS = words_of_kind("electron carrier")
_NEAR = 4  # letters of a symbol among which one is a capital: "HBs", "mRNA"
# Symbols with a sign each: "ER+PR-HER2-". A hyphen inside a symbol, as in "HLA-B27+", is no sign.
_CHAIN = regex(r"CD\d+[a-z]?[+-]|[^+]*?\+(?!$)|(?<=[+-])[^+-]+-|.+[+-]$")
_TESTED = regex(
    rf"\b(?i:({forms_of('tested')}|[A-Z0-9]{{2,8}})(?: ?([+-])ve\b| ([+-])(?![\w+-])))"
    r"|\b(AB|A|B|O)-(?= blood\b)"
)
_SIGN_WORDS = {"+": "positive", "-": "negative"}


def quotes(text: str) -> str:
    """Write every apostrophe, prime and single quote as ``'`` and every double quote as ``"``.

    >>> quotes("Crohn’s")
    "Crohn's"
    """
    return text.translate(_QUOTES) if not text.isascii() or "`" in text else text


def dashes(text: str) -> str:
    """Write every hyphen, dash and minus sign as ``-``.

    >>> dashes("non–small‐cell")
    'non-small-cell'
    """
    return text if text.isascii() else text.translate(_DASHES)


def width(text: str) -> str:
    """Replace compatibility characters (NFKC) and drop invisible ones.

    Full-width letters, ligatures, super- and subscripts become plain ones. Soft hyphens, zero-width
    characters, control characters, NUL, and lone surrogates disappear; trade mark signs become a
    space.

    >>> width("ﬁbro\\u00adsis\\x00")
    'fibrosis'
    """
    if text.isascii():
        return text if text.isprintable() else text.translate(_JUNK)
    return unicodedata.normalize("NFKC", text.translate(_JUNK)).translate(_JUNK)


def ions(text: str) -> str:
    """Spell ions of metals, ammonium and hydrogen, whose sign would be lost with punctuation.

    >>> ions("Ca2+ and Na(+)-K(+) ATPase"), ions("CA2"), ions("CD4+ cells")
    ('calcium and sodium-potassium ATPase', 'CA2', 'CD4+ cells')
    """
    return _ION.sub(_spelt_ion, text) if "+" in text else text


def _spelt_ion(match: re.Match[str]) -> str:
    joins = match.string[match.end() : match.end() + 1].isalnum()
    return f"{_IONS[match[1]]} " if joins else _IONS[match[1]]


def signs(text: str) -> str:
    """Write the sign at the end of a word or symbol as *positive* or *negative*.

    >>> signs("HER2+ breast cancer"), signs("CD3+CD4- T cell"), signs("Gram - cocci")
    ('HER2 positive breast cancer', 'CD3 positive CD4 negative T cell', 'Gram negative cocci')
    >>> signs("NAD+"), signs("CYP2D6- and CYP3A4-mediated"), signs("asthma + eczema")
    ('NAD+', 'CYP2D6- and CYP3A4-mediated', 'asthma + eczema')
    """
    if _MAYBE_SIGNED.search(text) is None:
        return text
    return _TESTED.sub(_spelt_result, _SIGNED.sub(_spelt_signs, text))


def _spelt_signs(match: re.Match[str]) -> str:
    run = match[0]
    is_minus = run[-1] == "-"
    if _HANGS.match(match.string, match.end()) if is_minus else run[:-1] in _CARRIERS:
        return run
    symbols = _CHAIN.findall(run)
    if len(symbols) == 1 and is_minus and not _is_symbol(run):
        return run
    return " ".join(f"{symbol[:-1]} {_SIGN_WORDS[symbol[-1]]}" for symbol in symbols)


def _is_symbol(run: str) -> bool:
    """Tell whether a word before a hyphen has a digit, or two capitals near its beginning."""
    if not DIGITS.isdisjoint(run) or run.startswith(("Rh-", "Ph-")):
        return True
    capitals = [place for place, letter in enumerate(run) if letter.isupper()]
    return len(capitals) > 1 and capitals[0] < _NEAR and capitals[1] - capitals[0] <= _NEAR


def _spelt_result(match: re.Match[str]) -> str:
    tested, attached, apart, blood_group = match.groups()
    if blood_group:
        return f"{blood_group} negative"
    if apart and tested.lower() not in ("gram", "rh"):
        return match[0]
    return f"{tested} {_SIGN_WORDS[attached or apart]}"


def case(text: str) -> str:
    """Fold case.

    ``ß`` becomes ``ss``, except alone, where it stands for a beta.

    >>> case("Großer ß-Blocker")
    'grosser β-blocker'
    """
    if text.isascii():
        return text.lower()
    # The German letter with no letter beside it is a beta typed on a German keyboard.
    if "ß" in text:
        text = LETTERS.sub(lambda letters: "β" if letters[0] == "ß" else letters[0], text)
    return unicodedata.normalize("NFKC", text.casefold())


def accents(text: str) -> str:
    """Drop diacritics of Latin and Greek letters and write stroked letters and ligatures plainly.

    >>> accents("Sjögren, Ménière, Bjørn, fœtus")
    'Sjogren, Meniere, Bjorn, foetus'
    """
    if text.isascii():
        return text
    bare = _MARKS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare.translate(_STROKED))


def greek(text: str) -> str:
    """Spell out Greek letters that stand alone or in pairs, as words of their own.

    Longer runs are Greek words and stay. A spelt letter is parted from digits, so that ``β2``,
    ``beta2`` and ``beta-2`` meet.

    >>> greek("TNFα, γδ T cells, beta2, νόσος")
    'TNF alpha ,  gamma delta  T cells, beta 2, νόσος'
    """
    if not text.isascii():
        text = _GREEK_RUN.sub(_spell, text)
    return _GLUED_NAME.sub(r"\1 ", text) if DIGIT.search(text) else text


def _spell(match: re.Match[str]) -> str:
    run = match[0]
    if len(run) > 2 or not all(letter in _GREEK_NAMES for letter in run):
        return run
    return f" {' '.join(_GREEK_NAMES[letter] for letter in run)} "


def punctuation(text: str) -> str:
    """Replace punctuation and symbols of every script by spaces.

    A decimal point is no exception: ``1.5`` becomes ``1 5`` and stays apart from ``15``.

    >>> punctuation("non-Hodgkin's (1.5)")
    'non Hodgkin s  1 5 '
    """
    return text.translate(_PUNCTUATION)


def whitespace(text: str) -> str:
    """Collapse runs of whitespace to one space and trim both ends.

    >>> whitespace("  heart \\t attack ")
    'heart attack'
    """
    return " ".join(text.split())


# The ideographs of Chinese and Japanese, which write words without spaces between them.
_IDEOGRAPHS = ("\u3400\u4dbf", "\u4e00\u9fff", "\uf900\ufaff", "\U00020000\U000323af")
_SYLLABLES = ("\u3041\u3096", "\u30a1\u30fa", "\uac00\ud7a3")


def _weight(letter: str) -> int:
    """Return for how many letters of an alphabet one counts."""
    ranges = {3: _IDEOGRAPHS, 2: _SYLLABLES}
    return next((n for n in ranges if any(span[0] <= letter <= span[1] for span in ranges[n])), 1)


_PARTED = _Lazy(lambda letter: f" {letter} " if _weight(letter) == 3 else letter, {})
_WEIGHED = _Lazy(lambda letter: letter * _weight(letter), {})


def ideographs(text: str) -> str:
    """Part ideographs, so that each is a word, and collapse whitespace.

    >>> ideographs("2型糖尿病"), ideographs("心筋梗塞のリスク")
    ('2 型 糖 尿 病', '心 筋 梗 塞 のリスク')
    """
    return text if text.isascii() else " ".join(text.translate(_PARTED).split())


def n_letters(text: str) -> int:
    """Return how much a name says, in letters.

    An ideograph is a word and counts for three, a syllable of Korean or Japanese for two.

    >>> n_letters("MI"), n_letters("黄疸"), n_letters("천식"), n_letters("がん")
    (2, 6, 4, 4)
    """
    return len(text if text.isascii() else text.translate(_WEIGHED))
