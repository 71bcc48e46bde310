"""BioSyn: synonym marginalization over candidates that every epoch searches again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from canonym.encoders import make_encoder
from canonym.errors import InvalidInput, NotTrained, require
from canonym.terminology import Terminology
from canonym.training import keys, losses
from canonym.training.loop.checkpoints import encoder_digest
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.scratch import new_module
from canonym.training.objective import Embed, Encode, Plan
from canonym.training.sampling.candidates import CandidateSearch
from canonym.training.sampling.name_table import PREPARATIONS, LinkedMentions, NameTable
from canonym.training.sampling.random import n_batches_of
from canonym.training.watched import N_NAMES, Entry, nearest_entries
from canonym.types import Int32Array

if TYPE_CHECKING:
    from torch import Tensor, nn

LOSSES: Mapping[str, Callable[[Any, Any], Any]] = {
    "marginal": losses.marginal_likelihood,
    "hard-em": losses.hard_em,
    "pair-wise": losses.pair_wise_cross_entropy,
}
"""Losses of the scores of a mention's candidates."""


class BioSyn:
    """Raises the probability of the right names among the nearest candidates of each mention.

    Parameters
    ----------
    table : NameTable
        Names, prepared as mentions are.
    mentions : iterable of (str, collection of str)
        Training mentions and the ids of their concepts, see
        `canonym.training.sampling.mentions.training_mentions`.
    k : int
        Candidates of a mention.
    dense_ratio : float
        Share of the candidates that the encoder finds; the sparse scores find the others.
    loss : str
        Of the scores of a mention's candidates, a key of `LOSSES`.
    batch_size : int
        Mentions in a batch.
    sparse : str
        An encoder for the sparse scores: character n-grams as in the paper, or another as
        `canonym index --encoder` takes it. It is not trained, and gets names and mentions in their
        preparation.
    sparse_weight : float
        ``λ``, the weight of the sparse scores, at first.
    sparse_rate : float
        Learning rate of ``λ``.
    merge : bool
        Whether training mentions are candidates too, as names of their concepts.
    cosine_scale : float, optional
        Take the cosine of the vectors, times this, instead of their inner product; it suits
        sentence encoders.
    cosine_middle : float
        Taken off the cosine first. It changes the pair-wise loss alone, which depends on whether a
        score is above 0, and which 0.8 suits.
    watch : sequence of str
        Mentions whose nearest names are listed before training and after epochs 1, 5, 10, …, as in
        table 4 of the paper.
    dev : iterable of (str, collection of str)
        Mentions of a dev part. The share with a right name among their candidates is measured
        before every epoch, as in figure 2; nothing is trained on them.

    Raises
    ------
    InvalidInput
        If a setting is out of range, or no mention has a concept of the terminology.

    Notes
    -----
    ::

        S(m, n) = ⟨e_m, e_n⟩ + λ · S_sparse(m, n)

    with the pooled vectors of the encoder, not normalised, and the cosine of TF-IDF vectors of
    character 1- and 2-grams, or of the vectors of `sparse`. A candidate is right if it is a name of
    any concept of the mention. ``λ`` is trained and saved with the encoder, as
    ``sparse_weight.weight``. A linker with the trained encoder searches all names by ``S``.

    Differences
    -----------
    - Mentions without a right candidate drop out of the mean, as in the released code (but not of
      the pair-wise loss, whose pairs may all be negative).
    - The paper merges training mentions into the dictionary "to increase the coverage". In the
      authors' released files the dictionary to train against lacks them and those to evaluate
      against have them; a mention that is its own candidate teaches nothing. So it is here without
      ``merge``.
    - ``λ`` starts at 0 as in the released code; the paper gives no value. One that ends below 0
      counts as 0 in a linker.
    - ``cosine_scale`` is ours. Inner products suit vectors of [CLS]; an encoder that was trained
      with cosines, as sentence encoders are, can lower the loss by making vectors longer. Near
      names of other concepts begin at cosines of some 0.8: without a ``cosine_middle`` the
      pair-wise loss moves everything away from everything.
    - ``sparse`` is ours. With a trained encoder of subwords in the place of TF-IDF, the transformer
      learns what the other does not know; with a ``cosine_scale``, ``λ`` divided by it is the
      weight of the other encoder in a linker, to be given there.

    References
    ----------
    Sung et al. (2020), Biomedical Entity Representations with Synonym Marginalization.

    Examples
    --------
    >>> table = NameTable.from_pairs([("flu", "X:1"), ("influenza", "X:1"), ("fever", "X:2")])
    >>> objective = BioSyn(table, [("the flu", ["X:1"])], k=2)
    >>> objective.settings["k"], objective.n_mentions
    (2, 1)
    """

    name: str = "biosyn"
    paper: ClassVar[str] = "Sung et al. (2020), BioSyn"
    fit_settings: ClassVar[Mapping[str, object]] = keys.published("biosyn", FitSettings)
    encoder_settings: ClassVar[Mapping[str, object]] = keys.published("biosyn", new_module)

    def __init__(
        self,
        table: NameTable,
        mentions: Iterable[tuple[str, Collection[str]]],
        *,
        k: keys.Count = 20,
        dense_ratio: keys.Share = 0.5,
        loss: Annotated[str, keys.Key(choices=tuple(LOSSES))] = "marginal",
        batch_size: keys.Count = 16,
        sparse: keys.Text = "chargrams",
        sparse_weight: keys.Number = 0.0,
        sparse_rate: keys.Number = 0.01,
        merge: keys.Switch = False,
        cosine_scale: keys.Rate | None = None,
        cosine_middle: Annotated[float, keys.Key(least=-1, most=1)] = 0.0,
        watch: keys.Texts = (),
        dev: Iterable[tuple[str, Collection[str]]] = (),
    ) -> None:
        keys.check_keys(BioSyn, locals())
        if cosine_middle and cosine_scale is None:
            raise InvalidInput(
                f"cosine_middle is {cosine_middle}; expected only with a cosine_scale, for it is "
                "taken off cosines"
            )
        known, held_out = list(mentions), list(dev)
        self.mentions, self.dev = table.link(known), _linked(table, held_out)
        self._right_of = {mention: _ids(mention, [*known, *held_out], table) for mention in watch}
        if merge:
            table = table.with_names(self.mentions.names())
        self.table = table
        scorer = make_encoder(sparse)
        self._watched = _prepared(self._right_of, table.preparation)
        self._cosine_scale, self._middle = cosine_scale, cosine_middle
        # Candidates of a plan: of training mentions, of dev mentions, and of watched ones.
        texts = [*self.mentions.texts, *(self.dev.texts if self.dev else ()), *self._watched]
        by = self.similarity
        self.search = CandidateSearch(
            table.texts, texts, k=k, dense_ratio=dense_ratio, sparse=scorer, similarity=by
        )
        self._n_shown = min(N_NAMES, self.search.k)
        self.batch_size = batch_size
        self._loss = LOSSES[loss]
        self._first_weight, self._rate = sparse_weight, sparse_rate
        self._weight: nn.ParameterDict | None = None
        self.settings: Mapping[str, object] = {
            "k": k,
            "dense_ratio": dense_ratio,
            "loss": loss,
            "batch_size": batch_size,
            "sparse": sparse,
            "sparse_encoder": encoder_digest(scorer),
            "sparse_weight": sparse_weight,
            "sparse_rate": sparse_rate,
            "merge": merge,
            "cosine_scale": cosine_scale,
            **({"cosine_middle": cosine_middle} if cosine_middle else {}),
            "preparation": table.preparation,
            "n_names": table.n_names,
            "n_mentions": self.n_mentions,
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
        """Train on the names of a terminology; `options` are those of the class."""
        table = NameTable.from_terminology(terminology, preparation=preparation)
        return cls(table, mentions, **options)

    @property
    def n_mentions(self) -> int:
        """Number of mentions trained on."""
        return self.mentions.n_mentions

    @property
    def similarity(self) -> str:
        """How the trained vectors are searched: by what they are trained with."""
        return "inner" if self._cosine_scale is None else "cosine"

    def plan(self, encode: Encode, epoch: int, rng: np.random.Generator) -> Plan:
        """Search the candidates of every distinct string, and shuffle the mentions."""
        del epoch  # every epoch is sampled alike
        hits = self.search.refresh(encode)
        order = rng.permutation(self.n_mentions).astype(np.int32)
        plan = {"mentions": order, "candidates": hits.rows, "sparse": hits.sparse}
        if self._watched:
            n = self._n_shown
            dense = hits.dense[-len(self._watched) :, :n]
            if not dense.size:  # all candidates are by the sparse scores
                dense = self.search.dense_names(encode, self._watched, n)
            plan["nearest"] = np.ascontiguousarray(dense)
        return plan

    def measure(self, plan: Plan, epoch: int) -> dict[str, Any]:
        """Return the recall of the candidates of a plan, and the names nearest to watched mentions.

        Nothing without watched or dev mentions, for then nobody asks for a search at the end.
        """
        report: dict[str, Any] = {}
        if self.dev is not None or self._watched:
            report["recall"] = {"training": self._recall(plan["candidates"], self.mentions)}
        if self.dev is not None:
            rows = plan["candidates"][len(self.mentions.texts) :]
            report["recall"]["dev"] = self._recall(rows, self.dev)
        if self._watched:
            if not epoch:
                label = {"chargrams": "tf-idf"}.get(str(self.settings["sparse"]))
                rows = self.search.sparse_names(self._watched, self._n_shown)
                report["reference"] = [label or self.settings["sparse"], self._entries(rows)]
            report["nearest"] = self._entries(plan["nearest"])
        return report

    def _recall(self, candidates: Int32Array, mentions: LinkedMentions) -> float:
        """Return the share of mentions with a right name among their candidates."""
        right = [
            np.isin(candidates[text], self._right(mention, mentions)).any()
            for mention, text in enumerate(mentions.text_of)
        ]
        return float(np.mean(right))

    def _entries(self, rows: Int32Array) -> dict[str, list[Entry]]:
        """Return rows of names, by watched mention, as JSON can hold them."""

        def named(row: int) -> tuple[str, list[str]]:
            return self.table.texts[row], [self.table.ids[c] for c in self.table.concepts.of(row)]

        return nearest_entries(self._right_of, rows, named)

    def n_batches(self, plan: Plan) -> int:
        """Return the number of batches of a plan."""
        return n_batches_of(len(plan["mentions"]), self.batch_size)

    def loss(self, embed: Embed, plan: Plan, batch: int) -> Tensor | None:
        """Return the loss of a batch of mentions with their candidates."""
        import torch

        part = slice(batch * self.batch_size, (batch + 1) * self.batch_size)
        mentions = plan["mentions"][part]
        candidates = plan["candidates"][self.mentions.text_of[mentions]]
        right = np.stack(
            [np.isin(rows, self._right(m)) for m, rows in zip(mentions, candidates, strict=True)]
        )
        used = np.arange(len(mentions))
        if self._loss is not losses.pair_wise_cross_entropy:
            # The loss leaves the others out, so that they need not be encoded.
            used = np.flatnonzero(right.any(axis=1))
        if not len(used):
            return None
        mentions, candidates, right = mentions[used], candidates[used], right[used]
        places = self.mentions.text_of[mentions]
        names = [self.mentions.texts[place] for place in places]
        names += [self.table.texts[row] for row in candidates.ravel()]
        vectors = losses.wide(embed(names))
        if self._cosine_scale is not None:
            # The roots on both sides give the scale in the product.
            vectors = torch.nn.functional.normalize(vectors, dim=1) * self._cosine_scale**0.5
        queries, candidate_vectors = vectors[: len(used)], vectors[len(used) :]
        with losses.exactly(vectors):
            dense = torch.einsum(
                "md,mkd->mk",
                queries,
                candidate_vectors.reshape(*candidates.shape, vectors.shape[1]),
            )
        if self._cosine_scale is not None:
            dense = dense - self._cosine_scale * self._middle
        sparse = torch.from_numpy(plan["sparse"][places]).to(vectors)
        scores = dense + self._lambda().to(vectors.dtype) * sparse
        loss: Tensor | None = self._loss(scores, torch.from_numpy(right).to(vectors.device))
        return loss

    def extra_modules(self, width: int) -> Mapping[str, tuple[nn.Module, float | None]]:
        """Return ``λ``, a scalar under the name ``weight``, with its learning rate."""
        del width  # λ weighs scores, whatever the vectors
        torch = require("torch", "training an encoder", "torch")
        weight = torch.nn.ParameterDict({"weight": torch.tensor(float(self._first_weight))})
        self._weight = weight
        return {"sparse_weight": (weight, self._rate)}

    @property
    def sparse_weight(self) -> float:
        """The weight of n-grams beside the encoder that a linker takes now, at least 0.

        ``λ``, divided by a ``cosine_scale``; 0 where other scores than n-grams were trained with.
        """
        if self.settings["sparse"] != "chargrams":
            return 0.0
        now = self._first_weight if self._weight is None else float(self._weight["weight"].item())
        return max(now, 0.0) / (self._cosine_scale or 1)

    def _lambda(self) -> Tensor:
        if self._weight is None:
            raise NotTrained(
                "the weight of the sparse scores is not made yet; call extra_modules(width) first, "
                "as the training loop does"
            )
        return self._weight["weight"]

    def _right(self, mention: int, mentions: LinkedMentions | None = None) -> np.ndarray[Any, Any]:
        concepts = (mentions or self.mentions).concepts.of(mention)
        return self.table.names.of_all(np.array(concepts, dtype=np.int32))


def _linked(
    table: NameTable, mentions: Sequence[tuple[str, Collection[str]]]
) -> LinkedMentions | None:
    """Link dev mentions of concepts of the table; None where there are none."""
    known = [
        (text, ids) for text, ids in mentions if any(table.ordinal(id) is not None for id in ids)
    ]
    return table.link(known) if known else None


def _ids(
    mention: str, mentions: Sequence[tuple[str, Collection[str]]], table: NameTable
) -> frozenset[str] | None:
    """Return the ids, as the table has them, that a string has as a mention; None if unknown."""
    prepare = PREPARATIONS[table.preparation]
    numbers = [
        table.ordinal(id)
        for text, ids in mentions
        if prepare(text) == prepare(mention)
        for id in ids
    ]
    return frozenset(table.ids[number] for number in numbers if number is not None) or None


def _prepared(watched: Iterable[str], preparation: str) -> list[str]:
    prepared = [PREPARATIONS[preparation](mention) for mention in watched]
    if not all(prepared):
        raise InvalidInput("a watched mention is empty when prepared; give one with letters")
    return prepared
