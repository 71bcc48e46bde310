"""Fitting a subword encoder to names and mentions, and the gain on those it has not seen.

`fit_names` takes the mentions of a corpus for further names of their concepts. `measure_gain` fits
without some names and some documents, and looks these up with the fitted encoder and with another:
is the nearest name one of the right concept? The difference is the gain to expect on names that the
terminology lacks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.evaluation.own_names import rows_to_ask
from canonym.io.numbers import SAME, first_largest
from canonym.text import PLAIN, normalise_all
from canonym.training.subword.fit_subword import fit_subword
from canonym.training.subword.mention_names import MentionNames, mention_weights
from canonym.types import Encoder, Float32Array, Int32Array, SparseVectors

SHARE = 0.2
_SEARCHED = 200_000
_BLOCK = 4096
_FEW = 10  # documents; a corpus with fewer is split by mention


class HeldOut(NamedTuple):
    """Names set aside, and the rows that remain."""

    names: list[str]
    concepts: Int32Array
    rest: npt.NDArray[np.int64]  # rows to fit to
    searched: npt.NDArray[np.int64]  # rows, all in `rest`, to look the names up among


def hold_out(
    names: Sequence[str], concepts: npt.NDArray[np.int32], *, n: int = 1000, seed: int = 0
) -> HeldOut:
    """Set names aside: one of a concept that keeps two others, at most a tenth of those concepts.

    A name that is, in normal form, left elsewhere is not set aside: to find it would be no merit.
    The searched rows are all of the concepts concerned, and others drawn at random.
    """
    rng = np.random.default_rng(seed)
    asked = rows_to_ask(names, concepts, rng, n=n, least=3)
    if not len(asked):
        raise InvalidInput(
            "no concept has three names, one of which could be set aside to measure the gain; "
            "fit without measuring"
        )
    rest = np.setdiff1d(np.arange(len(names)), asked)
    searched = _searched(rest, concepts, concepts[asked], rng)
    texts = [names[row] for row in asked]
    return HeldOut(texts, concepts[asked].astype(np.int32), rest, searched)


def hold_out_mentions(
    mentions: MentionNames,
    names: Sequence[str],
    concepts: npt.NDArray[np.int32],
    *,
    rest: npt.NDArray[np.int64] | None = None,
    share: float = SHARE,
    seed: int = 0,
) -> tuple[HeldOut, npt.NDArray[np.int64]]:
    """Set the mentions of a share of the documents aside; return them, and the rows to fit to.

    They are set aside once each, and only if they are, in normal form, neither a name nor a mention
    of another document. Of a corpus of few documents a share of the distinct mentions is taken.
    """
    rng = np.random.default_rng(seed)
    rest = np.arange(len(names)) if rest is None else rest
    forms = list(normalise_all(mentions.names, PLAIN))
    known = list(normalise_all(names, PLAIN))
    units = mentions.documents if len(set(mentions.documents)) >= _FEW else forms
    listed = list(dict.fromkeys(units))
    n_away = min(max(1, round(share * len(listed))), len(listed) - 1)
    away = {listed[i] for i in rng.permutation(len(listed))[:n_away]}
    hidden = set(known).difference(known[row] for row in rest)
    apart = np.array([unit in away for unit in units], dtype=bool)
    secret = np.array([form in hidden for form in forms], dtype=bool)
    seen = set(known) | {forms[row] for row in np.flatnonzero(~apart)}
    rows: dict[tuple[str, int], int] = {}
    for row in np.flatnonzero(apart).tolist():
        if forms[row] and forms[row] not in seen:
            rows.setdefault((forms[row], int(mentions.concepts[row])), row)
    asked = np.array(list(rows.values()), dtype=np.int64)
    of_chosen = mentions.concepts[asked]
    searched = _searched(rest, concepts, of_chosen, rng)
    held = HeldOut([mentions.names[row] for row in asked], of_chosen, rest, searched)
    return held, np.flatnonzero(~apart & ~secret)


def _searched(
    rest: npt.NDArray[np.int64],
    concepts: npt.NDArray[np.int32],
    concepts_asked: npt.NDArray[np.int32],
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Return all rows of some concepts, and rows of others up to `_SEARCHED` in all."""
    near = rest[np.isin(concepts[rest], concepts_asked)]
    others = np.setdiff1d(rest, near)
    others = rng.permutation(others)[: max(0, _SEARCHED - len(near))]
    return np.sort(np.concatenate((near, others)))


def accuracy(
    encoder: Encoder, held: HeldOut, names: Sequence[str], concepts: npt.NDArray[np.int32]
) -> float:
    """Return the share of names set aside whose nearest name is one of their concept.

    Of names equally near the first in the terminology counts.
    """
    queries = _dense(encoder, held.names)
    best = np.full(len(queries), -np.inf, dtype=np.float32)
    nearest = np.full(len(queries), -1, dtype=np.int64)
    for start in range(0, len(held.searched), _BLOCK):
        rows = held.searched[start : start + _BLOCK]
        scores = queries @ _dense(encoder, [names[row] for row in rows]).T
        place = first_largest(scores)
        top = scores[np.arange(len(queries)), place]
        better = top > best + SAME
        best[better] = top[better]
        nearest[better] = concepts[rows[place[better]]]
    return float(np.mean(nearest == held.concepts))


def _dense(encoder: Encoder, names: Sequence[str]) -> Float32Array:
    steps = tuple(getattr(encoder, "steps", PLAIN))
    vectors = encoder.encode(list(normalise_all(names, steps)))
    if isinstance(vectors, SparseVectors):
        raise InvalidInput("the gain is measured with encoders that give dense vectors")
    return vectors


class Found(NamedTuple):
    """Shares of the names set aside that are found."""

    n: int
    n_searched: int  # names that they are looked up among
    before: float  # share with a right name nearest, by the encoder compared with
    after: float  # the same by the fitted encoder


class Gain(NamedTuple):
    """The gain of fitting, on names and on mentions; None if nothing could be set aside."""

    names: Found | None
    mentions: Found | None


def fit_names(
    names: Sequence[str],
    concepts: npt.NDArray[np.int32],
    *,
    mentions: MentionNames | None = None,
    share: float = SHARE,
    **options: Any,
) -> Subword:
    """Fit an encoder to the names of a terminology and, if there are any, mentions.

    `concepts` ``(len(names),)`` is the concept of each name, `share` that of mentions among the
    names drawn, in (0, 1). `options` are those of `fit_subword`. Raises `InvalidInput` if there is
    nothing to learn from, or an option is out of range.
    """
    if mentions is None or not mentions.names:
        return fit_subword(names, concepts, **options)
    every = [*names, *mentions.names]
    owners = np.concatenate((concepts, mentions.concepts))
    weights = mention_weights(every, owners, len(mentions.names), share=share)
    return fit_subword(every, owners, name_weights=weights, **options)


def measure_gain(
    names: Sequence[str],
    concepts: npt.NDArray[np.int32],
    *,
    baseline: Encoder,
    mentions: MentionNames | None = None,
    n: int = 1000,
    seed: int = 0,
    **options: Any,
) -> Gain:
    """Fit without some names and documents, look these up, and compare with another encoder.

    At most `n` names are set aside, and a fifth of the documents; `seed` is that of all draws.
    Everything else is as for `fit_names`. `baseline` makes dense vectors. It, and an encoder that
    starts from it, know names that it was trained on. If it has read the terminology or the corpus,
    its share is higher than on new names, and the gain is smaller.
    """
    apart: HeldOut | None = None
    with contextlib.suppress(InvalidInput):
        apart = hold_out(names, concepts, n=n, seed=seed)
    rest = np.arange(len(names)) if apart is None else apart.rest
    held: HeldOut | None = None
    learned = None
    if mentions is not None:
        held, left = hold_out_mentions(mentions, names, concepts, rest=rest, seed=seed)
        learned = mentions.at(left)
    if not any(part and part.names for part in (apart, held)):
        return Gain(None, None)
    fitted = fit_names(
        [names[row] for row in rest], concepts[rest], mentions=learned, seed=seed, **options
    )

    def outcome(part: HeldOut | None) -> Found | None:
        if part is None or not part.names:
            return None
        before, after = (accuracy(encoder, part, names, concepts) for encoder in (baseline, fitted))
        return Found(len(part.names), len(part.searched), before, after)

    return Gain(outcome(apart), outcome(held))
