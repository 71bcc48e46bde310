"""Synonym marginalization with every name for a candidate, asked by mentions and by names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.terminology import Terminology
from canonym.training import losses
from canonym.training.askers import (
    asking_mentions,
    asking_names,
    mentions_as_names,
    other_names,
)
from canonym.training.draws import check_sizes
from canonym.training.names import NameTable
from canonym.training.noise import disturb
from canonym.training.objective import Embed, Encode, Plan
from canonym.types import Int32Array

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

__all__ = ["AllNames"]


class AllNames:
    """Raises the probability of the right names among all names, for mentions and for names.

    Parameters
    ----------
    table : NameTable
        Names, prepared as mentions are.
    mentions : iterable of (str, collection of str)
        Training mentions and the ids of their concepts, see
        `canonym.training.mentions.training_mentions`.
    n_batches : int
        Batches of an epoch, after which all names are encoded anew.
    batch_size : int
        Strings that ask in a batch.
    mention_share : float
        Share of them that are mentions; the others are names, which ask for the other names of
        their concept.
    kept : float
        Chance of each right name to be one in a batch, above 0; at least one is. The others are as
        if they were not there.
    disturbed : float
        Share of the strings that ask with a slip, in another order or the like, see
        `canonym.training.noise.disturb`.
    cosine_scale : float
        What cosines are multiplied by, above 0.

    Attributes
    ----------
    fit_settings, encoder_settings : dict
        What suits a sentence encoder on some ten thousand concepts.

    Raises
    ------
    InvalidInput
        If a setting is out of range, no mention has a concept of the terminology, or nothing has
        another name to ask for.

    Notes
    -----
    BioSyn's loss, eqs. 6–8, with ``S = s · cos`` and all names for candidates, see
    `canonym.training.losses.marginal_over_all`. The vectors of the names are those of the beginning
    of the epoch. Mentions of one concept are names of it as well; no string is its own candidate. A
    mention that is annotated ``n`` times is drawn in proportion to ``√n``.

    Differences
    -----------
    Ours, over the paper: names ask too, so that all concepts are learned and not those of the
    training mentions alone; candidates are all names, so that what is far away counts as well; and
    right names are left out by chance. Without that the nearest of them answers for the concept,
    and nothing draws the farther ones near.

    References
    ----------
    Sung et al. (2020), Biomedical Entity Representations with Synonym Marginalization.

    Examples
    --------
    >>> table = NameTable.from_pairs([("flu", "X:1"), ("influenza", "X:1"), ("fever", "X:2")])
    >>> objective = AllNames(table, [("the flu", ["X:1"])], n_batches=2, batch_size=2)
    >>> objective.table.texts
    ('flu', 'influenza', 'fever', 'the flu')
    """

    name: str = "all-names"
    fit_settings: ClassVar[Mapping[str, object]] = {
        "epochs": 4,
        "learning_rate": 1e-5,
        "weight_decay": 0.01,
        "warm_up": 0.06,
        "clip": 1.0,
    }
    encoder_settings: ClassVar[Mapping[str, object]] = {"pooling": "mean", "max_length": 25}

    def __init__(
        self,
        table: NameTable,
        mentions: Iterable[tuple[str, Collection[str]]],
        *,
        n_batches: int = 250,
        batch_size: int = 256,
        mention_share: float = 0.5,
        kept: float = 0.3,
        disturbed: float = 0.0,
        cosine_scale: float = 20.0,
    ) -> None:
        check_sizes(n_batches=n_batches, batch_size=batch_size)
        for what, share in (("mention_share", mention_share), ("disturbed", disturbed)):
            if not 0 <= share <= 1:
                raise InvalidInput(f"{what} is {share}; a share between 0 and 1 is expected")
        if not 0 < kept <= 1:
            raise InvalidInput(f"kept is {kept}; a chance above 0, at most 1, is expected")
        if not 0 < cosine_scale < float("inf"):
            raise InvalidInput(f"cosine_scale is {cosine_scale}; a number above 0 is expected")
        linked = table.link(mentions)
        self.table = table.with_names(mentions_as_names(linked))
        names = asking_names(self.table, table.n_names)
        if not names.texts and mention_share < 1:
            raise InvalidInput(
                "no concept has two names, so that none can ask for another: give synonyms, or "
                "set mention_share to 1"
            )
        asking = asking_mentions(self.table, linked)
        n_alone = sum(
            not len(other_names(self.table, asking, number)) for number in range(len(asking.texts))
        )
        if n_alone == len(asking.texts) and mention_share:
            raise InvalidInput(
                "every mention is the only name of its concept, so that none can ask for another: "
                "give synonyms, or other mentions"
            )
        self._groups = (asking, names)
        n_mentions = round(batch_size * mention_share)
        self._sizes = (n_mentions, batch_size - n_mentions)
        self._n_batches, self._kept, self._disturbed = n_batches, kept, disturbed
        self._scale = cosine_scale
        self._names: tuple[Any, Any] = (None, None)
        self.settings: Mapping[str, object] = {
            "n_batches": n_batches,
            "batch_size": batch_size,
            "mention_share": mention_share,
            "kept": kept,
            "disturbed": disturbed,
            "cosine_scale": cosine_scale,
            "preparation": table.preparation,
            "n_names": self.table.n_names,
            "n_mentions": len(asking.texts),
            "n_without_another_name": n_alone,
            "n_asking_names": len(names.texts),
            "n_left_out": linked.n_left_out,
        }

    @classmethod
    def from_terminology(
        cls,
        terminology: Terminology,
        mentions: Iterable[tuple[str, Collection[str]]],
        *,
        preparation: str = "biosyn",
        **options: Any,
    ) -> Self:
        """Train on the names of a terminology; `options` are those of the class."""
        table = NameTable.from_terminology(terminology, preparation=preparation)
        return cls(table, mentions, **options)

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Draw what asks, and encode all names.

        Returns
        -------
        dict of str to ndarray
            ``mentions`` and ``names``, int32 ``(n_batches, …)``, numbers of what asks in each
            batch; ``seeds`` ``(n_batches,)`` int64, of the right names that are kept and of what is
            disturbed; ``vectors`` ``(n_names, d)`` float16.
        """
        del epoch  # every epoch is sampled alike
        drawn = [
            rng.choice(len(asked.texts), (self._n_batches, size), p=asked.chances).astype(np.int32)
            if size
            else np.empty((self._n_batches, 0), dtype=np.int32)
            for asked, size in zip(self._groups, self._sizes, strict=True)
        ]
        seeds = rng.integers(2**63, size=self._n_batches)
        vectors = np.asarray(encode(self.table.texts)).astype(np.float16)
        return {"mentions": drawn[0], "names": drawn[1], "seeds": seeds, "vectors": vectors}

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan."""
        return len(plan["seeds"])

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor | None:
        """Return the loss of a batch of mentions and names, over all names."""
        import torch

        rng = np.random.default_rng(int(plan["seeds"][batch]))
        texts: list[str] = []
        right: list[npt.NDArray[np.int64]] = []
        hidden: list[npt.NDArray[np.int64]] = []
        for text, names, own in self.questions(plan, batch):
            n_kept = max(1, int(rng.binomial(len(names), self._kept)))
            mixed = rng.permutation(names)
            for pairs, chosen in (
                (right, mixed[:n_kept]),
                (hidden, np.append(mixed[n_kept:], [own] if own >= 0 else []).astype(np.int64)),
            ):
                pairs.append(np.stack([np.full(len(chosen), len(texts)), chosen]))
            texts.append(disturb(text, rng) if rng.random() < self._disturbed else text)
        if not texts:
            return None
        queries = embed(texts)
        vectors = self._on(plan["vectors"], queries.device)
        found = [torch.from_numpy(np.concatenate(pairs, axis=1)) for pairs in (right, hidden)]
        pairs = [one.to(queries.device) for one in found]
        return losses.marginal_over_all(queries, vectors, *pairs, scale=self._scale)

    def questions(self, plan: Plan, batch: int) -> list[tuple[str, Int32Array, int]]:
        """Return what asks in a batch: string, right names, and the name it is itself or −1.

        A string of which no concept has another name asks nothing and is left out.
        """
        found = []
        for asked, what in zip(self._groups, ("mentions", "names"), strict=True):
            for number in plan[what][batch].tolist():
                names = other_names(self.table, asked, number)
                if len(names):
                    found.append((asked.texts[number], names, int(asked.own[number])))
        return found

    def extra_modules(self, width: int) -> Mapping[str, tuple[nn.Module, float | None]]:
        """Nothing is trained besides the encoder."""
        del width
        return {}

    def _on(self, vectors: Any, device: torch.device) -> Tensor:
        """Return the vectors of a plan on a device, where they are brought once."""
        import torch

        if self._names[0] is not vectors or self._names[1].device != device:
            self._names = (vectors, torch.from_numpy(vectors).to(device))
        held: Tensor = self._names[1]
        return held
