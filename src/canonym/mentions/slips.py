"""Likely slips: *diabetis* is meant to be *diabetes*, and *coumadin* is no *coumarin*.

A word that a terminology lacks may be a word of its own. People leave a letter out, double one,
swap two, or write what sounds alike. Another consonant makes another word more often, unless words
beside it say what is meant.
"""

from __future__ import annotations

import functools
from itertools import groupby

from canonym.mentions.contrasts import affix_contrast
from canonym.mentions.english import is_english
from canonym.mentions.inflection import are_inflected
from canonym.text import PLAIN, normalise
from canonym.text.shape import LETTERS
from canonym.text.words import ends_as, words_of_kind

_VOWELS = frozenset("aeiouy")
_SOUND_ALIKE = ("ckq", "cs", "kx", "sz", "gj", "dt", "bp", "fv", "mn", "vw", "hw")
_SILENT = ("gn", "kn", "mn", "pn", "ps", "pt")  # "neumonia"
# Letters with which a word may begin that begins to the ear with another.
_FIRST = {"n": "gkmp", "s": "cp", "t": "p", "f": "p", "c": "ks", "k": "cq", "z": "x"}
_SOUNDS = str.maketrans({"c": "k", "q": "k", "z": "s", "x": "ks", "y": "i"})
_CLASSES = words_of_kind("ending of a class of chemicals")
_CONTRARY = ("abdu", "addu", "hyper", "hypo")  # one letter away from one another, or two
_BEGINNING = 3  # letters whose vowels tell words apart: hyper- and hypo-, macro- and micro-
_LONG = 7  # letters of a word that few others are near to
_CLEAR = 8  # letters of a word that two vowels may be wrong in
_IONS = ("cion", "sion", "tion")  # they sound alike


def is_one_edit(a: str, b: str) -> bool:
    """Tell whether one insertion, deletion, substitution or swap of neighbours turns a into b.

    Or whether one letter has moved by two: an *athsma* is asthma.

    >>> is_one_edit("infarctoin", "infarction"), is_one_edit("fever", "fever")
    (True, False)
    >>> is_one_edit("athsma", "asthma")
    True
    """
    # An edit leaves the first half or the last as it was, which is quick to see.
    half = max(len(a) - 2, 0) // 2
    if a == b or (a[:half] != b[:half] and a[len(a) - half :] != b[len(b) - half :]):
        return False
    place = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    if place is None:
        return abs(len(a) - len(b)) == 1
    # What follows the first difference: one of two letters is gone, or both are, or they swap.
    a, b = a[place:], b[place:]
    if a[1:] in (b, b[1:]) or a == b[1:]:
        return True
    moved = (a[1::-1] + a[2:], a[2:3] + a[:2] + a[3:], a[1:3] + a[0] + a[3:])
    return len(a) == len(b) and b in moved


def first_letters(word: str) -> str:
    """Return the letters that a word which sounds so may begin with.

    >>> first_letters("neumonia"), first_letters("arthritis")
    ('ngkmp', 'a')
    """
    return word[0] + _FIRST.get(word[0], "")


def sounds_like(word: str, other: str) -> bool:
    """Tell whether words sound alike, long ones nearly: one edit, or two other vowels, apart.

    >>> sounds_like("schizofrenia", "schizophrenia"), sounds_like("diahrea", "diarrhea")
    (True, True)
    >>> sounds_like("carbamezipine", "carbamazepine"), sounds_like("macrogyria", "microgyria")
    (True, False)
    """
    a, b = sound(word), sound(other)
    if a == b or len(word) < _LONG:
        return a == b
    # A letter left out, doubled or swapped may be the first; another vowel there is another prefix.
    if a[:_BEGINNING] != b[:_BEGINNING] and len(a) == len(b) and sorted(a) != sorted(b):
        return False
    return is_one_edit(a, b) or _have_other_vowels(a, b)


@functools.lru_cache(maxsize=1 << 14)
def sound(word: str) -> str:
    """Return about how a word sounds.

    >>> sound("chron"), sound("crohn"), sound("schizophrenia")
    ('kron', 'kron', 'skisofrenia')
    """
    if word.startswith(_SILENT):
        word = word[1:]
    word = word.replace("ae", "e").replace("oe", "e").replace("ph", "f")
    for vowel in "eiy":  # before which a c is soft
        word = word.replace(f"c{vowel}", f"s{vowel}")
    return undoubled(f"{word[:1]}{word[1:].replace('h', '')}".translate(_SOUNDS))


def is_likely_slip(written: str, meant: str) -> bool:
    """Tell whether what was written is likely to be meant so.

    Words that are no likely slips do not count where they are less than half of the letters, but
    for those of everyday English, long ones or alone, which may be meant.

    >>> is_likely_slip("diabitis", "diabetes"), is_likely_slip("pnuemonia", "pneumonia")
    (True, True)
    >>> is_likely_slip("coumadin", "coumarin"), is_likely_slip("enema", "edema")
    (False, False)
    >>> is_likely_slip("acute myocardiag infarction", "acute myocardial infarction")
    True
    >>> is_likely_slip("serious otitis media", "serous otitis media")
    False
    """
    words, others = (LETTERS.findall(normalise(text, PLAIN)) for text in (written, meant))
    if len(words) != len(others):
        return True
    pairs = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    if any(_may_be_contrary(word, other) for word, other in pairs):
        return False
    alone = len(words) == 1
    if any((alone or len(word) >= _LONG) and _is_meant(word, other) for word, other in pairs):
        return False
    unlikely = sum(len(word) for word, other in pairs if not _is_likely(word, other, alone))
    return 2 * unlikely < sum(map(len, words))


def _is_meant(word: str, other: str) -> bool:
    """Tell whether a word is one of everyday English, and no form of the other."""
    return is_english(word) and not are_inflected(word, other)


def _may_be_contrary(word: str, other: str) -> bool:
    """Tell whether prefixes exclude each other, or a slip in one leaves open which was meant.

    *Aduction* is adduction as well as abduction.
    """
    if affix_contrast(word, other) is not None:
        return True
    prefix = next(filter(other.startswith, _CONTRARY), "")
    return not sound(word).startswith(sound(prefix))


def _is_likely(word: str, other: str, alone: bool) -> bool:
    """Tell whether one word is likely to be a slip of another that is near to it."""
    if not alone and word.endswith("s") and not other.endswith("s"):
        word = word[:-1]  # "alzhiemers disease"
    if undoubled(word) == undoubled(other) or sound(word) == sound(other):
        return True  # "schizofrenia"
    if word[0] != other[0]:
        return other.startswith(_SILENT) and other[1:] == word
    if _is_other_chemical(word, other):
        return False
    if alone and (_is_other_kind(word, other) or _is_other_kind(other, word)):
        return False
    if are_inflected(word, other):
        return True
    if all(form.removesuffix("s").endswith(_IONS) for form in (word, other)):
        word, other = (form[: form.rindex("ion") - 1] + "tion" for form in (word, other))
    if is_one_edit(word, other):
        return _is_likely_edit(word, other, alone and len(word) < _LONG)
    return word == other or (
        min(len(word), len(other)) >= _CLEAR and _have_other_vowels(word, other)
    )


def _is_other_kind(substance: str, disorder: str) -> bool:
    """Tell whether one word ends as a substance, and the other as what ails someone."""
    if not ends_as(substance.removesuffix("s"), "ending of a substance"):
        return False
    forms = (disorder, disorder.removesuffix("s"))
    is_disorder = any(ends_as(form, "ending of what ails someone") for form in forms)
    return is_disorder and not disorder.startswith(substance)


def _is_other_chemical(word: str, other: str) -> bool:
    """Tell whether words are of other classes of chemicals, as an enzyme and a sugar."""
    kind, other_kind = (
        next(filter(text.removesuffix("s").endswith, _CLASSES), "") for text in (word, other)
    )
    if kind and other_kind and kind != other_kind:
        return True
    return word.replace("meth", "eth") == other.replace("meth", "eth")


def _is_likely_edit(word: str, other: str, is_short: bool) -> bool:
    """Tell whether a single edit is one that people make.

    Short words that stand alone are near to many others.
    """
    start = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), -1)
    if len(word) != len(other):
        letter = max(word, other, key=len)[start]
        return not is_short or letter in _VOWELS or letter == "h"
    letters = {word[start], other[start]}
    if word[start + 1 :] != other[start + 1 :]:
        return True  # two letters that changed places
    if letters == {"c", "s"} and word[start + 1 : start + 2] not in tuple("eiy"):
        return False  # "hbcag" and "hbsag"
    return letters <= _VOWELS or any(letters <= set(alike) for alike in _SOUND_ALIKE)


def _have_other_vowels(word: str, other: str) -> bool:
    """Tell whether words differ in two vowels only."""
    apart = [pair for pair in zip(word, other, strict=False) if pair[0] != pair[1]]
    return len(word) == len(other) and len(apart) == 2 and all(map(_VOWELS.issuperset, apart))


def undoubled(word: str) -> str:
    """Return a word with every letter once where it stands several times in a row."""
    return "".join(letter for letter, _ in groupby(word))
