"""Normalising many names fast: what is done word by word is done once for each word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from canonym.text import normalise, normalise_all

__all__ = ["MemoNormaliser"]

# Steps that look at one word at a time; a name has few words, and a terminology few of them.
_WORDWISE = frozenset({"spelling", "plural"})
_KEPT, _LONGEST = 1 << 17, 32


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
        settled = False
        for wordwise, run in groupby(self.steps, key=_WORDWISE.__contains__):
            names = tuple(run)
            if wordwise and settled:
                self._runs.append(_Words(names).apply)
            else:
                self._runs.append(_whole(names))
            settled = settled or "whitespace" in names

    def __call__(self, names: Iterable[str]) -> list[str]:
        """Return the normal forms of `names`, in order."""
        texts: Iterable[str] = names
        for run in self._runs:
            texts = run(texts)
        return list(texts)


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
