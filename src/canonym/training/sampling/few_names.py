"""A few names of each high-level concept, and negatives weighted by distance (few-shot names)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.training.sampling.random import check_sizes
from canonym.types import Float32Array, Int32Array

__all__ = ["WEIGHTINGS", "FewNames", "distance_weights", "draw_negatives", "sample_few_names"]

WEIGHTINGS: tuple[str, ...] = ("sphere", "inverse")
"""Ways to weigh negatives; see `distance_weights`."""


class FewNames(NamedTuple):
    """Names drawn for training, and as many for validation.

    ``training`` and ``validation`` are names, ``training_concepts`` and ``validation_concepts`` the
    position of each one's concept in ``concepts``, ``(n,)`` int32.
    """

    concepts: tuple[str, ...]
    training: tuple[str, ...]
    training_concepts: Int32Array
    validation: tuple[str, ...]
    validation_concepts: Int32Array


def sample_few_names(
    groups: Mapping[str, Sequence[str]], n: int, rng: np.random.Generator
) -> FewNames:
    """Draw `n` names of each concept for training, and `n` others for validation.

    Parameters
    ----------
    groups : mapping of str to sequence of str
        The names of every concept; a name given twice counts once.
    n : int
        Names wanted of each: at least 2, for a positive is another name of the concept.
    rng : numpy.random.Generator
        Draws.

    Returns
    -------
    FewNames
        Concepts in the order given.

    Raises
    ------
    InvalidInput
        If there are fewer than two concepts, `n` is below 2, a concept has fewer than ``2 n``
        names, or a name belongs to two concepts.

    References
    ----------
    Fivez et al. (2021), Scalable few-shot learning of robust biomedical name representations,
    section 3.2.
    """
    if n < 2:
        raise InvalidInput(f"n is {n}; at least 2 names of each concept are needed for a positive")
    if len(groups) < 2:
        raise InvalidInput(
            f"there are {len(groups)} concepts; negatives are names of other concepts, so that two "
            "are needed at least"
        )
    owner: dict[str, str] = {}
    training: list[str] = []
    validation: list[str] = []
    for concept, names in groups.items():
        distinct = list(dict.fromkeys(names))
        if len(distinct) < 2 * n:
            raise InvalidInput(
                f"the concept {concept!r} has {len(distinct)} names, and {2 * n} are needed: {n} "
                f"to train on and {n} to validate; lower n or leave the concept out"
            )
        for name in distinct:
            if owner.setdefault(name, concept) != concept:
                raise InvalidInput(
                    f"{name!r} is a name of {owner[name]!r} and of {concept!r}; leave names of two "
                    "concepts out"
                )
        drawn = rng.choice(len(distinct), size=2 * n, replace=False)
        training += (distinct[i] for i in drawn[:n])
        validation += (distinct[i] for i in drawn[n:])
    concepts = np.repeat(np.arange(len(groups), dtype=np.int32), n)
    return FewNames(tuple(groups), tuple(training), concepts, tuple(validation), concepts.copy())


def distance_weights(
    distances: npt.NDArray[np.floating],
    width: int,
    *,
    weighting: str = "sphere",
    nearest: float = 0.5,
    farthest: float = 1.4,
) -> npt.NDArray[np.float64]:
    """Weigh negatives so that all distances are drawn alike, and not those that abound.

    Parameters
    ----------
    distances : ndarray, shape (n, m)
        Euclidean distances of unit vectors, in [0, 2]; NaN where a pair is not to be drawn.
    width : int
        Number of columns of the vectors, at least 2.
    weighting : str
        ``"sphere"`` is Wu et al.'s inverse of the density of distances on the unit sphere;
        ``"inverse"`` is one over the cosine distance.
    nearest, farthest : float
        ``"sphere"`` takes nearer negatives for as near as `nearest`, which keeps gradients from
        exploding, and does not draw those beyond `farthest`, which teach nothing, unless a row has
        no others.

    Returns
    -------
    ndarray, shape (n, m), float64
        Weights of each row, which sum to 1; all 0 in a row without a pair that may be drawn.

    Raises
    ------
    InvalidInput
        If there is no such weighting.

    Notes
    -----
    ::

        q(d) ∝ d^(w−2) (1 − d²/4)^((w−3)/2),   weight = 1 / q(max(d, nearest))

    in logarithms. In wide spaces nearly all distances are near ``√2``, and the nearest negative has
    almost all of the weight.

    References
    ----------
    Wu et al. (2017), Sampling Matters in Deep Embedding Learning, section 3.2. Fivez et al. (2021),
    section 2.2, who cite it; their released code has ``"inverse"``.
    """
    if weighting not in WEIGHTINGS:
        raise InvalidInput(
            f"weighting is {weighting!r}; expected {' or '.join(map(repr, WEIGHTINGS))}"
        )
    given = np.asarray(distances, dtype=np.float64)
    allowed = ~np.isnan(given)
    if weighting == "inverse":
        # d² / 2 is the cosine distance of unit vectors.
        logs = -np.log(np.clip(np.where(allowed, given, 1) ** 2 / 2, 1e-9, None))
    else:
        near = allowed & (given <= farthest)
        some = near.any(axis=1, keepdims=True)
        clipped = np.clip(np.where(allowed, given, 1), nearest, 2 - 1e-6)
        density = (width - 2) * np.log(clipped) + (width - 3) / 2 * np.log1p(-(clipped**2) / 4)
        # Where all are too far none is better than another.
        logs = np.where(some, -density, 0)
        allowed = np.where(some, near, allowed)
    logs = np.where(allowed, logs, -np.inf)
    largest = logs.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(logs - np.where(np.isfinite(largest), largest, 0))
    totals = weights.sum(axis=1, keepdims=True)
    return np.asarray(weights / np.where(totals > 0, totals, 1))


def draw_negatives(
    anchors: Float32Array,
    anchor_concepts: Int32Array,
    vectors: Float32Array,
    concepts: Int32Array,
    rng: np.random.Generator,
    *,
    weighting: str = "sphere",
) -> Int32Array:
    """Draw one name of another concept for every anchor, weighted by distance.

    Parameters
    ----------
    anchors, vectors : ndarray, shapes (n, d) and (m, d), float32
        Unit vectors of the anchors and of the names to draw from.
    anchor_concepts, concepts : ndarray, shapes (n,) and (m,), int32
        Their concepts.
    rng : numpy.random.Generator
        Draws.
    weighting : str
        One of `WEIGHTINGS`.

    Returns
    -------
    ndarray, shape (n,), int32
        Rows of `vectors`.

    Raises
    ------
    InvalidInput
        If all names are of an anchor's concept.
    """
    check_sizes(vectors=len(vectors))
    cosines = anchors.astype(np.float64) @ vectors.astype(np.float64).T
    distances = np.sqrt(np.clip(2 - 2 * cosines, 0, 4))
    distances[anchor_concepts[:, None] == concepts] = np.nan
    weights = distance_weights(distances, anchors.shape[1], weighting=weighting)
    ends = weights.cumsum(axis=1)
    if not (ends[:, -1] > 0).all():
        raise InvalidInput("all names are of one concept; there are no negatives to draw")
    points = rng.random(len(anchors)) * ends[:, -1]
    return np.asarray((ends <= points[:, None]).sum(axis=1), dtype=np.int32)
