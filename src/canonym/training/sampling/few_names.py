"""A few names of each high-level concept, and negatives weighted by distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, ReadError
from canonym.io.files import parse_json
from canonym.io.streams import open_bytes
from canonym.types import Float32Array, Int32Array

WEIGHTINGS: tuple[str, ...] = ("sphere", "inverse")
"""Ways to weigh negatives; see `distance_weights`."""

_NEAREST, _FARTHEST = 0.5, 1.4  # distances of unit vectors between which they are weighed


def read_groups(path: str | Path) -> dict[str, list[str]]:
    """Read lists of names by concept from JSON, in gzip or not."""
    try:
        with open_bytes(path) as source:
            content = parse_json(source.read().decode("utf-8"))
        if not isinstance(content, dict) or not all(
            isinstance(names, list) and all(isinstance(name, str) for name in names)
            for names in content.values()
        ):
            raise ValueError("something else")
    except ValueError as error:
        raise ReadError(
            path, f"an object of lists of names by concept is expected, found {error}"
        ) from error
    return content


class FewNames(NamedTuple):
    """Names drawn for training, and as many for validation."""

    concepts: tuple[str, ...]
    training: tuple[str, ...]
    training_concepts: Int32Array  # positions in `concepts`
    validation: tuple[str, ...]
    validation_concepts: Int32Array


def sample_few_names(
    groups: Mapping[str, Sequence[str]], n: int, rng: np.random.Generator
) -> FewNames:
    """Draw `n` names of each concept for training, and `n` others for validation.

    See Fivez et al. (2021), section 3.2. No name may belong to two concepts.
    """
    if n < 1:
        raise InvalidInput(f"n is {n}; at least 1 name of each concept is needed")
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
    distances: npt.NDArray[np.floating], width: int, *, weighting: str = "sphere"
) -> npt.NDArray[np.float64]:
    """Weigh negatives so that all distances are equally likely, not only the frequent ones.

    `distances` ``(n, m)`` are of unit vectors of `width` columns, NaN for pairs that are not drawn;
    the weights of a row sum to 1. Negatives beyond a distance of 1.4, which teach nothing, are
    drawn only if a row has no others.

    Notes
    -----
    ``"inverse"`` is one over the cosine distance, ``"sphere"`` the inverse of the density of
    distances on the unit sphere::

        q(d) ∝ d^(w−2) (1 − d²/4)^((w−3)/2),   weight = 1 / q(max(d, 0.5))

    In wide spaces nearly all distances are near ``√2``, and the nearest negative has almost all of
    the weight.

    References
    ----------
    Wu et al. (2017), Sampling Matters in Deep Embedding Learning, section 3.2. Fivez et al. (2021),
    section 2.2, who cite it; their released code has ``"inverse"``.
    """
    lengths = np.asarray(distances, dtype=np.float64)
    allowed = ~np.isnan(lengths)
    if weighting == "inverse":
        # d² / 2 is the cosine distance of unit vectors.
        logs = -np.log(np.clip(np.where(allowed, lengths, 1) ** 2 / 2, 1e-9, None))
    else:
        near = allowed & (lengths <= _FARTHEST)
        some = near.any(axis=1, keepdims=True)
        clipped = np.clip(np.where(allowed, lengths, 1), _NEAREST, 2 - 1e-6)
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
    """Draw one name of another concept for every anchor, weighted by distance."""
    cosines = anchors.astype(np.float64) @ vectors.astype(np.float64).T
    distances = np.sqrt(np.clip(2 - 2 * cosines, 0, 4))
    distances[anchor_concepts[:, None] == concepts] = np.nan
    weights = distance_weights(distances, anchors.shape[1], weighting=weighting)
    ends = weights.cumsum(axis=1)
    if not (ends[:, -1] > 0).all():
        raise InvalidInput("all names are of one concept; there are no negatives to draw")
    points = rng.random(len(anchors)) * ends[:, -1]
    return np.asarray((ends <= points[:, None]).sum(axis=1), dtype=np.int32)
