"""Which of several concepts of one name the surroundings speak for.

Names that several concepts have (*cold*, *MS*) are the same to every scorer: what tells their
concepts apart stands around the mention. Here is only the sum; what is put in comes from
`canonym.context`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput

__all__ = ["ANYWAY", "EVIDENCE", "TRUSTED", "WEIGHTS", "kinship", "weigh"]

EVIDENCE: tuple[str, ...] = ("document", "sentence", "hierarchy", "types")
"""Kinds of evidence, each in [0, 1] but for cosines below 0."""

WEIGHTS: tuple[float, ...] = (0.5, 0.1, 0.5, 0.75)
"""What each kind counts; chosen on the train parts of two corpora (``benchmarks/homonyms.py``)."""

TRUSTED = 0.2
"""What those concepts have ahead whose name has the most trusted scope of all (a label)."""

ANYWAY = 0.05
"""What the concept has ahead that is first without a context."""

# Sums that differ by less are equal: what is left is the order without a context.
_SAME = 1e-6


def weigh(
    evidence: npt.ArrayLike,
    *,
    trusted: Sequence[bool] | None = None,
    weights: Sequence[float] = WEIGHTS,
) -> tuple[npt.NDArray[np.float64], list[int]] | None:
    """Order concepts of one name by what their surroundings say.

    Parameters
    ----------
    evidence : array-like, shape (n, m)
        For each concept, in the order that holds without a context, every kind of evidence; NaN
        where nothing is known.
    trusted : sequence of bool, optional
        Which concepts have the name in its most trusted scope; all of them by default.
    weights : sequence of float, m
        What each kind counts.

    Returns
    -------
    tuple of ndarray, shape (n, m + 2), float64, and list of int; or None
        What each kind adds to a concept, and what its scope and being first do; and the concepts
        best first. None where the evidence is the same for all of them: then nothing is to be said.

    Raises
    ------
    InvalidInput
        If the shapes do not fit.

    Notes
    -----
    ``score(c) = Σ_j w_j · e_j(c) + TRUSTED · [c is trusted] + ANYWAY · [c is the first]``. What is
    not known of one concept is taken to be the mean of what is known of the others: a concept
    without a further name is neither nearer to a text nor farther from it. Equal scores keep their
    order.

    Examples
    --------
    >>> worth, order = weigh([[0.2, 0.1, 0, 0], [0.9, 0.3, 0, 0]])
    >>> order
    [1, 0]
    """
    given = np.array(evidence, dtype=np.float64)
    fits = trusted is None or len(trusted) == len(given)
    if given.ndim != 2 or given.shape[1] != len(weights) or not fits:
        raise InvalidInput(
            f"evidence of the shape {given.shape} was given with {len(weights)} weights; expected "
            "a row for each concept, trusted or not, and a column for each weight"
        )
    known = ~np.isnan(given)
    means = np.where(known, given, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    worth = np.where(known, given, means) * np.asarray(weights, dtype=np.float64)
    if len(worth) < 2 or np.all(np.ptp(worth, axis=0) < _SAME):
        return None
    ahead = np.zeros((len(worth), 2))
    ahead[:, 0] = TRUSTED * (np.ones(len(worth)) if trusted is None else np.asarray(trusted))
    ahead[0, 1] = ANYWAY
    worth = np.hstack([worth, ahead])
    ranks = -np.round(worth.sum(axis=1) / _SAME)
    return worth, [int(place) for place in np.argsort(ranks, kind="stable")]


def kinship(above: Mapping[str, int], others: Iterable[Mapping[str, int]]) -> float:
    """Say how near a concept is to the nearest of others in a hierarchy.

    Parameters
    ----------
    above : mapping of str to int
        The concept itself with 0, and all above it with the edges up to them.
    others : iterable of mapping of str to int
        The same of each of the others.

    Returns
    -------
    float
        ``1 / (1 + d)`` of the least number of edges ``d`` through a common ancestor: 1 for the
        concept itself, 1/3 for a sibling; 0 where nothing is above both.

    Examples
    --------
    >>> kinship({"cat": 0, "pet": 1}, [{"dog": 0, "pet": 1}, {"stone": 0}])
    0.3333333333333333
    """
    nearest = [
        min(above[each] + other[each] for each in common)
        for other in others
        if (common := above.keys() & other.keys())
    ]
    return 1 / (1 + min(nearest)) if nearest else 0.0
