"""A remark on mentions in scripts that no encoder of the index has learned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from canonym.cli.progress import note

if TYPE_CHECKING:
    from canonym.types import Link


class Unread:
    """Counts mentions that were searched by encoders which hardly know their script."""

    def __init__(self, encoders: Sequence[str]) -> None:
        self._encoders = encoders
        self._n = 0
        self._first = ""

    def add(self, links: Iterable[Link]) -> None:
        """Count links to no more than similar names."""
        from canonym.linking.languages import reads

        for link in links:
            text = link.mention.text
            if text.isascii() or (link.candidates and link.candidates[0].sieve != "search"):
                continue
            if self._encoders and not any(reads(encoder, text) for encoder in self._encoders):
                self._n += 1
                self._first = self._first or text

    def note(self) -> None:
        """Say how many there were, and what reads them."""
        if self._n:
            note(
                f"{self._n:,} mentions, such as {self._first[:40]!r}, are in a script that the "
                "encoder of the index hardly knows, so their links are guesses. `canonym index "
                "--encoder multilingual --encoder universal` makes an index that reads more."
            )
