"""Medical conceptual similarity: the share of neighbours of the same semantic type."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes import check_k
from canonym.indexes.exact import Exact
from canonym.types import Int32Array

_BLOCK = 4096


class Mcsm(NamedTuple):
    """Conceptual similarity by semantic type.

    `scores` are in [0, `maximum`], the score of a type whose `k` neighbours are all of the type,
    ``Σ_i 1 / log2(i + 1)``. `n` are the concepts of each type, `missing` those without a vector,
    which count as 0.
    """

    scores: dict[str, float]
    n: dict[str, int]
    missing: dict[str, int]
    k: int
    maximum: float


def mcsm(
    vectors: npt.NDArray[np.floating],
    types: Sequence[str | Collection[str]],
    *,
    k: int = 40,
    of: Collection[str] | None = None,
) -> Mcsm:
    """Measure the purity of neighbourhoods in semantic types.

    `vectors` ``(n, d)`` have one per concept, of any length; a zero vector is a missing one.
    `types`, ``n`` of them, are the semantic types of each concept, may be none. Each has `k`
    neighbours. `of` are the types to score, all by default; concepts of others are neighbours too.
    Raises `InvalidInput` if there are no concepts, the lengths differ, `k` is not positive, a
    vector is not finite, or no concept has a type of `of`.

    ``MCSM(V, T, k) = 1 / |V(T)| Σ_{v ∈ V(T)} Σ_{i=1}^{k} 1_T(v(i)) / log2(i + 1)`` with ``v(i)``
    the ``i``-th nearest concept by cosine among all of ``V`` except ``v``. Ties go by row. The
    search is exact. A concept of several types belongs to ``V(T)`` of each. With fewer than ``k``
    neighbours, empty places count as 0.

    Differences
    -----------
    The released code of CODER takes as ``V`` only the concepts of the wanted types that have a
    vector. Here, as in the equation, ``V`` is every concept given, and a concept without a vector
    counts as 0. To compare with the published table, give the concepts of its six types only.

    References
    ----------
    Choi, Chiu & Sontag (2016), Learning low-dimensional representations of medical concepts. Yuan
    et al. (2020), CODER, section 4.5.

    >>> mcsm(np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]]), ["a", "a", "b", "b"], k=1).scores
    {'a': 1.0, 'b': 1.0}
    """
    check_k(k)
    table = np.asarray(vectors, dtype=np.float32)
    if table.ndim != 2 or len(table) != len(types):
        raise InvalidInput(
            f"the vectors have shape {table.shape} and there are types for {len(types)} concepts; "
            "a row of vectors and an entry of types per concept are expected"
        )
    if not len(table):
        raise InvalidInput("no concepts to evaluate: give at least one")
    sets = [{entry} if isinstance(entry, str) else set(entry) for entry in types]
    names = sorted(set().union(*sets))
    if of is not None:
        unknown = sorted(set(of) - set(names))
        if unknown:
            raise InvalidInput(f"no concept has the type {unknown[0]!r}; give types there are")
        names = sorted(set(of))
    # One row more than concepts: row −1 of an empty place is of no type.
    member = np.zeros((len(sets) + 1, len(names)), dtype=bool)
    for j, name in enumerate(names):
        member[:-1, j] = [name in entry for entry in sets]
    index = Exact.build(table)
    there = np.asarray(index.vectors.any(axis=1))
    gains = 1 / np.log2(np.arange(2, k + 2))
    sums = np.zeros(len(names))
    wanted = np.flatnonzero(member[:-1].any(axis=1) & there)
    for start in range(0, len(wanted), _BLOCK):
        rows = wanted[start : start + _BLOCK]
        hits = member[_neighbours(index, rows, k, there)]
        sums += (np.einsum("nkt,k->nt", hits, gains) * member[rows]).sum(axis=0)
    counts = member.sum(axis=0).tolist()
    return Mcsm(
        dict(zip(names, (sums / counts).tolist(), strict=True)),
        dict(zip(names, counts, strict=True)),
        dict(zip(names, member[:-1][~there].sum(axis=0).tolist(), strict=True)),
        k,
        float(gains.sum()),
    )


def _neighbours(
    index: Exact, rows: npt.NDArray[np.intp], k: int, there: npt.NDArray[np.bool_]
) -> Int32Array:
    """Return the nearest other rows, ``(n, k)``, −1 where there are no more."""
    found = index.search(index.vectors[rows], k + 1, allowed=None if there.all() else there).rows
    # All except the row, or except the last where more than k equal vectors crowd the row out.
    other = found != rows[:, None]
    other[other.all(axis=1), -1] = False
    return np.asarray(found[other].reshape(len(rows), k))
