"""Mentions in scripts that no encoder of the index has learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from canonym.types import Link

_NEAR = 0.9  # what is so near is no guess: гастрит is read as gastritis
_Item = TypeVar("_Item")


class Unread:
    """Counts mentions that were searched by encoders which hardly know their script.

    `n` are they, and `first` is the first of them.
    """

    def __init__(self, encoders: Sequence[str]) -> None:
        self._encoders = encoders
        self.n = 0
        self.first = ""

    def among(
        self, linked: Iterable[tuple[_Item, Sequence[Link]]]
    ) -> Iterator[tuple[_Item, Sequence[Link]]]:
        """Yield what is linked, and count."""
        for item, links in linked:
            for link in links:
                if self._is_unread(link):
                    self.n += 1
                    self.first = self.first or link.mention.text
            yield item, links

    def _is_unread(self, link: Link) -> bool:
        from canonym.linking.languages import reads

        text, best = link.mention.text, next(iter(link.candidates), None)
        if text.isascii() or (best and (best.sieve != "search" or best.score >= _NEAR)):
            return False
        return bool(self._encoders) and not any(reads(encoder, text) for encoder in self._encoders)
