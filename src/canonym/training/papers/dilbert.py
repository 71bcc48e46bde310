"""DILBERT: triplets of mentions and names, chosen by four strategies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from canonym.errors import InvalidInput
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.training.losses.triplets import DISTANCES
from canonym.training.objective import Encode, Plan
from canonym.training.options import Option
from canonym.training.papers._triplet_hinge import TripletHinge
from canonym.training.sampling.names import NameTable, RelatedNames
from canonym.training.sampling.random import check_sizes
from canonym.training.sampling.triplets import SEARCHED, Triplet, TripletSampler

STRATEGIES: tuple[str, ...] = ("random", "random+parents", "re-sampling", "re-sampling+siblings")
"""Ways to choose positives and negatives."""


class Dilbert(TripletHinge):
    """Brings every mention nearer to names of its concept than to others, by a margin.

    Parameters
    ----------
    table : NameTable
        Names, prepared as mentions are.
    mentions : iterable of (str, collection of str)
        Training mentions and the ids of their concepts.
    hierarchy : Hierarchy, optional
        Of the same concepts; the strategies with parents and siblings need it.
    strategy : str
        One of `STRATEGIES`.
    n_positives, n_negatives : int
        Names chosen for a mention.
    n_relatives : int
        Names of parents, or of siblings, added to them.
    distance : str
        ``"euclidean"`` or ``"cosine"``.
    margin : float
        ``ε``.
    batch_size : int
        Triplets in a batch.
    random_epochs : int
        Epochs of random sampling before re-sampling starts: 0 for an encoder that was trained with
        random sampling already.
    searched : str
        What re-sampling searches, one of `canonym.training.sampling.triplets.SEARCHED`.
    allow_cycles : bool
        Whether the hierarchy may have cycles.

    Attributes
    ----------
    fit_settings, encoder_settings : dict
        What the paper says about the loop and the encoder.

    Raises
    ------
    InvalidInput
        If a setting is out of range, a hierarchy is missing or has cycles, or no mention has a
        concept of the terminology.

    Notes
    -----
    Every positive of a mention is paired with every negative. Triplets are sampled anew in every
    epoch, by the re-sampling strategies with the encoder as it is then.

    Differences
    -----------
    The paper re-samples once, with a model that was trained with random sampling; here it is done
    in every epoch after ``random_epochs``. Its parents are the direct ones, in the released code
    all ancestors. A positive may equal its mention, which the released code leaves out.

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
    fit_settings: ClassVar[Mapping[str, object]] = {"learning_rate": 1e-5}
    encoder_settings: ClassVar[Mapping[str, object]] = {"pooling": "mean"}

    def __init__(
        self,
        table: NameTable,
        mentions: Iterable[tuple[str, Collection[str]]],
        *,
        hierarchy: Hierarchy | None = None,
        strategy: Annotated[
            str,
            Option(
                "How names are chosen; parents and siblings are those of the terminology.",
                choices=STRATEGIES,
            ),
        ] = "random",
        n_positives: Annotated[int, Option(least=1, flags=("--positives",))] = 30,
        n_negatives: Annotated[int, Option(least=1, flags=("--negatives",))] = 5,
        n_relatives: Annotated[
            int, Option("Names of parents or siblings.", least=1, flags=("--relatives",))
        ] = 2,
        distance: Annotated[str, Option(choices=tuple(DISTANCES))] = "euclidean",
        margin: Annotated[float, Option()] = 1.0,
        random_epochs: Annotated[
            int, Option("Epochs of random sampling before re-sampling.", least=0)
        ] = 1,
        searched: Annotated[
            str,
            Option(
                "Names that re-sampling searches: those of training concepts, or all.",
                choices=SEARCHED,
            ),
        ] = "training",
        allow_cycles: Annotated[bool, Option("Put up with cycles of the hierarchy.")] = False,
        batch_size: Annotated[int, Option("Triplets in a batch.", least=1)] = 48,
    ) -> None:
        if strategy not in STRATEGIES:
            raise InvalidInput(
                f"strategy is {strategy!r}; expected one of {', '.join(map(repr, STRATEGIES))}"
            )
        if searched not in SEARCHED:
            raise InvalidInput(
                f"searched is {searched!r}; expected {' or '.join(map(repr, SEARCHED))}"
            )
        if random_epochs < 0:
            raise InvalidInput(f"random_epochs is {random_epochs}; 0 or more is expected")
        wants = strategy.endswith(("+parents", "+siblings"))
        if wants:
            check_sizes(n_relatives=n_relatives)
        self.mentions = table.link(mentions)
        super().__init__(
            [self.mentions.texts[place] for place in self.mentions.text_of],
            table.texts,
            distance=distance,
            margin=margin,
            batch_size=batch_size,
        )
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
        )
        self.strategy, self.random_epochs, self.searched = strategy, random_epochs, searched
        self._mention_ids = [
            tuple(table.ids[concept] for concept in self.mentions.concepts.of(mention))
            for mention in range(self.mentions.n_mentions)
        ]
        self.settings: Mapping[str, object] = {
            "strategy": strategy,
            "n_positives": n_positives,
            "n_negatives": n_negatives,
            "n_relatives": n_relatives if wants else 0,
            "random_epochs": random_epochs,
            "searched": searched,
            "allow_cycles": allow_cycles,
            **self.loss_settings,
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

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Choose triplets and shuffle them.

        Returns
        -------
        dict of str to ndarray
            ``mentions``, ``positives`` and ``negatives``, ``(n,)`` int32, and ``strategy``, the
            position in `STRATEGIES` of how they were chosen.

        Raises
        ------
        InvalidInput
            If the first re-sampling finds no negatives. Later ones may leave an epoch empty.
        """
        number = STRATEGIES.index(self.strategy)
        if self.strategy.startswith("random"):
            found = self.sampler.random(rng)
        elif epoch < self.random_epochs:
            found, number = self.sampler.random(rng), 0
        else:
            found = self.sampler.resampled(encode, rng, searched=self.searched)
            if not len(found) and epoch <= self.random_epochs:
                raise InvalidInput(
                    "a right name is the nearest for every mention, so that re-sampling finds no "
                    "negatives: train with random sampling, search all names, or add siblings"
                )
        return {**self.shuffled(found, rng), "strategy": np.array([number], dtype=np.int32)}

    def triplets(self, plan: Plan) -> Iterator[Triplet]:
        """Yield the triplets of a plan as strings, to be written and looked at."""
        chosen = STRATEGIES[int(plan["strategy"][0])]
        columns = (plan["mentions"], plan["positives"], plan["negatives"])
        for mention, positive, negative in zip(*columns, strict=True):
            yield Triplet(
                self.mention_texts[mention],
                self.name_texts[positive],
                self.name_texts[negative],
                self._mention_ids[mention],
                chosen,
            )
