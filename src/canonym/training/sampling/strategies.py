"""Triplets of a mention, a right name and a wrong one, by the four strategies of DILBERT."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes.exact import Exact
from canonym.indexes.vectors import dense_index
from canonym.training.objective import Encode, comparable
from canonym.training.sampling.name_table import LinkedMentions, NameTable, RelatedNames
from canonym.training.sampling.random import draw_apart, draw_some
from canonym.types import Float32Array, Int32Array


class Triplet(NamedTuple):
    """A training mention, a name of its concept, and a name of another."""

    mention: str
    positive: str
    negative: str
    ids: tuple[str, ...] = ()  # concepts of the mention
    strategy: str = ""  # by which the two names were chosen


SEARCHED: tuple[str, ...] = ("training", "all")
"""Names that re-sampling searches: those of the concepts of training mentions, or all."""

HARD: tuple[str, ...] = ("behind", "nearest", "above")
"""Wrong names that re-sampling takes; see `TripletSampler.resampled`."""

# Mentions whose nearest names are held in memory at once, and how many of these are looked at.
_MENTIONS, _NEIGHBOURS = 256, 1024


class _Choice(NamedTuple):
    positives: Int32Array
    negatives: Int32Array


class TripletSampler:
    """Chooses positives and negatives of every mention and pairs each with each.

    `n_parents` names of parents are added to the positives, `n_siblings` names of siblings to the
    negatives. Names are near each other by `similarity`, one of `canonym.types.SIMILARITIES`. See
    Miftahutdinov et al. (2021), section 4.
    """

    def __init__(
        self,
        table: NameTable,
        mentions: LinkedMentions,
        *,
        n_positives: int = 30,
        n_negatives: int = 5,
        related: RelatedNames | None = None,
        n_parents: int = 0,
        n_siblings: int = 0,
        hard: str = "behind",
        similarity: str = "cosine",
    ) -> None:
        if (n_parents or n_siblings) and related is None:
            raise InvalidInput(
                "names of parents or siblings are wanted, but no hierarchy was given: give the one "
                "of the terminology"
            )
        self.table, self.mentions, self.related = table, mentions, related
        self.n_positives, self.n_negatives = n_positives, n_negatives
        self.n_parents, self.n_siblings, self.hard = n_parents, n_siblings, hard
        self.similarity = similarity

    def right_names(self, mention: int) -> Int32Array:
        """Return the names of the concepts of a mention, rising."""
        concepts = np.array(self.mentions.concepts.of(mention), dtype=np.int32)
        return np.unique(self.table.names.of_all(concepts))

    def random(self, rng: np.random.Generator) -> Int32Array:
        """Draw positives among the names of the mention's concepts, negatives among all others."""
        choices = []
        for mention in range(self.mentions.n_mentions):
            right = self.right_names(mention)
            positives, barred = draw_some(right, self.n_positives, rng), right
            if self.n_parents and self.related is not None:
                above = self.related.parents(self.mentions.concepts.of(mention))
                added = draw_some(above, self.n_parents, rng)
                positives = np.concatenate([positives, added])
                barred = np.union1d(right, added)
            negatives = draw_apart(self.table.n_names, barred, self.n_negatives, rng)
            choices.append(_Choice(positives, negatives))
        triplets = _triplets(choices)
        if not len(triplets):
            raise InvalidInput(
                "every name of the terminology is a right one for every mention, and negatives are "
                "other names: give the whole terminology"
            )
        return triplets

    def resampled(
        self, encode: Encode, rng: np.random.Generator, *, searched: str = "training"
    ) -> Int32Array:
        """Take the nearest right names as positives, and near wrong ones as negatives.

        Of the 1,024 nearest names, the negatives are the nearest wrong ones: ``"behind"`` the last
        positive, the ``"nearest"`` of all, or those ``"above"`` the nearest right name. A mention
        without such names has no triplets of this kind.

        Notes
        -----
        Every triplet of ``"above"`` has a loss of more than the margin. The shortest way down is to
        give all names one vector, and an encoder that takes it is worse than before.

        Differences
        -----------
        The paper takes the names above the right one, ``"above"``; its released code those behind
        the last right one of 1,024 neighbours, as here by default.
        """
        rows = np.arange(self.table.n_names, dtype=np.int32)
        if searched == "training":
            rows = np.unique(self.table.names.of_all(np.unique(self.mentions.concepts.ends)))
        encode = comparable(encode, self.similarity)
        index = dense_index(encode([self.table.texts[row] for row in rows]), self.similarity)
        queries = encode(self.mentions.texts)
        choices: list[_Choice] = []
        for first in range(0, self.mentions.n_mentions, _MENTIONS):
            block = range(first, min(first + _MENTIONS, self.mentions.n_mentions))
            right = [np.searchsorted(rows, self.right_names(mention)) for mention in block]
            vectors = queries[self.mentions.text_of[block.start : block.stop]]
            choices += self._nearest(index, vectors, right, rows)
        if self.n_siblings and self.related is not None:
            for mention, choice in enumerate(choices):
                near = self.related.siblings(self.mentions.concepts.of(mention))
                added = draw_some(near, self.n_siblings, rng)
                new = added[~np.isin(added, choice.negatives)]
                choices[mention] = choice._replace(
                    negatives=np.concatenate([choice.negatives, new])
                )
        return _triplets(choices)

    def _nearest(
        self,
        index: Exact,
        vectors: Float32Array,
        right: list[npt.NDArray[np.intp]],
        rows: Int32Array,
    ) -> list[_Choice]:
        """Choose for a block of mentions; `right` are positions in `rows`."""
        width = max(len(places) for places in right)
        padded = np.full((len(right), width), -1, dtype=np.int32)
        for i, places in enumerate(right):
            padded[i, : len(places)] = places
        own = index.score(vectors, padded)
        order = np.argsort(-own, axis=1, kind="stable")[:, : self.n_positives]
        nearest = np.take_along_axis(padded, order, axis=1)
        hits = index.search(vectors, min(_NEIGHBOURS, len(rows)))
        among = [np.isin(row, own_rows) for row, own_rows in zip(hits.rows, padded, strict=True)]
        wrong = (hits.rows >= 0) & ~np.stack(among)
        taken = np.take_along_axis(own, order, axis=1)
        seen = taken >= hits.scores.min(axis=1, keepdims=True)
        last = np.where(seen, taken, np.inf).min(axis=1)
        if self.hard == "above":
            wrong &= hits.scores > own.max(axis=1)[:, None]
        elif self.hard == "behind":
            wrong &= hits.scores < last[:, None]
            wrong &= np.isfinite(last)[:, None]
        wrong &= wrong.cumsum(axis=1) <= self.n_negatives
        return [
            _Choice(rows[nearest[i][nearest[i] >= 0]], rows[hits.rows[i][wrong[i]]])
            for i in range(len(right))
        ]


def _triplets(choices: list[_Choice]) -> Int32Array:
    """Pair every positive of a mention with every negative."""
    parts = [
        np.stack(
            [
                np.full(len(positives) * len(negatives), mention),
                np.repeat(positives, len(negatives)),
                np.tile(negatives, len(positives)),
            ],
            axis=1,
        )
        for mention, (positives, negatives) in enumerate(choices)
    ]
    return np.concatenate(parts).astype(np.int32)
