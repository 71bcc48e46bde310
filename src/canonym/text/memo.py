"""Normalising many names fast: what is done word by word is done once for each word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from canonym.text import PLAIN, STEPS, normalise, normalise_all

__all__ = ["MemoNormaliser"]

# Steps that look at one word at a time; a name has few words, and a terminology few of them.
_WORDWISE = frozenset({"spelling", "plural"})
_KEPT, _LONGEST = 1 << 17, 32
# Words that `numerals` can change where words are separated by single spaces.
_NUMERAL_WORDS = frozenset(
    tens * "x" + unit + letter
    for tens in range(4)
    for unit in ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    for letter in ("", "a", "b", "c", "d")
    if tens or unit
)
# What to look for before a step that changes few names, in plain ASCII names.
_HINTS: dict[str, Callable[[str], bool]] = {
    "possessive": lambda name: " s" in name,
    "numerals": lambda name: not _NUMERAL_WORDS.isdisjoint(name.split(" ")),
}


class MemoNormaliser:
    """Normalise names like `canonym.text.normalise_all`, remembering single words.

    Parameters
    ----------
    steps : sequence of str
        Steps of `canonym.text.STEPS`, ``whitespace`` before any that works word by word.
    """

    def __init__(self, steps: Sequence[str]) -> None:
        self.steps = tuple(steps)
        normalise("", self.steps)  # an unknown step is reported now
        self._runs: list[Callable[[Iterable[str]], Iterable[str]]] = []
        rest = self.steps
        plain = rest[: len(PLAIN)] == PLAIN
        if plain:
            self._runs.append(_whole(PLAIN))
            rest = rest[len(PLAIN) :]
        settled = plain
        for kind, run in groupby(rest, key=lambda step: _kind(step, plain)):
            names = tuple(run)
            if kind == "wordwise" and settled:
                self._runs.append(_Words(names).apply)
            elif kind == "hinted":
                self._runs.extend(map(_hinted, names))
            else:
                self._runs.append(_whole(names))
            settled = settled or "whitespace" in names

    def __call__(self, names: Iterable[str]) -> list[str]:
        """Return the normal forms of `names`, in order."""
        texts: Iterable[str] = names
        for run in self._runs:
            texts = run(texts)
        return list(texts)


def _kind(step: str, plain: bool) -> str:
    if step in _WORDWISE:
        return "wordwise"
    return "hinted" if plain and step in _HINTS else "whole"


def _hinted(step: str) -> Callable[[Iterable[str]], Iterable[str]]:
    function, hint = STEPS[step], _HINTS[step]
    return lambda names: (
        function(name) if hint(name) or not name.isascii() else name for name in names
    )


def _whole(steps: tuple[str, ...]) -> Callable[[Iterable[str]], Iterable[str]]:
    return lambda names: normalise_all(names, steps)


class _Words(dict[str, str]):
    """Normal forms of words; grows by what it is asked for, up to a limit."""

    def __init__(self, steps: tuple[str, ...]) -> None:
        super().__init__()
        self.steps = steps

    def __missing__(self, word: str) -> str:
        form = normalise(word, self.steps)
        if len(self) < _KEPT and len(word) <= _LONGEST:
            self[word] = form
        return form

    def apply(self, names: Iterable[str]) -> Iterable[str]:
        """Normalise each word of each name."""
        form = self.__getitem__
        return (" ".join(map(form, name.split(" "))) for name in names)
