"""The hinge loss of triplets in batches, which objectives of triplets share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from canonym.errors import InvalidInput
from canonym.training import losses
from canonym.training.losses.triplets import DISTANCES
from canonym.training.objective import Embed, Plan
from canonym.training.sampling.random import check_sizes, n_batches_of
from canonym.types import Int32Array

if TYPE_CHECKING:
    from torch import Tensor, nn

_COLUMNS = ("mentions", "positives", "negatives")


class TripletHinge:
    """What objectives of triplets have in common: batches, and their loss.

    Parameters
    ----------
    mentions, names : sequence of str
        The strings that triplets are made of.
    distance : str
        ``"euclidean"`` or ``"cosine"``.
    margin : float
        ``ε``.
    batch_size : int
        Triplets in a batch.

    Raises
    ------
    InvalidInput
        If there is no such distance, or the batch size is below 1.
    """

    def __init__(
        self,
        mentions: Sequence[str],
        names: Sequence[str],
        *,
        distance: str,
        margin: float,
        batch_size: int,
    ) -> None:
        if distance not in DISTANCES:
            raise InvalidInput(
                f"distance is {distance!r}; expected {' or '.join(map(repr, DISTANCES))}"
            )
        check_sizes(batch_size=batch_size)
        self.mention_texts, self.name_texts = mentions, names
        self.distance, self.margin, self.batch_size = distance, margin, batch_size

    @property
    def loss_settings(self) -> dict[str, object]:
        """What shapes the loss, as JSON can hold it."""
        return {"distance": self.distance, "margin": self.margin, "batch_size": self.batch_size}

    def shuffled(
        self, triplets: Int32Array, rng: np.random.Generator
    ) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int32]]]:
        """Return triplets ``(n, 3)`` in random order, one array a column."""
        mixed = triplets[rng.permutation(len(triplets))]
        return {name: mixed[:, i].copy() for i, name in enumerate(_COLUMNS)}

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan."""
        return n_batches_of(len(plan["mentions"]), self.batch_size)

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor | None:
        """Return the hinge of a batch of triplets; every distinct string is encoded once."""
        import torch

        part = slice(batch * self.batch_size, (batch + 1) * self.batch_size)
        strings = [self.mention_texts[mention] for mention in plan["mentions"][part]]
        strings += [self.name_texts[row] for name in _COLUMNS[1:] for row in plan[name][part]]
        if not strings:
            return None
        places = {text: i for i, text in enumerate(dict.fromkeys(strings))}
        vectors = embed(list(places))
        rows = torch.tensor([places[text] for text in strings], device=vectors.device)
        anchors, positives, negatives = vectors[rows].chunk(3)
        return losses.triplet_hinge(
            anchors, positives, negatives, distance=self.distance, margin=self.margin
        )

    def extra_modules(self, width: int) -> Mapping[str, tuple[nn.Module, float | None]]:
        """Return nothing: the encoder alone is trained."""
        del width
        return {}
