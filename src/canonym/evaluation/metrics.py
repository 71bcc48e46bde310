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

A ratio whose denominator is 0, such as the precision of no prediction, is NaN, never 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.outcomes import IntArray, ScoredMention, Tally, tally

FloatArray = npt.NDArray[np.float64]
Columns = FloatArray
"""``(n, 2)`` float64: numerator and denominator of each mention."""

# Every metric takes a tally, a cut-off and a rule, and ignores what it does not need.


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


def _nil_right(counts: Tally) -> npt.NDArray[np.bool_]:
    return np.asarray((counts.n_gold == 0) & (counts.n_predicted == 0))


def _stack(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Columns:
    return np.stack(np.broadcast_arrays(numerator, denominator), axis=1).astype(np.float64)


def accuracy(counts: Tally, *, k: int | None = 1, rule: str = "all") -> Columns:
    """Share of mentions that are right within `k` places; NIL mentions have to be called NIL."""
    return _stack(_right(counts, k, rule) + _nil_right(counts), np.ones(counts.n))


def linkable_accuracy(counts: Tally, *, k: int | None = 1, rule: str = "all") -> Columns:
    """Share of the mentions that are not NIL that are right within `k` places."""
    return _stack(_right(counts, k, rule), counts.n_gold > 0)


def mrr(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:
    """Mean reciprocal rank, of the first `k` places where given.

    Notes
    -----
    With ``v(j)`` the value of the mention under the rule when ``j`` places are read, the metric is
    ``Σ_j (v(j) − v(j − 1)) / j``. For one part that is ``1 / place``, for a composite under
    ``"all"`` one over the cut-off that completes it. A NIL mention counts as 1 if called NIL.
    """
    return _stack(_reciprocal(counts, k, rule) + _nil_right(counts), np.ones(counts.n))


def linkable_mrr(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:
    """Mean reciprocal rank over the mentions that are not NIL."""
    return _stack(_reciprocal(counts, k, rule), counts.n_gold > 0)


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


def recall(counts: Tally, *, k: int | None = 1, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the gold parts that stand among the first `k` candidates.

    Candidates that were refused as NIL count if they are known. `rule` plays no role.
    """
    within = counts.candidate_mentions
    if k is not None:
        within = within[counts.candidate_places <= k]
    return _stack(np.bincount(within, minlength=counts.n), counts.n_gold)


def mention_precision(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the mentions that got a concept that are right in first place."""
    return _stack(_right(counts, 1, rule), counts.n_predicted > 0)


def mention_recall(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the mentions that have a concept that are right in first place."""
    return _stack(_right(counts, 1, rule), counts.n_gold > 0)


def mention_f1(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Harmonic mean of the precision and the recall of mentions, ``2R / (P + G)``."""
    both = (counts.n_gold > 0).astype(np.float64) + (counts.n_predicted > 0)
    return _stack(2 * _right(counts, 1, rule), both)


def _found_first(counts: Tally) -> IntArray:
    return np.bincount(counts.mentions[counts.places == 1], minlength=counts.n)


def set_precision(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the predicted parts that are right in first place (micro-averaged)."""
    return _stack(_found_first(counts), counts.n_predicted)


def set_recall(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the gold parts that are found in first place (micro-averaged).

    Notes
    -----
    In MANTRA's measure every gold id has to be found, although only one may be predicted. For it,
    give each id of a mention a separate part.
    """
    return _stack(_found_first(counts), counts.n_gold)


def set_f1(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Harmonic mean of the precision and the recall of parts, ``2 Σm / (Σp + Σg)``.

    References
    ----------
    Kors et al. (2015), A multilingual gold-standard corpus for biomedical concept recognition: the
    Mantra GSC. Yuan et al. (2020), CODER, section 4.4.2.
    """
    return _stack(2 * _found_first(counts), counts.n_gold + counts.n_predicted)


def nil_precision(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the mentions called NIL that are NIL."""
    return _stack(_nil_right(counts), counts.n_predicted == 0)


def nil_recall(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the NIL mentions that are called NIL."""
    return _stack(_nil_right(counts), counts.n_gold == 0)


def nil_f1(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Harmonic mean of the precision and the recall of NIL."""
    both = (counts.n_gold == 0).astype(np.float64) + (counts.n_predicted == 0)
    return _stack(2.0 * _nil_right(counts), both)


# --- by name --------------------------------------------------------------------------------------

RULES: tuple[str, ...] = ("all", "any", "set-f1")
"""When a composite mention is right."""


class Metric(NamedTuple):
    """A function of this module, and its cut-off: ``"needed"``, ``"optional"`` or ``"none"``."""

    columns: Callable[..., Columns]
    cut_off: str = "none"


METRICS: dict[str, Metric] = {
    "accuracy": Metric(accuracy, "needed"),
    "linkable-accuracy": Metric(linkable_accuracy, "needed"),
    "mrr": Metric(mrr, "optional"),
    "linkable-mrr": Metric(linkable_mrr, "optional"),
    "recall": Metric(recall, "needed"),
    "mention-precision": Metric(mention_precision),
    "mention-recall": Metric(mention_recall),
    "mention-f1": Metric(mention_f1),
    "set-precision": Metric(set_precision),
    "set-recall": Metric(set_recall),
    "set-f1": Metric(set_f1),
    "nil-precision": Metric(nil_precision),
    "nil-recall": Metric(nil_recall),
    "nil-f1": Metric(nil_f1),
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
    function, cut_off = METRICS[name]
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
    return function(counts, k=int(digits) if at else None, rule=rule)


def ratio(values: Columns) -> float:
    """Return the sum of the first column over that of the second.

    Parameters
    ----------
    values : ndarray, shape (n, 2), float64
        Of `columns`.

    Returns
    -------
    float
        NaN where the second sum is 0.
    """
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
