"""Hits as numbers: of a string, and of a mention before its link is made."""

from __future__ import annotations

from typing import NamedTuple

from canonym.types import Mention, Step


class ConceptHit(NamedTuple):
    """A concept found for a string, as numbers.

    `concept` is its ordinal and `row` its best row, −1 where the mean of its names was found.
    `scores` holds what each scorer gave that row; `found_by` is a sieve, ``"search"`` or a target.
    A re-ranker adds `contributions`, the choice between homonyms `evidence`.
    """

    concept: int
    row: int
    score: float
    scores: dict[str, float]
    found_by: str
    contributions: dict[str, float] = {}  # noqa: RUF012  # never changed
    evidence: dict[str, float] = {}  # noqa: RUF012


class StringHits(NamedTuple):
    """The hits of a string, best first, and the sieve that decided, or ``"search"``.

    `reason` says why there are none. `tied` are all concepts of the best hit's name, if several.
    """

    hits: tuple[ConceptHit, ...]
    sieve: str
    reason: str = ""
    tied: tuple[ConceptHit, ...] = ()

    @property
    def score(self) -> float:
        """Score of the best hit, −inf without one."""
        return self.hits[0].score if self.hits else float("-inf")


class Draft(NamedTuple):
    """A link before homonyms and re-ranking: hits are numbers still.

    `string` is what was looked up in the end, `forbidden` are concepts that the mention does not
    stand for. A composite mention has `parts`, and no hits itself.
    """

    mention: Mention
    string: str
    hits: tuple[ConceptHit, ...] = ()
    nil: bool = False
    reason: str = ""
    steps: tuple[Step, ...] = ()
    parts: tuple[Draft, ...] = ()
    tied: tuple[ConceptHit, ...] = ()
    forbidden: frozenset[int] = frozenset()

    @property
    def score(self) -> float:
        """Score of the best hit, −inf without one."""
        return self.hits[0].score if self.hits else float("-inf")

    @property
    def whole_or_parts(self) -> tuple[Draft, ...]:
        """The parts of a composite mention, or the draft itself."""
        return self.parts or (self,)
