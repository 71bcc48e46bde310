"""Few-shot names: a head on frozen vectors, trained on a handful of names of each concept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.indexes.exact import Exact
from canonym.training import keys, losses
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.residual_head import ResidualModule
from canonym.training.objective import Embed, Encode, Objective, Plan
from canonym.training.sampling.few_names import (
    WEIGHTINGS,
    FewNames,
    distance_weights,
    draw_negatives,
    sample_few_names,
)
from canonym.training.sampling.random import n_batches_of
from canonym.training.watched import N_NAMES, Entry, nearest_entries
from canonym.types import Float32Array, Int32Array

if TYPE_CHECKING:
    from torch import Tensor


class FewShot(Objective):
    """Groups names by their concept, and keeps each near where its frozen vector was.

    Parameters
    ----------
    names : FewNames
        Of `canonym.training.sampling.few_names.sample_few_names`.
    inputs : callable
        Names to the frozen vectors ``u``, ``(n, d)`` float32, below the head, projected if the head
        is wider: `canonym.training.modules.residual_head.ResidualModule.inputs`.
    margin : float
        Of the hinge, on cosine distances.
    alpha : float
        Weight of the hinge on triplets.
    beta : float
        Weight of the grounding.
    weighting : str
        How negatives are weighed by distance, one of
        `canonym.training.sampling.few_names.WEIGHTINGS`.
    batch_size : int
        Names in a batch, each an anchor.
    watch : sequence of str
        Mentions whose nearest training names are listed, by the encoder underneath and by the head,
        as in table 4 of the paper.
    concept_of : mapping of str to str, optional
        The concepts of names, to tell which of the nearest are right for a watched mention.

    Raises
    ------
    InvalidInput
        If a setting is out of range, or the vectors do not fit the names.

    Notes
    -----
    ::

        L = α max(d(f(n), f(n_pos)) − d(f(n), f(n_neg)) + margin, 0) + β d(f(n), (u_c + u_n) / 2)

    with ``d = 1 − cos`` and ``u_c`` the mean frozen vector of the training names of the concept.
    Every training name is an anchor once in an epoch. Its positives are all other training names
    of its concept; its negative is one name of another concept, drawn by the distances at the start
    of the epoch.

    Differences
    -----------
    - The released code takes the hinge of the mean distances of a batch; here, as in eq. 2, each
      triplet has its own.
    - A single name of a concept is its own positive, so that names can be counted from 1. The
      released code has no triplet for it.

    References
    ----------
    Fivez et al. (2021), Scalable few-shot learning of robust biomedical name representations,
    sections 2.2 and 3.2.

    Examples
    --------
    >>> groups = {"heart": ["angina", "infarct", "carditis", "stroke"], "skin": list("abcd")}
    >>> names = sample_few_names(groups, 2, np.random.default_rng(0))
    >>> FewShot(names, lambda texts: np.ones((len(texts), 3), np.float32)).settings["n_names"]
    4
    """

    name: str = "few-shot"
    paper: ClassVar[str] = "Fivez et al. (2021), few-shot names"
    fit_settings: ClassVar[Mapping[str, object]] = keys.published("few-shot", FitSettings)
    encoder_settings: ClassVar[Mapping[str, object]] = keys.published("few-shot", ResidualModule)

    def __init__(
        self,
        names: FewNames,
        inputs: Callable[[Sequence[str]], Float32Array],
        *,
        margin: keys.Number = 0.1,
        alpha: keys.Weight = 1.0,
        beta: keys.Weight = 1.0,
        weighting: Annotated[str, keys.Key(choices=WEIGHTINGS)] = "sphere",
        batch_size: keys.Count = 16,
        watch: keys.Texts = (),
        concept_of: Mapping[str, str] | None = None,
    ) -> None:
        settings = keys.check_keys(FewShot, locals())
        del settings["watch"]  # it changes no weight
        if alpha + beta == 0:
            raise InvalidInput("alpha and beta are 0; a number above 0 is expected for one of them")
        self.names = names
        self.margin, self.alpha, self.beta = margin, alpha, beta
        self.weighting, self.batch_size = weighting, batch_size
        frozen = _checked(inputs(names.training), len(names.training))
        validation = _checked(inputs(names.validation), len(names.validation))
        n = len(names.concepts)
        sums = np.zeros((n, frozen.shape[1]))
        np.add.at(sums, names.training_concepts, frozen)
        centres = sums / np.bincount(names.training_concepts, minlength=n)[:, None]
        known = {mention: [concept] for mention, concept in (concept_of or {}).items()}
        self._right_of = {mention: known.get(mention) for mention in watch}
        self._inputs = inputs
        self._targets = _halfway(frozen, centres[names.training_concepts])
        self._validation_targets = _halfway(validation, centres[names.validation_concepts])
        self.settings: Mapping[str, object] = {
            **settings,
            "n_concepts": n,
            "n_names": len(names.training),
            "n_validation": len(names.validation),
        }

    @classmethod
    def from_groups(
        cls,
        groups: Mapping[str, Sequence[str]],
        inputs: Callable[[Sequence[str]], Float32Array],
        rng: np.random.Generator,
        *,
        n: Annotated[int, keys.Key(least=1, key="names")] = 15,
        **options: Any,
    ) -> FewShot:
        """Draw names of each concept, and as many for validation; `options` are those of the class.

        Parameters
        ----------
        n : int
            Names drawn of each concept, up to 15 in the paper; who has too few is left out.
        """
        kept = {concept: names for concept, names in groups.items() if len({*names}) >= 2 * n}
        if 1 < len(kept) < len(groups):
            few = ", ".join(concept for concept in groups if concept not in kept)
            words = "left out, with fewer than %s names (%s to train on, %s to validate): %s"
            logging.getLogger(__name__).warning(words, 2 * n, n, n, few)
            groups = kept
        concept_of = {
            mention: concept
            for mention in options.get("watch", ())
            for concept, names in groups.items()
            if mention in names
        }
        return cls(sample_few_names(groups, n, rng), inputs, concept_of=concept_of, **options)

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Draw a negative for every name by distance, and shuffle the names."""
        del epoch  # every epoch is sampled alike
        vectors, concepts = encode(self.names.training), self.names.training_concepts
        negatives = draw_negatives(
            vectors, concepts, vectors, concepts, rng, weighting=self.weighting
        )
        order = rng.permutation(len(concepts)).astype(np.int32)
        plan = {"anchors": order, "negatives": negatives[order]}
        return plan | ({"nearest": self._nearest(encode)} if self._right_of else {})

    def _nearest(self, encode: Encode) -> Int32Array:
        """Return the training names nearest to each watched mention, ties by row."""
        names = Exact.build(encode(self.names.training))
        return names.search(encode(list(self._right_of)), min(N_NAMES, names.n_rows)).rows

    def measure(self, plan: Plan, epoch: int) -> dict[str, Any]:
        """Return the training names nearest to watched mentions, at first by frozen vectors too."""
        if not self._right_of:
            return {}
        report: dict[str, Any] = {"nearest": self._entries(plan["nearest"])}
        if not epoch:
            report["reference"] = ["encoder underneath", self._entries(self._nearest(self._inputs))]
        return report

    def _entries(self, rows: Int32Array) -> dict[str, list[Entry]]:
        """Return rows of training names, by watched mention, as JSON can hold them."""
        names = self.names

        def named(row: int) -> tuple[str, list[str]]:
            return names.training[row], [names.concepts[names.training_concepts[row]]]

        return nearest_entries(self._right_of, rows, named)

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan."""
        return n_batches_of(len(plan["anchors"]), self.batch_size)

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor:
        """Return the loss of a batch of anchors."""
        import torch

        part = slice(batch * self.batch_size, (batch + 1) * self.batch_size)
        anchors, negatives = plan["anchors"][part], plan["negatives"][part]
        owners, positives = self._positives(anchors)
        rows = np.concatenate([anchors, positives, negatives])
        vectors = embed([self.names.training[row] for row in rows])
        n = len(anchors)
        first, near, far = vectors[:n], vectors[n:-n], vectors[-n:]
        targets = torch.from_numpy(self._targets[anchors]).to(vectors.device)
        place = torch.from_numpy(owners).to(vectors.device)
        hinge = losses.triplet_hinge(
            first[place], near, far[place], distance="cosine", margin=self.margin
        )
        loss: Tensor = self.alpha * hinge + self.beta * losses.grounding(first, targets)
        return loss

    def _positives(self, anchors: Int32Array) -> tuple[npt.NDArray[np.int64], Int32Array]:
        """Return the other names of each anchor's concept, and whose each is.

        An anchor without others has itself.
        """
        concepts = self.names.training_concepts
        same = concepts[anchors][:, None] == concepts
        same[np.arange(len(anchors)), anchors] = same.sum(axis=1) == 1
        owners, rows = np.nonzero(same)
        return owners, rows.astype(np.int32)

    def validation_score(self, encode: Encode) -> float:
        """Return the negative of the loss of the validation names, for early stopping.

        Positives and negatives are training names. Instead of drawing a negative it takes the mean
        over all, weighted by their chances, so that the score does not change by chance.
        """
        anchors = encode(self.names.validation).astype(np.float64)
        names = encode(self.names.training).astype(np.float64)
        near = 1 - anchors @ names.T
        own = self.names.validation_concepts[:, None] == self.names.training_concepts
        apart = np.where(own, np.nan, np.sqrt(np.clip(2 * near, 0, 4)))
        weights = distance_weights(apart, names.shape[1], weighting=self.weighting)
        # All triplets at once would take the cube of the names.
        hinges = [
            np.maximum(row[mine][:, None] - row + self.margin, 0) @ chances
            for row, mine, chances in zip(near, own, weights, strict=True)
        ]
        hinge = np.concatenate(hinges).mean()
        lengths = np.linalg.norm(self._validation_targets, axis=1, keepdims=True)
        targets = self._validation_targets / np.where(lengths > 0, lengths, 1)
        grounding = (1 - (anchors * targets).sum(axis=1)).mean()
        return -float(self.alpha * hinge + self.beta * grounding)


def _halfway(vectors: Float32Array, centres: npt.NDArray[np.float64]) -> Float32Array:
    """Return ``(u_c + u_n) / 2``."""
    return ((vectors + centres) / 2).astype(np.float32)


def _checked(vectors: Float32Array, n: int) -> Float32Array:
    if vectors.ndim != 2 or len(vectors) != n or not np.isfinite(vectors).all():
        raise InvalidInput(
            f"the frozen vectors of {n} names have the shape {vectors.shape}, or numbers that are "
            "not finite; one finite vector a name is expected"
        )
    return vectors
