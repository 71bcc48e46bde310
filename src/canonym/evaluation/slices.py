"""Slices of mentions by kind, and figures of each slice with their intervals."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from canonym.errors import InvalidInput
from canonym.evaluation.metrics import DEFAULT_METRICS, columns, ratio
from canonym.evaluation.outcomes import IntArray, ScoredMention, tally
from canonym.evaluation.statistics import bound

_Known = TypeVar("_Known")

LENGTH_BOUNDS: tuple[int, ...] = (1, 2, 3, 4)
"""Upper bounds of the bins of lengths, in words; the last bin is open."""

FREQUENCY_BOUNDS: tuple[int, ...] = (0, 1, 5, 20)
"""Upper bounds of the bins of frequencies, in training mentions of the concept."""


class Slice(NamedTuple):
    """Mentions of one kind."""

    name: str  # ``"unseen mention"``, ``"homonym"``, ``"type Disease"``, ``"length ≥5"``, …
    rows: IntArray  # (n,): positions of the mentions, rising

    @property
    def n(self) -> int:
        """Number of mentions."""
        return len(self.rows)


class SliceScores(NamedTuple):
    """Name of a slice, number of mentions, and value of each metric: in [0, 1] or NaN."""

    name: str
    n: int
    values: dict[str, float]


_PAIRS: tuple[tuple[str, str, Callable[[ScoredMention], bool | None]], ...] = (
    ("seen mention", "unseen mention", lambda mention: mention.seen_mention),
    ("seen concept", "unseen concept", lambda mention: mention.seen_concept),
    ("homonym", "no homonym", lambda mention: mention.homonym),
    ("abbreviation", "no abbreviation", lambda mention: mention.abbreviation),
    (
        "composite",
        "no composite",
        lambda mention: mention.composite or sum(map(bool, mention.gold)) > 1,
    ),
    ("NIL", "not NIL", lambda mention: mention.nil),
)


def slices(mentions: Sequence[ScoredMention]) -> list[Slice]:
    """Sort mentions into slices, attribute by attribute.

    First come all mentions, then both sides of every yes-or-no attribute, the types by name, the
    lengths and the frequencies. The slices of an attribute divide the mentions for which it is
    known. An attribute that is unknown for all has no slice; other slices may be empty.

    >>> mentions = [ScoredMention(gold=(), ranked=(), length=length) for length in (1, 7)]
    >>> [(s.name, s.n) for s in slices(mentions) if s.n and "length" in s.name]
    [('length ≤1', 1), ('length ≥5', 1)]
    """
    if not mentions:
        raise InvalidInput("no mentions to evaluate: give at least one")
    slices = [Slice("all", np.arange(len(mentions), dtype=np.int64))]
    for yes, no, value in _PAIRS:
        slices += _pick(mentions, [True, False], [yes, no], value)
    types = sorted({mention.type for mention in mentions if mention.type})
    slices += _pick(mentions, types, [f"type {name}" for name in types], lambda m: m.type or None)
    slices += _bins(mentions, "length", LENGTH_BOUNDS)
    slices += _bins(mentions, "frequency", FREQUENCY_BOUNDS)
    return slices


def evaluate_slices(
    mentions: Sequence[ScoredMention],
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    rule: str = "all",
) -> list[SliceScores]:
    """Score every slice by every metric.

    Parameters
    ----------
    mentions : sequence of ScoredMention
        The mentions.
    metrics : sequence of str
        See `canonym.evaluation.metrics.evaluate`.
    rule : str
        When a composite mention is right.

    Returns
    -------
    list of SliceScores
        All mentions first, then by attribute; the values of an empty slice are NaN.

    Raises
    ------
    InvalidInput
        If there are no mentions, or a name or the rule is unknown.
    """
    counts = tally(mentions)
    tables = {name: columns(counts, name, rule=rule) for name in metrics}
    return [
        SliceScores(
            part.name, part.n, {name: ratio(table[part.rows]) for name, table in tables.items()}
        )
        for part in slices(mentions)
    ]


def _pick(
    mentions: Sequence[ScoredMention],
    values: Sequence[_Known],
    names: Sequence[str],
    value: Callable[[ScoredMention], _Known | None],
) -> list[Slice]:
    rows: dict[_Known, list[int]] = {known: [] for known in values}
    for i, mention in enumerate(mentions):
        known = value(mention)
        if known is not None:
            rows[known].append(i)
    if not any(rows.values()):
        return []
    return [
        Slice(name, np.array(rows[known], dtype=np.int64))
        for known, name in zip(values, names, strict=True)
    ]


def _bins(mentions: Sequence[ScoredMention], attribute: str, bounds: Sequence[int]) -> list[Slice]:
    names = []
    lows = (0, *(bound + 1 for bound in bounds))
    for low, high in zip(lows, bounds, strict=False):
        span = f"{low}" if low == high else f"{low}–{high}" if low else f"≤{high}"
        names.append(f"{attribute} {span}")
    names.append(f"{attribute} ≥{lows[-1]}")

    def place(mention: ScoredMention) -> int | None:
        count = getattr(mention, attribute)
        return None if count is None else bisect.bisect_left(bounds, count)

    return _pick(mentions, range(len(names)), names, place)


# --- figures --------------------------------------------------------------------------------------

DRAWS = 10_000
"""Bootstrap draws behind every interval."""

HEADLINE_SLICES: tuple[str, ...] = (
    *("all", "seen mention", "unseen mention", "seen concept", "unseen concept"),
    *("homonym", "abbreviation", "composite", "NIL", "not NIL"),
)
"""Slices of every headline, in the order of display."""

METRICS_SHOWN: tuple[str, ...] = ("accuracy@1", "accuracy@5")
LINKER_METRICS: tuple[str, ...] = (
    *("accuracy@1", "accuracy@5", "linkable-accuracy@1", "mrr", "recall@20"),
    *("set-precision", "set-recall", "set-f1", "nil-precision", "nil-recall", "nil-f1"),
)
"""Metrics of a headline: of prepared strings, and of a linker that may answer NIL."""


class Figure(NamedTuple):
    """One number of a table, with the 95 % interval of `canonym.evaluation.statistics.bound`.

    Values are in [0, 1], and NaN where nothing counts; `n` is the number of mentions of the slice.
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
    scored: Mapping[str, Sequence[ScoredMention]],
    *,
    metrics: Sequence[str] = METRICS_SHOWN,
    shown: Sequence[str] | None = HEADLINE_SLICES,
    seed: int = 0,
) -> tuple[Figure, ...]:
    """Score every slice, reading and metric, in this order.

    `shown` names slices in the order of the result; None takes all. Empty slices are left out, and
    so are slices of all mentions except ``"all"``. Every figure starts from the seed, so that no
    figure depends on the others.
    """
    by_slice: dict[str, list[Figure]] = {}
    for reading, mentions in scored.items():
        counts = tally(mentions)
        tables = {name: columns(counts, name) for name in metrics}
        for part in slices(mentions):
            idle = part.n in {0, len(mentions)} and part.name != "all"
            if idle or (shown is not None and part.name not in shown):
                continue
            for name, table in tables.items():
                interval = bound(table[part.rows], draws=DRAWS, rng=seed)
                figure = Figure(part.name, reading, name, part.n, *interval)
                by_slice.setdefault(part.name, []).append(figure)
    order = by_slice if shown is None else [name for name in shown if name in by_slice]
    return tuple(figure for name in order for figure in by_slice[name])


def explain_readings(figures: Iterable[Figure]) -> list[str]:
    """Say why figures are smaller in the lenient reading than in the strict one, where any are."""
    known = {(figure.slice, figure.metric, figure.reading): figure.value for figure in figures}
    crossed = dict.fromkeys(
        metric
        for (name, metric, reading), value in known.items()
        if reading == "lenient" and value < known.get((name, metric, "strict"), value)
    )
    first = [metric for metric in crossed if metric.endswith("@1")]
    further = [metric for metric in crossed if metric not in first]
    return [
        f"{', '.join(metrics)}: lenient can lie below strict, and does here. {reason}"
        for metrics, reason in ((first, _TIED), (further, _PLACES))
        if metrics
    ]


_TIED = (
    "Of names equally near, lenient takes the first of the terminology, strict a label or the "
    "smallest id"
)
_PLACES = (
    "Lenient ranks names, as published numbers do, and several names may be of one concept. Strict "
    "ranks concepts, each in one place"
)
