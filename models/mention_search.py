"""Annotated mentions as queries: a terminology returns names of the right and of wrong concepts.

A batch of synonyms teaches an encoder which names are alike. A linker needs one thing more: of all
names, one of the right concept has to come first. `MentionQueries` draws mentions for the batches
of `canonym.training.subword.fit_subword.fit_subword`, each with the names that the current encoder
finds for it, as BioSyn does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders.inputs import check_count
from canonym.errors import InvalidInput
from canonym.indexes.exact import Exact
from canonym.training.subword.losses import softmax
from canonym.types import Float32Array, Int32Array

Encode = Callable[[Sequence[str]], Float32Array]

# Names searched beyond the wrong ones that are wanted: the nearest are often right ones.
_SPARE = 40


class QuerySet(NamedTuple):
    """Mentions, and the names to look them up among."""

    texts: list[str]  # normalised mentions, once for each of their concepts
    gold: Int32Array  # the concept of each
    chances: npt.NDArray[np.float64]  # of each to be drawn; the sum is 1
    names: list[str]  # normalised, distinct within a concept
    concepts: Int32Array  # the concept of each name


class QueryBatch(NamedTuple):
    """Mentions of a batch, with their candidates."""

    texts: list[str]  # of mentions and candidates
    mentions: npt.NDArray[np.int64]  # (n,): places in `texts`
    candidates: npt.NDArray[np.int64]  # (n, k): places in `texts`, −1 for none
    right: npt.NDArray[np.bool_]  # (n, k): names of the right concept

    def loss(self, vectors: npt.NDArray[Any], temperature: float) -> tuple[float, npt.NDArray[Any]]:
        """Return the `marginal_loss` of the vectors of `texts`, and its gradient."""
        return marginal_loss(vectors, *self[1:], temperature=temperature)


class MentionQueries:
    """Draws `n` mentions a batch, with candidates that an encoder finds.

    Candidates are the `wrong` nearest names of other concepts and the `right` nearest of its own.
    """

    def __init__(self, query_set: QuerySet, *, n: int, wrong: int = 10, right: int = 5) -> None:
        for what, number in (("n", n), ("wrong", wrong), ("right", right)):
            check_count(what, number)
        if not query_set.texts:
            raise InvalidInput(
                "no mention is left to ask about: each is a name of the terminology, or of a "
                "concept that it lacks"
            )
        self._set, self._n, self._wrong, self._right = query_set, n, wrong, right
        self._order = np.argsort(query_set.concepts, kind="stable")
        ordered = query_set.concepts[self._order]
        self._starts = np.searchsorted(ordered, query_set.gold)
        self._ends = np.searchsorted(ordered, query_set.gold, side="right")
        self._rows = np.empty((0, wrong + right), dtype=np.int64)

    def refresh(self, encode: Encode) -> float:
        """Search the candidates; return the share of mentions with a right name nearest."""
        mention_set = self._set
        vectors, queries = encode(mention_set.names), encode(mention_set.texts)
        nearest = (
            Exact(vectors).search(queries, min(len(mention_set.names), self._wrong + _SPARE)).rows
        )
        self._rows = np.full((len(queries), self._right + self._wrong), -1, dtype=np.int64)
        first = 0
        for place, gold in enumerate(mention_set.gold.tolist()):
            own = self._order[self._starts[place] : self._ends[place]]
            own = own[np.argsort(-(vectors[own] @ queries[place]), kind="stable")][: self._right]
            others = nearest[place][mention_set.concepts[nearest[place]] != gold][: self._wrong]
            self._rows[place, : len(own)] = own
            self._rows[place, self._right : self._right + len(others)] = others
            first += int(mention_set.concepts[nearest[place, 0]] == gold)
        return first / len(queries)

    def draw(self, rng: np.random.Generator) -> QueryBatch:
        """Draw the mentions of a batch; call `refresh` first."""
        mention_set = self._set
        drawn = rng.choice(len(mention_set.texts), self._n, p=mention_set.chances)
        rows = self._rows[drawn]
        mentions = np.arange(self._n, dtype=np.int64)
        there = rows >= 0
        places = self._n + there.ravel().cumsum().reshape(rows.shape) - 1
        candidates = np.where(there, places, -1)
        texts = [mention_set.texts[place] for place in drawn]
        texts += [mention_set.names[row] for row in rows[there]]
        right = np.zeros(rows.shape, dtype=bool)
        right[:, : self._right] = there[:, : self._right]
        return QueryBatch(texts, mentions, candidates, right)


def marginal_loss(
    vectors: npt.NDArray[Any],
    mentions: npt.NDArray[np.int64],
    candidates: npt.NDArray[np.int64],
    right: npt.NDArray[np.bool_],
    *,
    temperature: float = 0.05,
) -> tuple[float, npt.NDArray[Any]]:
    """Return the loss of synonym marginalization, and its gradient.

    Notes
    -----
    With ``s_ij = v_i · v_j / τ`` and ``p_ij`` its softmax over the candidates of ``i``, the loss of
    a mention is ``−log Σ_{j right} p_ij``: which of the right names comes first does not matter
    [1]_.

    References
    ----------
    .. [1] Sung et al. (2020), Biomedical Entity Representations with Synonym Marginalization,
       eqs. 6 to 8; with the cosine for the inner product, and a temperature.
    """
    gradient = np.zeros_like(vectors)
    if not len(mentions):
        return 0.0, gradient
    there = candidates >= 0
    anchors, names = vectors[mentions], vectors[candidates]
    logits = np.einsum("md,mkd->mk", anchors, names) / temperature
    masses, _ = softmax(np.where(there, logits, -np.inf))
    rights, _ = softmax(np.where(there & right, logits, -np.inf))
    of_right = np.where(right & there, masses, 0).sum(axis=1)
    loss = -float(np.log(np.maximum(of_right, np.finfo(masses.dtype).tiny)).mean())
    slopes = (masses - rights) / (temperature * len(mentions))
    np.add.at(gradient, mentions, np.einsum("mk,mkd->md", slopes, names))
    slope = (slopes[:, :, None] * anchors[:, None, :])[there]
    np.add.at(gradient, candidates[there], slope)
    return loss, gradient
