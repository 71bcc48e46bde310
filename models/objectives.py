"""Training objectives of the shipped encoders: contrastive, and distillation of a student."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from canonym.encoders.hashing import float_table
from canonym.encoders.inputs import check_count
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.training.modules.transformer import NameModule
from canonym.training.objective import Embed, Encode, Plan
from canonym.training.sampling.groups import HardPool, Relatives, SynonymGroups
from models.mixture import Mixture
from models.softmax import multi_positive_softmax

if TYPE_CHECKING:
    from torch import Tensor, nn


class Contrastive:
    """In-batch softmax on synonyms and mentions, with hard neighbours that a miner finds.

    A batch draws `drawn` names, and for each `positives` names of its concept and
    `hard_neighbours` names of other concepts, each of these with a synonym. `definitions` are
    drawn beside them, each with a name of its concept. With `related_share` above 0 a quarter of
    the names bring one of a related concept, which has that share in the loss. The miner is a
    subword encoder: it searches all names in seconds. Names are embedded in lower case. The loss
    is `models.softmax.multi_positive_softmax`.
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
        for name, size in sizes.items():
            check_count(name, size)
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
        # A definition of a concept without a name has no positive.
        usable = [one for one in mixture.definitions if definitions and groups.has(one.concept)]
        self.texts = [mixture.names[row].lower() for row in groups.given]
        self.texts += [one.text.lower() for one in usable]
        defined = np.array([one.concept for one in usable], dtype=np.int64)
        self.concepts = np.concatenate((groups.concepts, defined))
        self._text_numbers = np.concatenate(
            (groups.text_numbers, 1 + groups.text_numbers.max() + np.arange(len(usable)))
        )
        self._relatives = Relatives(groups, mixture.related) if related_share else None
        self._table = float_table(miner.table, miner.scale)
        self._sizes, self._definitions = sizes, definitions if usable else 0
        self._temperature, self._related_share = temperature, related_share
        self.settings: Mapping[str, object] = {
            **sizes,
            "definitions": self._definitions,
            "related_share": related_share,
            "temperature": temperature,
            "n_names": len(groups.given),
            "n_definitions": len(usable),
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
            drawn = rng.integers(n_names, len(self.texts), size=self._definitions)
            rows = np.concatenate((rows, self.groups.names_of(self.concepts[drawn], rng), drawn))
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
        return multi_positive_softmax(
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


class Distillation:
    """Teaches a student the direction of a teacher's vectors, on names and stretches of text.

    A batch holds `name_share` names, drawn by weight, and stretches of 1 to `longest` words of
    passages: running text keeps the student's language wide. Both are lower-cased. The loss is
    ``1 − cos(s, t)`` of the vectors of student and teacher, averaged over the strings (Reimers and
    Gurevych 2020, Making monolingual sentence embeddings multilingual using knowledge
    distillation).
    """

    name: str = "distillation"

    def __init__(
        self,
        teacher: NameModule,
        names: Sequence[str],
        weights: npt.NDArray[np.float64],
        passages: Sequence[str] = (),
        *,
        name_share: float = 0.5,
        longest: int = 10,
        batch: int = 128,
        batches: int = 600,
    ) -> None:
        for name, size in (("longest", longest), ("batch", batch), ("batches", batches)):
            check_count(name, size)
        if not 0 <= name_share <= 1:
            raise InvalidInput(f"name_share is {name_share}; expected a share between 0 and 1")
        self._words = [words for passage in passages if (words := passage.lower().split())]
        self._names = [name.lower() for name in names]
        share = name_share if self._words else 1.0
        if share > 0 and not (len(names) == len(weights) and np.sum(weights) > 0):
            raise InvalidInput(
                f"{len(names):,} names and {len(weights):,} weights of sum {np.sum(weights):g}; as "
                "many weights as names are expected, and one above 0"
            )
        self._chances = weights / np.sum(weights) if share > 0 else weights
        self._teacher = teacher
        self._sizes = {"longest": longest, "batch": batch, "batches": batches}
        self._named = round(share * batch)
        self.settings: Mapping[str, object] = {
            **self._sizes,
            "name_share": share,
            "n_names": len(names),
            "n_passages": len(self._words),
        }

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Draw names, and stretches of passages."""
        del encode, epoch
        batches, of_text = self._sizes["batches"], self._sizes["batch"] - self._named
        names = np.empty((batches, 0), np.int64)
        if self._named:
            drawn = rng.choice(len(self._names), size=batches * self._named, p=self._chances)
            names = drawn.reshape(batches, self._named)
        stretches = np.empty((batches, 0, 3), np.int64)
        if of_text:
            # Passages are drawn by their length.
            sizes = np.array([len(words) for words in self._words])
            places = rng.integers(sizes.sum(), size=batches * of_text)
            ends = np.cumsum(sizes)
            rows = np.searchsorted(ends, places, side="right")
            starts = places - (ends[rows] - sizes[rows])
            lengths = rng.integers(1, self._sizes["longest"] + 1, size=len(rows))
            stretches = np.stack([rows, starts, lengths], axis=1).reshape(batches, of_text, 3)
        return {"names": names, "stretches": stretches}

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan."""
        return len(plan["names"])

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor | None:
        """Return the mean of 1 − cosine of student and teacher over a batch."""
        import torch

        texts = [self._names[row] for row in plan["names"][batch]]
        for row, start, length in plan["stretches"][batch]:
            texts.append(" ".join(self._words[row][start : start + length]))
        vectors = embed(texts)
        self._teacher.network.eval()
        with torch.no_grad():
            wanted = self._teacher.embed(texts).to(vectors.device)
        cosines = torch.nn.functional.cosine_similarity(vectors.float(), wanted.float(), dim=1)
        return 1 - cosines.mean()

    def extra_modules(self, width: int) -> Mapping[str, tuple[nn.Module, float | None]]:
        """Return nothing: the student alone is trained."""
        del width
        return {}
