"""Figures of a run: values with their intervals, by slice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from canonym.evaluation.metrics import (
    columns,
)
from canonym.evaluation.outcomes import Case, tally
from canonym.evaluation.slices import slices
from canonym.evaluation.statistics import bound

# MODULE: The figures of a report, each with the interval it is in.

DRAWS = 10_000
"""Bootstrap draws behind every interval."""

HEADLINE_SLICES: tuple[str, ...] = (
    *("all", "seen mention", "unseen mention", "seen concept", "unseen concept"),
    *("homonym", "abbreviation", "composite", "NIL", "not NIL"),
)
"""Slices that stand beside every headline, in the order in which they are shown."""

METRICS_SHOWN: tuple[str, ...] = ("accuracy@1", "accuracy@5")
LINKER_METRICS: tuple[str, ...] = (
    *("accuracy@1", "accuracy@5", "linkable-accuracy@1", "mrr", "recall@20"),
    *("set-precision", "set-recall", "set-f1", "nil-precision", "nil-recall", "nil-f1"),
)
"""Metrics of a headline: of prepared strings, and of a linker that may answer NIL."""


class Figure(NamedTuple):
    """One number of a table.

    Attributes
    ----------
    slice, reading, metric : str
        What is counted: a slice of `canonym.evaluation.slices`, a reading of
        `canonym.evaluation.protocols`, a name of `canonym.evaluation.metrics`.
    n : int
        Mentions of the slice.
    value, low, high : float
        In [0, 1], with the 95 % interval of `canonym.evaluation.statistics.bound`; NaN where there is
        nothing to count.
    """

    slice: str
    reading: str
    metric: str
    n: int
    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figure ready for JSON; None stands for a number that is not defined."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in self._asdict().items()
        }


def figures(
    cases: Mapping[str, Sequence[Case]],
    *,
    metrics: Sequence[str] = METRICS_SHOWN,
    shown: Sequence[str] | None = HEADLINE_SLICES,
    seed: int = 0,
) -> tuple[Figure, ...]:
    """Score every reading and slice by every metric.

    Parameters
    ----------
    cases : mapping of str to sequence of Case
        By reading.
    metrics : sequence of str
        Names of metrics.
    shown : sequence of str, optional
        Names of slices in the order wanted; all slices that there are if None. Those without
        mentions are left out, and those that hold all mentions but ``"all"`` itself.
    seed : int
        Of the draws: each figure starts from it, so that no figure depends on which others are
        shown.

    Returns
    -------
    tuple of Figure
        By slice, then reading, then metric.
    """
    found: dict[str, list[Figure]] = {}
    for reading, some in cases.items():
        counts = tally(some)
        tables = {name: columns(counts, name) for name in metrics}
        for part in slices(some):
            idle = part.n in {0, len(some)} and part.name != "all"
            if idle or (shown is not None and part.name not in shown):
                continue
            for name, table in tables.items():
                interval = bound(table[part.rows], draws=DRAWS, rng=seed)
                figure = Figure(part.name, reading, name, part.n, *interval)
                found.setdefault(part.name, []).append(figure)
    order = found if shown is None else [name for name in shown if name in found]
    return tuple(figure for name in order for figure in found[name])
