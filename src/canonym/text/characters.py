"""Normalisation steps that look at one character at a time.

Every step is a pure function from a string to a string, does nothing to plain ASCII unless that is
its purpose, and accepts any string whatsoever, lone surrogates included.
"""

from __future__ import annotations

import re
import string
import unicodedata

from canonym.regex import regex
from canonym.rules import shipped
from canonym.text.markup import without_markup
from canonym.text.shape import DIGIT

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

_GREEK_SPELT = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega sigma"
)
_GREEK_NAMES = dict(zip("αβγδεζηθικλμνξοπρστυφχψως", _GREEK_SPELT.split(), strict=True))
_GREEK_NAMES |= {letter.upper(): name for letter, name in _GREEK_NAMES.items()}
_GREEK_RUN = regex("[\u0370-\u03ff\u1f00-\u1fff]+")
_GLUED = "alpha|beta|gamma|delta|epsilon|zeta|theta|kappa|lambda|sigma|omega"
_GLUED_NAME = regex(rf"(?<=\d)(?=(?:{_GLUED})(?![^\W\d_]))|(?<![^\W\d_])({_GLUED})(?=\d)")
# The German letter alone, with no letter beside it, is a beta typed on a German keyboard.
_LONE_ESZETT = regex(r"(?<![^\W\d_])ß(?![^\W\d_])")


class _Lazy(dict[int, str]):
    """A translation table that looks a character's category up when it first meets it."""

    def __init__(self, replaced: str, by: str, start: dict[int, str]) -> None:
        super().__init__(start)
        self._replaced = tuple(replaced.split())
        self._by = by

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_replaced = unicodedata.category(character).startswith(self._replaced)
        after = self[code] = self._by if is_replaced else character
        return after


# Format characters, surrogates and control characters carry no meaning here; the control characters
# that str.split takes for whitespace are left to the whitespace step. Trade marks must go before
# NFKC spells them as letters. The rest are blank letters and variation selectors.
_JUNK = _Lazy(
    "Cf Cs Cc",
    "",
    {code: chr(code) for code in (*range(0x09, 0x0E), *range(0x1C, 0x20), 0x85)}
    | dict.fromkeys([0x2120, 0x2122], " ")
    | dict.fromkeys([0x115F, 0x1160, 0x3164, 0xFFA0, 0x034F, *range(0x180B, 0x1810)], "")
    | dict.fromkeys([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)], ""),
)
_PUNCTUATION = _Lazy("P S", " ", dict.fromkeys(map(ord, string.punctuation), " "))
_ASCII_JUNK = regex(r"[\x00-\x08\x0e-\x1b\x7f]")
_IONS = {rule.form: rule.means for rule in shipped().of_kind("ion")}
# "Ca2+", "Ca(2+)", "Ca++", "Ca+2", "Na+"; several in a row, as in "Na+K+". A plus between other
# letters or digits adds or joins: "K+D", "K+1".
_SYMBOL = "|".join(_IONS)
_ION = regex(
    rf"(?<![^\W_])({_SYMBOL})(?: ?\(?[1-4]\+\)?|\(\+\)|\++[2-4]|\++)"
    rf"(?![a-z0-9+]|(?!(?:{_SYMBOL})[0-9(]?\+)[A-Z])"
)
# "HER2+", "CD3+CD4- T cell", "Gram + cocci", "HER2 -ve". A plus behind an electron carrier is a
# charge. A hyphen is a minus only behind a symbol, a word with a digit or two capitals, and not
# where it hangs: "CYP2D6- and CYP3A4-mediated", "IL- 6", "TNF- alpha".
_SIGNED = regex(r"(?<![\w+-])[A-Za-z][A-Za-z0-9]*(?:[+-][A-Za-z0-9]+)*[+-](?![\w(+-])")
_MAYBE_SIGNED = regex(r"\+|-(?![\w(])|-ve\b")
_HANGS = regex(
    r"\s*,(?=[^-]*-)|\s+(?!(?:and|or|nor) \w+[+-](?!\w))"
    r"(?:and|or|to|nor|\d|[a-z]\b|alpha|beta|gamma|delta|kappa|positive|negative)"
)
_CARRIER = regex(r"(?:NADP?|FAD)H?\+")
_IS_SYMBOL = regex(r"\D*\d|[^A-Z]{0,3}[A-Z][^A-Z]{0,3}[A-Z]|(?:Rh|Ph)-")
# Symbols with a sign each: "ER+PR-HER2-". A hyphen inside a symbol, as in "HLA-B27+", is no sign.
_CHAIN = regex(r"CD\d+[a-z]?[+-]|[^+]*?\+(?!$)|(?<=[+-])[^+-]+-|.+[+-]$")
_STAINED = regex(r"\b(gram|rh|smear|culture|[A-Z0-9]{2,8})(?: ?([+-])ve\b| ([+-])(?![\w+-]))", re.I)
_SIGN_WORDS = {"+": "positive", "-": "negative"}
_BLOOD_GROUP = regex(r"\b(AB|A|B|O)-(?= blood\b)")


def entities(text: str) -> str:
    """Undo what an export left in a name: entities and tags of HTML, and misread UTF-8.

    >>> entities("Gunther&apos;s disease"), entities("H<sub>2</sub>O"), entities("SjÃ¶gren")
    ("Gunther's disease", 'H2O', 'Sjögren')
    """
    return without_markup(text)


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
        return _ASCII_JUNK.sub("", text)
    return unicodedata.normalize("NFKC", text.translate(_JUNK)).translate(_JUNK)


def ions(text: str) -> str:
    """Spell ions of metals, ammonium and hydrogen, whose sign would be lost with punctuation.

    >>> ions("Ca2+ and Na(+)-K(+) ATPase"), ions("CA2"), ions("CD4+ cells")
    ('calcium and sodium-potassium ATPase', 'CA2', 'CD4+ cells')
    """
    return _ION.sub(_spelt_ion, text) if "+" in text else text


def _spelt_ion(match: re.Match[str]) -> str:
    follows = match.string[match.end() : match.end() + 1]
    return _IONS[match[1]] + (" " if follows.isalnum() else "")


def signs(text: str) -> str:
    """Write the sign at the end of a word or symbol as *positive* or *negative*.

    >>> signs("HER2+ breast cancer"), signs("CD3+CD4- T cell"), signs("Gram - cocci")
    ('HER2 positive breast cancer', 'CD3 positive CD4 negative T cell', 'Gram negative cocci')
    >>> signs("NAD+"), signs("CYP2D6- and CYP3A4-mediated"), signs("asthma + eczema")
    ('NAD+', 'CYP2D6- and CYP3A4-mediated', 'asthma + eczema')
    """
    if _MAYBE_SIGNED.search(text) is None:
        return text
    text = _SIGNED.sub(_spelt_signs, text)
    text = _STAINED.sub(_spelt_stain, text)
    return _BLOOD_GROUP.sub(r"\1 negative", text)


def _spelt_signs(match: re.Match[str]) -> str:
    run = match[0]
    if _CARRIER.fullmatch(run) or (run[-1] == "-" and _HANGS.match(match.string, match.end())):
        return run
    symbols = _CHAIN.findall(run)
    if len(symbols) == 1 and run[-1] == "-" and not _IS_SYMBOL.match(run):
        return run
    return " ".join(f"{symbol[:-1]} {_SIGN_WORDS[symbol[-1]]}" for symbol in symbols)


def _spelt_stain(match: re.Match[str]) -> str:
    word, sign = match[1], match[2] or match[3]
    if match[3] and word.lower() not in ("gram", "rh"):
        return match[0]
    return f"{word} {_SIGN_WORDS[sign]}"


def case(text: str) -> str:
    """Fold case.

    ``ß`` becomes ``ss``, except alone, where it stands for a beta.

    >>> case("Großer ß-Blocker")
    'grosser β-blocker'
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", _LONE_ESZETT.sub("β", text).casefold())


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
    return _GLUED_NAME.sub(_part, text) if DIGIT.search(text) else text


def _spell(match: re.Match[str]) -> str:
    run = match[0]
    if len(run) > 2 or not all(letter in _GREEK_NAMES for letter in run):
        return run
    return f" {' '.join(_GREEK_NAMES[letter] for letter in run)} "


def _part(match: re.Match[str]) -> str:
    return f"{match[1] or ''} "


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
_IDEOGRAPH = regex("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af])")
_SYLLABLE = regex("[\u3041-\u3096\u30a1-\u30fa\uac00-\ud7a3]")


def ideographs(text: str) -> str:
    """Part ideographs, so that each is a word, and collapse whitespace.

    >>> ideographs("2型糖尿病"), ideographs("心筋梗塞のリスク")
    ('2 型 糖 尿 病', '心 筋 梗 塞 のリスク')
    """
    return text if text.isascii() else " ".join(_IDEOGRAPH.sub(r" \1 ", text).split())


def n_letters(text: str) -> int:
    """Return how much a name says, in letters.

    An ideograph is a word and counts for three, a syllable of Korean or Japanese for two.

    >>> n_letters("MI"), n_letters("黄疸"), n_letters("천식"), n_letters("がん")
    (2, 6, 4, 4)
    """
    if text.isascii():
        return len(text)
    return len(text) + 2 * len(_IDEOGRAPH.findall(text)) + len(_SYLLABLE.findall(text))
