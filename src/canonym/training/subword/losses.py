"""Losses of the subword encoder with their gradients.

`multi_positive_loss` is a softmax over the names of a batch, in which names of related concepts can
have a share; `marginal_loss` is BioSyn's marginalization.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def multi_positive_loss(
    vectors: npt.NDArray[Any],
    concepts: npt.NDArray[Any],
    texts: npt.NDArray[Any] | None = None,
    *,
    temperature: float = 0.05,
    related: npt.NDArray[np.bool_] | None = None,
    related_share: float = 0.1,
) -> tuple[float, npt.NDArray[Any]]:
    """Return the multi-positive softmax loss of a batch of names, and its gradient by `vectors`.

    Names of equal `texts` and different concepts are left out of each other's sums. Names without a
    positive do not count.

    Notes
    -----
    With ``s_ij = v_i · v_j / τ``, ``q_i`` the softmax of ``s_i`` over the names ``k ≠ i``, and
    ``P(i)`` the other names of the concept of ``i``::

        L_i = −1/|P(i)| Σ_{j ∈ P(i)} log q_ij

    This is the supervised contrastive loss with the sum outside of the logarithm [1]_. Names
    ``R(i)`` of related concepts make it ``(1 − r) L_i − r/|R(i)| Σ_{j ∈ R(i)} log q_ij``: nearer
    than others, less near than synonyms; CODER [2]_ has a loss for each relation instead.

    References
    ----------
    .. [1] P. Khosla et al., "Supervised Contrastive Learning", NeurIPS 2020, eq. 2.
    .. [2] Yuan et al. (2020), CODER, section 3.3.
    """
    positive = concepts[:, None] == concepts[None]
    hidden = np.zeros_like(positive)
    if texts is not None:
        np.logical_and(texts[:, None] == texts[None], ~positive, out=hidden)
    np.fill_diagonal(hidden, True)
    np.fill_diagonal(positive, False)
    counts = positive.sum(axis=1)
    used = counts > 0
    if not used.any():
        return 0.0, np.zeros_like(vectors)
    logits = vectors @ vectors.T
    logits /= temperature
    logits[hidden] = -np.inf
    masses, logs = _softmax(logits)
    shares = used / int(used.sum())
    # What is wanted of the softmax is the same for all positives of a name: a number a row.
    terms = [(positive, 1 / np.maximum(counts, 1))]
    if related is not None:
        others = related & ~positive & ~hidden
        n_others = others.sum(axis=1)
        part = np.where(n_others > 0, related_share, 0.0)
        terms = [(positive, (1 - part) * terms[0][1])]
        terms.append((others, part / np.maximum(n_others, 1)))
    loss = 0.0
    for those, factors in terms:
        loss -= float(shares @ (factors * np.where(those, logs, 0).sum(axis=1)))
        # By the logits: the softmax minus what is wanted of it.
        np.subtract(masses, factors.astype(masses.dtype)[:, None], out=masses, where=those)
    np.multiply(masses, shares[:, None], out=masses, casting="same_kind")
    masses /= temperature
    return loss, (masses + masses.T) @ vectors


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
    masses, _ = _softmax(np.where(there, logits, -np.inf))
    rights, _ = _softmax(np.where(there & right, logits, -np.inf))
    of_right = np.where(right & there, masses, 0).sum(axis=1)
    loss = -float(np.log(np.maximum(of_right, np.finfo(masses.dtype).tiny)).mean())
    slopes = (masses - rights) / (temperature * len(mentions))
    np.add.at(gradient, mentions, np.einsum("mk,mkd->md", slopes, names))
    slope = (slopes[:, :, None] * anchors[:, None, :])[there]
    np.add.at(gradient, candidates[there], slope)
    return loss, gradient


def _softmax(logits: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the softmax of each row, zero where it is −inf alone; and its logarithm, in place."""
    largest = logits.max(axis=1, keepdims=True)
    largest[np.isneginf(largest)] = 0
    logits -= largest
    masses = np.exp(logits)
    totals = masses.sum(axis=1, keepdims=True)
    totals[totals == 0] = 1
    masses /= totals
    logits -= np.log(totals)
    return masses, logits
