"""The in-batch softmax over names of one concept, with its gradient.

Names of related concepts, and what a teacher takes for similar, can have a share in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["multi_positive_loss"]


def multi_positive_loss(
    vectors: npt.NDArray[Any],
    concepts: npt.NDArray[Any],
    texts: npt.NDArray[Any] | None = None,
    *,
    temperature: float = 0.05,
    teacher: npt.NDArray[Any] | None = None,
    teacher_share: float = 0.5,
    related: npt.NDArray[np.bool_] | None = None,
    related_share: float = 0.1,
) -> tuple[float, npt.NDArray[Any]]:
    """Return the multi-positive softmax loss of a batch of names, and its gradient.

    Parameters
    ----------
    vectors : (n, d) float
        L2-normalised vectors of the names.
    concepts : (n,) int
        The concept of each name; names of one concept are each other's positives.
    texts : (n,) int, optional
        The normalised text of each name, as a number. Names of one text and different concepts
        cannot be told apart and are left out of each other's sums; by default all texts differ.
    temperature : float
        Similarities are divided by it.
    teacher : (n, m) float, optional
        L2-normalised vectors that another encoder gives the names; zero where it is not asked.
    teacher_share : float
        Share of the teacher in the loss of the names that it is asked about, in [0, 1].
    related : (n, n) bool, optional
        Which two names are of concepts that a relation joins.
    related_share : float
        Share of those in the loss of a name that has positives and related names, in [0, 1].

    Returns
    -------
    loss : float
        Of the positives the mean over the names that have one in the batch; 0 where none has. Of
        the teacher the mean over all names.
    gradient : (n, d) float
        Derivative of the loss by `vectors`.

    Notes
    -----
    With ``s_ij = v_i · v_j / τ``, ``q_i`` the softmax of ``s_i`` over the names ``k ≠ i``, and
    ``P(i)`` the other names of the concept of ``i``::

        L_i = −1/|P(i)| Σ_{j ∈ P(i)} log q_ij

    This is the supervised contrastive loss with the sum outside of the logarithm [1]_. Names
    ``R(i)`` of related concepts make it ``(1 − r) L_i − r/|R(i)| Σ_{j ∈ R(i)} log q_ij``: nearer
    than others, less near than synonyms; CODER [3]_ has a loss for each relation instead. With a
    teacher's vectors ``u`` and ``p_i`` the softmax of ``u_i · u_j / τ``, a name that the teacher
    knows has ``(1 − a) L_i + a KL(p_i ‖ q_i)``, both softmaxes over the names that it knows: what
    it takes for similar should be similar, in proportion [2]_.

    References
    ----------
    .. [1] P. Khosla et al., "Supervised Contrastive Learning", NeurIPS 2020, eq. 2.
    .. [2] Z. Fang et al., "SEED: Self-supervised Distillation for Visual Representation",
       ICLR 2021, eq. 5; here over the batch instead of a queue.
    .. [3] Yuan et al. (2020), CODER, section 3.3.
    """
    positive = concepts[:, None] == concepts[None]
    hidden = np.zeros_like(positive)
    if texts is not None:
        np.logical_and(texts[:, None] == texts[None], ~positive, out=hidden)
    np.fill_diagonal(hidden, True)
    np.fill_diagonal(positive, False)
    counts = positive.sum(axis=1)
    used = counts > 0
    logits = vectors @ vectors.T
    logits /= temperature
    taught = np.zeros(len(vectors), dtype=bool)
    loss, slopes = 0.0, np.zeros_like(logits)
    if teacher is not None and teacher_share:
        known = np.square(teacher).sum(axis=1) > 0
        unknown = hidden | ~known
        said = teacher @ teacher.T / temperature
        targets, log_targets = _softmax(np.where(unknown, -np.inf, said))
        found, log_found = _softmax(np.where(unknown, -np.inf, logits))
        # A name that has nothing to be compared with has no distribution.
        taught = known & (~unknown).any(axis=1)
        share = teacher_share / max(1, len(vectors))
        ratios = np.subtract(log_targets, log_found, out=np.zeros_like(targets), where=~unknown)
        loss += share * float((targets * ratios)[taught].sum())
        slopes[taught] = share * (found - targets)[taught]
    if used.any():
        shares = np.where(taught, 1 - teacher_share, 1.0) / int(used.sum())
        logits[hidden] = -np.inf
        masses, logs = _softmax(logits)
        wanted = positive / np.maximum(counts, 1)[:, None]
        if related is not None:
            others = related & ~positive & ~hidden
            n_others = others.sum(axis=1)
            part = np.where(n_others > 0, related_share, 0.0)[:, None]
            wanted = (1 - part) * wanted + part * others / np.maximum(n_others, 1)[:, None]
        gained = np.multiply(wanted, logs, out=np.zeros_like(wanted), where=wanted > 0)
        loss -= float((shares * gained.sum(axis=1))[used].sum())
        # By the logits: the softmax minus what is wanted of it.
        masses -= wanted.astype(vectors.dtype)
        slopes[used] += (shares[:, None] * masses)[used].astype(slopes.dtype)
    slopes /= temperature
    return loss, (slopes + slopes.T) @ vectors


def _softmax(logits: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the softmax of each row and its logarithm; a row of −inf alone has zeros in it."""
    largest = logits.max(axis=1, keepdims=True)
    largest[np.isneginf(largest)] = 0
    shifted = logits - largest
    masses = np.exp(shifted)
    totals = masses.sum(axis=1, keepdims=True)
    totals[totals == 0] = 1
    masses /= totals
    shifted -= np.log(totals)
    return masses, shifted
