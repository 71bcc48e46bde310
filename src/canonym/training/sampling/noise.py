"""Names as people write them: with slips, in another order, with words more or less.

Normalisation removes other differences: case, punctuation, accents, British spelling, plurals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORTEST = 5  # letters of a word that may have a slip: a shorter one would be another word
_HEADS = ("disease", "disorder", "syndrome")
_SIDES = ("left", "right", "bilateral", "left sided", "right sided")
_SHORTENED = 3  # letters that a shortened word keeps


def disturb(text: str, rng: np.random.Generator) -> str:
    """Change a name, words in lower case, in one way of `NOISE` that keeps its meaning.

    The name does not change if the chosen way does not fit it.
    """
    ways = tuple(NOISE.values())
    return " ".join(ways[int(rng.integers(len(ways)))](text.split(" "), rng))


def _slip(words: list[str], rng: np.random.Generator) -> list[str]:
    """A letter too few, too many, wrong, or two of them swapped."""
    places = [at for at, word in enumerate(words) if len(word) >= _SHORTEST and word.isalpha()]
    if not places:
        return words
    at = places[int(rng.integers(len(places)))]
    word = words[at]
    # The first letter is seldom wrong.
    place = int(rng.integers(1, len(word) - 1))
    letter = _LETTERS[int(rng.integers(len(_LETTERS)))]
    before, here, after = word[:place], word[place], word[place + 1 :]
    slips = (
        before + after,
        before + letter + here + after,
        before + letter + after,
        before + after[0] + here + after[1:],
    )
    return [*words[:at], slips[int(rng.integers(len(slips)))], *words[at + 1 :]]


def _order(words: list[str], rng: np.random.Generator) -> list[str]:
    """The part after "of" before the other, or the last words first."""
    if len(words) < 2:
        return words
    if "of" in words[1:-1]:
        at = words.index("of", 1)
        return [*words[at + 1 :], *words[:at]]
    at = int(rng.integers(1, len(words)))
    return [*words[at:], *words[:at]]


def _head(words: list[str], rng: np.random.Generator) -> list[str]:
    """Without the word for disease at the end, or with one."""
    if len(words) > 1 and words[-1] in _HEADS:
        return words[:-1]
    return [*words, _HEADS[int(rng.integers(len(_HEADS)))]]


def _side(words: list[str], rng: np.random.Generator) -> list[str]:
    """With a side of the body in front."""
    return [*_SIDES[int(rng.integers(len(_SIDES)))].split(" "), *words]


def _short(words: list[str], rng: np.random.Generator) -> list[str]:
    """One word of several shortened to its first letters, as in notes."""
    places = [at for at, word in enumerate(words) if len(word) > _SHORTENED + 2 and word.isalpha()]
    if len(words) < 2 or not places:
        return words
    at = places[int(rng.integers(len(places)))]
    return [*words[:at], words[at][:_SHORTENED], *words[at + 1 :]]


NOISE: Mapping[str, Callable[[list[str], np.random.Generator], list[str]]] = {
    "slip": _slip,
    "order": _order,
    "head": _head,
    "side": _side,
    "short": _short,
}
"""Ways to change the words of a name."""
