"""Words that mean something else in another order.

*A due to B* is not *B due to A*, a *cone-rod dystrophy* no *rod-cone dystrophy*, and a hydroxy
group at carbon 3 is none at carbon 17. *Pain in the knee* and *knee pain* are the same.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from canonym.mentions.opposites import GREEK, SMALL
from canonym.regex import regex
from canonym.rules import shipped
from canonym.text.shape import HYPHENED, NUMBER
from canonym.text.words import forms_of, words_of_kind
from canonym.types import Contradiction

_PASSIVE = words_of_kind("word of a passive")
# *His* is no owner here: the bundle of His is the His bundle.
_RELATIONS = {rule.form: rule.means for rule in shipped().of_kind("relating word")}
RELATING = frozenset(_RELATIONS)
"""Words that relate what stands on their sides, or that say whose something is."""

_LEAST = 3  # letters of a word that a hyphen couples with another
_RATIO = regex(
    r"(?<![\w-])([\w-]+) ?[/:] ?([\w-]+)"
    rf"(?= (?:[a-z]+ )?(?:{forms_of('word for a ratio')})\b)",
    re.IGNORECASE,
)


def may_be_moved(mention: str, name: str) -> bool:
    """Tell at once of most strings that the order of their words says nothing of its own."""
    if _has_numbers(mention) or _ratio(mention) is not None:
        return True
    return next(_couples(name), None) is not None


def order_contrasts(
    mention: str, name: str, words: Sequence[str], others: Sequence[str]
) -> Iterator[Contradiction]:
    """Yield what stands elsewhere in a name; `words` and `others` are the normal forms in words.

    >>> pair = ["rod cone dystrophy", "cone rod dystrophy"]
    >>> [*order_contrasts("Rod-cone dystrophy", "Cone-rod dystrophy", *map(str.split, pair))]
    [Contradiction(kind='order', mention='rod cone', name='cone rod')]
    """
    yield from _of_relation(words, others)
    yield from _of_couples(name, words, others)
    ratio = _ratio(mention)
    other = _ratio(name) if ratio else None
    if ratio and other and ratio.groups() == other.groups()[::-1]:
        yield Contradiction("ratio", ratio[0], other[0])
    if _has_numbers(mention) and _are_moved(words, others):
        yield Contradiction("number", " ".join(words), " ".join(others))


def _of_relation(words: Sequence[str], others: Sequence[str]) -> Iterator[Contradiction]:
    """Yield what stands on the other side of a relation: *A due to B* and *B due to A*."""
    for relation in (word for word in dict.fromkeys(words) if word in RELATING):
        if words.count(relation) == others.count(relation) == 1 and _are_turned(
            relation, words, others
        ):
            yield Contradiction("order", " ".join(words), " ".join(others))
            return


def _are_turned(relation: str, words: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether words stand on the other side of a relation that both sides have once."""
    place, place_too = words.index(relation), others.index(relation)
    before, before_too = words[:place], others[:place_too]
    if _RELATIONS[relation] == "head":  # what stands right before it is what the phrase names
        before, before_too = before[-1:], before_too[-1:]
    moved, moved_too = set(before) - {*before_too, *SMALL}, set(before_too) - {*before, *SMALL}
    gone, come = moved & set(others[place_too + 1 :]), moved_too & set(words[place + 1 :])
    if _RELATIONS[relation] == "owner":
        # "Hurt my back" is an injury, and "my back hurts" is none; "my finger got cut" is "cut my
        # finger".
        return bool(gone or come) and _PASSIVE.isdisjoint({*words, *others})
    return bool(gone and come)


def _of_couples(name: str, words: Sequence[str], others: Sequence[str]) -> Iterator[Contradiction]:
    """Yield two words that a name couples and a mention has the other way round.

    Not surnames: the *Eaton-Lambert syndrome* is that of "Lambert-Eaton".
    """
    for first, second in _couples(name):
        here, there = (_orders(side, first, second) for side in (words, others))
        if len(here) == len(there) == 1 and here != there:
            yield Contradiction("order", *(" ".join(*order) for order in (here, there)))


def _couples(name: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a name that a hyphen couples, in small letters."""
    for word in HYPHENED.findall(name) if "-" in name else ():
        first, _, second = word.partition("-")
        are_words = first.isalpha() and second.isalpha() and second.islower()
        if are_words and min(len(first), len(second)) >= _LEAST:
            yield first.lower(), second


def _ratio(text: str) -> re.Match[str] | None:
    return _RATIO.search(text.lower()) if "/" in text or ":" in text else None


def _orders(words: Sequence[str], first: str, second: str) -> set[tuple[str, str]]:
    return {pair for pair in itertools.pairwise(words) if sorted(pair) == sorted((first, second))}


def _has_numbers(text: str) -> bool:
    return len(set(NUMBER.findall(text))) > 1


def _are_moved(words: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether the same words stand beside other numbers, on both sides of these."""
    if sorted(words) != sorted(others):
        return False
    return all(_beside(words, at) != _beside(others, at) for at in (-1, 1))


def _beside(words: Sequence[str], at: int) -> Counter[tuple[str, str]]:
    """Return each number and Greek letter with the word before it, or behind it, in a circle."""
    return Counter(
        (word, words[(place + at) % len(words)])
        for place, word in enumerate(words)
        if word.isdecimal() or word in GREEK
    )
