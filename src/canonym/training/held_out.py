"""How much an encoder gains by being fitted: names set aside, and found or not.

Some concepts lose one of their names. The encoder is fitted to the rest, and each name set aside is
looked up among the rest: does the nearest name belong to its concept? The same with another
encoder, and the difference is the gain to be expected on names that the terminology does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.text import PLAIN, normalise_all
from canonym.types import Encoder, Float32Array, Int32Array, SparseVectors

__all__ = ["HeldOut", "accuracy", "hold_out"]

_BLOCK = 4096


class HeldOut(NamedTuple):
    """Names set aside, and those they are looked up among.

    Attributes
    ----------
    names : list of str
        The names set aside.
    concepts : (n,) int32
        Their concepts.
    rest : (m,) int64
        Rows that are left to be fitted to.
    searched : (s,) int64
        Rows, all of them in `rest`, that the names are looked up among.
    """

    names: list[str]
    concepts: Int32Array
    rest: npt.NDArray[np.int64]
    searched: npt.NDArray[np.int64]


def hold_out(
    names: Sequence[str],
    concepts: npt.NDArray[np.int32],
    *,
    n: int = 1000,
    n_searched: int = 200_000,
    seed: int = 0,
) -> HeldOut:
    """Set names aside.

    Parameters
    ----------
    names : sequence of str
        All names.
    concepts : (len(names),) int32
        The concept of each.
    n : int
        Most names to set aside: one of a concept that keeps two others, and at most a tenth of
        those concepts. No name is set aside that is, in normal form, left elsewhere: finding it
        would say nothing about the encoder.
    n_searched : int
        Most names looked up among: all of the concepts concerned, and others drawn at random.
    seed : int
        Seed of the draws.

    Returns
    -------
    HeldOut
        The two parts.

    Raises
    ------
    InvalidInput
        If no concept can spare a name.
    """
    rng = np.random.default_rng(seed)
    forms: dict[str, int] = {}
    number_of = np.fromiter(
        (forms.setdefault(form, len(forms)) for form in normalise_all(names, PLAIN)),
        dtype=np.int64,
        count=len(names),
    )
    unique = np.bincount(number_of, minlength=len(forms))[number_of] == 1
    sizes = np.bincount(concepts)
    eligible = np.flatnonzero(unique & (sizes[concepts] >= 3))
    eligible = rng.permutation(eligible)
    _, first = np.unique(concepts[eligible], return_index=True)
    candidates = rng.permutation(eligible[first])
    chosen = np.sort(candidates[: min(n, max(1, len(candidates) // 10))])
    if not len(chosen):
        raise InvalidInput(
            "no concept has three names, one of which could be set aside to measure the gain; "
            "fit without measuring"
        )
    rest = np.setdiff1d(np.arange(len(names)), chosen)
    near = rest[np.isin(concepts[rest], concepts[chosen])]
    others = np.setdiff1d(rest, near)
    others = rng.permutation(others)[: max(0, n_searched - len(near))]
    return HeldOut(
        [names[row] for row in chosen],
        concepts[chosen].astype(np.int32),
        rest,
        np.sort(np.concatenate((near, others))),
    )


def accuracy(
    encoder: Encoder,
    held: HeldOut,
    names: Sequence[str],
    concepts: npt.NDArray[np.int32],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> float:
    """Return the share of names set aside whose nearest name is one of their concept, in [0, 1].

    Parameters
    ----------
    encoder : Encoder
        One that gives dense vectors, normalised.
    held : HeldOut
        What `hold_out` returned.
    names, concepts
        What `hold_out` was given.
    progress : callable, optional
        Called with the number of names searched and in all.

    Raises
    ------
    InvalidInput
        If the encoder gives sparse vectors.

    Notes
    -----
    Of names equally near the first in the terminology counts.
    """
    queries = _dense(encoder, held.names)
    best = np.full(len(queries), -np.inf, dtype=np.float32)
    found = np.full(len(queries), -1, dtype=np.int64)
    for start in range(0, len(held.searched), _BLOCK):
        rows = held.searched[start : start + _BLOCK]
        scores = queries @ _dense(encoder, [names[row] for row in rows]).T
        place = scores.argmax(axis=1)
        top = scores[np.arange(len(queries)), place]
        better = top > best
        best[better] = top[better]
        found[better] = concepts[rows[place[better]]]
        if progress is not None:
            progress(start + len(rows), len(held.searched))
    return float(np.mean(found == held.concepts))


def _dense(encoder: Encoder, names: Sequence[str]) -> Float32Array:
    steps = tuple(getattr(encoder, "steps", PLAIN))
    vectors = encoder.encode(list(normalise_all(names, steps)))
    if isinstance(vectors, SparseVectors):
        raise InvalidInput("the gain is measured with encoders that give dense vectors")
    return vectors
