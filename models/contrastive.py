"""In-batch softmax on synonyms and mentions, with hard neighbours that another encoder finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from canonym.encoders.hashing import float_table
from canonym.encoders.inputs import check_count
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.training import losses
from canonym.training.objective import Embed, Encode, Plan
from canonym.training.sampling.groups import HardPool, Relatives, SynonymGroups
from canonym.training.sampling.random import check_sizes
from models.mixture import Mixture

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
    definitions : int
        Definitions drawn for a batch, each with a name of its concept.
    related_share : float
        Share of names of related concepts in the loss of a name; where it is above 0, a quarter of
        the names bring one along.
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
        definitions: int = 0,
        related_share: float = 0.0,
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
        check_count("definitions", definitions, least=0)
        if not 0 <= related_share <= 1:
            raise InvalidInput(f"related_share={related_share!r}: a share from 0 to 1 is expected")
        self.groups = groups = SynonymGroups(
            miner,
            mixture.names,
            mixture.concepts,
            mixture.weights,
            mixture.sources,
            mixture.name_weights,
        )
        # A definition of a concept without a name says nothing about any name.
        told = [one for one in mixture.definitions if definitions and groups.has(one.concept)]
        self.texts = [mixture.names[row].lower() for row in groups.given]
        self.texts += [one.text.lower() for one in told]
        defined = np.array([one.concept for one in told], dtype=np.int64)
        self.concepts = np.concatenate((groups.concepts, defined))
        self._text_numbers = np.concatenate(
            (groups.text_numbers, 1 + groups.text_numbers.max() + np.arange(len(told)))
        )
        self._relatives = Relatives(groups, mixture.related) if related_share else None
        self._table = float_table(miner.table, miner.scale)
        self._sizes, self._definitions = sizes, definitions if told else 0
        self._temperature, self._related_share = temperature, related_share
        self.settings: Mapping[str, object] = {
            **sizes,
            "definitions": self._definitions,
            "related_share": related_share,
            "temperature": temperature,
            "n_names": len(groups.given),
            "n_definitions": len(told),
            "n_concepts": int(np.count_nonzero(groups.sizes)),
        }

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Draw the batches of an epoch."""
        del encode, epoch
        pool = HardPool(self.groups, self._table, rng)
        batches = [self._draw(pool, rng) for _ in range(self._sizes["batches"])]
        starts = np.cumsum([0, *map(len, batches)])
        return {"rows": np.concatenate(batches), "starts": starts}

    def _draw(self, pool: HardPool, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        sizes, n_names = self._sizes, len(self.groups.given)
        rows = pool.draw(sizes["drawn"], sizes["positives"], sizes["hard_neighbours"], rng)
        if self._relatives is not None:
            rows = self._relatives.along(rows, rng)
        if self._definitions:
            told = rng.integers(n_names, len(self.texts), size=self._definitions)
            rows = np.concatenate((rows, self.groups.names_of(self.concepts[told], rng), told))
        return np.unique(rows)

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan."""
        return len(plan["starts"]) - 1

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor | None:
        """Return the loss of a batch; None if no name in it has a positive."""
        import torch

        rows = plan["rows"][plan["starts"][batch] : plan["starts"][batch + 1]]
        vectors = embed([self.texts[row] for row in rows])
        concepts = self.concepts[rows]
        related = None if self._relatives is None else self._relatives.among(concepts)
        labels, texts = (
            torch.from_numpy(numbers.astype(np.int64)).to(vectors.device)
            for numbers in (concepts, self._text_numbers[rows])
        )
        return losses.multi_positive_softmax(
            vectors,
            labels,
            texts,
            temperature=self._temperature,
            related=None if related is None else torch.from_numpy(related).to(vectors.device),
            related_share=self._related_share,
        )

    def extra_modules(self, width: int) -> Mapping[str, tuple[nn.Module, float | None]]:
        """Return nothing: the encoder alone is trained."""
        del width
        return {}
