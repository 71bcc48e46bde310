"""Kinds of mentions, so that every number can be shown beside the one that separates systems."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from canonym.errors import InvalidInput
from canonym.evaluation.metrics import DEFAULT_METRICS, columns, ratio
from canonym.evaluation.outcomes import Case, IntArray, tally

__all__ = ["FREQUENCY_BOUNDS", "LENGTH_BOUNDS", "Slice", "SliceScores", "evaluate_slices", "slices"]

_Known = TypeVar("_Known")

LENGTH_BOUNDS: tuple[int, ...] = (1, 2, 3, 4)
"""Most words of each bin of lengths but the last, which is open."""

FREQUENCY_BOUNDS: tuple[int, ...] = (0, 1, 5, 20)
"""Most training mentions of the concept of each bin of frequencies but the last, which is open."""


class Slice(NamedTuple):
    """Mentions of one kind.

    Attributes
    ----------
    name : str
        ``"unseen mention"``, ``"homonym"``, ``"type Disease"``, ``"length ≥5"``, …
    rows : ndarray, shape (n,), int64
        Positions of the cases, rising.
    """

    name: str
    rows: IntArray

    @property
    def n(self) -> int:
        """Number of mentions."""
        return len(self.rows)


class SliceScores(NamedTuple):
    """The metrics of one slice: its name, its number of mentions, and values in [0, 1] or NaN."""

    name: str
    n: int
    values: dict[str, float]


_PAIRS: tuple[tuple[str, str, Callable[[Case], bool | None]], ...] = (
    ("seen mention", "unseen mention", lambda case: case.seen_mention),
    ("seen concept", "unseen concept", lambda case: case.seen_concept),
    ("homonym", "no homonym", lambda case: case.homonym),
    ("abbreviation", "no abbreviation", lambda case: case.abbreviation),
    ("composite", "no composite", lambda case: case.composite or sum(map(bool, case.gold)) > 1),
    ("NIL", "not NIL", lambda case: case.nil),
)


def slices(
    cases: Sequence[Case],
    *,
    length_bounds: Sequence[int] = LENGTH_BOUNDS,
    frequency_bounds: Sequence[int] = FREQUENCY_BOUNDS,
) -> list[Slice]:
    """Sort mentions into slices, each attribute on its own.

    Parameters
    ----------
    cases : sequence of Case
        The mentions.
    length_bounds, frequency_bounds : sequence of int
        Upper bounds of the bins, rising and none below 0; the last bin is open.

    Returns
    -------
    list of Slice
        First all mentions, then both sides of every yes-or-no attribute, the types by name, the
        lengths and the frequencies. The slices of an attribute part the mentions for which it is
        known; an attribute that is known for none has no slice, otherwise slices may be empty.

    Raises
    ------
    InvalidInput
        If there are no cases or bounds do not rise.

    Examples
    --------
    >>> short = Case(gold=(), ranked=(), length=1)
    >>> long = Case(gold=(), ranked=(), length=3)
    >>> [(s.name, s.n) for s in slices([short, long], length_bounds=(1,)) if "length" in s.name]
    [('length ≤1', 1), ('length ≥2', 1)]
    """
    if not cases:
        raise InvalidInput("no mentions to evaluate: give at least one")
    found = [Slice("all", np.arange(len(cases), dtype=np.int64))]
    for yes, no, value in _PAIRS:
        found += _pick(cases, [True, False], [yes, no], value)
    types = sorted({case.type for case in cases if case.type})
    found += _pick(cases, types, [f"type {name}" for name in types], lambda case: case.type or None)
    found += _bins(cases, "length", length_bounds)
    found += _bins(cases, "frequency", frequency_bounds)
    return found


def evaluate_slices(
    cases: Sequence[Case],
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    rule: str = "all",
    length_bounds: Sequence[int] = LENGTH_BOUNDS,
    frequency_bounds: Sequence[int] = FREQUENCY_BOUNDS,
) -> list[SliceScores]:
    """Score every slice by every metric.

    Parameters
    ----------
    cases : sequence of Case
        The mentions.
    metrics : sequence of str
        As `canonym.evaluation.metrics.evaluate` takes them.
    rule : str
        When a composite mention is right.
    length_bounds, frequency_bounds : sequence of int
        As `slices` takes them.

    Returns
    -------
    list of SliceScores
        In the order of `slices`; the values of an empty slice are NaN.

    Raises
    ------
    InvalidInput
        If there are no cases, or a name, the rule or a bound cannot be used.
    """
    parts = slices(cases, length_bounds=length_bounds, frequency_bounds=frequency_bounds)
    counts = tally(cases)
    tables = {name: columns(counts, name, rule=rule) for name in metrics}
    return [
        SliceScores(
            part.name, part.n, {name: ratio(table[part.rows]) for name, table in tables.items()}
        )
        for part in parts
    ]


def _pick(
    cases: Sequence[Case],
    values: Sequence[_Known],
    names: Sequence[str],
    value: Callable[[Case], _Known | None],
) -> list[Slice]:
    rows: dict[_Known, list[int]] = {known: [] for known in values}
    n_known = 0
    for i, case in enumerate(cases):
        its = value(case)
        if its is not None:
            rows[its].append(i)
            n_known += 1
    if not n_known:
        return []
    return [
        Slice(name, np.array(rows[known], dtype=np.int64))
        for known, name in zip(values, names, strict=True)
    ]


def _bins(cases: Sequence[Case], attribute: str, bounds: Sequence[int]) -> list[Slice]:
    if not bounds or any(b <= a for a, b in zip((-1, *bounds), bounds, strict=False)):
        raise InvalidInput(
            f"the bounds of {attribute} are {tuple(bounds)}; whole numbers that rise, from 0 on, "
            "are expected, as in (1, 2, 5)"
        )
    names = []
    lows = (0, *(bound + 1 for bound in bounds))
    for low, high in zip(lows, (*bounds, None), strict=True):
        if high is None:
            names.append(f"{attribute} ≥{low}")
        elif low == high:
            names.append(f"{attribute} {low}")
        else:
            names.append(f"{attribute} ≤{high}" if not low else f"{attribute} {low}–{high}")

    def place(case: Case) -> int | None:
        count = getattr(case, attribute)
        return None if count is None else bisect.bisect_left(bounds, count)

    return _pick(cases, range(len(names)), names, place)
