"""Annotated mentions as further names of their concepts, for fitting an encoder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders.inputs import distinct_names
from canonym.encoders.subword import NORMAL_STEPS
from canonym.errors import InvalidInput
from canonym.terminology import Terminology
from canonym.text.memo import MemoNormaliser
from canonym.training.sampling.mentions import training_mentions
from canonym.types import Document, Int32Array

EITHER = "of several concepts, any of which is right"
"""The reason to leave out a mention with alternatives."""


class MentionNames(NamedTuple):
    """Annotated mentions as names of concepts, in the order of the corpus."""

    names: list[str]  # with repetitions; explained abbreviations are written out
    concepts: Int32Array  # numbers as in `canonym.Terminology.concept_of_row`
    documents: list[str]  # ids
    dropped: dict[str, int]  # how many mentions were left out, by reason

    def at(self, rows: npt.NDArray[Any]) -> MentionNames:
        """Return some of the mentions."""
        names, documents = ([of[row] for row in rows] for of in (self.names, self.documents))
        return MentionNames(names, self.concepts[rows], documents, self.dropped)


def mention_names(
    documents: Iterable[Document],
    terminology: Terminology,
    *,
    types: Sequence[str] = (),
    engine: str = "auto",
) -> MentionNames:
    """Take the mentions of a corpus for names of their concepts.

    They have one known concept each: composite mentions are left out, and those with alternatives.
    Of documents with the same id the first counts. Options are those of
    `canonym.training.sampling.mentions.training_mentions`; raises `InvalidInput` if no mention is
    left, or none is of the `types`.

    Examples
    --------
    >>> from canonym import Concept, Mention
    >>> terminology = Terminology.build([Concept("MESH:D1", "Migraine")])
    >>> document = Document("7", "Megrims hurt.", (Mention("Megrims", 0, 7, ids=("D1",)),))
    >>> mention_names([document], terminology).names
    ['megrims']
    """
    stamped = [
        replace(d, mentions=tuple(replace(m, document_id=d.id) for m in d.mentions))
        for d in documents
    ]
    pairs = training_mentions(stamped, terminology, types=types, engine=engine)
    dropped = dict(pairs.dropped)
    names: list[str] = []
    ids: list[str] = []
    places: list[str] = []
    for (text, concepts), place in zip(pairs.pairs, pairs.documents, strict=True):
        if len(concepts) > 1:
            dropped[EITHER] = dropped.get(EITHER, 0) + 1
            continue
        names.append(text)
        ids.extend(concepts)
        places.append(place)
    if not names:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())
        raise InvalidInput(f"the corpus leaves no mention to fit to: {reasons}")
    ordinals = {id_: terminology.ordinal(id_) for id_ in dict.fromkeys(ids)}
    numbers = np.array([ordinals[id_] for id_ in ids], dtype=np.int32)
    return MentionNames(names, numbers, places, dropped)


def mention_weights(
    names: Sequence[str],
    concepts: npt.NDArray[np.int32],
    n_mentions: int,
    *,
    share: float,
    weights: npt.NDArray[Any] | None = None,
) -> npt.NDArray[np.float64]:
    """Weigh names, the last `n_mentions` of them mentions, to draw mentions for a share of them.

    The weight of other names is 1. Of concepts with a synonym, a mention that stands ``n`` times
    for its concept, and ``N`` times for any, is drawn in proportion to ``√n · n / N``: frequent
    mentions more often, but less than in proportion, and ambiguous ones by majority.
    """
    if not 0 < share < 1:
        raise InvalidInput(f"share={share!r}: more than 0 and less than 1 is expected")
    forms, number_of = distinct_names(MemoNormaliser(NORMAL_STEPS)(names))
    n_forms = max(1, len(forms))
    keys, places = np.unique(
        np.asarray(concepts, dtype=np.int64) * n_forms + number_of, return_inverse=True
    )
    owners, forms_of = keys // n_forms, keys % n_forms
    chances = np.ones(len(keys)) if weights is None else np.asarray(weights, np.float64)[owners]
    chances = np.where(np.bincount(owners)[owners] > 1, chances, 0.0)
    times = np.bincount(places[len(names) - n_mentions :], minlength=len(keys))
    in_all = np.bincount(forms_of, times, minlength=n_forms)[forms_of]
    chance = np.sqrt(times) * times / np.maximum(in_all, 1) * (chances > 0)
    worth = np.ones(len(keys))
    if chance.sum() and (chances * (times == 0)).sum():
        mass = share / (1 - share) * float((chances * (times == 0)).sum())
        drawn = chance > 0
        worth[drawn] = mass * chance[drawn] / chance.sum() / chances[drawn]
    return np.asarray(worth[places])
