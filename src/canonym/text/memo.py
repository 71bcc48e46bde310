"""Fast normalisation of many names: a step that works word by word runs once for each word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import TypeVar

from canonym.text import PLAIN, STEPS, STRONG, normalise, normalise_all
from canonym.text.characters import greek, signs
from canonym.text.words import ROMAN

# Steps that look at one word at a time; a name has few words, and a terminology few of them.
_WORDWISE = frozenset({"spelling", "plural"})
_KEPT, _LONGEST = 1 << 17, 50
_Value = TypeVar("_Value")
LONGEST_STRING = 200
"""Characters of a string that is remembered: thousands of longer ones would take gigabytes."""

# `STRONG` down to its single spaces: `PLAIN` but for Greek letters and possessives, and few ASCII
# names have a glued "beta2" or a lone s.
_STRONG_HEAD = STRONG[: STRONG.index("whitespace") + 1]
# Words that `numerals` can change where words are separated by single spaces.
NUMERAL_WORDS = frozenset(number + letter for number in ROMAN for letter in ("", *"abcd"))
# Conditions of a step that changes few names, in plain ASCII names.
_HINTS: dict[str, Callable[[str], bool]] = {
    "ideographs": lambda _: False,
    "possessive": lambda name: " s" in name,
    "numerals": lambda name: not NUMERAL_WORDS.isdisjoint(name.split(" ")),
}


class Remembered(dict[str, _Value]):
    """What a function returns for words, remembered up to a limit."""

    def __init__(self, function: Callable[[str], _Value]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> _Value:
        value = self._function(word)
        if len(self) < _KEPT and len(word) < _LONGEST:
            self[word] = value
        return value


class MemoNormaliser:
    """Normalise names like `canonym.text.normalise_all`, remembering single words.

    Of the steps, ``whitespace`` comes before any that works word by word.
    """

    def __init__(self, steps: Sequence[str]) -> None:
        self.steps = tuple(steps)
        normalise("", self.steps)  # an unknown step is reported now
        self._runs: list[Callable[[Iterable[str]], Iterable[str]]] = []
        self._head: Callable[[Iterable[str], Iterable[str]], Iterable[str]] | None = None
        rest = self.steps
        head = next((head for head in (PLAIN, _STRONG_HEAD) if rest[: len(head)] == head), ())
        plain = bool(head)
        if plain:
            self._head = (lambda _, plain: plain) if head == PLAIN else _strong_head
            rest = rest[len(head) :]
        settled = plain
        for kind, run in groupby(rest, key=lambda step: _kind(step, plain)):
            names = tuple(run)
            if kind == "wordwise" and settled:
                self._runs.append(_Words(names).apply)
            elif kind == "hinted":
                self._runs.extend(map(_hinted, names))
            else:
                self._runs.append(partial(normalise_all, steps=names))
            settled = settled or "whitespace" in names

    def __call__(self, names: Iterable[str], plain: Iterable[str] | None = None) -> list[str]:
        """Return the normal forms of `names`, in order.

        `plain` are their `PLAIN` forms, where they are known: most of the work is then done.
        """
        texts: Iterable[str] = names
        if self._head is not None:
            if plain is None:
                names = list(names)
                plain = normalise_all(names, PLAIN)
            texts = self._head(names, plain)
        for run in self._runs:
            texts = run(texts)
        return list(texts)


class KnownForms:
    """Normal forms of strings, remembered: the same strings come again and again."""

    def __init__(self, steps: Sequence[str]) -> None:
        self._normalise = MemoNormaliser(steps)
        self._known: dict[str, str] = {}

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return the normal forms of `texts`, in order."""
        known = self._known
        if all(map(known.__contains__, texts)):
            return list(map(known.__getitem__, texts))
        new = [text for text in dict.fromkeys(texts) if text not in known]
        forms = dict(zip(new, self._normalise(new), strict=True)) if new else {}
        short = {text: form for text, form in forms.items() if len(text) <= LONGEST_STRING}
        if len(known) + len(short) > _KEPT:
            self._known = short  # another thread may still read the old ones
        else:
            known.update(short)
        return [forms[text] if text in forms else known[text] for text in texts]


def _kind(step: str, plain: bool) -> str:
    if step in _WORDWISE:
        return "wordwise"
    return "hinted" if plain and step in _HINTS else "whole"


def _hinted(step: str) -> Callable[[Iterable[str]], Iterable[str]]:
    function, hint = STEPS[step], _HINTS[step]
    return lambda names: (
        function(name) if hint(name) or not name.isascii() else name for name in names
    )


def _strong_head(names: Iterable[str], plain: Iterable[str]) -> Iterable[str]:
    for name, form in zip(names, plain, strict=True):
        # Control characters go in one order here and in the other there.
        if (
            name.isascii()
            and "&" not in name
            and "<" not in name
            and " s " not in f"{form} "
            and signs(name) == name
            and name.isprintable()
            and greek(form) == form
        ):
            yield form
        else:
            yield normalise(name, _STRONG_HEAD)


class _Words(Remembered[str]):
    """Normal forms of words."""

    def __init__(self, steps: tuple[str, ...]) -> None:
        super().__init__(partial(normalise, steps=steps))

    def apply(self, names: Iterable[str]) -> Iterable[str]:
        """Normalise each word of each name; names have no whitespace but single spaces."""
        # All names as one text, a line each: the loop over words then runs outside Python.
        names = list(names)
        if not names:
            return []
        together = "\n".join(names).replace("\n", " \n ")
        forms = " ".join(map(self.__getitem__, together.split(" ")))
        return forms.replace(" \n ", "\n").split("\n")


strong_forms = KnownForms(STRONG)
"""The `STRONG` forms of strings, remembered for all that compare them."""
