"""Metrics of linking, by name.

A metric is a ratio of sums over the mentions, ``Σ numerator / Σ denominator``. `columns` returns
numerators and denominators rather than the ratio. So any slice of a metric is a choice of rows, and
`canonym.evaluation.statistics` can resample every metric, F1 included. `evaluate` returns numbers::

    name                    counts, of all …                             right is …
    accuracy@k              mentions, NIL a separate class               by the rule, in k places
    linkable-accuracy@k     mentions that are not NIL                    the same
    mrr, mrr@k              mentions, NIL a separate class               1 / the first right place
    linkable-mrr[@k]        mentions that are not NIL                    the same
    recall@k                parts that have a concept                    among k candidates
    mention-precision       mentions that got a concept                  by the rule, first place
    mention-recall          mentions that have one                       the same
    mention-f1              the mean of the two numbers                  the same
    set-precision           predicted parts                              a part in first place
    set-recall              parts that have a concept                    the same
    set-f1                  the mean of the two numbers                  the same
    nil-precision           mentions called NIL                          NIL and called NIL
    nil-recall              mentions that are NIL                        the same
    nil-f1                  the mean of the two numbers                  the same

The rule decides when a composite mention is right. Let it have ``g`` gold parts, ``p`` predicted
ones and ``m`` found (see `canonym.evaluation.outcomes.match_parts`): ``"all"`` is ``[m = g = p]``,
``"any"`` is ``[m ≥ 1]``, ``"set-f1"`` is ``2m / (g + p)``. For one part on both sides they agree.

For mrr, with ``v(j)`` the value of a mention under the rule when ``j`` places are read, it counts
``Σ_j (v(j) − v(j − 1)) / j``. For one part that is ``1 / place``, for a composite under ``"all"``
one over the cut-off that completes it. In MANTRA's measure every gold id has to be found, although
only one may be predicted: for set-recall, give each id of a mention a separate part (Kors et al.
2015, A multilingual gold-standard corpus for biomedical concept recognition: the Mantra GSC; Yuan
et al. 2020, CODER, section 4.4.2).

A ratio whose denominator is 0, such as the precision of no prediction, is NaN, never 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.outcomes import IntArray, ScoredMention, Tally, tally

FloatArray = npt.NDArray[np.float64]
Columns = FloatArray
"""``(n, 2)`` float64: numerator and denominator of each mention."""

# --- counts of each mention -----------------------------------------------------------------------


def _right(counts: Tally, k: int | None, rule: str) -> FloatArray:
    """Value in [0, 1] of each mention that is not NIL; 0 for NIL."""
    within = counts.mentions if k is None else counts.mentions[counts.places <= k]
    n_right = np.bincount(within, minlength=counts.n)
    if rule == "any":
        return np.asarray(n_right > 0, dtype=np.float64)
    if rule == "all":
        whole = (n_right == counts.n_gold) & (counts.n_gold == counts.n_predicted)
        return np.asarray(whole & (n_right > 0), dtype=np.float64)
    return np.asarray(2 * n_right / np.maximum(counts.n_gold + counts.n_predicted, 1))


def _reciprocal(counts: Tally, k: int | None, rule: str) -> FloatArray:
    values = 1.0 / counts.places
    if k is not None:
        values[counts.places > k] = 0.0
    best = np.zeros(counts.n)
    if rule == "any":
        np.maximum.at(best, counts.mentions, values)
        return best
    if rule == "all":
        best[:] = 1.0
        np.minimum.at(best, counts.mentions, values)
        best *= _right(counts, None, rule)
        return best
    total = np.bincount(counts.mentions, weights=values, minlength=counts.n)
    return np.asarray(2 * total / np.maximum(counts.n_gold + counts.n_predicted, 1))


def _first(counts: Tally, k: int | None, rule: str) -> FloatArray:  # noqa: ARG001
    """Value of each mention in first place."""
    return _right(counts, 1, rule)


def _parts(counts: Tally, k: int | None, rule: str) -> IntArray:  # noqa: ARG001
    """Parts that are right in first place."""
    return np.bincount(counts.mentions[counts.places == 1], minlength=counts.n)


def _candidates(counts: Tally, k: int | None, rule: str) -> IntArray:  # noqa: ARG001
    """Gold parts among the first candidates; those that were refused as NIL count if known."""
    near = counts.candidate_places <= (np.inf if k is None else k)
    return np.bincount(counts.candidate_mentions[near], minlength=counts.n)


def _nil(counts: Tally, *_: object) -> npt.NDArray[np.bool_]:
    return np.asarray((counts.n_gold == 0) & (counts.n_predicted == 0))


# --- by name --------------------------------------------------------------------------------------

RULES: tuple[str, ...] = ("all", "any", "set-f1")
"""When a composite mention is right."""


class Metric(NamedTuple):
    """Numerator and denominator of each mention, and the cut-off.

    `right` takes a tally, a cut-off and a rule; `of` a tally alone. A cut-off is ``"needed"``,
    ``"optional"`` or ``"none"``.
    """

    right: Callable[[Tally, int | None, str], npt.NDArray[Any]]
    of: Callable[[Tally], npt.NDArray[Any]]
    cut_off: str = "none"


def _all(right: Callable[[Tally, int | None, str], FloatArray], cut_off: str) -> Metric:
    """Return a metric of all mentions, of which NIL is right where it was called NIL."""
    return Metric(
        lambda counts, k, rule: right(counts, k, rule) + _nil(counts),
        lambda counts: np.ones(counts.n),
        cut_off,
    )


def _f1(precision: Metric, recall: Metric) -> Metric:
    """Return the harmonic mean of two metrics with the same numerator: ``2R / (P + G)``."""
    return Metric(
        lambda counts, k, rule: 2.0 * precision.right(counts, k, rule),
        lambda counts: precision.of(counts).astype(np.float64) + recall.of(counts),
    )


_MENTION_PRECISION = Metric(_first, lambda counts: counts.n_predicted > 0)
_MENTION_RECALL = Metric(_first, lambda counts: counts.n_gold > 0)
_SET_PRECISION = Metric(_parts, lambda counts: counts.n_predicted)
_SET_RECALL = Metric(_parts, lambda counts: counts.n_gold)
_NIL_PRECISION = Metric(_nil, lambda counts: counts.n_predicted == 0)
_NIL_RECALL = Metric(_nil, lambda counts: counts.n_gold == 0)

METRICS: dict[str, Metric] = {
    "accuracy": _all(_right, "needed"),
    "linkable-accuracy": Metric(_right, lambda counts: counts.n_gold > 0, "needed"),
    "mrr": _all(_reciprocal, "optional"),
    "linkable-mrr": Metric(_reciprocal, lambda counts: counts.n_gold > 0, "optional"),
    "recall": Metric(_candidates, lambda counts: counts.n_gold, "needed"),
    "mention-precision": _MENTION_PRECISION,
    "mention-recall": _MENTION_RECALL,
    "mention-f1": _f1(_MENTION_PRECISION, _MENTION_RECALL),
    "set-precision": _SET_PRECISION,
    "set-recall": _SET_RECALL,
    "set-f1": _f1(_SET_PRECISION, _SET_RECALL),
    "nil-precision": _NIL_PRECISION,
    "nil-recall": _NIL_RECALL,
    "nil-f1": _f1(_NIL_PRECISION, _NIL_RECALL),
}
"""Every metric by name."""

DEFAULT_METRICS: tuple[str, ...] = (
    *("accuracy@1", "accuracy@5", "linkable-accuracy@1", "linkable-accuracy@5", "mrr", "recall@20"),
    *("set-precision", "set-recall", "set-f1", "nil-precision", "nil-recall", "nil-f1"),
)
"""The metrics that `evaluate` reports by default."""


def columns(
    mentions: Iterable[ScoredMention] | Tally, metric: str, *, rule: str = "all"
) -> Columns:
    """Return numerator and denominator of a metric for every mention, ``(n, 2)`` float64.

    The metric is the sum of the first column over that of the second. `metric` is a name of
    `METRICS`, with its cut-off where it has one (``"accuracy@5"``), `rule` one of `RULES`. A tally
    saves the search for the ids when another metric follows. Raises `InvalidInput` if the name, its
    cut-off or the rule is unknown, or there are no mentions.
    """
    name, at, digits = metric.partition("@")
    if name not in METRICS:
        raise InvalidInput(f"there is no metric {metric!r}; there are {', '.join(METRICS)}")
    right, of, cut_off = METRICS[name]
    if at and cut_off == "none":
        raise InvalidInput(f"{metric!r}: {name} takes no cut-off; leave out '@{digits}'")
    if at and not (digits.isascii() and digits.isdigit() and int(digits) > 0):
        raise InvalidInput(
            f"{metric!r}: the cut-off is {digits!r}; expected '{name}@5' or the like"
        )
    if not at and cut_off == "needed":
        raise InvalidInput(f"{metric!r} needs a cut-off: write '{name}@1' or the like")
    if rule not in RULES:
        raise InvalidInput(
            f"there is no rule {rule!r} for composites; there are {', '.join(RULES)}"
        )
    counts = mentions if isinstance(mentions, Tally) else tally(mentions)
    numerator = right(counts, int(digits) if at else None, rule)
    return np.stack([numerator, of(counts)], axis=1).astype(np.float64)


def ratio(values: Columns) -> float:
    """Return the sum of the first of the `columns` over that of the second; NaN where that is 0."""
    numerator, denominator = values.sum(axis=0).tolist()
    return numerator / denominator if denominator else float("nan")


def evaluate(
    mentions: Iterable[ScoredMention] | Tally,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    rule: str = "all",
) -> dict[str, float]:
    """Score predictions by every metric named.

    Parameters
    ----------
    mentions : iterable of ScoredMention, or Tally
        The mentions, in any order.
    metrics : sequence of str
        Names of `METRICS`, with cut-offs.
    rule : str
        When a composite mention is right, one of `RULES`.

    Returns
    -------
    dict of str to float
        Values in [0, 1] by name, in the order of `metrics`; NaN where nothing counts.

    Raises
    ------
    InvalidInput
        If there are no mentions, or a name or the rule is unknown.

    Examples
    --------
    >>> right = ScoredMention(gold=(frozenset({"A"}),), ranked=(("A", "B"),))
    >>> second = ScoredMention(gold=(frozenset({"A"}),), ranked=(("B", "A"),))
    >>> evaluate([right, second], ["accuracy@1", "accuracy@2", "mrr"])
    {'accuracy@1': 0.5, 'accuracy@2': 1.0, 'mrr': 0.75}
    """
    if isinstance(metrics, str):
        raise InvalidInput(f"metrics is {metrics!r}; a list of names is expected: [{metrics!r}]")
    counts = mentions if isinstance(mentions, Tally) else tally(mentions)
    return {name: ratio(columns(counts, name, rule=rule)) for name in metrics}
