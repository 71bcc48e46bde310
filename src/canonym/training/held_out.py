"""How much an encoder gains by being fitted: names set aside, and found or not.

Some concepts lose one of their names. The encoder is fitted to the rest, and each name set aside is
looked up among the rest: does the nearest name belong to its concept? The same with another
encoder, and the difference is the gain to be expected on names that the terminology does not have.
Mentions of a corpus are set aside in the same way, by documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.text import PLAIN, normalise_all
from canonym.training.mention_names import MentionNames
from canonym.types import Encoder, Float32Array, Int32Array, SparseVectors

__all__ = ["HeldOut", "accuracy", "hold_out", "hold_out_mentions"]

_BLOCK = 4096
_FEW = 10


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
    return HeldOut(
        [names[row] for row in chosen],
        concepts[chosen].astype(np.int32),
        rest,
        _searched(rest, concepts, concepts[chosen], n_searched, rng),
    )


def hold_out_mentions(
    mentions: MentionNames,
    names: Sequence[str],
    concepts: npt.NDArray[np.int32],
    *,
    rest: npt.NDArray[np.int64] | None = None,
    share: float = 0.2,
    n_searched: int = 200_000,
    seed: int = 0,
) -> tuple[HeldOut, npt.NDArray[np.int64]]:
    """Set the mentions of some documents aside.

    Parameters
    ----------
    mentions : MentionNames
        Those of a corpus.
    names : sequence of str
        All names of the terminology.
    concepts : (len(names),) int32
        The concept of each.
    rest : (m,) int64, optional
        Rows of names that are fitted to, as `hold_out` leaves them; all by default.
    share : float
        Share of the documents, in (0, 1); of the distinct mentions where there are fewer than ten
        documents, as in tables that name none.
    n_searched, seed
        As for `hold_out`.

    Returns
    -------
    held : HeldOut
        Mentions of these documents, each once, that are in normal form neither a name nor a mention
        of another document: finding those would say nothing about the encoder. Maybe none.
    kept : (k,) int64
        Mentions left to be fitted to: of other documents, and no name set aside by `hold_out`.
    """
    rng = np.random.default_rng(seed)
    rest = np.arange(len(names)) if rest is None else rest
    forms = list(normalise_all(mentions.names, PLAIN))
    known = list(normalise_all(names, PLAIN))
    places = list(dict.fromkeys(mentions.documents))
    units = mentions.documents if len(places) >= _FEW else forms
    listed = list(dict.fromkeys(units))
    n_away = min(max(1, round(share * len(listed))), len(listed) - 1)
    away = {listed[i] for i in rng.permutation(len(listed))[:n_away]}
    hidden = set(known).difference(known[row] for row in rest)
    apart = np.array([unit in away for unit in units], dtype=bool)
    secret = np.array([form in hidden for form in forms], dtype=bool)
    seen = set(known) | {forms[row] for row in np.flatnonzero(~apart)}
    asked: dict[tuple[str, int], int] = {}
    for row in np.flatnonzero(apart).tolist():
        if forms[row] and forms[row] not in seen:
            asked.setdefault((forms[row], int(mentions.concepts[row])), row)
    chosen = np.array(list(asked.values()), dtype=np.int64)
    of_chosen = mentions.concepts[chosen]
    held = HeldOut(
        [mentions.names[row] for row in chosen],
        of_chosen,
        rest,
        _searched(rest, concepts, of_chosen, n_searched, rng),
    )
    return held, np.flatnonzero(~apart & ~secret)


def _searched(
    rest: npt.NDArray[np.int64],
    concepts: npt.NDArray[np.int32],
    wanted: npt.NDArray[np.int32],
    n: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Return all rows of some concepts, and of others as many as make `n` together."""
    near = rest[np.isin(concepts[rest], wanted)]
    others = np.setdiff1d(rest, near)
    others = rng.permutation(others)[: max(0, n - len(near))]
    return np.sort(np.concatenate((near, others)))


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
