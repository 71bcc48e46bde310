"""Normalisation steps that look at whole words.

They expect text that has been through ``case`` and leave capitals alone. Each errs on the side of
doing nothing: a name and a mention both get the same treatment, so two
spellings of one word have to meet, and two different words must not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from canonym.regex import regex
from canonym.rules import shipped

# --- possessives ----------------------------------------------------------------------------------


@cache
def words_of_kind(kind: str) -> frozenset[str]:
    """Return the forms of a kind of rules, which are the same in every index."""
    return frozenset(rule.form for rule in shipped().of_kind(kind))


def ends_as(word: str, kind: str, least: int = 0) -> bool:
    """Tell whether a word ends as those of a kind, behind so many letters."""
    ends = _endings(kind)
    return word.endswith(tuple(ends)) and any(
        word.endswith(end) and len(word) >= len(end) + least and not word.endswith(others)
        for end, others in ends.items()
    )


@cache
def _endings(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Return the endings of a kind, each with those that have it and are others."""
    return {rule.form: tuple(rule.unless.split()) for rule in shipped().of_kind(kind)}


def forms_of(kind: str) -> str:
    """Return the forms of a kind of rules as choices of an expression."""
    return "|".join(rule.form for rule in shipped().of_kind(kind))


# "crohn s disease" has lost its apostrophe; "protein S deficiency" and "(S)-isomer" never had one.
# So a lone s goes only between something that can own a disease and a disease.
_POSSESSIVE = regex(
    r"(?<=[^\W\d_])(?:'s)+(?!\w)"
    rf"|(?<!\w)(?!(?:{forms_of('not an owner')})(?!\w))"
    rf"(?P<owner>[^\W\d_]{{3,}})(?:[\W_]+s)+(?=[\W_]+(?:{forms_of('owned')}))"
    rf"|(?<!\w)(?P<last>{forms_of('owner')})(?:[\W_]+s)+(?=[\W_]*$)"
)
_LONE_S = regex(r"[\W_]s(?!\w)")


def possessive(text: str) -> str:
    """Drop the possessive s: ``'s`` always, a lone s where a disease follows its discoverer.

    A plural possessive (``Graves'``) keeps its s for the plural step.

    >>> possessive("parkinson's disease, crohn s disease, protein s deficiency")
    'parkinson disease, crohn disease, protein s deficiency'
    """
    if _LONE_S.search(text) is None:
        return text
    return _POSSESSIVE.sub(r"\g<owner>\g<last>", text)


# --- British and American spelling ----------------------------------------------------------------


# What spellings and plurals are is the same in every index: an institution adds none.
@cache
def rewrites(kind: str) -> Sequence[tuple[re.Pattern[str], str]]:
    """Return the patterns of letters of a kind of rules, in order, and what stands in their place.

    They are tried on every word of four letters or more.
    """
    return [(re.compile(rule.form), rule.means) for rule in shipped().of_kind(kind)]


# Words of four letters or more, and short plurals.
_WORD = regex(r"(?<![^\W_])(?:[a-z]{4,}|men|ova)(?![^\W_])")


@cache
def _british() -> re.Pattern[str]:
    """Return what some rule of spelling rewrites, which spares most words all of them."""
    return re.compile("|".join(f"(?:{rule.form})" for rule in shipped().of_kind("spelling")))


@lru_cache(maxsize=1 << 17)
def _american(word: str) -> str:
    if _british().search(word) is None:
        return word
    for pattern, after in rewrites("spelling"):
        word = pattern.sub(after, word)
    return word


def spelling(text: str) -> str:
    """Write British spellings the American way.

    >>> spelling("haemorrhagic oedema of a tumour, generalised diarrhoea")
    'hemorrhagic edema of a tumor, generalized diarrhea'
    """
    return _WORD.sub(lambda match: _american(match[0]), text)


# --- plurals --------------------------------------------------------------------------------------


@cache
def _irregular() -> Mapping[str, str]:
    """Return the singular of words whose plural is of their own kind, or that have none."""
    single = {rule.form: rule.means for rule in shipped().of_kind("irregular plural")}
    return single | {rule.form: rule.form for rule in shipped().of_kind("no plural")}


@lru_cache(maxsize=1 << 17)
def _singular(word: str) -> str:
    single = _irregular().get(word, "")
    if single == word or word.endswith("monas"):
        return word
    single = single or word
    if single is word and word.endswith(("s", "omata")):
        for pattern, after in rewrites("plural"):
            single, n_changed = pattern.subn(after, word)
            if n_changed:
                break
    # Terminologies pluralise plurals ("diverticulas"), so look again.
    return single if single == word else _singular(single)


def plural(text: str) -> str:
    """Write English and medical plurals in the singular.

    Words that only look like plurals (diabetes, virus, abscess, measles) stay.

    >>> plural("neuropathies, carcinomas, diagnoses and metastases in diabetes")
    'neuropathy, carcinoma, diagnosis and metastasis in diabetes'
    """
    return _WORD.sub(lambda match: _singular(match[0]), text)


# --- numerals -------------------------------------------------------------------------------------

_UNITS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
ROMAN = {
    tens * "x" + unit: str(10 * tens + i)
    for tens in range(4)
    for i, unit in enumerate(_UNITS)
    if tens or i
}
# i, v and x alone are numbers only after a word that is counted, xx and xxx never (chromosomes).
_NUMERAL = regex(
    r"(?<![^\W_])(?:"
    rf"(?P<counted>(?:{forms_of('counted')})[\W_]+)(?P<any>x{{0,3}}(?:ix|iv|v?i{{0,3}}))(?P<letter>[a-d]?)"
    r"|(?P<long>x{0,3}(?:ix|iv|vi{1,3}|i{2,3})|x{1,3}v)(?P<suffix>(?<=ii)[a-d])?"
    r")(?![^\W_])"
)


def numerals(text: str) -> str:
    """Write Roman numerals up to 39 as Arabic ones.

    ``i``, ``v`` and ``x`` are read as numbers only after a counting word such as *type*, *stage*,
    *factor*; ``c``, ``d``, ``l``, ``m`` never are.

    >>> numerals("type i, factor v, stage iiib, mucolipidosis ii, fragile x, hepatitis c")
    'type 1, factor 5, stage 3b, mucolipidosis 2, fragile x, hepatitis c'
    """
    return _NUMERAL.sub(_arabic, text)


def _arabic(match: re.Match[str]) -> str:
    if not match["counted"]:
        return f"{ROMAN[match['long']]}{match['suffix'] or ''}"
    return f"{match['counted']}{ROMAN.get(match['any'], '')}{match['letter']}"


# --- brackets -------------------------------------------------------------------------------------


def bracket_at_end(text: str) -> tuple[str, str]:
    """Return what stands before the bracket at the end of a text, and in it; "" without one.

    >>> bracket_at_end("Heart failure [HF]"), bracket_at_end("(acute) gout")
    (('Heart failure', 'HF'), ('(acute) gout', ''))
    """
    if not text.endswith((")", "]")):
        return text, ""
    start = max(text.rfind("("), text.rfind("["))
    return (text[:start].rstrip(), text[start + 1 : -1]) if start >= 0 else (text, "")


# --- word order -----------------------------------------------------------------------------------


def inversion(text: str) -> str:
    """Turn a name with inverted parts (as in MeSH: ``Abdomen, Acute``) the natural way round.

    >>> inversion("Carcinoma, Squamous Cell, Oral")
    'Oral Squamous Cell Carcinoma'
    """
    if ", " not in text:
        return text
    parts = [part.strip() for part in text.split(", ")]
    return " ".join(part for part in reversed(parts) if part)


FILLERS = frozenset(("of", "the"))
"""Words that say nothing inside a name."""


def fillers(text: str) -> str:
    """Drop *of* and *the*, unless nothing else is left.

    >>> fillers("cancer of the breast")
    'cancer breast'
    """
    words = text.split(" ")
    return " ".join([word for word in words if word not in FILLERS]) or text


def order(text: str) -> str:
    """Sort the words.

    >>> order("breast cancer stage 2")
    '2 breast cancer stage'
    """
    return " ".join(sorted(text.split()))
