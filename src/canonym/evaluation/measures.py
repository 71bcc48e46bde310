"""What each metric counts: one function each, all of one silhouette.

Every function takes a `Tally` and returns two columns, the numerator and the denominator of each
mention. A cut-off or a rule that plays no role is accepted and ignored, so that a table of metrics
needs no cases. `canonym.evaluation.metrics` has them by name.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from canonym.evaluation.cases import IntArray, Tally

__all__ = [
    "Columns",
    "FloatArray",
    "accuracy",
    "linkable_accuracy",
    "linkable_mrr",
    "mention_f1",
    "mention_precision",
    "mention_recall",
    "mrr",
    "nil_f1",
    "nil_precision",
    "nil_recall",
    "recall",
    "set_f1",
    "set_precision",
    "set_recall",
]

FloatArray = npt.NDArray[np.float64]
Columns = FloatArray
"""``(n, 2)`` float64: numerator and denominator of each case."""


def _right(counts: Tally, k: int | None, rule: str) -> FloatArray:
    """Value in [0, 1] of each mention that is not NIL; 0 for NIL."""
    within = counts.cases if k is None else counts.cases[counts.places <= k]
    found = np.bincount(within, minlength=counts.n)
    if rule == "any":
        return np.asarray(found > 0, dtype=np.float64)
    if rule == "all":
        whole = (found == counts.n_gold) & (counts.n_gold == counts.n_predicted)
        return np.asarray(whole & (found > 0), dtype=np.float64)
    return np.asarray(2 * found / np.maximum(counts.n_gold + counts.n_predicted, 1))


def _nil_right(counts: Tally) -> npt.NDArray[np.bool_]:
    return np.asarray((counts.n_gold == 0) & (counts.n_predicted == 0))


def _stack(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Columns:
    return np.stack(np.broadcast_arrays(numerator, denominator), axis=1).astype(np.float64)


def accuracy(counts: Tally, *, k: int | None = 1, rule: str = "all") -> Columns:
    """Share of mentions that are right within `k` places; a NIL mention is when called NIL.

    Parameters
    ----------
    counts : Tally
        Of `canonym.evaluation.cases.tally`; so for every metric here.
    k : int, optional
        Places read of every ranking; None reads all. Fewer places than `k` are no error.
    rule : str
        One of `canonym.evaluation.metrics.RULES`.

    Returns
    -------
    ndarray, shape (n, 2), float64
        Value in [0, 1], and 1.
    """
    return _stack(_right(counts, k, rule) + _nil_right(counts), np.ones(counts.n))


def linkable_accuracy(counts: Tally, *, k: int | None = 1, rule: str = "all") -> Columns:
    """Share of the mentions that are not NIL that are right within `k` places."""
    return _stack(_right(counts, k, rule), counts.n_gold > 0)


def mrr(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:
    """Mean reciprocal rank, of the first `k` places where given.

    Notes
    -----
    With ``v(j)`` the value of the mention under the rule when ``j`` places are read, it is
    ``Σ_j (v(j) − v(j − 1)) / j``: for one part ``1 / place``, for a composite under ``"all"`` one
    over the cut-off that completes it. A NIL mention counts 1 when called NIL, else 0.
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
        np.maximum.at(best, counts.cases, values)
        return best
    if rule == "all":
        best[:] = 1.0
        np.minimum.at(best, counts.cases, values)
        best *= _right(counts, None, rule)
        return best
    total = np.bincount(counts.cases, weights=values, minlength=counts.n)
    return np.asarray(2 * total / np.maximum(counts.n_gold + counts.n_predicted, 1))


def recall(counts: Tally, *, k: int | None = 1, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the gold parts that stand among the first `k` candidates.

    What the search offers to whatever ranks or refuses afterwards, so what was refused as NIL
    counts if the candidates are known. `rule` plays no role.
    """
    within = counts.candidate_cases
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
    return np.bincount(counts.cases[counts.places == 1], minlength=counts.n)


def set_precision(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the predicted parts that are right in first place (micro-averaged)."""
    return _stack(_found_first(counts), counts.n_predicted)


def set_recall(counts: Tally, *, k: int | None = None, rule: str = "all") -> Columns:  # noqa: ARG001
    """Share of the gold parts that are found in first place (micro-averaged).

    Notes
    -----
    In MANTRA's measure every gold id is to be found although one may be predicted: give each id of
    a mention a part of its own.
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
