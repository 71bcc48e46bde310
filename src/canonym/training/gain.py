"""Fitting a subword encoder to names and mentions, and what is gained on those it is not shown.

`fit_names` takes the mentions of a corpus for further names of their concepts: they teach the
encoder how people write, and no terminology gets them. `measure_gain` does the same without some of
the names and documents, and looks these up.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.training.held_out import HeldOut, accuracy, hold_out, hold_out_mentions
from canonym.training.mention_names import MentionNames, mention_weights
from canonym.training.subword import fit_subword
from canonym.types import Encoder

__all__ = ["Found", "Gain", "fit_names", "measure_gain"]

SHARE = 0.2


class Found(NamedTuple):
    """How many of the names set aside are found.

    Attributes
    ----------
    n, n_searched : int
        Names looked up, and names that they were looked up among.
    before, after : float
        The share whose nearest name is one of their concept, in [0, 1]: by the encoder compared
        with, and by the fitted one.
    """

    n: int
    n_searched: int
    before: float
    after: float


class Gain(NamedTuple):
    """What fitting gains; None where nothing could be set aside.

    Attributes
    ----------
    names : Found or None
        On names of the terminology, set aside by `canonym.training.held_out.hold_out`.
    mentions : Found or None
        On mentions, set aside by `canonym.training.held_out.hold_out_mentions`.
    """

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

    Parameters
    ----------
    names : sequence of str
        All names of the terminology.
    concepts : (len(names),) int32
        The concept of each.
    mentions : MentionNames, optional
        Those of a corpus.
    share : float
        How many of the names drawn are mentions, in (0, 1).
    **options
        Those of `canonym.training.subword.fit_subword`.

    Raises
    ------
    InvalidInput
        If there is nothing to learn from, or an option is out of range.
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
    """Fit without some names and some documents, look these up, and compare with an encoder.

    Parameters
    ----------
    names, concepts, mentions
        As for `fit_names`.
    baseline : Encoder
        The one to compare with; it gives dense vectors.
    n : int
        Most names to set aside; of the documents it is a fifth.
    seed : int
        Of what is set aside, and of the fit.
    **options
        Further ones of `fit_names`.

    Raises
    ------
    InvalidInput
        If there is nothing to learn from, or an option is out of range.

    Notes
    -----
    Names that `baseline` was trained on are no secret to it, nor wholly to an encoder that starts
    from it: where it has read the terminology or the corpus, its share is higher than on what is
    new, and the gain is smaller.
    """
    apart: HeldOut | None = None
    with contextlib.suppress(InvalidInput):
        apart = hold_out(names, concepts, n=n, seed=seed)
    rest = np.arange(len(names)) if apart is None else apart.rest
    asked: HeldOut | None = None
    kept = None
    if mentions is not None:
        asked, left = hold_out_mentions(mentions, names, concepts, rest=rest, seed=seed)
        kept = mentions.at(left)
    if not any(held and held.names for held in (apart, asked)):
        return Gain(None, None)
    fitted = fit_names(
        [names[row] for row in rest], concepts[rest], mentions=kept, seed=seed, **options
    )

    def found(held: HeldOut | None) -> Found | None:
        if held is None or not held.names:
            return None
        before, after = (accuracy(one, held, names, concepts) for one in (baseline, fitted))
        return Found(len(held.names), len(held.searched), before, after)

    return Gain(found(apart), found(asked))
