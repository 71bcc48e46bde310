"""Words in Cyrillic and Greek letters, spelt as medical English spells them.

Medicine has its words from Greek and Latin, in every language: *гастрит* and *γαστρίτιδα* are
gastritis. An encoder that has learned Latin letters alone finds them once they are written so.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from canonym.regex import regex

_WORD = regex("[\u0370-\u03ff\u0400-\u052f\u1f00-\u1fff]{3,}")
_REMEMBERED = 1 << 16

# What a letter is in most words; parts of words go first, below.
_TABLE = """
а:a б:b в:v г:g д:d е:e ж:j з:z и:i к:c л:l м:m н:n о:o п:p р:r с:s т:t у:u ф:f х:ch ц:c ч:ch
ш:sh щ:sch ъ: ы:y ь: э:e ю:u я:ia і:i є:e ґ:g ј:j љ:l њ:n ћ:c ђ:d џ:j
α:a β:b γ:g δ:d ε:e ζ:z η:e θ:th ι:i κ:c λ:l μ:m ν:n ξ:x ο:o π:p ρ:r σ:s ς:s τ:t υ:y φ:ph χ:ch ψ:ps
ω:o
"""
_LETTERS = dict(pair.split(":") for pair in _TABLE.split())


def _rules(text: str) -> list[tuple[re.Pattern[str], str]]:
    pairs = (line.split() for line in text.strip().splitlines())
    return [(re.compile(part), latin) for part, latin in pairs]


# Greek roots in Russian and its neighbours, then in Greek, as regular expressions.
_PARTS = _rules(
    """
    ^г[иі]пер hyper
    ^г[иі]п hyp
    ^гем hem
    гемия hemia
    гепат hepat
    леик leuk
    ^невр neur
    лимф lymph
    неф neph
    цеф ceph
    морф morph
    троф troph
    фаг phag
    флеб phleb
    фоб phob
    фил phil
    ^псих psych
    ^эндо endo
    хол chol
    эритр erythr
    тромб thromb
    тире?о thyro
    ^рин rhin
    ^ревм rheum
    артр arthr
    пати pathi
    ^дис dys
    ^диз dys
    ^син syn
    ^симп symp
    ^мио myo
    ^мие myel
    лиз lys
    пневм pneum
    астм asthm
    ^αιμ hem
    αιμ em
    ^υ hy
    ^ηπα hepa
    ^ρ rh
    ταση$ tension
    ευ eu
    αυ au
    αι ae
    ου u
    ει i
    οι oe
    μπ b
    γγ ng
    γκ nk
    γχ nch
    """
)
# Endings, once the word is in Latin letters.
_ENDINGS = _rules(
    """
    iia$ ia
    (it|itida|itis)$ itis
    (oz|ez|osi|ose)$ osis
    iaz$ iasis
    zia$ sia
    iz$ isis
    (ichesc|esc)(ii|aia|oe|ie|yi)$ ic
    (al|ar)n(yi|aia|oe|ye)$ \\1
    oidn(yi|aia|oe|ye)$ oid
    ivn(yi|aia|oe|ye)$ ive
    ozn(yi|aia|oe|ye)$ ous
    n(yi|aia|oe|ye)$ n
    ic(os|e|o|es|a)$ ic
    """
)


def latin(text: str) -> str:
    """Spell the words of a text that are in Cyrillic or Greek letters in Latin ones.

    Words of fewer than three letters stay: they are signs, such as the β of β-blockers.

    >>> latin("острый гастрит"), latin("γαστρίτιδα"), latin("β-blocker")
    ('ostryi gastritis', 'gastritis', 'β-blocker')
    """
    return text if text.isascii() else _WORD.sub(lambda match: _latin_word(match[0]), text)


@functools.lru_cache(maxsize=_REMEMBERED)
def _latin_word(word: str) -> str:
    spelt = unicodedata.normalize("NFD", word.lower())
    spelt = "".join(letter for letter in spelt if not unicodedata.combining(letter))
    for part, written in _PARTS:
        spelt = part.sub(written, spelt)
    spelt = "".join(_LETTERS.get(letter, letter) for letter in spelt)
    for ending, written in _ENDINGS:
        changed = ending.sub(written, spelt)
        if changed != spelt:
            return changed
    return spelt
