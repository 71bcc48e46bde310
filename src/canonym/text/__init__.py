"""One normalisation for both sides: the names of a terminology and the mentions of a text.

A normalisation is a sequence of named steps, each a pure function from a string to a string. Three
sequences are ready made:

``PLAIN``
    undoes spelling systems and typesetting: entities and tags of HTML, width, signs of ions, case,
    accents, punctuation, whitespace.
``STRONG``
    PLAIN and more that keeps the concept: signs of symbols (*HER2+*), Greek letters, possessives,
    British spelling, plurals, Roman numerals.
``UNORDERED``
    STRONG without *of* and *the* and with the words sorted, so that "cancer of the breast" meets
    "Breast Cancer" and an inverted "Abdomen, Acute" meets "acute abdomen".

The order matters and is the order of `STEPS`: entities are resolved before anything else is read,
quotes are unified before NFKC can break an accent used as an apostrophe, Greek letters are spelt
before the possessive looks for a lone *s*, the possessive sees the apostrophe before punctuation
goes, and spelling precedes plurals, which precede numerals. PLAIN and STRONG are idempotent, and
any string at all may be given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from string import punctuation as _ascii_punctuation

from canonym.errors import InvalidInput
from canonym.text.characters import (
    accents,
    case,
    dashes,
    entities,
    greek,
    ideographs,
    ions,
    punctuation,
    quotes,
    signs,
    whitespace,
    width,
)
from canonym.text.words import fillers, inversion, numerals, order, plural, possessive, spelling
from canonym.types import Step

__all__ = [
    "PLAIN",
    "STEPS",
    "STRONG",
    "UNORDERED",
    "biosyn_normal",
    "explain",
    "normalise",
    "normalise_all",
    "tokens",
]

STEPS: dict[str, Callable[[str], str]] = {
    step.__name__: step
    for step in (
        *(entities, quotes, dashes, width, ions, signs, inversion, case, accents, greek),
        possessive,
        *(punctuation, whitespace, ideographs, spelling, plural, numerals, fillers, order),
    )
}
"""Every step by its name, in the order in which steps have to run."""

PLAIN: tuple[str, ...] = (
    *("entities", "quotes", "dashes", "width", "ions", "case", "accents", "punctuation"),
    "whitespace",
)
"""Steps that undo typesetting only."""

STRONG: tuple[str, ...] = tuple(
    name for name in STEPS if name not in ("inversion", "ideographs", "fillers", "order")
)
"""Steps that keep the concept: `PLAIN` and spelling variants, inflection and numerals."""

UNORDERED: tuple[str, ...] = (*STRONG, "fillers", "order")
"""`STRONG`, and the words sorted without *of* and *the*."""

# PLAIN of ASCII, in one table: capitals fall, punctuation becomes a space, control
# characters that are not whitespace disappear.
_ASCII_PLAIN = {
    code: ""
    if not chr(code).isprintable() and not chr(code).isspace()
    else " "
    if chr(code) in _ascii_punctuation
    else chr(code).lower()
    for code in range(128)
}
_REMEMBERED = 200  # characters of a string whose `PLAIN` form is remembered
_BIOSYN = str.maketrans(_ascii_punctuation, " " * len(_ascii_punctuation))


def normalise(text: str, steps: Iterable[str] = PLAIN) -> str:
    """Normalise one string by steps of `STEPS`, in the order given.

    Any string will do: empty, a megabyte long, of any script, with NUL or lone surrogates. A text
    made of punctuation only becomes empty. An unknown step raises `InvalidInput`.

    >>> normalise("  Crohn’s  Disease ")
    'crohn s disease'
    >>> normalise("Crohn’s diseases, type II", STRONG)
    'crohn disease type 2'
    """
    if steps is PLAIN:
        return _known_plain(text) if len(text) <= _REMEMBERED else _plain(text)
    return _pipeline(tuple(steps))(text)


def normalise_all(texts: Iterable[str], steps: Iterable[str] = PLAIN) -> Iterator[str]:
    """Normalise many strings, in order and as a stream; an unknown step raises at once.

    >>> list(normalise_all(["Heart-Attack", "TUMOUR"], STRONG))
    ['heart attack', 'tumor']
    """
    return map(_pipeline(tuple(steps)), texts)


def explain(text: str, steps: Iterable[str] = PLAIN) -> tuple[Step, ...]:
    """Return the steps that changed something, in order; empty for a text in normal form.

    >>> [step.name for step in explain("Tumours of the Lung", STRONG)]
    ['case', 'spelling', 'plural']
    """
    names = tuple(steps)
    _pipeline(names)
    fired = []
    for name in names:
        after = STEPS[name](text)
        if after != text:
            fired.append(Step(name, text, after))
            text = after
    return tuple(fired)


def tokens(text: str, steps: Iterable[str] = PLAIN) -> list[str]:
    """Split the normal form of a string into words.

    >>> tokens("Non-small-cell carcinoma")
    ['non', 'small', 'cell', 'carcinoma']
    """
    return normalise(text, steps).split()


def biosyn_normal(text: str) -> str:
    """Normalise exactly as BioSyn does: lower case, ASCII punctuation to spaces, spaces collapsed.

    For comparison with published numbers (Sung et al. 2020); `normalise` is the better choice
    elsewhere.

    >>> biosyn_normal("Parkinson's Disease, type-I")
    'parkinson s disease type i'
    """
    return " ".join(text.lower().translate(_BIOSYN).split())


@lru_cache(maxsize=64)
def _pipeline(steps: tuple[str, ...]) -> Callable[[str], str]:
    for name in steps:
        if name not in STEPS:
            raise InvalidInput(
                f"{name!r} is not a normalisation step; use names among {', '.join(STEPS)}"
            )
    if steps == PLAIN:
        return _plain
    functions = [STEPS[name] for name in steps]

    def run(text: str) -> str:
        for function in functions:
            text = function(text)
        return text

    return run


def _plain(text: str) -> str:
    if text.isascii() and "&" not in text and "<" not in text and "+" not in text:
        return " ".join(text.translate(_ASCII_PLAIN).split())
    for name in PLAIN:
        text = STEPS[name](text)
    return text


_known_plain = lru_cache(maxsize=4_096)(_plain)
