"""DILBERT: triplets of mentions and names, chosen by four strategies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from canonym.errors import InvalidInput
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.training import keys, losses
from canonym.training.loop.settings import FitSettings
from canonym.training.losses.triplets import DISTANCES
from canonym.training.modules.scratch import new_module
from canonym.training.objective import Embed, Encode, Objective, Plan
from canonym.training.sampling.name_table import NameTable, RelatedNames
from canonym.training.sampling.random import n_batches_of
from canonym.training.sampling.strategies import HARD, SEARCHED, Triplet, TripletSampler

if TYPE_CHECKING:
    from torch import Tensor

STRATEGIES: tuple[str, ...] = ("random", "random+parents", "re-sampling", "re-sampling+siblings")
"""Ways to choose positives and negatives."""
_COLUMNS = ("mentions", "positives", "negatives")


class Dilbert(Objective):
    """Brings every mention nearer to names of its concept than to others, by a margin.

    Parameters
    ----------
    table, mentions
        As of `canonym.training.papers.biosyn.BioSyn`.
    hierarchy : Hierarchy, optional
        Of the same concepts; the strategies with parents and siblings need it.
    strategy : str
        How names are chosen; parents and siblings are those of the terminology.
    n_positives : int
        Right names chosen for a mention.
    n_negatives : int
        Wrong names chosen for a mention.
    n_relatives : int
        Names of parents, or of siblings, added to them.
    distance : str
        Between vectors.
    margin : float
        ``ε``, by which right names have to be nearer than wrong ones.
    batch_size : int
        Triplets in a batch.
    random_epochs : int
        Epochs of random sampling before re-sampling: 0 for an encoder that was trained with random
        sampling before.
    searched : str
        Names that re-sampling searches: those of training concepts, or all.
    hard : str
        Wrong names that re-sampling takes: the nearest behind the last right one, the nearest of
        all, or those above the first right one, as the paper says.
    allow_cycles : bool
        Whether the hierarchy may have cycles.

    Raises
    ------
    InvalidInput
        If a setting is out of range, a hierarchy is missing or has cycles, or no mention has a
        concept of the terminology.

    Notes
    -----
    Every positive of a mention is paired with every negative. Each epoch samples triplets again;
    the re-sampling strategies use the current encoder::

        L = max(s(m, c_g) − s(m, c_n) + ε, 0)

    Differences
    -----------
    The paper re-samples once, with a model that was trained with random sampling; here it is done
    in every epoch after ``random_epochs``. The paper takes the wrong names above the right one
    (``hard="above"``), from which MiniLM collapses; its code takes those behind, as here. Its
    parents are the direct ones, in the released code all ancestors. A positive may equal its
    mention, which the released code leaves out.

    References
    ----------
    Miftahutdinov et al. (2021), Drug and Disease Interpretation Learning with Biomedical Entity
    Representation Transformer, sections 4 and 5.3.

    Examples
    --------
    >>> table = NameTable.from_pairs([("flu", "X:1"), ("influenza", "X:1"), ("fever", "X:2")])
    >>> objective = Dilbert(table, [("the flu", ["X:1"])])
    >>> plan = objective.plan(lambda names: None, 0, np.random.default_rng(0))
    >>> sorted(triplet.positive for triplet in objective.triplets(plan))
    ['flu', 'influenza']
    """

    name: str = "dilbert"
    paper: ClassVar[str] = "Miftahutdinov et al. (2021), DILBERT"
    fit_settings: ClassVar[Mapping[str, object]] = keys.published("dilbert", FitSettings)
    encoder_settings: ClassVar[Mapping[str, object]] = keys.published("dilbert", new_module)

    def __init__(
        self,
        table: NameTable,
        mentions: Iterable[tuple[str, Collection[str]]],
        *,
        hierarchy: Hierarchy | None = None,
        strategy: Annotated[str, keys.Key(choices=STRATEGIES)] = "random",
        n_positives: Annotated[int, keys.Key(least=1, key="positives")] = 30,
        n_negatives: Annotated[int, keys.Key(least=1, key="negatives")] = 5,
        n_relatives: Annotated[int, keys.Key(least=1, key="relatives")] = 2,
        random_epochs: Annotated[int, keys.Key(least=0)] = 1,
        searched: Annotated[str, keys.Key(choices=SEARCHED)] = "training",
        hard: Annotated[str, keys.Key(choices=HARD)] = "behind",
        allow_cycles: keys.Switch = False,
        distance: Annotated[str, keys.Key(choices=tuple(DISTANCES))] = "euclidean",
        margin: keys.Number = 1.0,
        batch_size: keys.Count = 48,
    ) -> None:
        settings = keys.check_keys(Dilbert, locals())
        wants = strategy.endswith(("+parents", "+siblings"))
        self.mentions = table.link(mentions)
        self.mention_texts = [self.mentions.texts[place] for place in self.mentions.text_of]
        self.name_texts = table.texts
        self.distance, self.batch_size = distance, batch_size
        self.margin = self.collapsed_loss = margin
        related = None
        if wants and hierarchy is not None:
            related = RelatedNames(table, hierarchy, allow_cycles=allow_cycles)
        self.sampler = TripletSampler(
            table,
            self.mentions,
            n_positives=n_positives,
            n_negatives=n_negatives,
            related=related,
            n_parents=n_relatives if strategy == "random+parents" else 0,
            n_siblings=n_relatives if strategy == "re-sampling+siblings" else 0,
            hard=hard,
            similarity=distance,
        )
        self.strategy, self.random_epochs, self.searched = strategy, random_epochs, searched
        concepts_of = map(self.mentions.concepts.of, range(self.mentions.n_mentions))
        self._mention_ids = [tuple(table.ids[n] for n in concepts) for concepts in concepts_of]
        self.settings: Mapping[str, object] = {
            **settings,
            "n_relatives": n_relatives if wants else 0,
            "preparation": table.preparation,
            "n_names": table.n_names,
            "n_mentions": self.mentions.n_mentions,
            "n_left_out": self.mentions.n_left_out,
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
        """Train on the names and the hierarchy of a terminology; see the class for `options`."""
        table = NameTable.from_terminology(terminology, preparation=preparation)
        if str(options.get("strategy", "")).endswith(("+parents", "+siblings")):
            options.setdefault("hierarchy", Hierarchy.from_terminology(terminology))
        return cls(table, mentions, **options)

    @property
    def similarity(self) -> str:
        """How the trained vectors are searched: by what they are trained with."""
        return self.distance

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Choose triplets and shuffle them."""
        number = STRATEGIES.index(self.strategy)
        if self.strategy.startswith("random"):
            triplets = self.sampler.random(rng)
        elif epoch < self.random_epochs:
            triplets, number = self.sampler.random(rng), 0
        else:
            triplets = self.sampler.resampled(encode, rng, searched=self.searched)
            if not len(triplets) and epoch <= self.random_epochs:
                raise InvalidInput(
                    "a right name is the nearest for every mention, so that re-sampling finds no "
                    "negatives: train with random sampling, search all names, or add siblings"
                )
        mixed = triplets[rng.permutation(len(triplets))]
        columns = {name: mixed[:, i].copy() for i, name in enumerate(_COLUMNS)}
        return {**columns, "strategy": np.array([number], dtype=np.int32)}

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

    def triplets(self, plan: Plan) -> Iterator[Triplet]:
        """Yield the triplets of a plan as strings."""
        strategy = STRATEGIES[int(plan["strategy"][0])]
        columns = (plan["mentions"], plan["positives"], plan["negatives"])
        for mention, positive, negative in zip(*columns, strict=True):
            yield Triplet(
                self.mention_texts[mention],
                self.name_texts[positive],
                self.name_texts[negative],
                self._mention_ids[mention],
                strategy,
            )
