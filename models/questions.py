"""Questions with a known answer: names in other words, siblings of names, what names nothing."""

from __future__ import annotations

import random
import string

from canonym.rules import shipped


def misspelt(text: str, rng: random.Random) -> str:
    """Leave a character out, write another one, or swap it with the next; never the first."""
    place, kind = rng.randrange(1, len(text) - 1), rng.randrange(3)
    new = ("", rng.choice(string.ascii_lowercase), text[place + 1] + text[place])[kind]
    return text[:place] + new + text[place + (2 if kind == 2 else 1) :]


def reworded(text: str, rng: random.Random) -> str | None:
    """Return a name in the plural, with its words turned, or without a possessive.

    >>> {reworded("renal stone", random.Random(seed)) for seed in range(9)} == {
    ...     "renal stones", "stone, renal"
    ... }
    True
    """
    words = text.split(" ")
    last = words[-1]
    ways = [text.replace("'s ", " ")] if "'s " in text else []
    if last.isalpha() and last.islower() and len(last) >= _LEAST and last[-1] not in "sxz":
        ways.append(f"{text[:-1]}ies" if last.endswith("y") else f"{text}s")
    if 1 < len(words) < _LEAST and text.replace(" ", "").isalpha():
        ways.append(f"{last}, {' '.join(words[:-1])}")
    return rng.choice(ways) if ways else None


def noted(text: str, rng: random.Random) -> str:
    """Return a name with a word that a note adds: how bad it is, or since when.

    >>> noted("Gout", random.Random(3))
    'Gout, persistent'
    """
    degree = rng.choice([rule.form for rule in shipped().of_kind("degree")])
    lower = text[0].lower() + text[1:] if text[1:2].islower() else text
    return rng.choice((f"{degree} {lower}", f"{text}, {degree}"))


def sibling_of(text: str, rng: random.Random) -> str | None:
    """Return a name with another number, side or opposite word; None for one that has none.

    >>> sibling_of("left knee pain", random.Random(0)) in ("right knee pain", "bilateral knee pain")
    True
    """
    words = text.split(" ")
    places = [place for place, word in enumerate(words) if others_of(word)]
    if not places:
        return None
    place = rng.choice(places)
    words[place] = rng.choice(others_of(words[place]))
    return " ".join(words)


def others_of(word: str) -> list[str]:
    """Return words that exclude a word, as it is capitalised.

    >>> others_of("7"), others_of("Left"), others_of("kidney")
    (['8', '9', '18'], ['Right', 'Rt', 'R', 'Bilateral'], [])
    """
    if word.isdecimal() and len(word) < _LEAST:
        return [str(int(word) + more) for more in (1, 2, 11)]
    if word in _ROMAN_NUMBERS:
        return [number for number in _ROMAN_NUMBERS if number != word]
    rules = [*shipped().of_kind("opposite"), *shipped().of_kind("species of a name")]
    own = [rule for rule in rules if word.lower() in rule.form.split("/")]
    others = [
        other
        for rule in own
        for sibling in rules
        if (sibling.kind, sibling.means) == (rule.kind, rule.means) and sibling.form != rule.form
        for other in sibling.form.split("/")
    ]
    return [other.capitalize() for other in others] if word.istitle() else others


def phrases(language: str) -> list[str]:
    """Return phrases that name nothing, of everyday English or of other languages."""
    return [rule.form for rule in shipped().of_kind(f"{language} phrase")]


_LEAST = 4  # letters of a word of a pair
_ROMAN_NUMBERS = ("II", "III", "IV", "VI", "VII", "VIII", "IX", "XI")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SYLLABLES = tuple(
    """
    ba be bi bo bu ca ce da de di do fa fe ga go ha he ja ka la le li lo ma me mi mo na ne no pa pe
    po ra re ri ro sa se si so ta te ti to va ve wa we xo zu ton ster mund lark plo gri snof quen
    dral
    """.split()  # noqa: SIM905
)


def noise(n: int, *, seed: int = 0) -> list[str]:
    """Return `n` strings that nobody means: slips on a keyboard, letters, invented words.

    >>> noise(2, seed=1) == noise(2, seed=1)
    True
    """
    rng = random.Random(seed)
    kinds = (_slip, _letters, _invented)
    return [kinds[i % len(kinds)](rng) for i in range(n)]


def word_pairs(n: int, *, seed: int = 0) -> list[str]:
    """Return `n` pairs of everyday words that do not belong together, such as *kitchen lease*.

    >>> len(word_pairs(3)), all(" " in pair for pair in word_pairs(3))
    (3, True)
    """
    rng = random.Random(seed)
    text = " ".join(phrases("everyday"))
    words = sorted({word for word in text.split() if len(word) >= _LEAST})
    return [f"{rng.choice(words)} {rng.choice(words)}" for _ in range(n)]


def unrelated_phrases(n_pairs: int, *, seed: int = 0) -> list[str]:
    """Return all phrases, as much noise as there are everyday ones, and pairs of words."""
    everyday = phrases("everyday")
    nonsense = noise(len(everyday), seed=seed)
    return [*everyday, *phrases("foreign"), *nonsense, *word_pairs(n_pairs, seed=seed)]


def _slip(rng: random.Random) -> str:
    row = rng.choice(_ROWS)
    first = rng.randrange(len(row) - 3)
    return row[first : first + rng.randint(4, 9)]


def _letters(rng: random.Random) -> str:
    words = range(rng.randint(1, 3))
    return " ".join(
        "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in words
    )


def _invented(rng: random.Random) -> str:
    words = range(rng.randint(1, 2))
    return " ".join("".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in words)
