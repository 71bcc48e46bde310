"""Tree numbers: hierarchies written as paths, such as ``C14.280.647`` below ``C14.280``."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

from canonym.types import Relation

__all__ = ["Forest"]

_LETTERS = re.compile(r"[^\W\d_]+")


class Forest:
    """Tree numbers and whose they are."""

    def __init__(self) -> None:
        self._owners: dict[str, list[str]] = {}
        self._letters: dict[str, list[str]] = {}
        self.ids: set[str] = set()

    def add(self, id_: str, numbers: Iterable[str]) -> None:
        """Give a concept its tree numbers."""
        for number in numbers:
            self.ids.add(id_)
            self._owners.setdefault(number, []).append(id_)
            letters = _LETTERS.match(number)
            if letters and letters[0] not in self._letters.setdefault(id_, []):
                self._letters[id_].append(letters[0])

    def letters(self, id_: str) -> list[str]:
        """Letters that the tree numbers of a concept begin with."""
        return self._letters.get(id_, [])

    def relations(self, known: Container[str]) -> Iterator[Relation]:
        """Yield each tree number's step up, to the nearest number above that `known` ids have."""
        for number, children in self._owners.items():
            above = number.rpartition(".")[0]
            while above and not any(id_ in known for id_ in self._owners.get(above, ())):
                above = above.rpartition(".")[0]
            for parent in self._owners.get(above, ()):
                for child in children:
                    if child != parent and child in known and parent in known:
                        yield Relation(child, "is_a", parent)
