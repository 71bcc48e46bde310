"""Triplet search: the hardest positive and negative of every name in a batch."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from canonym.terminology import Terminology
from canonym.training import keys, losses
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.scratch import new_module
from canonym.training.objective import Embed, Encode, Objective, Plan
from canonym.training.sampling.name_table import NameTable
from canonym.training.sampling.pairs import PairBatches, repeat_to_share

if TYPE_CHECKING:
    from torch import Tensor


class BatchHard(Objective):
    """Pulls the farthest name of the same concept nearer than the nearest of another.

    Parameters
    ----------
    table : NameTable
        ``O``, the names of the ontology.
    mentions : iterable of (str, collection of str)
        ``D``, training mentions and the ids of their concepts. Without them training is on ``O``
        alone.
    batch_size : int
        Names in a batch, anchors and positives together.
    share : float
        ``|D| / |O|`` up to which mentions are repeated; if there are more, each stands once.

    Raises
    ------
    InvalidInput
        If no concept has two names, or no mention has a concept of the terminology.

    Notes
    -----
    In every epoch each name of a concept is an anchor once, with one other name of the concept,
    drawn from ontology and mentions alike; mentions are anchors as often as they are repeated. A
    mention of several alternative concepts is one of each. The loss is
    `canonym.training.losses.batch_hard_soft_margin`.

    Differences
    -----------
    The paper's batch of 1,500 is taken for names in all, 750 anchors with their positives.

    References
    ----------
    Xu and Bethard (2021), Triplet-Trained Vector Space and Sieve-Based Search Improve Biomedical
    Concept Normalization, sections 3.1 and 4.2.

    Examples
    --------
    >>> table = NameTable.from_pairs([("flu", "X:1"), ("influenza", "X:1"), ("fever", "X:2")])
    >>> BatchHard(table).settings["trained_on"]
    'O'
    """

    name: str = "batch-hard"
    paper: ClassVar[str] = "Xu and Bethard (2021), triplet search"
    collapsed_loss: ClassVar[float] = math.log(2)
    fit_settings: ClassVar[Mapping[str, object]] = keys.published("triplet", FitSettings)
    encoder_settings: ClassVar[Mapping[str, object]] = keys.published("triplet", new_module)

    def __init__(
        self,
        table: NameTable,
        mentions: Iterable[tuple[str, Collection[str]]] = (),
        *,
        batch_size: Annotated[int, keys.Key(least=2)] = 1500,
        share: keys.Weight = 1 / 3,
    ) -> None:
        keys.check_keys(BatchHard, locals())
        listed = list(mentions)
        self._ontology = np.stack(table.pairs(), axis=1)
        self.n_ontology = len(self._ontology)
        self._added, n_left_out = np.empty((0, 2), dtype=np.int32), 0
        if listed:
            linked = table.link(listed)
            n_left_out = linked.n_left_out
            added = linked.names()
            table = table.with_names(added)
            rows = [(table.number(text), concept) for text, concept in added]
            self._added = np.array(rows, dtype=np.int32)
        self.table = table
        self._batch_size, self._share = batch_size, share
        self._pairs(np.random.default_rng(0))  # raises now if the names do not fit
        self.settings: Mapping[str, object] = {
            "trained_on": "O+D" if listed else "O",
            "batch_size": batch_size,
            "share": share,
            "preparation": table.preparation,
            "n_ontology": self.n_ontology,
            "n_mentions": len(self._added),
            "n_left_out": n_left_out,
        }

    @classmethod
    def from_terminology(
        cls,
        terminology: Terminology,
        mentions: Iterable[tuple[str, Collection[str]]] = (),
        *,
        preparation: str = "none",
        **options: Any,
    ) -> Self:
        """Train on the names of a terminology; `options` are those of the class."""
        table = NameTable.from_terminology(terminology, preparation=preparation)
        return cls(table, mentions, **options)

    def _pairs(self, rng: np.random.Generator) -> PairBatches:
        """Return ``O``, or ``O`` and ``D``, which is repeated each time."""
        rows = self._ontology
        if len(self._added):
            again = repeat_to_share(len(self._added), self.n_ontology, self._share, rng)
            rows = np.concatenate([rows, self._added[again]])
        return PairBatches(self.table.names, rows[:, 0], rows[:, 1], batch_size=self._batch_size)

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Draw a positive for every anchor."""
        del encode, epoch  # negatives are mined in the batch
        return self._pairs(rng).draw(rng)

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan."""
        return len(plan["starts"]) - 1

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor | None:
        """Return the loss of a batch; None if no name in it has a positive and a negative."""
        import torch

        part = slice(plan["starts"][batch], plan["starts"][batch + 1])
        concepts = plan["concepts"][part]
        counts = np.unique(concepts, return_counts=True)[1]
        if len(counts) < 2 or counts.max() < 2:
            return None
        vectors = embed([self.table.texts[row] for row in plan["names"][part]])
        labels = torch.from_numpy(np.asarray(concepts)).to(vectors.device)
        return losses.batch_hard_soft_margin(vectors, labels)
