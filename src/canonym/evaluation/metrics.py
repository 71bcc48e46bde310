"""Metrics of linking, by name.

A metric is a ratio of sums over the mentions, ``Σ numerator / Σ denominator``, and `columns` has
the two rather than the ratio. So any slice of a metric is a choice of rows, and
`canonym.evaluation.significance` resamples every metric, F1 included, as what it is. `evaluate`
makes numbers of them by name::

    name                    counts, of all …                             right is …
    accuracy@k              mentions, NIL a class of its own             by the rule, in k places
    linkable-accuracy@k     mentions that are not NIL                    the same
    mrr, mrr@k              mentions, NIL a class of its own             1 / the first right place
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

The rule says when a composite mention, with ``g`` gold parts, ``p`` predicted ones and ``m`` found
(see `canonym.evaluation.cases.match_parts`), is right: ``"all"`` is ``[m = g = p]``, ``"any"`` is
``[m ≥ 1]``, ``"set-f1"`` is ``2m / (g + p)``. For one part on both sides they are the same.

A ratio whose denominator is 0 (the precision of no prediction) is not a number, never 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from canonym.errors import InvalidInput
from canonym.evaluation import measures
from canonym.evaluation.cases import Case, Tally, tally
from canonym.evaluation.measures import Columns

__all__ = ["DEFAULT_METRICS", "METRICS", "RULES", "Metric", "columns", "evaluate", "ratio"]

RULES: tuple[str, ...] = ("all", "any", "set-f1")
"""When a composite mention is right."""


class Metric(NamedTuple):
    """A metric, and whether its name takes a cut-off.

    Attributes
    ----------
    columns : callable
        A function of `canonym.evaluation.measures`.
    cut_off : str
        ``"needed"``, ``"optional"`` or ``"none"``.
    """

    columns: Callable[..., Columns]
    cut_off: str = "none"


METRICS: dict[str, Metric] = {
    "accuracy": Metric(measures.accuracy, "needed"),
    "linkable-accuracy": Metric(measures.linkable_accuracy, "needed"),
    "mrr": Metric(measures.mrr, "optional"),
    "linkable-mrr": Metric(measures.linkable_mrr, "optional"),
    "recall": Metric(measures.recall, "needed"),
    "mention-precision": Metric(measures.mention_precision),
    "mention-recall": Metric(measures.mention_recall),
    "mention-f1": Metric(measures.mention_f1),
    "set-precision": Metric(measures.set_precision),
    "set-recall": Metric(measures.set_recall),
    "set-f1": Metric(measures.set_f1),
    "nil-precision": Metric(measures.nil_precision),
    "nil-recall": Metric(measures.nil_recall),
    "nil-f1": Metric(measures.nil_f1),
}
"""Every metric by name."""

DEFAULT_METRICS: tuple[str, ...] = (
    *("accuracy@1", "accuracy@5", "linkable-accuracy@1", "linkable-accuracy@5", "mrr", "recall@20"),
    *("set-precision", "set-recall", "set-f1", "nil-precision", "nil-recall", "nil-f1"),
)
"""What `evaluate` reports when nothing else is asked for."""


def columns(cases: Iterable[Case] | Tally, metric: str, *, rule: str = "all") -> Columns:
    """Return numerator and denominator of a metric for every case.

    Parameters
    ----------
    cases : iterable of Case, or Tally
        A tally saves finding the ids again for the next metric.
    metric : str
        A name of `METRICS`, with its cut-off where it has one (``"accuracy@5"``).
    rule : str
        One of `RULES`.

    Returns
    -------
    ndarray, shape (n, 2), float64
        The metric is the sum of the first column over that of the second.

    Raises
    ------
    InvalidInput
        If the name, its cut-off or the rule is none that there is, or there are no cases.
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
    counts = cases if isinstance(cases, Tally) else tally(cases)
    return function(counts, k=int(digits) if at else None, rule=rule)


def ratio(values: Columns) -> float:
    """Return the sum of the first column over that of the second, NaN where that is 0."""
    numerator, denominator = values.sum(axis=0).tolist()
    return numerator / denominator if denominator else float("nan")


def evaluate(
    cases: Iterable[Case] | Tally,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    rule: str = "all",
) -> dict[str, float]:
    """Score predictions by every metric named.

    Parameters
    ----------
    cases : iterable of Case, or Tally
        The mentions, in any order.
    metrics : sequence of str
        Names of `METRICS`, with cut-offs.
    rule : str
        When a composite mention is right, one of `RULES`.

    Returns
    -------
    dict of str to float
        In [0, 1] by name, in the order asked for; NaN where nothing is there to count.

    Raises
    ------
    InvalidInput
        If there are no cases, or a name or the rule is none that there is.

    Examples
    --------
    >>> right = Case(gold=(frozenset({"A"}),), ranked=(("A", "B"),))
    >>> second = Case(gold=(frozenset({"A"}),), ranked=(("B", "A"),))
    >>> evaluate([right, second], ["accuracy@1", "accuracy@2", "mrr"])
    {'accuracy@1': 0.5, 'accuracy@2': 1.0, 'mrr': 0.75}
    """
    if isinstance(metrics, str):
        raise InvalidInput(f"metrics is {metrics!r}; a list of names is expected: [{metrics!r}]")
    counts = cases if isinstance(cases, Tally) else tally(cases)
    return {name: ratio(columns(counts, name, rule=rule)) for name in metrics}
