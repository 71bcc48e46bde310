"""Batches in which every name has a positive: an anchor and one other name of its concept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.terminology.hierarchy import Adjacency
from canonym.types import Int32Array


class PairBatches:
    """Draws a positive for every anchor and deals the pairs into batches.

    An anchor whose concept has no other name stands alone: it can be a negative of others, and the
    loss does not count it.
    """

    def __init__(
        self, names: Adjacency, anchors: Int32Array, concepts: Int32Array, *, batch_size: int
    ) -> None:
        if not len(anchors) or names.counts[concepts].max() < 2:
            raise InvalidInput(
                f"none of {len(np.unique(concepts)):,} concepts has two different names, and "
                "positives are names of one concept: use a terminology with synonyms, or training "
                "mentions beside it"
            )
        self.names, self.anchors, self.concepts = names, anchors, concepts
        self.batch_size = batch_size

    def draw(self, rng: np.random.Generator) -> Mapping[str, npt.NDArray[Any]]:
        """Sample an epoch: every anchor once, in random order.

        ``starts`` says where each batch begins in ``names`` and ``concepts``.
        """
        order = rng.permutation(len(self.anchors))
        anchors, concepts = self.anchors[order], self.concepts[order]
        positives = self._positives(anchors, concepts, rng)
        # Anchor and positive stand side by side, and the gap where there is none is closed.
        flat = np.stack([anchors, positives], axis=1).ravel()
        filled = flat >= 0
        ends = np.concatenate([[0], np.cumsum(1 + (positives >= 0))])
        starts = [0]
        while starts[-1] < ends[-1]:  # cut between anchors, no batch larger than allowed
            last = np.searchsorted(ends, starts[-1] + self.batch_size, side="right") - 1
            starts.append(int(ends[last]))
        return {
            "names": flat[filled].astype(np.int32),
            "concepts": np.repeat(concepts, 2)[filled].astype(np.int32),
            "starts": np.array(starts, dtype=np.int64),
        }

    def _positives(
        self, anchors: Int32Array, concepts: Int32Array, rng: np.random.Generator
    ) -> Int32Array:
        """Draw another name of the concept of each anchor, −1 where there is none."""
        starts, counts = self.names.starts[concepts], self.names.counts[concepts]
        # Keys of all (concept, name) pairs are sorted, so that an anchor's place can be looked up.
        n = int(self.names.ends.max()) + 1
        owners = np.repeat(np.arange(self.names.n_nodes), self.names.counts)
        place = np.searchsorted(
            owners * n + self.names.ends, concepts.astype(np.int64) * n + anchors
        )
        place -= starts
        step = 1 + (rng.random(len(anchors)) * np.maximum(counts - 1, 1)).astype(np.int64)
        partners = self.names.ends[starts + (place + step) % counts]
        return np.where(counts > 1, partners, -1).astype(np.int32)


def repeat_to_share(n: int, n_others: int, share: float, rng: np.random.Generator) -> Int32Array:
    """Return the numbers of `n` items, repeated until they are a share of the others."""
    n_drawn = max(round(share * n_others), n)
    whole, rest = divmod(n_drawn, n)
    last = rng.permutation(n)[:rest]
    return np.concatenate([np.tile(np.arange(n), whole), last]).astype(np.int32)
