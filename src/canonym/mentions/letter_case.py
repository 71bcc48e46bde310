"""Case that says what a word stands for: *mg* and "Mg", *mass* and "MASS syndrome"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from canonym.mentions.clinical import CAPITALS, usual_reading
from canonym.mentions.english import is_english, is_ordinary
from canonym.mentions.opposites import ORDINARY
from canonym.text.shape import ALNUM
from canonym.text.short_forms import spelt_by
from canonym.text.words import words_of_kind
from canonym.types import Contradiction

_LONGEST = 12  # characters of a symbol
_UNIT = 2  # letters of units and of symbols of elements
_SHORT_FORM = 4  # letters of short forms that read as words, such as SARS
_LEAST_ACRONYM, _MOST_ACRONYM = 3, 8
VOWELS = frozenset("aeiouyAEIOUY")
_BETTER_KNOWN = words_of_kind("acronym better known than the word")


def case_contrasts(
    mention: str, name: str, label: str = "", *, case_counts: bool = False
) -> Iterator[Contradiction]:
    """Yield what contradicts by case alone, where a word of a name is an acronym or a symbol.

    `label` is that of the concept, which tells whether a name in capitals is an acronym.
    With `case_counts` any other case of a symbol contradicts.

    >>> list(case_contrasts("Mass", "MASS syndrome"))
    [Contradiction(kind='case', mention='Mass', name='MASS')]
    >>> list(case_contrasts("copd", "COPD")), list(case_contrasts("leopard syndrome", "LEOPARD"))
    ([], [])
    """
    if not (mention.isalnum() and mention.isascii()) or len(mention) > _LONGEST:
        return
    if mention.casefold() == name.casefold() and _is_other_symbol(mention, name, case_counts):
        yield Contradiction("case", mention, name)
        return
    capitals = mention.upper()
    words = {capitals, capitals.removesuffix("S")}.intersection(ALNUM.findall(name))
    is_meant = not name.isupper() or _is_short_word(mention, label)
    acronyms = [word for word in words if is_meant or _is_acronym(word, label)]
    if acronyms and _is_word(mention):
        yield Contradiction("case", mention, max(acronyms))


def _is_acronym(word: str, label: str) -> bool:
    """Tell whether a label has a word in capitals beside others, or spells it.

    Some terminologies write a part of their names in capitals.
    """
    if word in ALNUM.findall(label):
        return any(map(str.islower, label))
    return word.casefold() not in label.casefold() and spelt_by(word, label) is not None


def _is_short_word(mention: str, label: str) -> bool:
    """Tell whether a mention is a short ordinary word: *sad* is no "SAD", whatever that spells."""
    is_short = mention.islower() and len(mention) <= _SHORT_FORM
    return is_short and any(map(str.islower, label)) and is_ordinary(mention)


def _is_word(mention: str) -> bool:
    """Tell whether a mention is one word of everyday English that is not in capitals."""
    word = mention.lower()
    if not _LEAST_ACRONYM <= len(word) <= _MOST_ACRONYM or mention not in (word, word.title()):
        return False
    return word not in _BETTER_KNOWN and (is_ordinary(word) or is_english(word))


def _is_other_symbol(mention: str, name: str, case_counts: bool) -> bool:
    """Tell whether symbols differ by case: "mg" and "Mg"; where it counts, "SHH" and "Shh"."""
    if mention == name or usual_reading(mention) == usual_reading(name) != "":  # *AFIB*, "AFib"
        return False
    small = mention if mention.islower() else name
    if not small.islower():
        is_plural = {mention[-1], name[-1]} == {"s", "S"} and mention[:-1] == name[:-1]
        return case_counts or is_plural or len(mention) <= _UNIT
    is_word = small in ORDINARY and not (mention.istitle() or name.istitle())
    return is_word or len(mention) <= _UNIT or (case_counts and not mention.islower())


def last_capital_contrasts(mention: str, name: str) -> Iterator[Contradiction]:
    """Yield short forms whose last letter is a capital S, which is no plural: *HLH* and "HLHS".

    Capitals that read as a word may be one: what *ulcer* is to "ULCERS".
    """
    for word, short in _with_capital_s(mention, name):
        yield Contradiction("letter", word, short)
    for word, short in _with_capital_s(name, mention):
        yield Contradiction("letter", short, word)


def symbol_contrasts(
    mention: str, name: str, left: Sequence[str], missing: Sequence[str]
) -> Iterator[Contradiction]:
    """Yield the short forms of which each text has one alone: an *ED visit* is not an "OB visit".

    One that has the letters of the other may be the same: *AMI*, *MI*.
    """
    if not len(left) == len(missing) == 1:
        return
    here, there = left[0].upper(), missing[0].upper()
    if here not in mention or there not in name:
        return
    are_short = here in CAPITALS.findall(mention) and there in CAPITALS.findall(name)
    if are_short and not (set(here) <= set(there) or set(there) <= set(here)):
        yield Contradiction("letter", here, there)


def _with_capital_s(text: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a text that another has with a capital S more, and how it has them."""
    if "S" not in other:
        return
    words = {word.casefold(): word for word in ALNUM.findall(text)}
    for short in ALNUM.findall(other):
        word = words.get(short[:-1].casefold())
        if short[-1] != "S" or not short.isupper() or word is None or short.casefold() in words:
            continue
        if _is_plural(short, word):
            continue
        if not _reads_as_word(short) or (word.isupper() and len(short) <= _SHORT_FORM):
            yield word, short


def _reads_as_word(text: str) -> bool:
    """Tell whether a text begins with four letters, and has a vowel: it may stand in capitals."""
    start = text[:_SHORT_FORM]
    is_word = len(start) == _SHORT_FORM and start.isalpha() and start.isascii()
    return is_word and not VOWELS.isdisjoint(text)


def _is_plural(short: str, word: str) -> bool:
    """Tell whether a short form is another in the plural, by what both usually stand for."""
    reading = usual_reading(word.upper())
    return reading != "" and usual_reading(short) in (reading, f"{reading}s")


def sentence_case(text: str) -> str:
    """Return a text with small first letters of all that reads as a word, and single spaces.

    >>> sentence_case("Common  Cold"), sentence_case("AIDS"), sentence_case("Shh protein")
    ('common cold', 'AIDS', 'Shh protein')
    """
    words = (
        word.lower() if word[1:].islower() and _reads_as_word(word) else word
        for word in text.split()
    )
    return " ".join(words)
