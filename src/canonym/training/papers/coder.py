"""CODER: synonyms together, and heads near tails when sent through their relation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from canonym.errors import NotTrained, require
from canonym.terminology import Terminology
from canonym.training import keys, losses
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.scratch import new_module
from canonym.training.objective import Embed, Encode, Plan
from canonym.training.sampling.name_table import NameTable
from canonym.training.sampling.relations import RelationBatches, RelationTable
from canonym.types import Relation

if TYPE_CHECKING:
    from torch import Tensor, nn


class Weighing(NamedTuple):
    """Weights of pairs in `canonym.training.losses.multi_similarity`."""

    alpha: float = 2.0
    beta: float = 50.0
    threshold: float = 0.5
    margin: float = 0.1


VARIANTS: Mapping[str, tuple[Weighing, float]] = {
    "matrix": (Weighing(), 1.0),
    "translation": (Weighing(0.2, 5.0, -28.0, 0.1), 0.1),
    "none": (Weighing(), 0.0),
}
"""Ways to learn from relations, with the weighing of their pairs and their share ``μ``: a matrix
per relation, a vector per relation (the paper's ablation), or not at all."""


class Coder:
    """Learns from synonyms and relations at once, with the multi-similarity loss on both.

    Parameters
    ----------
    table : NameTable
        Names, in one or several languages.
    relations : iterable of Relation
        Triplets of concepts of the table. The variant ``"none"`` needs none: without any it draws
        pairs of names of one concept, as SapBERT does.
    variant : str
        How relations are learned from, see `VARIANTS`: a matrix each, a vector each, or not at all.
    alpha : float
        Weight of positive pairs of terms in `canonym.training.losses.multi_similarity`.
    beta : float
        Weight of negative pairs.
    threshold : float
        The similarity in the middle between the two.
    margin : float
        Of mining: pairs count that come within this of the hardest pair of the other kind.
    relation_weighing : Weighing, optional
        Of pairs through relations; that of the variant by default.
    relation_share : float, optional
        ``μ``, the weight of relations; without it that of the variant.
    relation_rate : float, optional
        Learning rate of the matrices or vectors; without it that of the encoder, as in the paper.
    batch_size : int
        ``k``, triplets in a batch with their repetitions, of two terms each.
    repeats : int
        ``m``, how often each triplet stands in its batch.
    n_batches : int, optional
        Batches in an epoch; without it all triplets once.
    strict : bool
        Whether relations of unknown concepts are an error.

    Raises
    ------
    InvalidInput
        If a setting is out of range, or no relation between named concepts is left.

    Notes
    -----
    ::

        L = L_MS(S) + μ L_MS(S_rel),   S_ij = cos(e_i, e_j),   S_rel_ij = cos(M_rᵀ e_i, e_j)

    with all ``2 k`` terms in ``S`` and heads against tails in ``S_rel``. Two terms are a positive
    pair if their concepts are the same; a head with its relation and a tail, if the tail is of the
    same concept as its own. Other tails count as negatives, even if a relation joins them, as in
    the paper. The matrices begin as the identity, with which ``S_rel`` is ``S``;
    ``n_relations · d²`` numbers are trained and saved with the encoder as ``relations.weight``.

    Differences
    -----------
    - The paper does not say how the matrices begin.
    - It writes ``λ_rel = 28`` for translations, whose similarity is a negative distance near −28
      at first; here −28, without which no negative would ever count. Their vectors begin as
      standard normal ones, whose length in 768 columns is 28.
    - Without relations, the variant ``"none"`` is SapBERT's loss on pairs of synonyms, with this
      paper's batches: each concept comes ``m`` times in one.
    - The first released code has a hinge with corrupted triplets and no attention mask.

    References
    ----------
    Yuan et al. (2020), CODER: Knowledge infused cross-lingual medical term embedding for term
    normalization, sections 3.3, 4.2 and 5.1, appendix A.5.

    Examples
    --------
    >>> table = NameTable.from_pairs([("flu", "X:1"), ("influenza", "X:1"), ("fever", "X:2")])
    >>> Coder(table, [Relation("X:1", "causes", "X:2")]).settings["n_relations"]
    1
    """

    name: str = "coder"
    paper: ClassVar[str] = "Yuan et al. (2020), CODER"
    fit_settings: ClassVar[Mapping[str, object]] = keys.published("coder", FitSettings)
    encoder_settings: ClassVar[Mapping[str, object]] = keys.published("coder", new_module)

    def __init__(
        self,
        table: NameTable,
        relations: Iterable[Relation],
        *,
        variant: Annotated[str, keys.Key(choices=tuple(VARIANTS))] = "matrix",
        alpha: keys.Number = 2.0,
        beta: keys.Number = 50.0,
        threshold: keys.Number = 0.5,
        margin: keys.Number = 0.1,
        relation_weighing: Weighing | None = None,
        relation_share: keys.Weight | None = None,
        relation_rate: keys.Rate | None = None,
        batch_size: keys.Count = 128,
        repeats: Annotated[int, keys.Key(least=2)] = 8,
        n_batches: Annotated[int, keys.Key(least=1, key="batches")] | None = None,
        strict: bool = True,
    ) -> None:
        keys.check_keys(Coder, locals())
        usual, share = VARIANTS[variant]
        self.variant = variant
        self.weighing = Weighing(alpha, beta, threshold, margin)
        self.relation_weighing = usual if relation_weighing is None else relation_weighing
        self.relation_share = share if relation_share is None else relation_share
        self.relation_rate = relation_rate
        self.table = table
        self.relations = RelationTable(table, relations, strict=strict, synonyms=variant == "none")
        self.batches = RelationBatches(
            table.names,
            self.relations.triplets,
            batch_size=batch_size,
            repeats=repeats,
            n_batches=n_batches,
        )
        self._module: nn.ParameterDict | None = None
        self.settings: Mapping[str, object] = {
            "variant": variant,
            "weighing": self.weighing._asdict(),
            "relation_weighing": self.relation_weighing._asdict(),
            "relation_share": self.relation_share,
            "relation_rate": relation_rate,
            "batch_size": batch_size,
            "repeats": repeats,
            "n_batches": n_batches,
            "preparation": table.preparation,
            "n_names": table.n_names,
            "n_triplets": len(self.relations.triplets),
            "n_relations": len(self.relations.relations),
            "n_left_out": self.relations.n_left_out,
            "relations": list(self.relations.relations),
        }

    @classmethod
    def from_terminology(
        cls,
        terminology: Terminology,
        relations: Iterable[Relation] | None = None,
        *,
        preparation: str = "none",
        **options: Any,
    ) -> Self:
        """Train on the names and relations of a terminology, or on other relations.

        Relations of the terminology that lead out of it are left out and counted.
        """
        table = NameTable.from_terminology(terminology, preparation=preparation)
        if relations is None:
            relations = terminology.iter_relations()
            options.setdefault("strict", False)
        return cls(table, relations, **options)

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Choose the seed of an epoch, of which its batches draw triplets and names."""
        del encode, epoch  # pairs are mined in the batch
        return self.batches.draw(rng)

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan."""
        del plan  # it is a seed
        return self.batches.count()

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor:
        """Return the loss of a batch of triplets."""
        import torch

        triplets, heads, tails = self.batches.batch(plan, batch)
        vectors = embed([self.table.texts[row] for row in (*heads, *tails)])
        numbers = torch.from_numpy(triplets).to(vectors.device).long()
        concepts = torch.cat([numbers[:, 0], numbers[:, 2]])
        same = concepts[:, None] == concepts[None]
        others = same.clone().fill_diagonal_(False)
        loss: Tensor = losses.multi_similarity(
            losses.cosine_similarities(vectors, vectors), others, ~same, **self.weighing._asdict()
        )
        if self.variant == "none":
            return loss
        first, second = vectors.chunk(2)
        right = numbers[:, 2, None] == numbers[None, :, 2]
        through = losses.multi_similarity(
            self._similarities(first, second, numbers[:, 1]),
            right,
            ~right,
            **self.relation_weighing._asdict(),
        )
        return loss + self.relation_share * through

    def _similarities(self, heads: Tensor, tails: Tensor, relations: Tensor) -> Tensor:
        if self._module is None:
            raise NotTrained(
                "what relations are learned with is not made yet; call extra_modules(width) first, "
                "as the training loop does"
            )
        weight = self._module["weight"]
        if self.variant == "matrix":
            return losses.relation_similarities(heads, tails, relations, weight)
        return losses.translation_similarities(heads, tails, weight[relations])

    def extra_modules(self, width: int) -> Mapping[str, tuple[nn.Module, float | None]]:
        """Return the matrices ``(n_relations, width, width)``, or the vectors, of all relations."""
        if self.variant == "none":
            return {}
        torch = require("torch", "training an encoder", "torch")
        n = len(self.relations.relations)
        if self.variant == "matrix":
            weight = torch.eye(width).repeat(n, 1, 1)
        else:
            weight = torch.randn(n, width)
        self._module = torch.nn.ParameterDict({"weight": weight})
        return {"relations": (self._module, self.relation_rate)}
