"""What annotators decided before: how often a text was given a concept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from canonym.text import STRONG, normalise

__all__ = ["Decisions"]


@dataclass
class Decisions:
    """How often annotators gave a text a concept.

    Attributes
    ----------
    pairs : dict of str to Counter of str
        Ids by normal form of the mention.
    concepts, prefixes : Counter of str
        Ids, and what stands before their colon.
    """

    pairs: dict[str, Counter[str]] = field(default_factory=dict)
    concepts: Counter[str] = field(default_factory=Counter)
    prefixes: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, ids: Iterable[str], times: int = 1) -> None:
        """Count a decision; a negative number takes it back."""
        self.count(normalise(text, STRONG), dict.fromkeys(ids, times))

    def count(self, text: str, times: Mapping[str, int]) -> None:
        """Count decisions for a text in normal form, by id."""
        of = self.pairs.setdefault(text, Counter())
        for id_, n in times.items():
            of[id_] += n
            self.concepts[id_] += n
            self.prefixes[_prefix(id_)] += n

    def look(self, text: str, id: str, name: str) -> tuple[float, ...]:
        """Return what is known of a text and a name in normal form, and a concept.

        Returns
        -------
        tuple of float
            ``log(1 + n)`` of the decisions for the two; their share of the decisions for the text,
            NaN where there are none; ``log(1 + n)`` of the decisions for the concept, and for the
            name, whatever the concept; and the share of all decisions whose ids have the prefix of
            this one, NaN where there are none.
        """
        of = self.pairs.get(text, _NONE)
        whole, all_of_them = sum(of.values()), sum(self.prefixes.values())
        return (
            math.log1p(of[id]),
            of[id] / whole if whole else math.nan,
            math.log1p(self.concepts[id]),
            math.log1p(sum(self.pairs.get(name, _NONE).values())),
            self.prefixes[_prefix(id)] / all_of_them if all_of_them else math.nan,
        )


def _prefix(id: str) -> str:
    return id.partition(":")[0] if ":" in id else ""


_NONE: Counter[str] = Counter()
