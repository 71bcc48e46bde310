"""The in-batch softmax over names of one concept, with its gradient."""

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

    Returns
    -------
    loss : float
        Mean over the names that have a positive in the batch; 0 where none has.
    gradient : (n, d) float
        Derivative of the loss by `vectors`.

    Notes
    -----
    With ``s_ij = v_i · v_j / τ`` and ``P(i)`` the other names of the concept of ``i``::

        L_i = −1/|P(i)| Σ_{j ∈ P(i)} log( exp s_ij / Σ_{k ≠ i} exp s_ik )

    This is the supervised contrastive loss with the sum outside of the logarithm [1]_.

    References
    ----------
    .. [1] P. Khosla et al., "Supervised Contrastive Learning", NeurIPS 2020, eq. 2.
    """
    positive = concepts[:, None] == concepts[None]
    hidden = np.zeros_like(positive)
    if texts is not None:
        np.logical_and(texts[:, None] == texts[None], ~positive, out=hidden)
    np.fill_diagonal(hidden, True)
    np.fill_diagonal(positive, False)
    counts = positive.sum(axis=1)
    used = counts > 0
    n_used = int(used.sum())
    if not n_used:
        return 0.0, np.zeros_like(vectors)
    logits = vectors @ vectors.T
    logits /= temperature
    logits[hidden] = -np.inf
    # Only a name without a positive can be left without anything to compare it with.
    largest = logits.max(axis=1, keepdims=True)
    largest[np.isneginf(largest)] = 0
    logits -= largest
    masses = np.exp(logits)
    totals = masses.sum(axis=1, keepdims=True)
    totals[totals == 0] = 1
    of_positives = np.where(positive, logits, 0).sum(axis=1)[used] / counts[used]
    loss = float((np.log(totals[used, 0]) - of_positives).mean())
    # By the logits: the softmax minus the uniform distribution over the positives.
    masses /= totals
    masses -= positive / np.maximum(counts, 1)[:, None].astype(vectors.dtype)
    masses[~used] = 0
    masses /= n_used * temperature
    return loss, (masses + masses.T) @ vectors
