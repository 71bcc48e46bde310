"""In-batch softmax on synonyms and mentions, with hard neighbours that another encoder finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from canonym.encoders.subword import Subword
from canonym.encoders.tables import float_table
from canonym.training import losses
from canonym.training.draws import check_sizes
from canonym.training.groups import HardPool, SynonymGroups
from canonym.training.mixture import Mixture
from canonym.training.objective import Embed, Encode, Plan

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Contrastive"]


class Contrastive:
    """Chooses the names of the same concept among all names of a batch.

    Parameters
    ----------
    mixture : Mixture
        Names, their concepts, and how often each is drawn.
    miner : Subword
        Finds the hard neighbours: a search through all names takes it seconds, where the encoder
        that is trained would take minutes.
    drawn : int
        Names drawn for a batch, each of which brings what follows along.
    positives : int
        Names of the same concept, for each.
    hard_neighbours : int
        Names of other concepts that the miner takes for it, for each; with a synonym of theirs.
    batches : int
        Batches of an epoch.
    temperature : float
        Divides the cosines.

    Attributes
    ----------
    fit_settings, encoder_settings : dict
        What it is meant to be trained with.

    Raises
    ------
    InvalidInput
        If a number is below 1, or no concept has two names.

    Notes
    -----
    See `canonym.training.losses.multi_positive_softmax`. Names reach the encoder in lower case.
    """

    name: str = "contrastive"
    fit_settings: ClassVar[Mapping[str, object]] = {
        "epochs": 1,
        "learning_rate": 5e-5,
        "optimizer": "adamw",
        "weight_decay": 0.01,
        "warm_up": 0.1,
    }
    encoder_settings: ClassVar[Mapping[str, object]] = {"pooling": "mean", "max_length": 16}

    def __init__(
        self,
        mixture: Mixture,
        miner: Subword,
        *,
        drawn: int = 64,
        positives: int = 1,
        hard_neighbours: int = 1,
        batches: int = 500,
        temperature: float = 0.05,
    ) -> None:
        sizes = {
            "drawn": drawn,
            "positives": positives,
            "hard_neighbours": hard_neighbours,
            "batches": batches,
        }
        check_sizes(**sizes)
        self.groups = SynonymGroups(
            miner,
            mixture.names,
            mixture.concepts,
            mixture.weights,
            mixture.sources,
            mixture.name_weights,
        )
        self.texts = [mixture.names[row].lower() for row in self.groups.given]
        self._table = float_table(miner.table, miner.scale)
        self._sizes = sizes
        self._temperature = temperature
        self.settings: Mapping[str, object] = {
            **sizes,
            "temperature": temperature,
            "n_names": len(self.texts),
            "n_concepts": int(np.count_nonzero(self.groups.sizes)),
        }

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Draw the batches of an epoch."""
        del encode, epoch
        sizes = self._sizes
        pool = HardPool(self.groups, self._table, rng)
        batches = [
            np.unique(pool.draw(sizes["drawn"], sizes["positives"], sizes["hard_neighbours"], rng))
            for _ in range(sizes["batches"])
        ]
        starts = np.cumsum([0, *map(len, batches)])
        return {"rows": np.concatenate(batches), "starts": starts}

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan."""
        return len(plan["starts"]) - 1

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor | None:
        """Return the loss of a batch; None if no name in it has a positive."""
        import torch

        rows = plan["rows"][plan["starts"][batch] : plan["starts"][batch + 1]]
        vectors = embed([self.texts[row] for row in rows])
        labels, texts = (
            torch.from_numpy(numbers[rows].astype(np.int64)).to(vectors.device)
            for numbers in (self.groups.concepts, self.groups.text_numbers)
        )
        return losses.multi_positive_softmax(vectors, labels, texts, temperature=self._temperature)

    def extra_modules(self, width: int) -> Mapping[str, tuple[nn.Module, float | None]]:
        """Return nothing: the encoder alone is trained."""
        del width
        return {}
