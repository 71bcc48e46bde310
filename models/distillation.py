"""A smaller encoder that gives the vectors of a larger one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.training.modules.transformer import NameModule
from canonym.training.objective import Embed, Encode, Plan
from canonym.training.sampling.random import check_sizes

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Distillation"]


class Distillation:
    """Learns the direction of a teacher's vectors, from names and from stretches of text.

    Parameters
    ----------
    teacher : NameModule
        Is asked about every batch; it is not changed.
    names : sequence of str
        Names.
    weights : ndarray, shape (n_names,), float64
        How often each is drawn.
    passages : sequence of str
        Running text: what people write between names keeps the student's language wide.
    name_share : float
        Share of a batch that are names, in [0, 1]; 1 where there are no passages.
    longest : int
        Words of a stretch, at most; shorter ones are as frequent.
    batch, batches : int
        Strings of a batch, and batches of an epoch.

    Attributes
    ----------
    settings : dict
        The numbers, as JSON can hold them.

    Raises
    ------
    InvalidInput
        If a number is out of range, or there is nothing to draw from.

    Notes
    -----
    The loss is ``1 − cos(s, t)``, averaged over the strings of a batch, ``s`` and ``t`` being what
    student and teacher say of one. Strings reach both in lower case.

    References
    ----------
    Reimers and Gurevych (2020), Making monolingual sentence embeddings multilingual using knowledge
    distillation: a student taught to give a teacher's vectors.
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
        check_sizes(longest=longest, batch=batch, batches=batches)
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
            # A long passage has more to say than a short one.
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
        """Return how far the student's vectors of a batch point from the teacher's."""
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
